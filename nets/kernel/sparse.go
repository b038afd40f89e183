package kernel

import (
	"math"
	"math/bits"
	"unsafe"
)

// Lists is the left factor of products by the elements that aren't zero: a
// list for each row, one behind the other.
type Lists struct {
	set     *Set
	depth   int      // columns of the factor, the inner dimension
	offsets []uint32 // of an element's row of B in a panel, in bytes
	values  []float32
	ends    []int32 // [row]: where its list ends
	n       int     // elements listed
}

// slack is what the lists' memory has beyond its elements, so that there is
// always a first.
const slack = 1

// NewLists returns room for so many rows and elements.
func (s *Set) NewLists(rows, elements int) *Lists {
	if rows < 0 || elements < 0 || elements > math.MaxInt32 {
		panic(badShape)
	}
	return &Lists{
		set:     s,
		offsets: make([]uint32, elements+slack), values: make([]float32, elements+slack), ends: make([]int32, 0, rows),
	}
}

// Reset removes all rows; those to come are of a factor of depth columns.
func (l *Lists) Reset(depth int) {
	if depth < 1 || 4*l.set.columns*depth > math.MaxInt32 {
		panic(badShape)
	}
	l.depth, l.ends, l.n = depth, l.ends[:0], 0
}

// Len returns the number of elements listed.
func (l *Lists) Len() int { return l.n }

// room returns the number of elements there is room for beside those listed.
func (l *Lists) room() int { return len(l.values) - slack - l.n }

// AppendRow adds a row, of at most the depth's elements. There must be room for
// all of them, zero or not.
func (l *Lists) AppendRow(row []float32) {
	if len(row) > l.depth || len(row) > l.room() || len(l.ends) == cap(l.ends) {
		panic(badLength)
	}
	step := uint32(4 * l.set.columns)
	done := l.set.list(l, row, step)
	for i := done; i < len(row); i++ {
		if row[i] != 0 {
			l.offsets[l.n], l.values[l.n] = uint32(i)*step, row[i]
			l.n++
		}
	}
	l.ends = append(l.ends, int32(l.n))
}

// AppendColumns adds, as a row each, the columns [lo,hi) of a matrix, at most
// 64 of them, of which x holds the rows [from,from+rows): element (i,j) is
// x[(i-from)*row+j]. There must be room for all elements.
func (l *Lists) AppendColumns(x []float32, row, from, rows, lo, hi int) {
	switch {
	case from < 0 || rows < 0 || from+rows > l.depth || lo < 0 || lo > hi || hi-lo > 64:
		panic(badShape)
	case rows > 0 && hi > 0 && !holds(len(x), rows, row, hi, 1) || rows*(hi-lo) > l.room() || len(l.ends)+hi-lo > cap(l.ends):
		panic(badLength)
	}
	var next [64]int32 // where the next element of a column goes
	for i := range rows {
		for set := l.set.nonZeros(x[i*row+lo : i*row+hi]); set != 0; set &= set - 1 {
			next[bits.TrailingZeros64(set)]++
		}
	}
	for j, n := range next[:hi-lo] {
		next[j] = int32(l.n)
		l.n += int(n)
		l.ends = append(l.ends, int32(l.n))
	}
	for i := range rows {
		offset := uint32(4 * l.set.columns * (from + i))
		for set := l.set.nonZeros(x[i*row+lo : i*row+hi]); set != 0; set &= set - 1 {
			j := bits.TrailingZeros64(set)
			l.offsets[next[j]], l.values[next[j]] = offset, x[i*row+lo+j]
			next[j]++
		}
	}
}

// nonZeros returns the set of elements, of at most 64, that aren't zero.
func (s *Set) nonZeros(v []float32) uint64 {
	if len(v) > 64 {
		panic(badLength)
	}
	set, done := uint64(0), s.whole(len(v))
	if done > 0 {
		set = nonZero(&v[0], done)
	}
	for i, f := range v[done:] {
		if f != 0 {
			set |= 1 << (done + i)
		}
	}
	return set
}

// A gathering is the arguments of the kernel that adds listed rows of panels.
// Distances are in bytes. What it has in common with a tile is in the same
// places.
type gathering struct {
	offsets, values, ends unsafe.Pointer
	b                     unsafe.Pointer
	panelB                int
	c                     unsafe.Pointer
	rowC                  int
	init                  unsafe.Pointer
	rowInit               int
	rows                  int
	columns               int
	relu                  int
	_, _                  int
	panelC, panelInit     int
}

// Gather computes the columns of the panels [lo,hi) of a product whose left
// factor is all rows of the lists, instead of the M rows of A. It gives the
// bits that Multiply gives, as long as B is finite: what is left out are
// products that are zero.
func (s *Set) Gather(l *Lists, p *Product, lo, hi int) {
	rows, b := len(l.ends), p.B
	p.check(s, rows, lo, hi)
	if l.set != s || rows > 0 && l.depth > b.k {
		panic(badShape)
	}
	if rows == 0 {
		return
	}
	g := gathering{
		offsets: unsafe.Pointer(&l.offsets[0]), values: unsafe.Pointer(&l.values[0]), ends: unsafe.Pointer(&l.ends[0]),
		panelB: 4 * b.stride * s.columns, rowC: 4 * p.C.row, panelC: p.panelC(s), rows: rows,
	}
	if p.ReLU {
		g.relu = 1
	}
	var start tile
	for j := lo; j < hi; {
		first := j * s.columns
		panels := s.gatherAtOnce(min(hi, b.n/s.columns) - j)
		g.b, g.c = at(b.data, j*b.stride*s.columns), p.C.at(0, first)
		g.columns = min(s.columns, b.n-first)
		start.c, start.rowC, start.panelC = g.c, g.rowC, g.panelC
		p.start(&start, first, 0)
		g.init, g.rowInit, g.panelInit = start.init, start.rowInit, start.panelInit
		s.gather(&g, panels)
		j += panels
	}
}

// compute is the kernel in Go, for one panel of four columns.
func (g *gathering) compute() {
	const columns = 4
	from := 0
	for r := range g.rows {
		var sums [columns]float32
		copy(sums[:], unsafe.Slice((*float32)(unsafe.Add(g.init, r*g.rowInit)), g.columns))
		for end := int(*(*int32)(unsafe.Add(g.ends, 4*r))); from < end; from++ {
			w := (*[columns]float32)(unsafe.Add(g.b, *(*uint32)(unsafe.Add(g.offsets, 4*from))))
			value := *(*float32)(unsafe.Add(g.values, 4*from))
			for j := range sums {
				sums[j] += float32(value * w[j])
			}
		}
		finish(&sums, g.relu)
		copy(unsafe.Slice((*float32)(unsafe.Add(g.c, r*g.rowC)), g.columns), sums[:])
	}
}

// finish applies ReLU, which keeps NaN, unless relu is 0, and turns -0 into 0.
func finish(sums *[4]float32, relu int) {
	for j, v := range sums {
		if relu != 0 && v < 0 {
			v = 0
		}
		sums[j] = v + 0
	}
}
