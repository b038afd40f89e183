package kernel

import "unsafe"

// Panels is the right factor of products, packed for a Set: a matrix of K
// rows and N columns, cut into panels of the set's columns. A panel is its
// rows one behind the other, [K,columns]; the last is padded with zeros.
type Panels struct {
	set  *Set
	k, n int
	data []float32 // [panel,k,columns]
}

// NewPanels returns panels for matrices of k rows and n columns, all zero.
func (s *Set) NewPanels(k, n int) *Panels {
	if k < 1 || n < 1 {
		panic(badShape)
	}
	return &Panels{s, k, n, NewFloats(s.panels(n) * s.columns * k)}
}

// panels returns the panels of n columns.
func (s *Set) panels(n int) int { return (n + s.columns - 1) / s.columns }

// Count returns the number of panels.
func (p *Panels) Count() int { return p.set.panels(p.n) }

// Resize sets the number of rows, to at most that of NewPanels. What the
// panels hold is then unspecified.
func (p *Panels) Resize(k int) {
	if n := p.Count() * p.set.columns * k; k < 1 || n > len(p.data) {
		panic(badShape)
	}
	p.k = k
}

// Pack sets the panels [lo,hi) to their columns of the matrix whose element
// (i,j) is b[i*row+j*column].
func (p *Panels) Pack(b []float32, row, column, lo, hi int) {
	if len(b) < (p.k-1)*row+(p.n-1)*column+1 {
		panic(badLength)
	}
	for j := lo; j < hi; j++ {
		dst := p.panel(j)
		first := j * p.set.columns
		width := min(p.set.columns, p.n-first)
		src := b[first*column:]
		if column == 1 {
			p.packRows(dst, src, row, width)
		} else {
			packColumns(dst, src, row, column, width, p.set.columns, p.k)
		}
	}
}

// panel returns panel j.
func (p *Panels) panel(j int) []float32 {
	size := p.k * p.set.columns
	return p.data[j*size : (j+1)*size]
}

// packRows copies the first width elements of each row.
func (p *Panels) packRows(dst, src []float32, row, width int) {
	columns := p.set.columns
	if width == columns {
		p.set.copyRows(dst, src, row, width, p.k)
		return
	}
	for i := range p.k {
		copy(dst[i*columns:i*columns+width], src[i*row:i*row+width])
	}
}

// copyRowsGo copies n elements from each of k rows.
func copyRowsGo(dst, src []float32, row, n, k int) {
	for i := range k {
		copy(dst[i*n:(i+1)*n], src[i*row:i*row+n])
	}
}

// packColumns copies a matrix whose columns are close together in memory
// rather than its rows. It goes down a few columns at a time, so that the
// lines of the cache that they lie in are used up.
func packColumns(dst, src []float32, row, column, width, columns, k int) {
	const few = 4
	j := 0
	for ; j+few <= width; j += few {
		c0, c1 := src[j*column:], src[(j+1)*column:]
		c2, c3 := src[(j+2)*column:], src[(j+3)*column:]
		for i := range k {
			d := dst[i*columns+j : i*columns+j+few : i*columns+j+few]
			d[0], d[1], d[2], d[3] = c0[i*row], c1[i*row], c2[i*row], c3[i*row]
		}
	}
	for ; j < width; j++ {
		c := src[j*column:]
		for i := range k {
			dst[i*columns+j] = c[i*row]
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
