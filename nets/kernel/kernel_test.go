package kernel

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"vtrain/vec"
)

// eachSet runs a test on every set of this machine.
func eachSet(t *testing.T, f func(*testing.T, *Set)) {
	for _, s := range Sets() {
		t.Run(s.name, func(t *testing.T) { f(t, s) })
	}
}

// random returns elements of [-.5,.5), of which that share isn't zero.
func random(n int, share float32, seed uint64) []float32 {
	s := vec.At(vec.Key(seed, 0), 0)
	v := make([]float32, n)
	for i := range v {
		if f := s.Float32(); s.Float32() < share {
			v[i] = f - 0.5
		}
	}
	return v
}

var nan = float32(math.NaN())

// fenced returns room for n elements that starts at an odd address between
// two strips of NaN, and a check that the strips are what they were.
func fenced(t *testing.T, n int) (v []float32, check func()) {
	const strip = 67
	all := make([]float32, n+2*strip)
	for i := range all {
		all[i] = nan
	}
	return all[strip : strip+n], func() {
		t.Helper()
		for i, f := range all {
			if (i < strip || i >= strip+n) && f == f {
				t.Fatalf("element %d of 0…%d was written", i-strip, n-1)
			}
		}
	}
}

// copied fences a copy.
func copied(t *testing.T, v []float32) []float32 {
	w, _ := fenced(t, len(v))
	copy(w, v)
	return w
}

type dims struct{ m, n, k int }

// sizes returns odd sizes, sizes at and beside those of tiles, panels, and
// parts of the inner dimension, and every number of rows up to two tiles.
func sizes(s *Set) []dims {
	d := []dims{{1, 1, 1}, {3, 22, 5}, {5, 2 * s.columns, 7}, {s.block, s.columns + 1, s.depth},
		{2*s.rows + 1, 9 * s.columns, s.depth + 1}, {33, 3*s.columns - 1, 2*s.depth + 3}}
	for m := 1; m <= 2*s.rows; m++ {
		d = append(d, dims{m, 10*s.columns + 5, 13})
	}
	for m := 1; m <= 7; m++ { // several panels of A, and of B at once
		d = append(d, dims{m, 10*s.columns + 5, 3*s.columns + 1})
	}
	for n := 1; n <= 2*s.columns; n++ {
		d = append(d, dims{min(n, 7), n, 6})
	}
	return d
}

// product computes start + A·B in float64, one element at a time, and the sum
// of magnitudes that bounds its error.
func product(d dims, a func(i, k int) float32, b func(k, j int) float32, start func(i, j int) float32) (c, bound []float64) {
	c, bound = make([]float64, d.m*d.n), make([]float64, d.m*d.n)
	for i := range d.m {
		for j := range d.n {
			sum := float64(start(i, j))
			size := math.Abs(sum)
			for k := range d.k {
				v := float64(a(i, k)) * float64(b(k, j))
				sum, size = sum+v, size+math.Abs(v)
			}
			c[i*d.n+j], bound[i*d.n+j] = sum, size
		}
	}
	return c, bound
}

// TestMultiply compares products with float64, for all ways that A and C may
// lie and all starts. Everything read lies between NaN, and so does what is
// written.
func TestMultiply(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for i, d := range sizes(s) {
			for _, left := range []string{"rows", "columns", "panels", "transposed"} {
				for _, start := range []string{"zero", "bias", "add"} {
					multiplyOnce(t, s, d, left, start, i%2 == 0)
				}
			}
		}
	})
}

func multiplyOnce(t *testing.T, s *Set, d dims, left, start string, relu bool) {
	t.Helper()
	what := fmt.Sprintf("%s: %+v, A in %s, start %s, ReLU %v", s.name, d, left, start, relu)
	a, b, before := random(d.m*d.k, 1, 1), random(d.k*d.n, 1, 2), random(d.m*d.n, 1, 4)
	panels := s.NewPanels(d.k, d.n)
	panels.Pack(copied(t, b), d.n, 0, panels.Count())
	p := Product{M: d.m, A: leftOf(t, s, a, d, left), B: panels, ReLU: relu, Add: start == "add"}
	first := func(i, j int) float32 { return 0 }
	switch start {
	case "bias":
		p.Bias = copied(t, random(d.n, 1, 3))
		first = func(_, j int) float32 { return p.Bias[j] }
	case "add":
		first = func(i, j int) float32 { return before[i*d.n+j] }
	}
	want, bound := product(d, func(i, k int) float32 { return a[i*d.k+k] }, func(k, j int) float32 { return b[k*d.n+j] }, first)

	half := panels.Count() / 2
	multiply := func() {
		s.Multiply(&p, half, panels.Count())
		s.Multiply(&p, 0, half)
	}
	got := intoRows(t, &p, before, d, multiply)
	for i, w := range want {
		if relu {
			w = max(w, 0)
		}
		if diff := math.Abs(float64(got[i]) - w); !(diff <= 1e-6*(1+bound[i])) {
			t.Fatalf("%s: element %d,%d is %v, want %v", what, i/d.n, i%d.n, got[i], w)
		}
	}
	sameBits(t, what+", C in panels", intoPanels(t, s, &p, before, d, multiply), got)
}

// leftOf stores A [m,k] in one of the ways it may lie.
func leftOf(t *testing.T, s *Set, a []float32, d dims, left string) Matrix {
	if left == "rows" {
		return Rows(copied(t, a), d.k, d.m, d.k)
	}
	turned := make([]float32, len(a))
	for i := range d.m {
		for k := range d.k {
			turned[k*d.m+i] = a[i*d.k+k]
		}
	}
	switch left {
	case "columns":
		return strided(copied(t, turned), 1, d.m, d.m, d.k)
	case "panels": // below other rows
		const above = 3
		p := s.NewPanels(d.m+above, d.k)
		poison(p)
		p.PackRows(a, d.k, above, d.m)
		return p.From(above)
	}
	// Right of another panel.
	p := s.NewPanels(d.k, d.m+s.columns)
	poison(p)
	wide := make([]float32, d.k*(d.m+s.columns))
	for k := range d.k {
		copy(wide[k*(d.m+s.columns)+s.columns:], turned[k*d.m:(k+1)*d.m])
	}
	p.PackRows(wide, d.m+s.columns, 0, d.k)
	return p.Transposed(s.columns)
}

// poison fills panels with NaN, padding included.
func poison(p *Panels) {
	for i := range p.data {
		p.data[i] = nan
	}
}

// intoRows runs a product into rows of memory, which are a little apart, and
// returns C.
func intoRows(t *testing.T, p *Product, before []float32, d dims, run func()) []float32 {
	t.Helper()
	stride := d.n + 3
	c, intact := fenced(t, (d.m-1)*stride+d.n)
	for i := range c {
		c[i] = nan
	}
	for i := range d.m {
		copy(c[i*stride:i*stride+d.n], before[i*d.n:])
	}
	p.C = Rows(c, stride, d.m, d.n)
	run()
	intact()
	got := make([]float32, d.m*d.n)
	for i := range d.m {
		copy(got[i*d.n:(i+1)*d.n], c[i*stride:])
		for j := d.n; j < stride && i < d.m-1; j++ {
			if v := c[i*stride+j]; v == v {
				t.Fatalf("%+v: element %d,%d between the rows of C was written", d, i, j)
			}
		}
	}
	return got
}

// intoPanels runs a product into rows of panels, between others that must stay
// as they are.
func intoPanels(t *testing.T, s *Set, p *Product, before []float32, d dims, run func()) []float32 {
	t.Helper()
	const above, below = 2, 3
	c := s.NewPanels(above+d.m+below, d.n)
	poison(c)
	c.PackRows(before, d.n, above, d.m)
	p.C = c.From(above)
	run()
	got := make([]float32, d.m*d.n)
	for at, v := range c.data {
		size := c.stride * s.columns
		i, j := at%size/s.columns-above, at/size*s.columns+at%s.columns
		switch {
		case i >= 0 && i < d.m && j < d.n:
			got[i*d.n+j] = v
		case v == v:
			t.Fatalf("%+v: element %d,%d of the panels was written", d, i, j)
		}
	}
	return got
}

// TestSameBits compares the sets in assembly with each other, and each with
// itself on other tiles.
func TestSameBits(t *testing.T) {
	sets := native()
	if len(sets) == 0 {
		t.Skip("no set in assembly here")
	}
	d := dims{61, 70, 523}
	a, b, bias := random(d.m*d.k, 1, 1), random(d.k*d.n, 1, 2), random(d.n, 1, 3)
	run := func(s *Set, lo, hi int) []float32 {
		panels := s.NewPanels(d.k, d.n)
		panels.Pack(b, d.n, 0, panels.Count())
		c := make([]float32, d.m*d.n)
		s.Multiply(&Product{M: hi - lo, A: Rows(a[lo*d.k:], d.k, hi-lo, d.k), B: panels, C: Rows(c[lo*d.n:], d.n, hi-lo, d.n), Bias: bias, ReLU: true}, 0, panels.Count())
		return c[lo*d.n : hi*d.n]
	}
	want := run(sets[0], 0, d.m)
	for _, s := range sets {
		for lo := range d.m {
			for _, hi := range []int{lo + 1, d.m} {
				sameBits(t, s.name, run(s, lo, hi), want[lo*d.n:hi*d.n])
			}
		}
	}
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %v, want exactly %v", what, i, got[i], want[i])
		}
	}
}

// TestPack packs a matrix, its transpose, and the matrix in two parts, which
// must be the same.
func TestPack(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for _, d := range sizes(s) {
			b := random(d.k*d.n, 1, 1)
			turned := make([]float32, len(b))
			for k := range d.k {
				for j := range d.n {
					turned[j*d.k+k] = b[k*d.n+j]
				}
			}
			p, q, parts := s.NewPanels(d.k, d.n), s.NewPanels(d.k, d.n), s.NewPanels(d.k, d.n)
			p.Pack(copied(t, b), d.n, 0, p.Count())
			q.PackTransposed(copied(t, turned), d.k, 0, q.Count())
			half := d.k / 2
			parts.PackRows(copied(t, b[half*d.n:]), d.n, half, d.k-half)
			parts.PackRows(copied(t, b[:half*d.n]), d.n, 0, half)
			sameBits(t, fmt.Sprint(d), p.data, q.data)
			sameBits(t, fmt.Sprint(d), parts.data, p.data)
			for i, v := range p.data {
				j, k := i/(p.stride*s.columns)*s.columns+i%s.columns, i/s.columns%p.stride
				if held := j < d.n && k < d.k; held && v != b[k*d.n+j] || !held && v != 0 {
					t.Fatalf("%v: element %d,%d is %v", d, k, j, v)
				}
			}
		}
	})
}

// TestGather compares sums over lists with the whole product, bit for bit.
func TestGather(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for i, d := range sizes(s) {
			for _, share := range []float32{0, 0.1, 1} {
				for _, start := range []string{"zero", "bias", "add"} {
					gatherOnce(t, s, d, share, start, i%2 == 0)
				}
			}
		}
	})
}

func gatherOnce(t *testing.T, s *Set, d dims, share float32, start string, relu bool) {
	t.Helper()
	a, b, before := random(d.m*d.k, share, 1), random(d.k*d.n, 1, 2), random(d.m*d.n, 1, 4)
	panels := s.NewPanels(d.k, d.n)
	panels.Pack(b, d.n, 0, panels.Count())
	p := Product{M: d.m, A: Rows(a, d.k, d.m, d.k), B: panels, ReLU: relu, Add: start == "add"}
	if start == "bias" {
		p.Bias = copied(t, random(d.n, 1, 3))
	}
	want := intoRows(t, &p, before, d, func() { s.Multiply(&p, 0, panels.Count()) })

	lists := s.NewLists(d.m, d.m*d.k)
	lists.Reset(d.k)
	for r := range d.m {
		lists.AppendRow(copied(t, a[r*d.k:(r+1)*d.k]))
	}
	p.M, p.A = 0, Matrix{}
	half := panels.Count() / 2
	gather := func() {
		s.Gather(lists, &p, 0, half)
		s.Gather(lists, &p, half, panels.Count())
	}
	what := fmt.Sprintf("%+v, share %v, start %s", d, share, start)
	sameBits(t, what, intoRows(t, &p, before, d, gather), want)
	sameBits(t, what+", C in panels", intoPanels(t, s, &p, before, d, gather), want)
}

// TestAppendColumns lists the columns of a matrix in two parts, and compares
// with the rows of its transpose.
func TestAppendColumns(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		const row = 70
		for _, d := range []struct{ rows, lo, hi int }{{1, 0, 1}, {9, 3, 67}, {40, 69, 70}, {5, 2, 2}, {0, 0, 3}} {
			x := random(d.rows*row, 0.2, 1)
			depth, half := max(d.rows, 1), d.rows/2
			got := s.NewLists(2*64, 2*64*depth)
			got.Reset(depth)
			got.AppendColumns(x, row, 0, half, d.lo, d.hi)
			got.AppendColumns(x[half*row:], row, half, d.rows-half, d.lo, d.hi)
			want := s.NewLists(2*64, 2*64*depth)
			want.Reset(depth)
			for _, part := range [][2]int{{0, half}, {half, d.rows}} {
				for j := d.lo; j < d.hi; j++ {
					column := make([]float32, d.rows)
					for i := part[0]; i < part[1]; i++ {
						column[i] = x[i*row+j]
					}
					want.AppendRow(column)
				}
			}
			if got.n != want.n || !slices.Equal(got.ends, want.ends) || !slices.Equal(got.offsets[:got.n], want.offsets[:got.n]) ||
				!slices.Equal(got.values[:got.n], want.values[:got.n]) {
				t.Errorf("%+v: listed %v of %v, want %v of %v", d, got.values[:got.n], got.ends, want.values[:want.n], want.ends)
			}
			if got.Reset(depth); got.Len() != 0 || got.room() != 2*64*depth {
				t.Errorf("%d elements and room for %d after Reset", got.Len(), got.room())
			}
		}
	})
}

// TestAppendRow lists special numbers, of which only the zeros are left out.
func TestAppendRow(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for n := range len(special) + 1 {
			l := s.NewLists(1, n)
			l.Reset(max(n, 1))
			l.AppendRow(copied(t, special[:n]))
			next := 0
			for k, f := range special[:n] {
				if f == 0 {
					continue
				}
				if next == l.Len() || l.offsets[next] != uint32(4*s.columns*k) || math.Float32bits(l.values[next]) != math.Float32bits(f) {
					t.Fatalf("%d elements: listed %v, which lacks %v at %d", n, l.values[:l.n], f, k)
				}
				next++
			}
			if next != l.Len() {
				t.Errorf("%d elements: listed %d, want %d", n, l.Len(), next)
			}
		}
	})
}

// special is the numbers at the edges of the bit tricks.
var special = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, -math.MaxFloat32,
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32,
	float32(math.Inf(1)), float32(math.Inf(-1)),
	math.Float32frombits(0x7f800001), math.Float32frombits(0xff800001),
	math.Float32frombits(0x7fffffff), math.Float32frombits(0xffffffff),
	2, 3, 4,
}

func TestNonZeros(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		v := special
		for len(v) < 64 {
			v = append(v, 0, 0, 7, 0, float32(len(v)))
		}
		for n := range 65 {
			want := uint64(0)
			for i, f := range v[:n] {
				if f != 0 {
					want |= 1 << i
				}
			}
			if got := s.nonZeros(copied(t, v[:n])); got != want {
				t.Errorf("%d elements: %#x, want %#x", n, got, want)
			}
		}
	})
}

// TestReLU checks what a product does to special numbers, of which only the
// positive ones and NaN stay.
func TestReLU(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		panels, n := s.NewPanels(1, len(special)), len(special)
		panels.Pack(special, n, 0, panels.Count())
		c := make([]float32, n)
		s.Multiply(&Product{M: 1, A: Ones(1), B: panels, C: Rows(c, n, 1, n), ReLU: true}, 0, panels.Count())
		for i, f := range special {
			if f != f && c[i] == c[i] || f == f && c[i] != max(f, 0) {
				t.Errorf("%v becomes %v", f, c[i])
			}
		}
	})
}

func TestGate(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for n := range len(special) + 1 {
			d, intact := fenced(t, n)
			for i := range d {
				d[i] = -7
			}
			s.gateRow(d, copied(t, special[:n]))
			intact()
			for i, v := range d {
				if open := special[i] != 0; open && v != -7 || !open && v != 0 {
					t.Errorf("an activation of %v leaves %v of -7", special[i], v)
				}
			}
		}
	})
}

// TestUpdate compares steps of AdamW with its formula in float64, and the sets
// with each other, bit for bit.
func TestUpdate(t *testing.T) {
	c := AdamW{Scale: 0.7, KeepM: 0.9, AddM: 0.1, KeepV: 0.999, AddV: 0.001, Decay: 0.05, Rate: 0.01, Root: 5, Epsilon: 1e-8}
	for _, n := range []int{0, 1, 7, 8, 9, 67, 4099} {
		var first [3][]float32
		for i, s := range Sets() {
			w, m, g := copied(t, random(n, 1, 1)), copied(t, random(n, 1, 2)), copied(t, random(n, 1, 4))
			v := copied(t, random(n, 1, 3))
			for i := range v {
				v[i] *= v[i]
			}
			before := [3][]float32{append([]float32{}, w...), append([]float32{}, m...), append([]float32{}, v...)}
			s.Update(&c, w, m, v, g)
			after := [3][]float32{w, m, v}
			if i > 0 {
				for j := range after {
					sameBits(t, s.name, after[j], first[j])
				}
				continue
			}
			first = after
			for j := range n {
				grad := float64(c.Scale) * float64(g[j])
				wantM := float64(c.KeepM)*float64(before[1][j]) + float64(c.AddM)*grad
				wantV := float64(c.KeepV)*float64(before[2][j]) + float64(c.AddV)*grad*grad
				w0 := float64(before[0][j])
				wantW := w0 - (w0*float64(c.Decay) + float64(c.Rate)*wantM/(float64(c.Root)*math.Sqrt(wantV)+float64(c.Epsilon)))
				for k, want := range []float64{wantW, wantM, wantV} {
					if got := float64(after[k][j]); math.Abs(got-want) > 1e-6*(math.Abs(want)+0.01) {
						t.Errorf("element %d of %d, vector %d: %v, want %v", j, n, k, got, want)
					}
				}
			}
		}
	}
}

// TestSumSquares compares with a plain sum, and the sets with each other, bit
// for bit.
func TestSumSquares(t *testing.T) {
	for _, n := range []int{0, 1, 7, 15, 16, 17, 33, 1000} {
		v := random(n, 1, 1)
		want := 0.0
		for _, f := range v {
			want += float64(f) * float64(f)
		}
		first := inGo.SumSquares(v)
		for _, s := range Sets() {
			if got := s.SumSquares(copied(t, v)); math.Abs(got-want) > 1e-12*want || got != first {
				t.Errorf("%s, %d elements: %v, want %v", s.name, n, got, want)
			}
		}
	}
}

// TestSgemm compares with gonum over all forms of its arguments, and over
// sizes beyond one part.
func TestSgemm(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		b := s.BLAS()
		forms := []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}
		for _, d := range []dims{{1, 1, 1}, {7, 5, 3}, {3, 70, 9}, {blasRows + 1, 9, blasDepth + 1}, {2, blasColumns + 1, 4}, {4, 5, 0}, {0, 2, 2}, {2, 0, 2}} {
			for _, tA := range forms {
				for _, tB := range forms {
					for _, f := range [][2]float32{{1, 0}, {-0.5, 1}, {2, 0.25}, {0, 0.5}, {1, 1}} {
						sgemmOnce(t, b, d, tA, tB, f[0], f[1])
					}
				}
			}
		}
	})
}

func sgemmOnce(t *testing.T, b BLAS, d dims, tA, tB blas.Transpose, alpha, beta float32) {
	t.Helper()
	lda, ldb, ldc := d.k+1, d.n+2, d.n+3
	rowsA, rowsB := d.m, d.k
	if tA != blas.NoTrans {
		lda, rowsA = d.m+1, d.k
	}
	if tB != blas.NoTrans {
		ldb, rowsB = d.k+2, d.n
	}
	x, y := random(rowsA*lda, 1, 1), random(rowsB*ldb, 1, 2)
	want, got := random(d.m*ldc, 1, 3), random(d.m*ldc, 1, 3)
	if beta == 0 && len(got) > 0 {
		want[0], got[0] = nan, nan
	}
	gonum.Implementation{}.Sgemm(tA, tB, d.m, d.n, d.k, alpha, x, lda, y, ldb, beta, want, ldc)
	b.Sgemm(tA, tB, d.m, d.n, d.k, alpha, x, lda, y, ldb, beta, got, ldc)
	for i := range want {
		if diff := math.Abs(float64(want[i] - got[i])); !(diff <= 1e-4) && (want[i] == want[i] || got[i] == got[i]) {
			t.Fatalf("%+v %c%c alpha %v beta %v: element %d is %v, want %v", d, tA, tB, alpha, beta, i, got[i], want[i])
		}
	}
}

// TestSgemmShared compares a product that all cores share with one that a
// single core computes, bit for bit, and checks that a factor of zero is not
// read.
func TestSgemmShared(t *testing.T) {
	const n = 300
	a, b := random(n*n, 1, 1), random(n*n, 1, 2)
	ours := Sets()[0].BLAS()
	product := func(cores int) []float32 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		c := make([]float32, n*n)
		ours.Sgemm(blas.NoTrans, blas.Trans, n, n, n, 1, a, n, b, n, 0, c, n)
		return c
	}
	sameBits(t, "two cores", product(2), product(1))
	c := []float32{1}
	ours.Sgemm(blas.NoTrans, blas.NoTrans, 1, 1, 1, 0, []float32{nan}, 1, []float32{nan}, 1, 2, c, 1)
	if c[0] != 2 {
		t.Errorf("alpha 0 gives %v, want 2", c[0])
	}
	ours.Sgemm(blas.NoTrans, blas.NoTrans, 3, 0, 2, 1, make([]float32, 6), 2, nil, 1, 0, nil, 1)
}

// TestZeroSigns: no sum is -0, whichever zeros are left out of it.
func TestZeroSigns(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	eachSet(t, func(t *testing.T, s *Set) {
		for _, tiny := range []float32{negative, -1e-40} {
			panels := s.NewPanels(1, 1)
			panels.Pack([]float32{tiny}, 1, 0, 1)
			for _, relu := range []bool{false, true} {
				c := []float32{nan}
				s.Multiply(&Product{M: 1, A: Rows([]float32{1e-10}, 1, 1, 1), B: panels, C: Rows(c, 1, 1, 1), Bias: []float32{negative}, ReLU: relu}, 0, 1)
				if math.Float32bits(c[0]) != 0 {
					t.Errorf("ReLU %v: the sum of -0 and %v·1e-10 is %#x", relu, tiny, math.Float32bits(c[0]))
				}
			}
		}
	})
}

func TestNewFloats(t *testing.T) {
	for n := range 100 {
		v := NewFloats(n)
		if len(v) != n || n > 0 && uintptr(unsafe.Pointer(&v[0]))%64 != 0 {
			t.Fatalf("%d floats: %d, which start at %p", n, len(v), v)
		}
	}
}

// TestMisuse checks that a caller's mistakes panic before the assembly, which
// checks nothing.
func TestMisuse(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		const m, k, n = 5, 7, 9
		b := s.NewPanels(k, n)
		x, y, bias := make([]float32, m*k), make([]float32, m*n), make([]float32, n)
		product := func(change func(*Product)) func() {
			p := Product{M: m, A: Rows(x, k, m, k), B: b, C: Rows(y, n, m, n)}
			change(&p)
			return func() { s.Multiply(&p, 0, b.Count()) }
		}
		lists := func(depth, elements int) *Lists {
			l := s.NewLists(1, elements)
			l.Reset(depth)
			return l
		}
		other := *s
		foreign := Panels{set: &other, k: k, n: n, most: k, stride: k, data: NewFloats(4 * k * s.columns)}
		narrow := Panels{set: &Set{columns: 2}, k: m, n: n, most: m, stride: m, data: NewFloats(100)}
		for what, f := range map[string]func(){
			"more rows than A": product(func(p *Product) { p.M = m + 1; p.C = Rows(make([]float32, (m+1)*n), n, m+1, n) }),
			"more rows than C": product(func(p *Product) { p.C = Rows(y[n:], n, m-1, n) }),
			"A too narrow":     product(func(p *Product) { p.A = Rows(x, k-1, m, k-1) }),
			"C too narrow":     product(func(p *Product) { p.C = Rows(y, n-1, m, n-1) }),
			"C of ones":        product(func(p *Product) { p.M, p.C = 1, Ones(100) }),
			"C transposed":     product(func(p *Product) { p.C = s.NewPanels(n, m).Transposed(0) }),
			"C of another set": product(func(p *Product) { p.C = narrow.From(0) }),
			"A of another set": product(func(p *Product) {
				p.A = (&Panels{set: narrow.set, k: m, n: k, most: m, stride: m, data: narrow.data}).From(0)
			}),
			"B of another set":      product(func(p *Product) { p.B = &foreign }),
			"bias too short":        product(func(p *Product) { p.Bias = bias[1:] }),
			"bias and add":          product(func(p *Product) { p.Bias, p.Add = bias, true }),
			"negative rows":         product(func(p *Product) { p.M = -1 }),
			"panels beyond":         func() { s.Multiply(&Product{M: m, A: Rows(x, k, m, k), B: b, C: Rows(y, n, m, n)}, 0, b.Count()+1) },
			"short rows":            func() { Rows(x[1:], k, m, k) },
			"negative stride":       func() { Rows(x, -1, m, k) },
			"stride that overflows": func() { Rows(x, 1<<62, 5, 3) },
			"no rows of panels":     func() { s.NewPanels(0, 1) },
			"panels that overflow":  func() { s.NewPanels(1<<40, 1<<40) },
			"rows from beyond":      func() { b.From(k + 1) },
			"columns inside":        func() { b.Transposed(1) },
			"larger resize":         func() { b.Resize(k + 1) },
			"pack short":            func() { b.Pack(make([]float32, k*n-1), n, 0, b.Count()) },
			"pack negative":         func() { b.Pack(make([]float32, k*n), -1, 0, b.Count()) },
			"pack beyond":           func() { b.Pack(make([]float32, k*n), n, 0, b.Count()+1) },
			"transposed short":      func() { b.PackTransposed(make([]float32, k*n-1), k, 0, b.Count()) },
			"transposed negative":   func() { b.PackTransposed(make([]float32, k*n), -1, 0, b.Count()) },
			"transposed beyond":     func() { b.PackTransposed(make([]float32, k*n), k, -1, b.Count()) },
			"rows beyond":           func() { b.PackRows(make([]float32, k*n), n, 1, k) },
			"negative number":       func() { b.PackRows(make([]float32, k*n), n, 1, -1) },
			"gate beyond":           func() { b.Gate(b, 1, k) },
			"gate by another":       func() { b.Gate(s.NewPanels(k+1, n), 0, k) },
			"lists too deep":        func() { l := lists(k+1, k); l.AppendRow(x[:k]); s.Gather(l, &Product{B: b, C: Rows(y, n, m, n)}, 0, 1) },
			"no room in lists":      func() { lists(k, k-1).AppendRow(x[:k]) },
			"row too long":          func() { lists(k, 2*k).AppendRow(x[:k+1]) },
			"more rows than lists":  func() { l := lists(k, 2*k); l.AppendRow(x[:k]); l.AppendRow(x[:k]) },
			"columns too short":     func() { lists(k, 100).AppendColumns(x[:3], 3, 0, 2, 0, 1) },
			"65 columns":            func() { s.NewLists(65, 100).AppendColumns(make([]float32, 65), 65, 0, 1, 0, 65) },
			"no depth":              func() { lists(0, 1) },
			"update of other sizes": func() { s.Update(&AdamW{}, x, x[1:], x, x) },
		} {
			func() {
				defer func() {
					if v := recover(); v != badShape && v != badLength {
						t.Errorf("%s: %v", what, v)
					}
				}()
				f()
			}()
		}
	})
}

// TestChoose names sets as the environment does.
func TestChoose(t *testing.T) {
	for _, s := range Sets() {
		if got, err := choose(s.name); err != nil || got != s {
			t.Errorf("%s: %v, %v", s.name, got, err)
		}
	}
	if got, err := choose(""); err != nil || got != Sets()[0] {
		t.Errorf("no name: %v, %v", got, err)
	}
	if _, err := choose("sse9"); err == nil {
		t.Error("sse9: no error")
	}
}

// TestPeak checks that the measured peak is a rate that a processor can have.
func TestPeak(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		if p := s.PeakGFLOPS(); p < 0.01 || p > 1e4 {
			t.Errorf("%v GFLOP/s", p)
		}
	})
}

func TestStride(t *testing.T) {
	for n := 1; n < 2000; n++ {
		if s := Stride(n); s < n || s%(2*line) != line || s > n+2*line {
			t.Fatalf("%d columns: %d", n, s)
		}
	}
}

// TestSpread checks that the same rows of two panels that follow each other
// are at least 4 KiB apart in a cache that repeats every 32 KiB.
func TestSpread(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for k := 1; k < 5000; k++ {
			stride := s.spread(k)
			apart := stride * 4 * s.columns % (32 << 10)
			if stride < k || stride > k+(8<<10)/(4*s.columns) || 4*s.columns*k > 28<<10 && (apart < 4<<10 || apart > 28<<10) {
				t.Fatalf("%d rows are given %d", k, stride)
			}
		}
	})
}

func TestNothingAllocates(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		d := dims{100, 70, 300}
		a, b, c, bias := random(d.m*d.k, 0.1, 1), random(d.k*d.n, 1, 2), make([]float32, d.m*d.n), random(d.n, 1, 3)
		panels, lists := s.NewPanels(d.k, d.n), s.NewLists(d.m, d.m*d.k)
		if n := testing.AllocsPerRun(20, func() {
			panels.Pack(b, d.n, 0, panels.Count())
			p := Product{M: d.m, A: Rows(a, d.k, d.m, d.k), B: panels, C: Rows(c, d.n, d.m, d.n), Bias: bias}
			s.Multiply(&p, 0, panels.Count())
			lists.Reset(d.k)
			for r := range d.m {
				lists.AppendRow(a[r*d.k : (r+1)*d.k])
			}
			s.Gather(lists, &p, 0, panels.Count())
			s.gateRow(a[:d.n], c[:d.n])
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
