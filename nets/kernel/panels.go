package kernel

import "unsafe"

// Panels is a matrix of K rows and N columns packed for a Set, as the right
// factor of products, or for what else lies well that way. It is cut into
// panels of the set's columns. A panel is its rows one behind the other,
// [K,columns]; the last is padded.
type Panels struct {
	set    *Set
	k, n   int
	most   int       // rows there may be
	stride int       // rows from a panel to the next
	data   []float32 // [panel,stride,columns]
}

// NewPanels returns panels for matrices of up to k rows, and of n columns, all
// zero.
func (s *Set) NewPanels(k, n int) *Panels {
	const largest = 1 << 40
	if k < 1 || n < 1 || k > largest/n {
		panic(badShape)
	}
	stride := s.spread(k)
	return &Panels{s, k, n, k, stride, NewFloats(s.panels(n) * s.columns * stride)}
}

// spread returns a number of rows of a panel, at least k, at which the same
// rows of all panels don't compete for the same lines of a cache: not close to
// a multiple of half a way of the second-level cache.
func (s *Set) spread(k int) int {
	const bytes, apart = 32 << 10, 4 << 10
	period, least := bytes/(4*s.columns), apart/(4*s.columns)
	switch r := k % period; {
	case k < period-least:
		return k
	case r < least:
		return k - r + least
	case r > period-least:
		return k - r + period + least
	}
	return k
}

// panels returns the panels of n columns.
func (s *Set) panels(n int) int { return (n + s.columns - 1) / s.columns }

// Count returns the number of panels.
func (p *Panels) Count() int { return p.set.panels(p.n) }

// Resize sets the number of rows, to at most that of NewPanels. What the
// panels hold is then unspecified.
func (p *Panels) Resize(k int) {
	if k < 1 || k > p.most {
		panic(badShape)
	}
	p.k = k
}

// Pack sets the panels [lo,hi) to their columns of the matrix whose element
// (i,j) is b[i*row+j].
func (p *Panels) Pack(b []float32, row, lo, hi int) { p.pack(b, row, 0, p.k, lo, hi) }

// PackTransposed does so for the matrix whose element (i,j) is b[i+j*column].
func (p *Panels) PackTransposed(b []float32, column, lo, hi int) {
	if lo < 0 || lo > hi || hi > p.Count() {
		panic(badShape)
	}
	if !holds(len(b), p.n, column, p.k, 1) {
		panic(badLength)
	}
	few := min(fewColumns, p.set.columns)
	for j := lo * p.set.columns; j < min(hi*p.set.columns, p.n); j += few {
		p.packColumns(b, column, j, min(few, p.n-j))
	}
}

// PackRows sets the rows [from,from+k) to those of the matrix whose element
// (i,j) is b[i*row+j].
func (p *Panels) PackRows(b []float32, row, from, k int) {
	if from < 0 || k < 0 || from+k > p.k {
		panic(badShape)
	}
	p.pack(b, row, from, k, 0, p.Count())
}

// pack sets k rows of the panels [lo,hi).
func (p *Panels) pack(b []float32, row, from, k, lo, hi int) {
	if lo < 0 || lo > hi || hi > p.Count() {
		panic(badShape)
	}
	if k == 0 {
		return
	}
	if !holds(len(b), k, row, p.n, 1) {
		panic(badLength)
	}
	columns := p.set.columns
	for j := lo; j < hi; j++ {
		dst, src := p.panel(j)[from*columns:], b[j*columns:]
		width := min(columns, p.n-j*columns)
		if width == columns {
			p.set.copyRows(dst, src, row, k)
			continue
		}
		for i := range k {
			copy(dst[i*columns:i*columns+width], src[i*row:])
		}
	}
}

// panel returns panel j.
func (p *Panels) panel(j int) []float32 {
	size := p.stride * p.set.columns
	return p.data[j*size : (j+1)*size]
}

// copyRowsGo is copyRows in Go.
func (s *Set) copyRowsGo(dst, src []float32, row, k int) {
	for i := range k {
		copy(dst[i*s.columns:(i+1)*s.columns], src[i*row:])
	}
}

// Gate clears the elements of the rows [from,from+k) whose activation, an
// element of q in the same place, is zero: the derivative of ReLU, taken to be 0
// at 0.
func (p *Panels) Gate(q *Panels, from, k int) {
	if q.set != p.set || q.k != p.k || q.n != p.n || q.stride != p.stride || from < 0 || k < 0 || from+k > p.k {
		panic(badShape)
	}
	columns := p.set.columns
	for j := range p.Count() {
		lo, hi := from*columns, (from+k)*columns
		p.set.gateRow(p.panel(j)[lo:hi], q.panel(j)[lo:hi])
	}
}

// fewColumns is the columns of a panel that are packed together where they
// lie across memory: the rows of a block that assembly transposes.
const fewColumns = 8

// packColumns sets n columns from j on, of one panel.
func (p *Panels) packColumns(b []float32, column, j, n int) {
	columns, done := p.set.columns, 0
	dst := p.panel(j / columns)[j%columns:]
	if whole := p.set.whole(p.k); n == fewColumns && whole > 0 {
		transpose8(&dst[0], &b[j*column], 4*columns, 4*column, whole)
		done = whole
	}
	for l := range n {
		c := b[(j+l)*column : (j+l)*column+p.k]
		for i := done; i < p.k; i++ {
			dst[i*columns+l] = c[i]
		}
	}
}

// line is the float32 of a cache line.
const line = 16

// NewFloats returns n zeros that start a cache line, and own their last.
func NewFloats(n int) []float32 {
	v := make([]float32, n+2*line)
	skip := -(uintptr(unsafe.Pointer(unsafe.SliceData(v))) / 4) % line
	return v[skip : int(skip)+n : int(skip)+n]
}

// Stride returns a distance between rows of n columns, at least n, at which
// the rows of a matrix don't all compete for the same lines of a cache: an
// odd number of cache lines.
func Stride(n int) int {
	lines := (n + line - 1) / line
	return (lines | 1) * line
}
