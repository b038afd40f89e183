package kernel

import "unsafe"

// A Matrix is where the elements of a left factor or of a result lie: rows in
// memory, rows of panels, or panels read as the transpose of what they hold.
type Matrix struct {
	data          []float32
	rows, columns int // it has, at least
	row, column   int // distances between rows, between columns
	panel         int // distance between panels, 0 if it isn't cut into any
	width         int // columns of a panel, or rows if transposed
	transposed    bool
}

// Rows returns the matrix whose element (i,j) is v[i*stride+j].
func Rows(v []float32, stride, rows, columns int) Matrix {
	return strided(v, stride, 1, rows, columns)
}

// Ones is a row of ones of any length, as a left factor.
func Ones(columns int) Matrix { return strided(one[:], 0, 0, 1, columns) }

var one = [1]float32{1}

func strided(v []float32, row, column, rows, columns int) Matrix {
	if row < 0 || column < 0 || rows < 0 || columns < 0 {
		panic(badShape)
	}
	if rows > 0 && columns > 0 && !holds(len(v), rows, row, columns, column) {
		panic(badLength)
	}
	return Matrix{data: v, rows: rows, columns: columns, row: row, column: column}
}

// holds reports whether n elements hold a matrix of those distances, without
// computing what may overflow.
func holds(n, rows, row, columns, column int) bool {
	for _, d := range [2][2]int{{rows - 1, row}, {columns - 1, column}} {
		steps, distance := d[0], d[1]
		if distance < 0 || steps > 0 && distance > (n-1)/steps {
			return false
		}
		n -= steps * distance
	}
	return n > 0
}

// From returns the rows from one on.
func (p *Panels) From(row int) Matrix {
	if row < 0 || row > p.k {
		panic(badShape)
	}
	c := p.set.columns
	return Matrix{data: p.data[row*c:], rows: p.k - row, columns: p.n, row: c, column: 1, panel: p.stride * c, width: c}
}

// Transposed returns the transpose, from the row on that is the given column,
// which must be the first of a panel.
func (p *Panels) Transposed(column int) Matrix {
	c := p.set.columns
	if column < 0 || column >= p.n || column%c != 0 {
		panic(badShape)
	}
	return Matrix{
		data: p.data[column*p.stride:], rows: p.n - column, columns: p.k,
		row: 1, column: c, panel: p.stride * c, width: c, transposed: true,
	}
}

// at returns the address of element (i,j), of which j begins a panel or is any
// column of a matrix without them; i alike if it is transposed.
func (m *Matrix) at(i, j int) unsafe.Pointer {
	switch {
	case m.panel == 0:
		return at(m.data, i*m.row+j*m.column)
	case m.transposed:
		return at(m.data, i/m.width*m.panel+i%m.width+j*m.column)
	}
	return at(m.data, i*m.row+j/m.width*m.panel+j%m.width)
}

// A Product is C = A·B, or C = start + A·B, for M rows of A, with the panels'
// rows as the inner dimension and their columns as those of C.
type Product struct {
	M int
	A Matrix
	B *Panels
	C Matrix // not transposed

	// What the sums start from: Bias [N], or with Add C itself, or zero.
	Bias []float32
	Add  bool

	// ReLU sets negative elements of the result to zero, and keeps NaN.
	ReLU bool
}

// A tile is the arguments of the kernel that computes a few rows of C in one
// or a few panels. Distances are in bytes.
type tile struct {
	a          unsafe.Pointer
	rowA, colA int            // from a row of A to the next, from a column to the next
	b          unsafe.Pointer // [panel,k,columns of a panel]
	panelB     int            // from a panel of B to the next
	c          unsafe.Pointer
	rowC       int
	init       unsafe.Pointer // what the sums start from
	rowInit    int            // 0 where it is the same for all rows
	k          int            // inner dimension, at least 1
	columns    int            // of the panel, a whole one's unless it is the last
	relu       int            // 0 or 1

	// A is read in turns of so many columns, and after each a jump is added.
	turnA, jumpA int

	panelC, panelInit int // from a panel of C to the next
}

// zeros is a bias of zero for one panel.
var zeros [32]float32

func at(v []float32, i int) unsafe.Pointer { return unsafe.Pointer(&v[i]) }

// Multiply computes the columns of the panels [lo,hi) of a product. Products
// of one B may run side by side.
func (s *Set) Multiply(p *Product, lo, hi int) {
	p.check(s, p.M, lo, hi)
	if p.M > p.A.rows || p.A.columns < p.B.k || p.A.panel > 0 && p.A.width != s.columns {
		panic(badShape)
	}
	if p.M == 0 {
		return
	}
	// Parts of equal depth, of whole turns.
	k := p.B.k
	parts := (k + s.depth - 1) / s.depth
	depth := ((k+parts-1)/parts + s.columns - 1) / s.columns * s.columns
	for from := 0; from < k; from += depth {
		s.multiplyPart(p, from, min(from+depth, k), lo, hi)
	}
}

// check checks what all products of m rows have in common.
func (p *Product) check(s *Set, m, lo, hi int) {
	b, c := p.B, &p.C
	whole := c.panel == 0 && c.column == 1 || c.panel > 0 && c.width == s.columns && !c.transposed
	switch {
	case b.set != s || m < 0 || lo < 0 || lo > hi || hi > b.Count():
		panic(badShape)
	case m > c.rows || m > 0 && (!whole || c.columns < b.n) || p.Bias != nil && p.Add:
		panic(badShape)
	case p.Bias != nil && len(p.Bias) < b.n:
		panic(badLength)
	}
}

// multiplyPart adds the part [from,to) of the inner dimension. A panel of B
// stays in the cache while the rows of A pass.
func (s *Set) multiplyPart(p *Product, from, to, lo, hi int) {
	b, a := p.B, &p.A
	t := tile{
		rowA: 4 * a.row, colA: 4 * a.column, turnA: to - from,
		panelB: 4 * b.stride * s.columns, rowC: 4 * p.C.row, panelC: p.panelC(s), k: to - from,
	}
	if a.panel > 0 && !a.transposed {
		t.turnA, t.jumpA = a.width, 4*(a.panel-a.width)
	}
	if p.ReLU && to == b.k {
		t.relu = 1
	}
	for j := lo; j < hi; {
		panels := s.panelsAtOnce(p.M)
		if j+panels > hi || (j+panels)*s.columns > b.n {
			panels = 1
		}
		first := j * s.columns
		t.b = at(b.data, (j*b.stride+from)*s.columns)
		t.columns = min(s.columns, b.n-first)
		for r := 0; r < p.M; r += p.strip() {
			s.strip(p, &t, r, first, from, panels)
		}
		j += panels
	}
}

// strip returns the rows that lie at equal distances in A: all, or those of a
// panel if A is transposed.
func (p *Product) strip() int {
	if p.A.transposed {
		return p.A.width
	}
	return p.M
}

// strip computes the tiles of a strip from row r on. They are cut evenly: the
// registers of a tile of few rows would be idle.
func (s *Set) strip(p *Product, t *tile, r, first, from, panels int) {
	n := min(p.strip(), p.M-r)
	tiles := (n + s.rows - 1) / s.rows
	rows, taller := n/tiles, n%tiles
	a, c := p.A.at(r, from), p.C.at(r, first)
	for i := range tiles {
		m := rows
		if i < taller {
			m++
		}
		t.a, t.c = a, c
		p.start(t, first, from)
		s.compute(t, m, panels)
		if i < tiles-1 {
			a, c = unsafe.Add(a, m*t.rowA), unsafe.Add(c, m*t.rowC)
		}
	}
}

// panelC returns the distance in bytes between the panels of C.
func (p *Product) panelC(s *Set) int {
	if p.C.panel > 0 {
		return 4 * p.C.panel
	}
	return 4 * s.columns
}

// start sets what the sums of a tile start from.
func (p *Product) start(t *tile, first, from int) {
	switch {
	case from > 0 || p.Add:
		t.init, t.rowInit, t.panelInit = t.c, t.rowC, t.panelC
	case p.Bias != nil:
		t.init, t.rowInit, t.panelInit = at(p.Bias, first), 0, 4*p.B.set.columns
	default:
		t.init, t.rowInit, t.panelInit = at(zeros[:], 0), 0, 0
	}
}

// compute is the tile in Go, of panels of four columns. A conversion keeps the
// compiler from fusing a product and a sum, which it may do in one place and
// not in another.
func (t *tile) compute(rows int) {
	const columns = 4
	b := unsafe.Slice((*[columns]float32)(t.b), t.k)
	for i := range rows {
		var start [columns]float32
		copy(start[:], unsafe.Slice((*float32)(unsafe.Add(t.init, i*t.rowInit)), t.columns))
		s0, s1, s2, s3 := start[0], start[1], start[2], start[3]
		a := unsafe.Add(t.a, i*t.rowA)
		left := t.turnA
		for l := range b {
			if l > 0 { // not past the last element: the race detector minds
				step := t.colA
				if left == 0 {
					step, left = step+t.jumpA, t.turnA
				}
				a = unsafe.Add(a, step)
			}
			left--
			v := *(*float32)(a)
			w := &b[l]
			s0 += float32(v * w[0])
			s1 += float32(v * w[1])
			s2 += float32(v * w[2])
			s3 += float32(v * w[3])
		}
		sums := [columns]float32{s0, s1, s2, s3}
		finish(&sums, t.relu)
		copy(unsafe.Slice((*float32)(unsafe.Add(t.c, i*t.rowC)), t.columns), sums[:])
	}
}
