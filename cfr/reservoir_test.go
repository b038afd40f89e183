package cfr

import (
	"slices"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/encode"
	"vtrain/rules"
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
		r.Add(s, all[:n], s.Sigma, part, stream)
		all = all[n:]
	}
	var ids []int
	for i := range r.Rows() {
		id := int(r.Value.Row(int32(i))[0])
		ids = append(ids, id)
		// The state and the values of a slot belong to the same row.
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
		if got := int(again.Value.Row(int32(i))[0]); got != id {
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

// TestReservoirRestoresNarrowerIntegers: columns that were stored when bytes were
// enough for them. What may not fit is refused, whatever its values.
func TestReservoirRestoresNarrowerIntegers(t *testing.T) {
	stream := vec.At(1, 0)
	r := NewReservoir(kuhn.NewBatch(), 7)
	kept(t, r, numbered(20), 20, &stream)
	fields := r.Fields()
	last := len(fields) - 1 // the iterations
	narrow := make([]uint8, r.Rows())
	for i, v := range r.Iteration.Data {
		narrow[i] = uint8(v)
	}
	again := NewReservoir(kuhn.NewBatch(), 7)
	fields[last].Data = narrow
	if err := again.Restore(fields, r.Rows(), r.Seen); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Iteration.Data, r.Iteration.Data) {
		t.Errorf("iterations %v, expected %v", again.Iteration.Data, r.Iteration.Data)
	}
	fields[last].Data = make([]uint64, r.Rows())
	err := again.Restore(fields, r.Rows(), r.Seen)
	if want := "cfr: reservoir: column iteration is 7 values of type []uint64, expected 7 of []uint32"; err == nil || err.Error() != want {
		t.Errorf("got %v, expected %s", err, want)
	}
}

// TestReservoirKeepsTheColumnGiven: values may be any ragged column, and are 0
// beyond the legal actions.
func TestReservoirKeepsTheColumnGiven(t *testing.T) {
	s := numbered(3)
	s.Off = []int32{0, 2, 3, 5} // row 1 has one legal action
	s.Target = []float32{1, -2, 3, 4, -5}
	stream := vec.At(1, 0)
	r := NewReservoir(kuhn.NewBatch(), 2)
	r.Add(s, []int32{0, 2}, s.Target, 1, &stream)
	r.Seen = 0 // overwrite both rows
	r.Add(s, []int32{1, 2}, s.Target, 2, &stream)
	if want := []float32{3, 0, 4, -5}; !slices.Equal(r.Value.Data, want) {
		t.Errorf("holds %v, expected %v", r.Value.Data, want)
	}
	defer func() {
		if got := recover(); got != badLength {
			t.Errorf("a column of another length: panic %v", got)
		}
	}()
	r.Add(s, []int32{0}, s.Target[1:], 1, &stream)
}

func TestReservoirDraw(t *testing.T) {
	const rows, n = 10, 50_000
	stream := vec.At(1, 0)
	r := NewReservoir(kuhn.NewBatch(), rows)
	kept(t, r, numbered(rows), rows, &stream)
	drawn := r.Draw(nil, n, &stream)
	if len(drawn) != n {
		t.Fatalf("%d rows, expected %d", len(drawn), n)
	}
	counts := make([]int, rows)
	for _, row := range drawn {
		counts[row]++
	}
	chance.Fair(t, "rows drawn", counts, nil)
}

// TestReservoirRowBytes holds a stored sample of the classic game to its size.
func TestReservoirRowBytes(t *testing.T) {
	const most = 220
	game := encode.NewBatch(encode.NewCards(rules.MustPreset("classic")), nil)
	if got := NewReservoir(game, 1).RowBytes(); got > most {
		t.Errorf("a row of the classic game takes %d bytes, expected at most %d", got, most)
	}
}

// TestReservoirMemory: whatever the steps, no column outgrows the capacity, and a
// large reservoir never moves.
func TestReservoirMemory(t *testing.T) {
	const capacity = 1000
	stream := vec.At(1, 0)
	s := numbered(30)
	rows := vec.AllRows(nil, 30)
	r := NewReservoir(kuhn.NewBatch(), capacity)
	var first *float32
	for r.Seen < 2*capacity {
		r.Add(s, rows, s.Sigma, 1, &stream)
		if n := cap(r.Value.Data); n > 2*capacity {
			t.Fatalf("%d rows have memory for %d, the capacity is %d", r.Rows(), n/2, capacity)
		}
		if r.Rows() <= capacity/reserved {
			continue
		}
		if first == nil {
			first = &r.Value.Data[0]
		}
		if first != &r.Value.Data[0] {
			t.Fatalf("moved when it had %d of %d rows", r.Rows(), capacity)
		}
	}
}
