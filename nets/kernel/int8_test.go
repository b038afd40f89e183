package kernel

import (
	"fmt"
	"math"
	"testing"

	"vtrain/vec"
)

// int8Sizes returns odd sizes, sizes at and beside those of groups and panels,
// and every number of rows up to two tiles.
func int8Sizes(s *Set) []dims {
	kernel := s.int8()
	d := []dims{{1, 1, 1}, {3, 22, 5}, {5, 2 * kernel.columns, 15}, {s.block, kernel.columns + 1, 512}, {17, 9 * kernel.columns, 33}, {2, 3, 1000}}
	for m := 1; m <= 2*kernel.rows+1; m++ {
		d = append(d, dims{m, 3*kernel.columns + 5, 16})
	}
	for n := 1; n <= 2*kernel.columns; n++ {
		d = append(d, dims{min(n, 4), n, 17})
	}
	return d
}

// randomLayer returns a layer whose results lie around the steps there are.
func randomLayer(d dims, steps bool) *Int8Layer {
	l := &Int8Layer{Weight: random(d.k*d.n, 1, 1), Bias: random(d.n, 1, 2), In: random(d.k, 1, 3)}
	for i := range l.In {
		l.In[i] = l.In[i]/50 + 0.02
	}
	if steps {
		l.Out = random(d.n, 1, 4)
		for j := range l.Out {
			l.Out[j] = (l.Out[j] + 0.6) * float32(math.Sqrt(float64(d.k))) / 127
		}
	}
	return l
}

// randomSteps returns rows of activations at a distance, and anything between.
func randomSteps(rows, n, stride int, seed uint64) []uint8 {
	s := vec.At(vec.Key(seed, 5), 0)
	v := make([]uint8, rows*stride)
	for i := range v {
		if i%stride >= n {
			v[i] = 255
		} else if v[i] = uint8(s.Intn(3 * 128)); v[i] > 127 {
			v[i] = 127 * (v[i] & 1) // many at the ends
		}
	}
	return v
}

// plainInt8 is a layer in the plainest words: whole weights, the results of
// rows of steps, and what a step of each column is worth.
type plainInt8 struct {
	weight []int // [K,N]
	worth  []float32
	*Int8Layer
	dims
}

// plainly packs a layer: the largest steps in which no weight is beyond 127
// and no eight weights of a lane beyond the 254 that leave room for rounding.
func plainly(l *Int8Layer, d dims) *plainInt8 {
	p := &plainInt8{make([]int, d.k*d.n), make([]float32, d.n), l, d}
	for j := range d.n {
		largest, worst := float32(0), float32(0)
		for group := 0; group < d.k; group += 16 {
			for lane := range 2 {
				positive, negative := float32(0), float32(0)
				for k := group; k < min(group+16, d.k); k++ {
					v := float32(l.Weight[k*d.n+j] * l.In[k])
					largest = max(largest, v, -v)
					if k%4/2 == lane {
						positive += max(v, 0)
						negative += max(-v, 0)
					}
				}
				worst = max(worst, positive, negative)
			}
		}
		if largest == 0 {
			continue
		}
		steps := min(127/largest, 254/worst)
		p.worth[j] = 1 / steps
		for k := range d.k {
			p.weight[k*d.n+j] = int(math.RoundToEven(float64(float32(l.Weight[k*d.n+j]*l.In[k]) * steps)))
		}
	}
	return p
}

// result returns element j for a row of steps, in steps of its own if the
// layer has them.
func (p *plainInt8) result(row []uint8, j int) float32 {
	sum := 0
	for k := range p.k {
		sum += int(row[k]) * p.weight[k*p.n+j]
	}
	scale, bias := p.worth[j], p.Bias[j]
	if p.Out != nil {
		scale /= p.Out[j]
		bias /= p.Out[j]
	}
	return float32(float32(sum)*scale) + bias
}

func plainSteps(v float32) uint8 {
	return uint8(math.RoundToEven(min(max(float64(v), 0), 127)))
}

// packed returns the panels of a layer, packed in two parts.
func packed(t *testing.T, s *Set, l *Int8Layer, d dims) *Int8Panels {
	t.Helper()
	b := s.NewInt8Panels(d.k, d.n)
	half := b.Count() / 2
	if !b.Pack(l, half, b.Count()) || !b.Pack(l, 0, half) {
		t.Fatalf("%+v: finite numbers can't be packed", d)
	}
	return b
}

// TestInt8Float compares float32 results with plain ones, bit for bit.
func TestInt8Float(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for _, d := range int8Sizes(s) {
			l, stride := randomLayer(d, false), Int8Stride(d.k)
			a := randomSteps(d.m, d.k, stride, 6)
			ldc := d.n + 3
			c, intact := fenced(t, (d.m-1)*ldc+d.n)
			before := random(len(c), 1, 7)
			copy(c, before)
			s.MultiplyInt8(&Int8Product{M: d.m, A: a, RowA: stride, B: packed(t, s, l, d), C: c, RowC: ldc})
			intact()
			plain := plainly(l, d)
			for at := range c {
				i, j := at/ldc, at%ldc
				want := before[at]
				if j < d.n {
					want = plain.result(a[i*stride:], j)
				}
				if c[at] != want {
					t.Fatalf("%+v: element %d,%d is %v, want %v", d, i, j, c[at], want)
				}
			}
		}
	})
}

// TestInt8Steps compares results in steps with plain ones.
func TestInt8Steps(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for _, d := range int8Sizes(s) {
			l, stride := randomLayer(d, true), Int8Stride(d.k)
			a := randomSteps(d.m, d.k, stride, 8)
			ldc := Int8Stride(d.n)
			c := make([]uint8, (d.m+1)*ldc)
			for i := range c {
				c[i] = 200
			}
			s.MultiplyInt8(&Int8Product{M: d.m, A: a, RowA: stride, B: packed(t, s, l, d), Steps: c[:d.m*ldc], RowSteps: ldc})
			plain := plainly(l, d)
			for i := range d.m {
				for j := range d.n {
					if want := plainSteps(plain.result(a[i*stride:], j)); c[i*ldc+j] != want {
						t.Fatalf("%+v: element %d,%d is %v, want %v", d, i, j, c[i*ldc+j], want)
					}
				}
			}
			for i, v := range c[d.m*ldc:] {
				if v != 200 {
					t.Fatalf("%+v: byte %d beyond the rows was written", d, i)
				}
			}
		}
	})
}

// TestInt8Extremes drives every sum of 16 bits to its ends: the largest
// activations with weights that are as large as packing leaves them.
func TestInt8Extremes(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		d := dims{5, 40, 512}
		stream := vec.At(vec.Key(9, 0), 0)
		l := &Int8Layer{Weight: make([]float32, d.k*d.n), Bias: make([]float32, d.n), In: make([]float32, d.k)}
		for k := range d.k {
			l.In[k] = 1
			for j := range d.n {
				// Whole columns of one sign, of few large weights, of almost equal ones.
				w := 0.9 + 0.2*stream.Float32()
				switch j % 4 {
				case 1:
					w = -w
				case 2:
					w *= float32(1 - 2*(k/2%2)) // lanes of opposite signs
				case 3:
					if stream.Intn(8) > 0 {
						w = 0
					}
				}
				l.Weight[k*d.n+j] = w
			}
		}
		stride := Int8Stride(d.k)
		a := randomSteps(d.m, d.k, stride, 10)
		for k := range d.k {
			a[k] = 127
		}
		c := make([]float32, d.m*d.n)
		s.MultiplyInt8(&Int8Product{M: d.m, A: a, RowA: stride, B: packed(t, s, l, d), C: c, RowC: d.n})
		plain := plainly(l, d)
		for at := range c {
			if want := plain.result(a[at/d.n*stride:], at%d.n); c[at] != want {
				t.Fatalf("element %d,%d is %v, want %v", at/d.n, at%d.n, c[at], want)
			}
		}
	})
}

// TestInt8Deepest has the most inputs there may be, all at their ends, with
// columns of one sign, of the other, and of both: the largest sums there are.
// Of each group all weights are used, or four, which reach 127 steps.
func TestInt8Deepest(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for _, used := range []int{4, int8Group} {
			d := dims{1, 3, Int8MaxDepth}
			l := &Int8Layer{Weight: make([]float32, d.k*d.n), Bias: make([]float32, d.n), In: make([]float32, d.k)}
			a := make([]uint8, Int8Stride(d.k))
			for k := range d.k {
				l.In[k], a[k] = 1, Int8Steps
				if k%int8Group < used {
					copy(l.Weight[k*d.n:], []float32{1, -1, float32(1 - 2*(k&1))})
				}
			}
			c := make([]float32, d.n)
			s.MultiplyInt8(&Int8Product{M: 1, A: a, RowA: len(a), B: packed(t, s, l, d), C: c, RowC: d.n})
			plain := plainly(l, d)
			for j := range c {
				if want := plain.result(a, j); c[j] != want {
					t.Errorf("%d of a group, column %d: %v, want %v", used, j, c[j], want)
				}
			}
		}
	})
}

// TestInt8Tiny has columns at and around the smallest that don't count as zero.
func TestInt8Tiny(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		weights := []float32{0.5e-30, 0.99e-30, 1e-30, 1.01e-30, 2e-30, 1e-29}
		d := dims{1, len(weights), 20}
		l := &Int8Layer{Weight: make([]float32, d.k*d.n), Bias: make([]float32, d.n), In: make([]float32, d.k)}
		a := make([]uint8, Int8Stride(d.k))
		for k := range d.k {
			l.In[k], a[k] = 1, uint8(k)
			copy(l.Weight[k*d.n:], weights)
		}
		c := make([]float32, d.n)
		s.MultiplyInt8(&Int8Product{M: 1, A: a, RowA: len(a), B: packed(t, s, l, d), C: c, RowC: d.n})
		for j, w := range weights {
			want := 190 * float64(w) // the sum of a
			if w < 1e-30 {
				want = 0
			}
			if math.Abs(float64(c[j])-want) > 0.01*want {
				t.Errorf("weights of %g: %g, want about %g", w, c[j], want)
			}
		}
	})
}

// TestInt8NaNSteps sets scales and biases that Pack refuses, as a caller that
// goes on regardless has them: no steps come of NaN, and results beside it are
// what they are.
func TestInt8NaNSteps(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		inf := float32(math.Inf(1))
		biases := []float32{nan, -nan, inf, -inf, 3, 200, -1}
		want := []uint8{0, 0, 127, 0, 3, 127, 0}
		d := dims{2, 2 * len(biases), 5}
		l := randomLayer(d, true)
		clear(l.Weight)
		for j := range d.n {
			l.Bias[j], l.Out[j] = biases[j%len(biases)], 1
		}
		b := s.NewInt8Panels(d.k, d.n)
		if b.Pack(l, 0, b.Count()) {
			t.Error("packed")
		}
		a, steps := make([]uint8, d.m*Int8Stride(d.k)), make([]uint8, d.m*Int8Stride(d.n))
		s.MultiplyInt8(&Int8Product{M: d.m, A: a, RowA: Int8Stride(d.k), B: b, Steps: steps, RowSteps: Int8Stride(d.n)})
		for i := range d.m {
			for j := range d.n {
				if got := steps[i*Int8Stride(d.n)+j]; got != want[j%len(want)] {
					t.Errorf("row %d, bias %v: %d steps, want %d", i, l.Bias[j], got, want[j%len(want)])
				}
			}
		}
	})
}

// TestInt8IsClose compares with float64: the error of weights in steps is that
// of half a step each.
func TestInt8IsClose(t *testing.T) {
	s := Sets()[0]
	d := dims{9, 50, 400}
	l, stride := randomLayer(d, false), Int8Stride(d.k)
	a := randomSteps(d.m, d.k, stride, 11)
	c := make([]float32, d.m*d.n)
	s.MultiplyInt8(&Int8Product{M: d.m, A: a, RowA: stride, B: packed(t, s, l, d), C: c, RowC: d.n})
	plain := plainly(l, d)
	for i := range d.m {
		for j := range d.n {
			exact, steps := float64(l.Bias[j]), 0.0
			for k := range d.k {
				x := float64(a[i*stride+k])
				exact += x * float64(l.In[k]) * float64(l.Weight[k*d.n+j])
				steps += x
			}
			if diff := math.Abs(float64(c[i*d.n+j]) - exact); diff > steps*float64(plain.worth[j])*0.5001+1e-4 {
				t.Errorf("element %d,%d is %v, want about %v", i, j, c[i*d.n+j], exact)
			}
		}
	}
}

// TestInt8NotFinite packs what no steps can hold, beside columns that are fine.
func TestInt8NotFinite(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		d := dims{1, 40, 20}
		b := s.NewInt8Panels(d.k, d.n)
		inf := float32(math.Inf(1))
		for i, spoil := range []func(l *Int8Layer){
			func(l *Int8Layer) { l.Weight[3*d.n+7] = nan },
			func(l *Int8Layer) { l.Weight[19*d.n+39] = -inf },
			func(l *Int8Layer) { l.Bias[33] = nan },
			func(l *Int8Layer) { l.Bias[0] = inf },
			func(l *Int8Layer) { l.In[4] = inf },
			func(l *Int8Layer) { l.Out[2] = 0 },
			func(l *Int8Layer) { l.Out[2] = 1e-38 },
		} {
			l := randomLayer(d, true)
			spoil(l)
			if b.Pack(l, 0, b.Count()) {
				t.Errorf("case %d: packed", i)
			}
			if !b.Pack(randomLayer(d, true), 0, b.Count()) {
				t.Errorf("case %d: finite numbers can't be packed afterwards", i)
			}
		}
		l := randomLayer(d, false)
		clear(l.Weight)
		a, c := randomSteps(1, d.k, Int8Stride(d.k), 12), make([]float32, d.n)
		l.Weight[0] = 1e-40 // as good as zero
		if !b.Pack(l, 0, b.Count()) {
			t.Error("zeros can't be packed")
		}
		s.MultiplyInt8(&Int8Product{M: 1, A: a, RowA: len(a), B: b, C: c, RowC: d.n})
		sameBits(t, "biases", c, l.Bias)
	})
}

// TestQuantise compares with plain rounding, at the edges too.
func TestQuantise(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		edges := []float32{0, float32(math.Copysign(0, -1)), 0.5, 1.5, 2.5, 126.5, 127, 127.5, 1e9, math.MaxFloat32, -1e9, -0.5, -math.MaxFloat32, math.SmallestNonzeroFloat32}
		for n := range 40 {
			v, scale, offset := copied(t, random(n, 1, 1)), copied(t, random(n, 1, 2)), copied(t, random(n, 1, 3))
			for i := range v {
				v[i], scale[i], offset[i] = 200*v[i], scale[i]+1, 50*offset[i]
				if i%3 == 0 {
					v[i], scale[i], offset[i] = edges[(i/3+n)%len(edges)], 1, 0
				}
			}
			dst := make([]uint8, n+1)
			dst[n] = 200
			if !s.Quantise(dst[:n], v, scale, offset) {
				t.Errorf("%d elements: not finite", n)
			}
			for i := range v {
				if want := plainSteps(float32(v[i]*scale[i]) + offset[i]); dst[i] != want {
					t.Errorf("element %d of %d, %v·%v+%v: %d, want %d", i, n, v[i], scale[i], offset[i], dst[i], want)
				}
			}
			if dst[n] != 200 {
				t.Errorf("%d elements: the byte behind them was written", n)
			}
			for i := range v {
				for _, odd := range []float32{nan, -nan, float32(math.Inf(1)), float32(math.Inf(-1))} {
					was := v[i]
					if v[i] = odd; s.Quantise(dst[:n], v, scale, offset) {
						t.Errorf("element %d of %d is %v: finite", i, n, odd)
					}
					v[i] = was
				}
			}
		}
	})
}

// TestInt8Misuse checks that a caller's mistakes panic.
func TestInt8Misuse(t *testing.T) {
	s := Sets()[0]
	d := dims{3, 5, 7}
	b, l := s.NewInt8Panels(d.k, d.n), randomLayer(d, true)
	good := Int8Product{M: 3, A: make([]uint8, 192), RowA: 64, B: b, Steps: make([]uint8, 192), RowSteps: 64}
	s.MultiplyInt8(&good)
	floats := good
	floats.Steps, floats.C, floats.RowC = nil, make([]float32, 15), 5
	s.MultiplyInt8(&floats)
	for i, mistake := range []func(){
		func() { s.NewInt8Panels(0, 1) },
		func() { s.NewInt8Panels(1, 0) },
		func() { s.NewInt8Panels(Int8MaxDepth+1, 1) },
		func() { b.Pack(&Int8Layer{l.Weight[1:], l.Bias, l.In, nil}, 0, 1) },
		func() { b.Pack(&Int8Layer{l.Weight, l.Bias[1:], l.In, nil}, 0, 1) },
		func() { b.Pack(&Int8Layer{l.Weight, l.Bias, l.In[1:], nil}, 0, 1) },
		func() { b.Pack(&Int8Layer{l.Weight, l.Bias, l.In, l.Out[1:]}, 0, 1) },
		func() { p := good; p.A = p.A[1:]; s.MultiplyInt8(&p) },
		func() { p := good; p.RowA = 63; s.MultiplyInt8(&p) },
		func() { p := good; p.M = -1; s.MultiplyInt8(&p) },
		func() { p := good; p.Steps = p.Steps[1:]; s.MultiplyInt8(&p) },
		func() { p := good; p.RowSteps = 63; s.MultiplyInt8(&p) },
		func() { p := good; p.C, p.RowC = make([]float32, 15), 5; s.MultiplyInt8(&p) }, // and steps
		func() { p := floats; p.C = p.C[1:]; s.MultiplyInt8(&p) },
		func() { p := floats; p.RowC = 4; s.MultiplyInt8(&p) },
		func() { s.Quantise(good.A[:3], l.In[:4], l.In[:3], l.In[:3]) },
		func() { s.Quantise(good.A[:3], l.In[:3], l.In[:2], l.In[:3]) },
		func() { s.Quantise(good.A[:3], l.In[:3], l.In[:3], l.In[:2]) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("mistake %d: no panic", i)
				}
			}()
			mistake()
		}()
	}
	s.MultiplyInt8(&Int8Product{B: b})
}

func TestInt8Allocations(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		d := dims{20, 70, 100}
		l, stride := randomLayer(d, false), Int8Stride(d.k)
		b, a, c := s.NewInt8Panels(d.k, d.n), randomSteps(d.m, d.k, stride, 13), make([]float32, d.m*d.n)
		if n := testing.AllocsPerRun(20, func() {
			b.Pack(l, 0, b.Count())
			s.MultiplyInt8(&Int8Product{M: d.m, A: a, RowA: stride, B: b, C: c, RowC: d.n})
			s.Quantise(a[:d.k], l.In, l.In, l.In)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// BenchmarkInt8 times the products of one layer.
func BenchmarkInt8(b *testing.B) {
	for _, s := range Sets() {
		for _, d := range []dims{{48, 512, 512}, {1, 512, 512}} {
			b.Run(fmt.Sprintf("%s/%d", s.name, d.m), func(b *testing.B) {
				l := randomLayer(d, true)
				panels := s.NewInt8Panels(d.k, d.n)
				panels.Pack(l, 0, panels.Count())
				stride := Int8Stride(d.k)
				a, c := randomSteps(d.m, d.k, stride, 14), NewBytes(d.m*stride)
				for b.Loop() {
					s.MultiplyInt8(&Int8Product{M: d.m, A: a, RowA: stride, B: panels, Steps: c, RowSteps: stride})
				}
				b.ReportMetric(float64(d.m*d.n*d.k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
			})
		}
	}
}
