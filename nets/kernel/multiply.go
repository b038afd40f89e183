package kernel

import "unsafe"

// A Product is C = A·B, or C = start + A·B, for A [M,K], B [K,N], C [M,N].
type Product struct {
	M int

	// Element (i,k) of A is A[i*RowA+k*ColumnA]; or A is packed, by PackRows.
	A             []float32
	RowA, ColumnA int
	Packed        bool

	B *Panels

	// Element (i,j) of C is C[i*RowC+j].
	C    []float32
	RowC int

	// What the sums start from: Bias [N], or C itself, or zero.
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
}

// zeros is a bias of zero for the panels of one tile.
var zeros [256]float32

func at(v []float32, i int) unsafe.Pointer { return unsafe.Pointer(&v[i]) }

// Multiply computes the columns of the panels [lo,hi) of a product. Products
// of one B may run side by side.
func (s *Set) Multiply(p *Product, lo, hi int) {
	p.check(s, lo, hi)
	if p.M == 0 {
		return
	}
	// Parts of equal depth, a multiple of the turns that kernels unroll.
	k := p.B.k
	parts := (k + s.depth - 1) / s.depth
	depth := ((k+parts-1)/parts + 3) &^ 3
	for from := 0; from < k; from += depth {
		s.multiplyPart(p, from, min(from+depth, k), lo, hi)
	}
}

func (p *Product) check(s *Set, lo, hi int) {
	b := p.B
	switch {
	case b.set != s || p.M < 0 || lo < 0 || lo > hi || hi > b.Count():
		panic(badShape)
	case p.M == 0:
		return
	case p.RowC < b.n || !p.Packed && (p.RowA < 0 || p.ColumnA < 0):
		panic(badShape)
	case len(p.C) < (p.M-1)*p.RowC+b.n || p.Bias != nil && len(p.Bias) < b.n:
		panic(badLength)
	case p.Packed && len(p.A) < s.PackedRows(p.M, b.k):
		panic(badLength)
	case !p.Packed && len(p.A) < (p.M-1)*p.RowA+(b.k-1)*p.ColumnA+1:
		panic(badLength)
	}
}

// multiplyPart adds the part [from,to) of the inner dimension. A panel of B
// stays in the cache while the rows of A pass.
func (s *Set) multiplyPart(p *Product, from, to, lo, hi int) {
	b := p.B
	t := tile{
		rowA: 4 * p.RowA, colA: 4 * p.ColumnA,
		panelB: 4 * b.k * s.columns, rowC: 4 * p.RowC, k: to - from,
	}
	if p.Packed {
		t.rowA, t.colA = 4, 4*s.rows
	}
	if p.ReLU && to == b.k {
		t.relu = 1
	}
	tiles := (p.M + s.rows - 1) / s.rows
	for j := lo; j < hi; {
		panels := s.panelsAtOnce(p.M)
		if j+panels > hi || (j+panels)*s.columns > b.n {
			panels = 1
		}
		first := j * s.columns
		t.b = at(b.data, (j*b.k+from)*s.columns)
		t.columns = min(s.columns, b.n-first)
		for i := range tiles {
			r, end := p.tile(&t, i, tiles, from, s)
			t.c = at(p.C, r*p.RowC+first)
			p.start(&t, first, from)
			s.compute(&t, end-r, panels)
		}
		j += panels
	}
}

// tile sets the address of A for tile i and returns its rows. Unless A is
// packed, the tiles are cut evenly: the registers of a tile of few rows would
// be idle.
func (p *Product) tile(t *tile, i, tiles, from int, s *Set) (lo, hi int) {
	if p.Packed {
		lo, hi = i*s.rows, min((i+1)*s.rows, p.M)
		t.a = at(p.A, (i*p.B.k+from)*s.rows)
		return lo, hi
	}
	lo, hi = i*p.M/tiles, (i+1)*p.M/tiles
	t.a = at(p.A, lo*p.RowA+from*p.ColumnA)
	return lo, hi
}

// start sets what the sums of a tile start from.
func (p *Product) start(t *tile, first, from int) {
	switch {
	case from > 0 || p.Add:
		t.init, t.rowInit = t.c, t.rowC
	case p.Bias != nil:
		t.init, t.rowInit = at(p.Bias, first), 0
	default:
		t.init, t.rowInit = at(zeros[:], 0), 0
	}
}

// PackedRows returns the length of the packed form of m rows of depth k.
func (s *Set) PackedRows(m, k int) int { return (m + s.rows - 1) / s.rows * s.rows * k }

// PackRows packs the transpose of a matrix as a part of the left factor of a
// product: of A [m,depth] it sets the columns [from,from+k) to the rows of src,
// A's element (i,from+l) being src[l*row+i]. It is for A whose rows lie across
// memory, as in the gradient of weights. dst holds all of A.
func (s *Set) PackRows(dst []float32, m, depth int, src []float32, row, from, k int) {
	if from < 0 || from+k > depth {
		panic(badShape)
	}
	if k == 0 {
		return
	}
	if len(dst) < s.PackedRows(m, depth) || len(src) < (k-1)*row+m {
		panic(badLength)
	}
	for i := 0; i < m; i += s.rows {
		tile := dst[i*depth+from*s.rows:]
		if i+s.rows <= m {
			s.copyRows(tile, src[i:], row, s.rows, k)
			continue
		}
		for l := range k {
			copy(tile[l*s.rows:], src[l*row+i:l*row+m])
		}
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
		for l := range b {
			v := *(*float32)(a)
			w := &b[l]
			s0 += float32(v * w[0])
			s1 += float32(v * w[1])
			s2 += float32(v * w[2])
			s3 += float32(v * w[3])
			a = unsafe.Add(a, t.colA)
		}
		sums := [columns]float32{s0, s1, s2, s3}
		rectify(&sums, t.relu)
		copy(unsafe.Slice((*float32)(unsafe.Add(t.c, i*t.rowC)), t.columns), sums[:])
	}
}
