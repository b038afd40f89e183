package cpu

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"vtrain/nets"
	"vtrain/nets/kernel"
	"vtrain/nets/nettest"
	"vtrain/vec"
)

// int8Shapes are odd and even, at and around the sizes of groups and panels,
// with and without hidden layers.
var int8Shapes = []nets.MLP{{1, 1}, {5, 3}, {3, 1, 2}, {17, 33, 9, 2}, {100, 64, 48, 22}, {40, 129, 31, 65, 7}, {297, 96, 130}}

// densities of inputs: few enough for the first layer to stay in float32, and
// too many.
var densities = []float32{0.15, 0.9}

// drawn returns parameters whose biases are drawn too.
func drawn(shape nets.MLP, seed uint64) nets.Params {
	p := shape.NewParams()
	shape.Init(p, seed)
	s := vec.At(vec.Key(seed, 1), 0)
	for l := range shape.Layers() {
		_, bias := shape.Layer(p, l)
		for j := range bias {
			bias[j] = s.Float32() - 0.5
		}
	}
	return p
}

// features returns rows of inputs of which that share isn't zero: half of those
// are 1, and the others in [-1,1).
func features(rows, width int, density float32, seed uint64) []float32 {
	s := vec.At(vec.Key(seed, 2), 0)
	x := make([]float32, rows*width)
	for i := range x {
		switch u := s.Float32(); {
		case u < density/2:
			x[i] = 1
		case u < density:
			x[i] = 2*s.Float32() - 1
		}
	}
	return x
}

// sealInt8 returns a loaded engine in bytes, and its backend.
func sealInt8(t testing.TB, s *kernel.Set, shape nets.MLP, p nets.Params, o nets.EngineOptions) (nets.Engine, *int8Backend) {
	t.Helper()
	o.Precision = nets.Int8
	if o.Buckets == nil {
		o.Buckets = []int{128}
	}
	b, err := newInt8Backend(s, shape, o.Calibration)
	if err != nil {
		t.Fatal(err)
	}
	e, err := nets.NewEngine(b, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	e.Load(p)
	e.Seal()
	return e, b
}

// plainly computes outputs in the plainest words, given what the steps of
// inputs and activations are worth.
func plainly(t *testing.T, b *int8Backend, p nets.Params, x []float32, rows int) []float32 {
	q := make([]int, 0, len(x))
	if b.first == 0 {
		for i, v := range x {
			k := i % b.In()
			q = append(q, steps(float32(v*b.input.scale[k])+b.input.offset[k]))
		}
	} else {
		for i, v := range firstLayer(t, b, p, x, rows) {
			q = append(q, steps(max(v, 0)*(1/b.layers[1].In[i%b.MLP[1]])))
		}
	}
	for l := b.first; ; l++ {
		y := b.plainLayer(p, l, q)
		if l == b.Layers()-1 {
			return y
		}
		q = q[:0]
		for _, v := range y {
			q = append(q, steps(v))
		}
	}
}

// firstLayer returns the first layer's outputs in float32, before ReLU.
func firstLayer(t *testing.T, b *int8Backend, p nets.Params, x []float32, rows int) []float32 {
	shape := b.MLP[:2]
	first := shape.NewParams()
	for i := range first.Tensors() {
		copy(first.Tensors()[i].Data, p.Tensors()[i].Data)
	}
	e, err := newEngine(b.set, shape, nets.EngineOptions{Workers: 1, Buckets: []int{64}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Load(first)
	e.Seal()
	y := make([]float32, rows*shape.Out())
	e.Forward(y, x, rows)
	return y
}

func steps(v float32) int { return int(math.RoundToEven(min(max(float64(v), 0), 127))) }

// plainLayer returns layer l of rows of steps: in steps of the next layer, or
// the outputs.
func (b *int8Backend) plainLayer(p nets.Params, l int, q []int) []float32 {
	weight, bias := b.Layer(p, l)
	in, out := b.MLP[l], b.MLP[l+1]
	y := make([]float32, len(q)/in*out)
	for j := range out {
		column, start := make([]float32, in), bias[j]
		for k := range in {
			column[k] = float32(weight[k*out+j] * b.layers[l].In[k])
			if l == 0 {
				start += float32(b.input.zero[k] * weight[k*out+j])
			}
		}
		whole, worth := roundColumn(column)
		if l < b.Layers()-1 {
			worth /= b.layers[l].Out[j]
			start /= b.layers[l].Out[j]
		}
		for r := range len(q) / in {
			sum := 0
			for k, w := range whole {
				sum += w * q[r*in+k]
			}
			y[r*out+j] = float32(float32(sum)*worth) + start
		}
	}
	return y
}

// roundColumn returns a column in whole steps, and what one is worth.
func roundColumn(column []float32) (whole []int, worth float32) {
	var largest, worst float32
	for lo := 0; lo < len(column); lo += 16 {
		var sums [2][2]float32 // of a lane, negative
		for k, v := range column[lo:min(lo+16, len(column))] {
			largest = max(largest, v, -v)
			sums[k/2%2][0] += max(v, 0)
			sums[k/2%2][1] += max(-v, 0)
		}
		worst = max(worst, sums[0][0], sums[0][1], sums[1][0], sums[1][1])
	}
	scale := min(127/largest, 254/worst)
	for _, v := range column {
		whole = append(whole, int(math.RoundToEven(float64(float32(v*scale)))))
	}
	return whole, 1 / scale
}

// eachInt8 runs a test on every set, shape and density.
func eachInt8(t *testing.T, f func(t *testing.T, s *kernel.Set, shape nets.MLP, density float32)) {
	eachSet(t, func(t *testing.T, s *kernel.Set) {
		for _, shape := range int8Shapes {
			for _, density := range densities {
				f(t, s, shape, density)
			}
		}
	})
}

// TestInt8Engine runs the suite, with the first layer in bytes and in float32:
// rows of zeros among those of calibration make it so, and leave ranges alone.
func TestInt8Engine(t *testing.T) {
	traits := nettest.Traits{Precision: nets.Int8, Tolerance: 0.05}
	eachSet(t, func(t *testing.T, s *kernel.Set) {
		for _, zeros := range []int{0, 1000} {
			factory := func(shape nets.MLP, o nets.EngineOptions) (nets.Engine, error) {
				if o.Calibration != nil && zeros > 0 && shape.Validate() == nil {
					padded := make([]float32, len(o.Calibration)+zeros*shape.In())
					copy(padded, o.Calibration)
					o.Calibration = padded
				}
				return newEngine(s, shape, o)
			}
			t.Run(fmt.Sprintf("zeros=%d", zeros), func(t *testing.T) { nettest.RunEngine(t, factory, traits) })
		}
	})
}

// TestInt8Values compares with the plain words, bit for bit, on batches of all
// sizes around those of tiles and blocks, through any workers and buckets.
func TestInt8Values(t *testing.T) {
	eachInt8(t, func(t *testing.T, s *kernel.Set, shape nets.MLP, density float32) {
		const rows = 140
		p, x := drawn(shape, 1), features(rows, shape.In(), density, 2)
		calibration := features(70, shape.In(), density, 3)
		var want []float32
		for _, workers := range []int{1, 3} {
			e, b := sealInt8(t, s, shape, p, nets.EngineOptions{Workers: workers, Buckets: []int{1, 100}, Calibration: calibration})
			if want == nil && b.first < b.Layers() {
				want = plainly(t, b, p, x, rows)
			} else if want == nil {
				want = firstLayer(t, b, p, x, rows)
			}
			for n := 1; n <= rows; n += 1 + n/8 {
				lo := (rows - n) * shape.In() // the last rows, so that rows change places
				y := make([]float32, n*shape.Out()+3)
				copy(y[n*shape.Out():], []float32{7, 7, 7})
				e.Forward(y, append(slices.Clone(x[lo:]), float32(math.NaN())), n)
				if !slices.Equal(y[n*shape.Out():], []float32{7, 7, 7}) {
					t.Fatalf("%v, %d rows: wrote beyond them", shape, n)
				}
				same(t, fmt.Sprintf("%v, density %v, %d rows", shape, density, n), y[:n*shape.Out()], want[len(want)-n*shape.Out():])
			}
		}
	})
}

func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %v, want exactly %v", what, i, got[i], want[i])
		}
	}
}

// TestInt8IsClose compares with float64 on networks as they are trained: wide,
// on rows of the kind that calibrated them.
func TestInt8IsClose(t *testing.T) {
	s := kernel.Sets()[0]
	for _, shape := range []nets.MLP{{297, 256, 256, 256, 22}, {440, 256, 256, 106}, {40, 10}} {
		for _, density := range densities {
			p := drawn(shape, 4)
			const rows = 100
			e, _ := sealInt8(t, s, shape, p, nets.EngineOptions{Workers: 1, Calibration: features(500, shape.In(), density, 5)})
			x, y := features(rows, shape.In(), density, 6), make([]float32, rows*shape.Out())
			e.Forward(y, x, rows)
			var signal, noise float64
			for i, want := range nettest.Forward(shape, p, x, rows) {
				signal += want * want
				noise += (float64(y[i]) - want) * (float64(y[i]) - want)
			}
			if share := math.Sqrt(noise / signal); share > 0.02 {
				t.Errorf("%v, density %v: off by %.3f of the outputs", shape, density, share)
			}
		}
	}
}

// TestInt8Calibration compares the ranges with the largest activations in
// float64.
func TestInt8Calibration(t *testing.T) {
	shape := nets.MLP{20, 30, 9, 4}
	p, calibration := drawn(shape, 7), features(200, shape.In(), 0.9, 8)
	_, b := sealInt8(t, kernel.Sets()[0], shape, p, nets.EngineOptions{Workers: 3, Calibration: calibration})
	for l := 1; l < shape.Layers(); l++ {
		below := shape[:l+1]
		part := below.NewParams()
		for i, tensor := range part.Tensors() {
			copy(tensor.Data, p.Tensors()[i].Data)
		}
		tops := make([]float64, below.Out())
		for i, v := range nettest.Forward(below, part, calibration, 200) {
			tops[i%len(tops)] = max(tops[i%len(tops)], v)
		}
		for j, top := range tops {
			want := max(1.5*top, slices.Max(tops)) / 127
			if got := float64(b.layers[l].In[j]); math.Abs(got-want) > 1e-5*want {
				t.Errorf("layer %d: a step of input %d is worth %v, want %v", l, j, got, want)
			}
		}
	}
}

// TestInt8Inputs: the ends of what calibration saw are whole steps, with room
// on both sides, and an input that never changed there still counts.
func TestInt8Inputs(t *testing.T) {
	shape := nets.MLP{4, 1}
	p := shape.NewParams()
	copy(p.Tensors()[0].Data, []float32{1, 1, 1, 1})
	e, _ := sealInt8(t, kernel.Sets()[0], shape, p, nets.EngineOptions{Workers: 1, Calibration: []float32{0, -1, 5, 2, 1, 1, 5, 2, 1, 1, 5, 2}})
	for _, k := range []struct {
		x    []float32
		want float64
	}{
		{[]float32{0, -1, 5, 2}, 6}, {[]float32{1, 1, 5, 2}, 9}, {[]float32{1.2, 1, 5, 2}, 9.2}, {[]float32{1, 1, 4, 2}, 8}, {[]float32{1, 1, 5, -0.5}, 6.5},
		{[]float32{100, 1, 5, 2}, 9.25}, // beyond the room
	} {
		y := make([]float32, 1)
		e.Forward(y, k.x, 1)
		if math.Abs(float64(y[0])-k.want) > 0.06 {
			t.Errorf("%v gives %v, want about %v", k.x, y[0], k.want)
		}
	}
}

// TestInt8NaN breaks one row by each of its inputs: its outputs show it, and no
// other row changes.
func TestInt8NaN(t *testing.T) {
	const rows, broken = 60, 41
	eachSet(t, func(t *testing.T, s *kernel.Set) {
		for _, density := range densities {
			shape := nets.MLP{19, 24, 3}
			e, _ := sealInt8(t, s, shape, drawn(shape, 9), nets.EngineOptions{Workers: 2, Calibration: features(70, 19, density, 10)})
			x := features(rows, 19, density, 11)
			want, y := make([]float32, rows*3), make([]float32, rows*3)
			e.Forward(want, x, rows)
			for i := range 19 {
				was := x[broken*19+i]
				x[broken*19+i] = float32(math.NaN())
				e.Forward(y, x, rows)
				x[broken*19+i] = was
				for _, v := range y[broken*3 : broken*3+3] {
					if v == v {
						t.Errorf("input %d broken, output %v", i, v)
					}
				}
				copy(y[broken*3:], want[broken*3:broken*3+3])
				same(t, "rows beside the broken one", y, want)
			}
		}
	})
}

// TestInt8NotFinite loads parameters that no bytes can stand for, and better
// ones after them.
func TestInt8NotFinite(t *testing.T) {
	for _, density := range densities {
		shape := nets.MLP{19, 24, 8, 3}
		p := drawn(shape, 12)
		e, _ := sealInt8(t, kernel.Sets()[0], shape, p, nets.EngineOptions{Workers: 2, Calibration: features(70, 19, density, 13)})
		x, want, y := features(5, 19, density, 14), make([]float32, 15), make([]float32, 15)
		e.Forward(want, x, 5)
		for i, tensor := range p.Tensors() {
			for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				last := len(tensor.Data) - 1
				was := tensor.Data[last]
				tensor.Data[last] = float32(odd)
				e.Load(p)
				e.Forward(y, x, 5)
				if tensor.Data[last] = was; !slices.ContainsFunc(y, func(v float32) bool { return v-v != 0 }) && odd != math.Inf(-1) {
					t.Errorf("tensor %d holds %v, outputs are %v", i, odd, y)
				}
			}
			e.Load(p)
			e.Forward(y, x, 5)
			same(t, "after Load of finite parameters", y, want)
		}
		e.Load(shape.NewParams())
		e.Forward(y, x, 5)
		same(t, "parameters of zero", y, make([]float32, 15))
	}
}

// TestInt8Options checks that a bad configuration is an error.
func TestInt8Options(t *testing.T) {
	shape := nets.MLP{3, 2}
	for _, k := range []struct {
		shape       nets.MLP
		precision   nets.Precision
		calibration []float32
		ok          bool
	}{
		{shape, nets.Int8, []float32{1, 2, 3}, true},
		{shape, nets.Float32, nil, true},
		{shape, nets.Float32, []float32{1, 2, 3}, true},
		{shape, nets.Int8, nil, false},
		{shape, nets.Int8, []float32{1, 2, 3, 4}, false},
		{shape, nets.Int8, []float32{1, 2, float32(math.NaN())}, false},
		{shape, nets.Int8, []float32{1, 2, float32(math.Inf(1))}, false},
		{shape, 2, []float32{1, 2, 3}, false},
		{nets.MLP{3, 0}, nets.Int8, []float32{1, 2, 3}, false},
		{nets.MLP{3, kernel.Int8MaxDepth + 1, 1}, nets.Int8, []float32{1, 2, 3}, false},
	} {
		e, err := NewEngine(k.shape, nets.EngineOptions{Workers: 1, Precision: k.precision, Calibration: k.calibration})
		if (err == nil) != k.ok {
			t.Errorf("%+v: %v", k, err)
		}
		if err == nil {
			e.Close()
		}
	}
}

// BenchmarkInt8 times forwards in both precisions in turn, so that what else
// the machine does falls on both, and reports the fastest of each.
func BenchmarkInt8(b *testing.B) {
	for _, k := range []struct {
		shape   nets.MLP
		density float32
	}{{nets.MLP{297, 512, 512, 512, 22}, 1}, {benchShape, 0.1}} {
		for _, rows := range []int{1, 64, 1024} {
			b.Run(fmt.Sprintf("%v/rows=%d", k.shape, rows), func(b *testing.B) {
				x, y := binary(1024, k.shape.In(), k.density, 2), make([]float32, rows*k.shape.Out())
				var best [2]time.Duration
				var engines [2]nets.Engine
				for i, precision := range []nets.Precision{nets.Float32, nets.Int8} {
					e, err := NewEngine(k.shape, nets.EngineOptions{Workers: 1, Precision: precision, Calibration: x})
					if err != nil {
						b.Fatal(err)
					}
					defer e.Close()
					e.Load(drawn(k.shape, 1))
					e.Seal()
					engines[i], best[i] = e, math.MaxInt64
				}
				for b.Loop() {
					for i, e := range engines {
						start := time.Now()
						e.Forward(y, x, rows)
						best[i] = min(best[i], time.Since(start))
					}
				}
				per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(rows) }
				b.ReportMetric(per(best[0]), "float32-µs/row")
				b.ReportMetric(per(best[1]), "int8-µs/row")
				b.ReportMetric(float64(best[0])/float64(best[1]), "times")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
