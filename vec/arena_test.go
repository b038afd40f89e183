package vec

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// table is an arena of three columns of different types and widths.
type table struct {
	Arena
	small Column[uint8]   // [B,3]
	wide  Column[uint64]  // [B,2]
	value Column[float32] // [B]
}

func newTable() *table {
	t := new(table)
	Attach(&t.Arena, "small", &t.small, 3)
	Attach(&t.Arena, "wide", &t.wide, 2)
	Attach(&t.Arena, "value", &t.value, 1)
	return t
}

// record is one row, the naive form.
type record struct {
	small [3]uint8
	wide  [2]uint64
	value float32
}

func (t *table) set(b int32, r record) {
	copy(t.small.Row(b), r.small[:])
	copy(t.wide.Row(b), r.wide[:])
	t.value.Data[b] = r.value
}

func (t *table) records() []record {
	all := make([]record, t.Rows())
	for b := range all {
		all[b] = record{[3]uint8(t.small.Row(int32(b))), [2]uint64(t.wide.Row(int32(b))), t.value.Data[b]}
	}
	return all
}

func recordOf(k int) record {
	x := mix64(uint64(k) + 1)
	return record{[3]uint8{uint8(x), uint8(x >> 8), uint8(x >> 16)}, [2]uint64{x, ^x}, float32(x >> 40)}
}

// fillTable gives a table n rows of records first, first+1, ….
func fillTable(t *table, n, first int) []record {
	t.Resize(n)
	for b := range n {
		t.set(int32(b), recordOf(first+b))
	}
	return t.records()
}

// poisoned copies rows to a slice whose unused capacity names rows that do not
// exist: a kernel that reads past the length crashes.
func poisoned(rows []int32) []int32 {
	p := append(slices.Clone(rows), 1<<30, 1<<30, 1<<30, 1<<30)
	return p[:len(rows)]
}

// TestArena compares a random sequence of operations with lists of records.
func TestArena(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dst, src := newTable(), newTable()
		stamp := 0
		want := fillTable(dst, rapid.IntRange(0, 20).Draw(t, "rows"), stamp)
		for range rapid.IntRange(1, 12).Draw(t, "operations") {
			stamp += 100
			from := fillTable(src, rapid.IntRange(1, 30).Draw(t, "source rows"), stamp)
			rows := rapid.SliceOfN(rapid.Int32Range(0, int32(len(from)-1)), 0, 40).Draw(t, "from")
			switch rapid.IntRange(0, 2).Draw(t, "operation") {
			case 0:
				dst.Gather(&src.Arena, poisoned(rows))
				want = want[:0]
				for _, r := range rows {
					want = append(want, from[r])
				}
			case 1:
				rows = rows[:min(len(rows), len(want))]
				at := rapid.Permutation(AllRows(nil, len(want))).Draw(t, "at")[:len(rows)]
				dst.Scatter(poisoned(at), &src.Arena, poisoned(rows))
				for i, r := range rows {
					want[at[i]] = from[r]
				}
			case 2:
				n := rapid.IntRange(0, 60).Draw(t, "new rows")
				kept := min(n, len(want))
				dst.Resize(n)
				if got := dst.records()[:kept]; !slices.Equal(got, want[:kept]) {
					t.Fatalf("resizing to %d rows changed %v to %v", n, want[:kept], got)
				}
				for b := kept; b < n; b++ {
					dst.set(int32(b), recordOf(-b))
				}
				want = dst.records()
			}
			if got := dst.records(); !slices.Equal(got, want) {
				t.Fatalf("rows %v, expected %v", got, want)
			}
			if got := src.records(); !slices.Equal(got, from) {
				t.Fatalf("the source became %v, expected %v", got, from)
			}
		}
	})
}

// inRuns returns n rows of a source in pieces of consecutive ones, of all lengths
// around those that are copied at once, one row alone and twice the same included.
func inRuns(n, source int, s *Stream) []int32 {
	var rows []int32
	for len(rows) < n {
		length := 1 + s.Intn([]int{1, longRun, 3 * longRun, source}[s.Intn(4)])
		first := s.Intn(source - length + 1)
		for i := range length {
			rows = append(rows, int32(first+i))
		}
	}
	return rows[:n]
}

// TestCopiesOfRuns gathers and scatters runs of rows, some of them to the same
// places, with every number of workers.
func TestCopiesOfRuns(t *testing.T) {
	const source = 4 * longRun
	src, s := newTable(), At(3, 0)
	from := fillTable(src, source, 0)
	for _, workers := range []int{0, 1, 3} {
		pool := NewPool(max(workers, 1))
		defer pool.Close()
		dst := newTable()
		if workers > 0 {
			dst.Share(pool)
		}
		for _, n := range []int{0, 1, longRun - 1, longRun, gatherGrain, gatherGrain + 1, 3*gatherGrain + 7} {
			rows := inRuns(n, source, &s)
			dst.Gather(&src.Arena, poisoned(rows))
			want := make([]record, n)
			for i, r := range rows {
				want[i] = from[r]
			}
			if !slices.Equal(dst.records(), want) {
				t.Fatalf("%d workers, %d rows: gathered others", workers, n)
			}
			if n < source {
				continue
			}
			at, rows := inRuns(n/2, n, &s), inRuns(n/2, source, &s)
			dst.Scatter(poisoned(at), &src.Arena, poisoned(rows))
			for i, r := range rows {
				want[at[i]] = from[r]
			}
			if !slices.Equal(dst.records(), want) {
				t.Fatalf("%d workers, %d rows: scattered others", workers, n)
			}
		}
	}
}

// TestArenaGrowthKeepsRows grows far beyond the first memory, by single rows.
func TestArenaGrowthKeepsRows(t *testing.T) {
	a := newTable()
	for n := 1; n <= 3000; n++ {
		a.Resize(n)
		a.set(int32(n-1), recordOf(n-1))
	}
	for b, got := range a.records() {
		if want := recordOf(b); got != want {
			t.Fatalf("row %d is %v, expected %v", b, got, want)
		}
	}
}

// TestArenaLimit grows row by row to a limit: memory ends there, whatever the
// steps, and no row gets lost.
func TestArenaLimit(t *testing.T) {
	const limit = 1000
	for _, step := range []int{1, 7, 333, limit} {
		a := newTable()
		a.Limit(limit)
		for n := 0; n < limit; {
			first := n
			n = min(n+step, limit)
			a.Resize(n)
			for b := first; b < n; b++ {
				a.set(int32(b), recordOf(b))
			}
			for _, c := range []struct{ held, width int }{{cap(a.small.Data), 3}, {cap(a.wide.Data), 2}, {cap(a.value.Data), 1}} {
				if c.held > limit*c.width {
					t.Fatalf("steps of %d: %d rows hold the memory of %d, the limit is %d", step, n, c.held/c.width, limit)
				}
			}
		}
		for b, got := range a.records() {
			if want := recordOf(b); got != want {
				t.Fatalf("steps of %d: row %d is %v, expected %v", step, b, got, want)
			}
		}
		mustPanic(t, "beyond the limit", badLimit, func() { a.Resize(limit + 1) })
		mustPanic(t, "a limit below the rows", badLimit, func() { a.Limit(limit - 1) })
	}
	mustPanic(t, "no rows", badLimit, func() { newTable().Limit(0) })
}

func TestArenaSizes(t *testing.T) {
	a := newTable()
	if got := a.RowBytes(); got != 3+16+4 {
		t.Errorf("a row has %d bytes, expected 23", got)
	}
	a.Resize(5)
	var late Column[int16]
	Attach(&a.Arena, "late", &late, 4)
	if len(late.Data) != 20 || a.RowBytes() != 31 || a.Rows() != 5 {
		t.Errorf("a late column has %d values, rows %d bytes", len(late.Data), a.RowBytes())
	}
}

// TestFields copies one table to another field by field, as storage does.
func TestFields(t *testing.T) {
	dst, src := newTable(), newTable()
	want := fillTable(src, 6, 0)
	dst.Resize(6)
	for i, f := range dst.Fields() {
		if err := f.Set(src.Fields()[i]); err != nil {
			t.Fatal(err)
		}
	}
	if got := dst.records(); !slices.Equal(got, want) {
		t.Errorf("copied %v, expected %v", got, want)
	}
	small, wide, value := dst.Fields()[0], dst.Fields()[1], dst.Fields()[2]
	for _, c := range []struct {
		from Field
		want string
	}{
		{wide, "column is wide of width 2, expected small of width 3"},
		{Field{"small", 2, small.Data}, "column is small of width 2, expected small of width 3"},
		{Field{"small", 3, value.Data}, "column small is 6 values of type []float32, expected 18 of []uint8"},
		{Field{"small", 3, []uint8{1}}, "column small is 1 values of type []uint8, expected 18 of []uint8"},
	} {
		if err := small.Set(c.from); err == nil || err.Error() != c.want {
			t.Errorf("got %v, expected %s", err, c.want)
		}
	}
}

// TestArenaAllocatesNothing: shrinking and growing within what was there once.
func TestArenaAllocatesNothing(t *testing.T) {
	dst, src := newTable(), newTable()
	fillTable(src, 100, 0)
	rows := AllRows(nil, 100)
	dst.Gather(&src.Arena, rows)
	if got := testing.AllocsPerRun(20, func() {
		dst.Resize(3)
		dst.Gather(&src.Arena, rows)
		dst.Scatter(rows[:50], &src.Arena, rows[50:])
	}); got != 0 {
		t.Errorf("%v allocations, expected none", got)
	}
}

func TestArenaPanics(t *testing.T) {
	a, b := newTable(), new(Arena)
	var narrow Column[uint8]
	Attach(b, "narrow", &narrow, 3)
	mustPanic(t, "fewer columns", badColumn, func() { a.Gather(b, nil) })
	mustPanic(t, "lengths", badLength, func() { a.Scatter([]int32{0}, &a.Arena, nil) })
	var other Arena
	var wider Column[uint8]
	Attach(&other, "wider", &wider, 2)
	mustPanic(t, "another width", badColumn, func() { b.Gather(&other, nil) })
	var typed Arena
	var floats Column[float32]
	Attach(&typed, "floats", &floats, 3)
	mustPanic(t, "another type", badColumn, func() { b.Gather(&typed, nil) })
}

// TestColumnRowIsCapped: appending to a row cannot reach the next one.
func TestColumnRowIsCapped(t *testing.T) {
	a := newTable()
	fillTable(a, 2, 0)
	row := append(a.small.Row(0), 77)
	if a.small.Row(1)[0] == 77 || len(row) != 4 {
		t.Error("appending to row 0 wrote to row 1")
	}
}

// TestTensorSharesMemory writes on one side and reads on the other.
func TestTensorSharesMemory(t *testing.T) {
	a := newTable()
	fillTable(a, 4, 0)
	d, v := a.small.Tensor(), a.value.Tensor()
	if got, want := fmt.Sprint(d.Shape(), v.Shape()), "(4, 3) (4)"; got != want {
		t.Errorf("shapes %s, expected %s", got, want)
	}
	if err := d.SetAt(uint8(200), 2, 1); err != nil {
		t.Fatal(err)
	}
	v.Set(3, float32(-5))
	if a.small.Row(2)[1] != 200 || a.value.Data[3] != -5 {
		t.Error("what a tensor was given is not in the column")
	}
	a.small.Row(3)[2] = 99
	if got, err := d.At(3, 2); err != nil || got != uint8(99) {
		t.Errorf("what the column was given reads %v in the tensor (%v)", got, err)
	}
	if reflect.ValueOf(d.Data()).Pointer() != reflect.ValueOf(a.small.Data).Pointer() {
		t.Error("the tensor has memory of its own")
	}
}

func TestAllRows(t *testing.T) {
	buf := make([]int32, 0, 8)
	got := AllRows(buf, 5)
	if !slices.Equal(got, []int32{0, 1, 2, 3, 4}) || &got[0] != &buf[:1][0] {
		t.Errorf("got %v", got)
	}
	if got := AllRows(got, 0); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// TestKeep compares with a filter, in fresh memory and in the rows' own.
func TestKeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flag := rapid.SliceOfN(rapid.Uint8Range(0, 2), 1, 50).Draw(t, "flag")
		rows := rapid.SliceOfDistinct(rapid.Int32Range(0, int32(len(flag)-1)), rapid.ID[int32]).Draw(t, "rows")
		slices.Sort(rows)
		want := []int32{}
		for _, r := range rows {
			if flag[r] == 1 {
				want = append(want, r)
			}
		}
		if got := Keep(nil, poisoned(rows), flag, 1); !slices.Equal(got, want) {
			t.Fatalf("kept %v, expected %v", got, want)
		}
		own := poisoned(rows)
		if got := Keep(own, own, flag, 1); !slices.Equal(got, want) {
			t.Fatalf("kept %v in place, expected %v", got, want)
		}
	})
	if Invariants {
		mustPanic(t, "a row that does not exist", badRow, func() { Keep(nil, []int32{0, 9}, []uint8{0}, 0) })
	}
}

func TestGrow(t *testing.T) {
	s := Grow([]int{1, 2, 3}, 2)
	if !slices.Equal(s, []int{1, 2}) {
		t.Errorf("got %v", s)
	}
	if s = Grow(s, 3); s[2] != 3 {
		t.Error("growing within the capacity moved the memory")
	}
	if s = Grow(s, 100); len(s) != 100 {
		t.Errorf("length %d", len(s))
	}
}
