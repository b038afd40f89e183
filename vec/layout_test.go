package vec

import (
	"fmt"
	"testing"
)

// The widths of one game's state in the classic game, by the size of a value:
// what rules.Games holds, 130 bytes a row.
var (
	widths64 = []int{5, 1}             // piles, key
	widths32 = []int{1}                // plies
	widths16 = []int{10, 10, 10, 5}    // hands, expeditions, known cards, deck
	widths8  = []int{5, 1, 1, 1}       // pile lengths, deck length, pending, end
	allSizes = []int{1 << 20, 1 << 14} // rows of the source: far beyond the cache, and within it
)

// planes is the other layout: each value of a row in a plane [B] of its own,
// [W,B] in all, which is how array languages would have it ([P,C,B]).
type planes[T Element] struct {
	data []T // [W,B]
	rows int
}

func newPlanes[T Element](rows int, widths []int) planes[T] {
	w := 0
	for _, n := range widths {
		w += n
	}
	return planes[T]{make([]T, w*rows), rows}
}

// gather makes the planes hold copies of src's rows.
func (p *planes[T]) gather(src *planes[T], rows []int32) {
	n := len(rows)
	for w := range len(src.data) / src.rows {
		dst, plane := p.data[w*n:(w+1)*n], src.data[w*src.rows:(w+1)*src.rows]
		for i, r := range rows {
			dst[i] = plane[r]
		}
	}
}

// planeState is a state of all sizes in planes.
type planeState struct {
	p64 planes[uint64]
	p32 planes[uint32]
	p16 planes[uint16]
	p8  planes[uint8]
}

func newPlaneState(rows int) *planeState {
	return &planeState{
		newPlanes[uint64](rows, widths64), newPlanes[uint32](rows, widths32),
		newPlanes[uint16](rows, widths16), newPlanes[uint8](rows, widths8),
	}
}

func (s *planeState) gather(src *planeState, rows []int32) {
	s.p64.gather(&src.p64, rows)
	s.p32.gather(&src.p32, rows)
	s.p16.gather(&src.p16, rows)
	s.p8.gather(&src.p8, rows)
}

// newRowState is the same state in row-major columns.
func newRowState(rows int) *Arena {
	a := new(Arena)
	attachAll[uint64](a, widths64)
	attachAll[uint32](a, widths32)
	attachAll[uint16](a, widths16)
	attachAll[uint8](a, widths8)
	a.Resize(rows)
	return a
}

func attachAll[T Element](a *Arena, widths []int) {
	for _, w := range widths {
		Attach(a, "", new(Column[T]), w)
	}
}

// TestPlanesGather: the layout that the benchmark compares with is gathered
// correctly.
func TestPlanesGather(t *testing.T) {
	if got := newRowState(1).RowBytes(); got != 130 {
		t.Errorf("a row has %d bytes, expected 130", got)
	}
	src, dst := newPlanes[uint16](5, []int{2}), newPlanes[uint16](3, []int{2})
	for i := range src.data {
		src.data[i] = uint16(i)
	}
	dst.gather(&src, []int32{4, 0, 4})
	if got := fmt.Sprint(dst.data); got != "[4 0 4 9 5 9]" {
		t.Errorf("gathered %s", got)
	}
}

// pickRows returns n rows of a source: at random, as a reservoir is sampled,
// or as a tree expands a level, each row's children side by side.
func pickRows(n, rows int, order string) []int32 {
	picked := make([]int32, n)
	s := At(1, 1)
	for i := range picked {
		if order == "random" {
			picked[i] = int32(s.Intn(rows))
		} else {
			picked[i] = int32(i / 8 % rows)
		}
	}
	return picked
}

// BenchmarkGather gathers 4096 rows of 130 bytes in both layouts. Each
// iteration takes other rows of the source, so a large one stays cold.
func BenchmarkGather(b *testing.B) {
	const n = 4096
	for _, rows := range allSizes {
		for _, order := range []string{"random", "children"} {
			sets := make([][]int32, 64)
			all := pickRows(n*len(sets), rows, order)
			for i := range sets {
				sets[i] = all[i*n : (i+1)*n]
			}
			b.Run(fmt.Sprintf("source=%d/%s/row-major", rows, order), func(b *testing.B) {
				src, dst := newRowState(rows), newRowState(n)
				src.Gather(newRowState(1), make([]int32, rows)) // untouched memory is all one page
				report(b, n, func(i int) { dst.Gather(src, sets[i%len(sets)]) })
			})
			b.Run(fmt.Sprintf("source=%d/%s/plane-major", rows, order), func(b *testing.B) {
				src, dst := newPlaneState(rows), newPlaneState(n)
				src.gather(newPlaneState(1), make([]int32, rows))
				report(b, n, func(i int) { dst.gather(src, sets[i%len(sets)]) })
			})
		}
	}
}

func report(b *testing.B, rows int, f func(i int)) {
	i := 0
	for b.Loop() {
		f(i)
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}
