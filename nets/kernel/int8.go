package kernel

import (
	"math"
	"unsafe"
)

// Products of bytes take a quarter of the memory of those of float32, and with
// AVX2 or AVX-512 less time. An activation is a number of steps from 0 to
// Int8Steps, a weight one from -127 to 127, and what a step is worth is the
// caller's. Sums are exact, and what follows them is rounded like Go: all sets
// give the same bits, the portable one too.

// Int8Steps is the most steps of an activation: seven bits, so that the sum of
// two products fits the 16 bits that AVX2 has for it.
const Int8Steps = 127

// Int8MaxDepth bounds the inner dimension, so that sums fit 32 bits.
const Int8MaxDepth = 1 << 17

// An int8Kernel is the code for products of bytes that a Set calls, and the
// rows and columns of a full tile.
type int8Kernel struct {
	code          instructions
	rows, columns int
}

var int8InGo = int8Kernel{portable, 2, 4}

// Inputs come in groups: quads of four, which one lane of a vector multiplies
// at once, and four of those, whose products AVX2 adds in 16 bits.
const (
	int8Quad  = 4
	int8Group = 16
)

// Int8Stride returns a distance between rows of n bytes at which a product can
// read and write them, at least n: an odd number of cache lines.
func Int8Stride(n int) int {
	const line = 64
	return ((n+line-1)/line | 1) * line
}

// NewBytes returns n zeros that start a cache line.
func NewBytes(n int) []uint8 { return bytesOf[uint8](NewFloats((n + 3) / 4))[:n:n] }

// bytesOf returns floats as bytes.
func bytesOf[T uint8 | int8](v []float32) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// An Int8Product is C = A·B·scale + bias for bytes A [M,K], by the scales and
// biases of B.
type Int8Product struct {
	M int

	// Element (i,k) of A is A[i*RowA+k], at most Int8Steps: with more, AVX2
	// would saturate sums that the other sets get right. Rows are at least
	// Int8Stride(K) apart; what lies between them is read, and may be anything.
	A    []uint8
	RowA int

	B *Int8Panels

	// Element (i,j) of C is C[i*RowC+j]. Or C is nil, and the results are
	// wanted in whole steps from 0 to Int8Steps, Steps[i*RowSteps+j]: rows are
	// at least Int8Stride(N) apart, and something is written between them. Only
	// one of the two may be given.
	C        []float32
	RowC     int
	Steps    []uint8
	RowSteps int
}

// An int8Tile is the arguments of the kernel that computes a few rows of a
// panel. Distances are in bytes. The assembly shares code with that of a tile:
// what fields have in common is in the same places.
type int8Tile struct {
	a           unsafe.Pointer
	rowA, _     int
	b           unsafe.Pointer // [groups,quads,columns,4] of a panel
	_           int
	c           unsafe.Pointer
	rowC        int
	scale, bias unsafe.Pointer // [columns]
	groups      int
	columns     int // of the panel, a whole one's unless it is the last
	steps       int // 1 to write steps, 0 for float32
}

// MultiplyInt8 computes a product.
func (s *Set) MultiplyInt8(p *Int8Product) {
	p.check(s)
	if p.M == 0 {
		return
	}
	b := p.B
	t := int8Tile{rowA: p.RowA, groups: b.depth / int8Group}
	tiles := (p.M + b.kernel.rows - 1) / b.kernel.rows
	for j := range b.Count() {
		first := j * b.kernel.columns
		t.b = unsafe.Pointer(&b.panel(j)[0])
		t.scale, t.bias = at(b.scale, first), at(b.bias, first)
		t.columns = min(b.kernel.columns, b.n-first)
		for i := range tiles {
			lo, hi := i*p.M/tiles, (i+1)*p.M/tiles
			t.a = unsafe.Pointer(&p.A[lo*p.RowA])
			p.place(&t, lo, first)
			b.kernel.compute(&t, hi-lo)
		}
	}
}

func (p *Int8Product) check(s *Set) {
	b := p.B
	switch {
	case b.set != s || p.M < 0 || p.C != nil && p.Steps != nil:
		panic(badShape)
	case p.M == 0:
		return
	case p.RowA < Int8Stride(b.k) || p.C != nil && p.RowC < b.n || p.C == nil && p.RowSteps < Int8Stride(b.n):
		panic(badShape)
	case len(p.A) < p.M*p.RowA || p.C != nil && len(p.C) < (p.M-1)*p.RowC+b.n || p.C == nil && len(p.Steps) < p.M*p.RowSteps:
		panic(badLength)
	}
}

// place sets where a tile's results go.
func (p *Int8Product) place(t *int8Tile, row, column int) {
	if p.C != nil {
		t.c, t.rowC, t.steps = at(p.C, row*p.RowC+column), 4*p.RowC, 0
	} else {
		t.c, t.rowC, t.steps = unsafe.Pointer(&p.Steps[row*p.RowSteps+column]), p.RowSteps, 1
	}
}

// compute is the tile in Go, of panels of four columns.
func (t *int8Tile) compute(rows int) {
	const columns = 4
	b := unsafe.Slice((*[columns][int8Quad]int8)(t.b), t.groups*int8Group/int8Quad)
	scale, bias := (*[columns]float32)(t.scale), (*[columns]float32)(t.bias)
	for i := range rows {
		a := unsafe.Slice((*[int8Quad]uint8)(unsafe.Add(t.a, i*t.rowA)), len(b))
		var sums [columns]int32
		for q := range b {
			x := &a[q]
			for j := range sums {
				w := &b[q][j]
				sums[j] += int32(x[0])*int32(w[0]) + int32(x[1])*int32(w[1]) + int32(x[2])*int32(w[2]) + int32(x[3])*int32(w[3])
			}
		}
		c := unsafe.Add(t.c, i*t.rowC)
		for j := range t.columns {
			v := float32(float32(sums[j])*scale[j]) + bias[j]
			if t.steps != 0 {
				*(*uint8)(unsafe.Add(c, j)) = toSteps(v)
			} else {
				*(*float32)(unsafe.Add(c, 4*j)) = v
			}
		}
	}
}

// toSteps rounds to whole steps between 0 and Int8Steps; NaN becomes 0.
func toSteps(v float32) uint8 {
	if !(v > 0) {
		return 0
	}
	return uint8(math.RoundToEven(float64(min(v, Int8Steps))))
}

// Quantise sets dst to v·scale + offset in whole steps from 0 to Int8Steps. It
// reports whether all elements of v are finite; the steps of one that isn't
// are unspecified.
func (s *Set) Quantise(dst []uint8, v, scale, offset []float32) bool {
	if len(dst) != len(v) || len(scale) != len(v) || len(offset) != len(v) {
		panic(badLength)
	}
	n := s.whole(len(v))
	odd := uint64(0)
	if n > 0 {
		odd = quantise(&dst[0], &v[0], &scale[0], &offset[0], n)
	}
	difference := float32(0)
	for i := n; i < len(v); i++ {
		difference += v[i] - v[i]
		dst[i] = toSteps(float32(v[i]*scale[i]) + offset[i])
	}
	return odd == 0 && difference == 0
}

// Int8Name names the instruction set of the products of bytes: avx512vnni, avx2
// or go.
func (s *Set) Int8Name() string {
	switch s.int8().code {
	case portable:
		return "go"
	case avx2:
		return "avx2"
	}
	return "avx512vnni"
}
