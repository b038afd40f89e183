package kernel

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

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

// special is the numbers at the edges of the bit tricks.
var special = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, -math.MaxFloat32,
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32,
	float32(math.Inf(1)), float32(math.Inf(-1)),
	math.Float32frombits(0x7f800001), math.Float32frombits(0xff800001),
	math.Float32frombits(0x7fffffff), math.Float32frombits(0xffffffff),
	2, 3, 4,
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
