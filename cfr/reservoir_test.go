package cfr

import (
	"slices"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/vec"
	"vtrain/vec/vectest/chance"
)

// numbered returns samples whose policies name their rows.
func numbered(rows int) *Samples {
	state := kuhn.NewBatch()
	state.Deal(rows, 3, 0)
	s := &Samples{State: state}
	for r := range rows + 1 {
		s.Off = append(s.Off, int32(2*r))
	}
	for r := range rows {
		s.Sigma = append(s.Sigma, float32(r), 0)
	}
	return s
}

// kept offers rows to a reservoir in uneven parts, and returns which it holds.
func kept(t *testing.T, r *Reservoir, s *Samples, rows int, stream *vec.Stream) []int {
	t.Helper()
	all := vec.AllRows(nil, rows)
	for part := 1; len(all) > 0; part += 2 {
		n := min(part, len(all))
		r.Add(s, all[:n], part, stream)
		all = all[n:]
	}
	var ids []int
	for i := range r.Rows() {
		id := int(r.Policy.Row(int32(i))[0])
		ids = append(ids, id)
		// The state and the policy of a slot belong to the same row.
		_, want := s.State.(*kuhn.Batch).Node(int32(id))
		if _, got := r.State.(*kuhn.Batch).Node(int32(i)); got != want {
			t.Fatalf("slot %d has hands %v, its row %d has %v", i, got, id, want)
		}
	}
	return ids
}

// TestReservoirIsUniform: every row is held with the same probability, whether
// the capacity is one, just reached, or exceeded.
func TestReservoirIsUniform(t *testing.T) {
	const rows, trials = 12, 4000
	for _, capacity := range []int{1, 5, rows - 1} {
		counts := make([]int, rows)
		for trial := range trials {
			stream := vec.At(vec.Key(9, uint64(trial)), 0)
			r := NewReservoir(kuhn.NewBatch(), capacity)
			ids := kept(t, r, numbered(rows), rows, &stream)
			if slices.Sort(ids); len(slices.Compact(ids)) != capacity {
				t.Fatalf("capacity %d holds rows %v", capacity, ids)
			}
			for _, id := range ids {
				counts[id]++
			}
		}
		chance.Fair(t, "inclusion", counts, nil)
	}
	stream := vec.At(1, 0)
	full := NewReservoir(kuhn.NewBatch(), rows)
	if ids := kept(t, full, numbered(rows), rows, &stream); !slices.Equal(ids, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
		t.Errorf("a reservoir that is just full holds %v", ids)
	}
}

func TestReservoirRestore(t *testing.T) {
	stream := vec.At(1, 0)
	r := NewReservoir(kuhn.NewBatch(), 7)
	want := kept(t, r, numbered(20), 20, &stream)
	again := NewReservoir(kuhn.NewBatch(), 7)
	if err := again.Restore(r.Fields(), r.Rows(), r.Seen); err != nil {
		t.Fatal(err)
	}
	for i, id := range want {
		if got := int(again.Policy.Row(int32(i))[0]); got != id {
			t.Errorf("slot %d holds row %d, expected %d", i, got, id)
		}
	}
	for name, bad := range map[string]struct {
		rows int
		seen uint64
	}{
		"more rows than fit":  {8, 20},
		"fewer rows than fit": {6, 20},
		"more rows than seen": {7, 5},
	} {
		if err := again.Restore(r.Fields(), bad.rows, bad.seen); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := again.Restore(r.Fields()[1:], r.Rows(), r.Seen); err == nil {
		t.Error("a column is missing: no error")
	}
}
