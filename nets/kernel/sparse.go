package kernel

import (
	"math/bits"
	"unsafe"
)

// An Entry is an element of a row that isn't zero.
type Entry struct {
	offset uint32 // of its row of B in a panel, in bytes
	value  float32
}

// Entry returns an entry for row k of B.
func (s *Set) Entry(k int, value float32) Entry {
	return Entry{uint32(4 * s.columns * k), value}
}

// Entries lists the elements of a row that aren't zero into dst, which has
// room for all of them, and returns the list.
func (s *Set) Entries(dst []Entry, row []float32) []Entry {
	if len(dst) < len(row) {
		panic(badLength)
	}
	const chunk = 64
	n := 0
	for lo := 0; lo < len(row); lo += chunk {
		part := row[lo:min(lo+chunk, len(row))]
		for set := s.NonZero(part); set != 0; set &= set - 1 {
			k := bits.TrailingZeros64(set)
			dst[n] = s.Entry(lo+k, part[k])
			n++
		}
	}
	return dst[:n]
}

// NonZero returns the set of elements, of at most 64, that aren't zero.
func (s *Set) NonZero(v []float32) uint64 {
	if len(v) > 64 {
		panic(badLength)
	}
	set, done := uint64(0), 0
	if s.code != portable {
		done = len(v) &^ 7
		if done > 0 {
			set = nonZero(&v[0], done)
		}
	}
	for i, f := range v[done:] {
		if f != 0 {
			set |= 1 << (done + i)
		}
	}
	return set
}

// A gathering is the arguments of the kernel that adds listed rows of panels.
// Distances are in bytes. Its fields up to k are those of a tile of one row.
type gathering struct {
	entries unsafe.Pointer
	_, _    int
	b       unsafe.Pointer
	panelB  int
	c       unsafe.Pointer
	_       int
	init    unsafe.Pointer
	_       int
	count   int
	columns int
	relu    int
}

// Gather computes one row of a product whose A has few elements that aren't
// zero: dst = start + Σ value·B[k] over the entries, in the columns of the
// panels [lo,hi). It gives the bits that Multiply gives for the whole row.
// dst [N] is the row of C; bias [N] may be nil, and with add the sums start
// from dst itself.
func (s *Set) Gather(dst []float32, entries []Entry, b *Panels, bias []float32, add, relu bool, lo, hi int) {
	switch {
	case b.set != s || lo < 0 || lo > hi || hi > b.Count():
		panic(badShape)
	case len(dst) < b.n || bias != nil && len(bias) < b.n:
		panic(badLength)
	}
	g := gathering{panelB: 4 * b.k * s.columns, count: len(entries)}
	if len(entries) > 0 {
		g.entries = unsafe.Pointer(&entries[0])
	}
	if relu {
		g.relu = 1
	}
	for j := lo; j < hi; {
		first := j * s.columns
		panels := s.gatherAtOnce(min(hi, b.n/s.columns) - j)
		g.b, g.c = at(b.data, j*b.k*s.columns), at(dst, first)
		g.columns = min(s.columns, b.n-first)
		switch {
		case add:
			g.init = g.c
		case bias != nil:
			g.init = at(bias, first)
		default:
			g.init = at(zeros[:], 0)
		}
		s.gather(&g, panels)
		j += panels
	}
}

// compute is the kernel in Go, for one panel of four columns.
func (g *gathering) compute() {
	const columns = 4
	var sums [columns]float32
	copy(sums[:], unsafe.Slice((*float32)(g.init), g.columns))
	for _, e := range unsafe.Slice((*Entry)(g.entries), g.count) {
		w := (*[columns]float32)(unsafe.Add(g.b, e.offset))
		for j := range sums {
			sums[j] += float32(e.value * w[j])
		}
	}
	if g.relu != 0 {
		for j, v := range sums {
			if v < 0 {
				sums[j] = 0
			}
		}
	}
	copy(unsafe.Slice((*float32)(g.c), g.columns), sums[:])
}
