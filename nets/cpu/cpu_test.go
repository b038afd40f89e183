package cpu

import (
	"errors"
	"math"
	"testing"

	"vtrain/nets"
	"vtrain/nets/kernel"
	"vtrain/nets/nettest"
	"vtrain/vec"
)

// eachSet runs a test on every set of kernels that this machine runs, in short
// tests on the fastest: what they look for, races, the sets share.
func eachSet(t *testing.T, f func(*testing.T, *kernel.Set)) {
	sets := kernel.Sets()
	if testing.Short() {
		sets = sets[:1]
	}
	for _, s := range sets {
		t.Run(s.Name(), func(t *testing.T) { f(t, s) })
	}
}

func TestEngine(t *testing.T) {
	eachSet(t, func(t *testing.T, s *kernel.Set) {
		nettest.RunEngine(t, func(shape nets.MLP, o nets.EngineOptions) (nets.Engine, error) { return newEngine(s, shape, o) })
	})
}

func TestTrainer(t *testing.T) {
	eachSet(t, func(t *testing.T, s *kernel.Set) {
		factory := func(shape nets.MLP, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
			return newTrainer(s, shape, p, o)
		}
		nettest.RunTrainer(t, factory, nettest.Traits{})
	})
}

// TestPaddingIsFree checks what the engine says about the padding of buckets.
func TestPaddingIsFree(t *testing.T) {
	shape := nets.MLP{7, 3}
	e, err := NewEngine(shape, nets.EngineOptions{Buckets: []int{100}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Load(shape.NewParams())
	e.Seal()
	e.Forward(make([]float32, 130*3), make([]float32, 130*7), 130)
	want := nets.Stats{Requests: 1, Forwards: 2, Rows: 130, Padded: 70, Computed: 130, OffGrid: 1}
	if s := e.Stats(); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}

// TestMixedBatch takes the gradient of batches of several parts whose blocks
// differ in how many inputs are set: few in some, too many to list in others,
// in the majority either way, in one part and not in the next. All rows together
// must give what float64 gives, and the same bits for any workers.
func TestMixedBatch(t *testing.T) {
	shape := nets.MLP{130, 33, 20, 7}
	p := shape.NewParams()
	shape.Init(p, 1)
	sizes := []int{300, 513, 1100, 1537}
	if testing.Short() {
		sizes = []int{1100}
	}
	for _, rows := range sizes {
		for _, few := range []int{0, rows / 5, 2 * rows / 3, rows} {
			x := binary(rows, shape.In(), 0.9, 2)
			copy(x, binary(few, shape.In(), 0.1, 3))
			loss := benchLoss(rows, shape.Out())
			want, _ := nettest.Gradient(shape, p, x, rows, loss)
			eachSet(t, func(t *testing.T, s *kernel.Set) {
				first := gradientOf(t, s, shape, p, x, rows, loss, 1)
				for i, g := range first {
					if d := float64(g) - want[i]; d > 1e-6 || d < -1e-6 {
						t.Fatalf("%d rows, %d of them sparse: element %d is %v, want %v", rows, few, i, g, want[i])
					}
				}
				for _, workers := range []int{2, 3, 9} {
					sameBits(t, gradientOf(t, s, shape, p, x, rows, loss, workers), first)
				}
			})
		}
	}
}

func gradientOf(t *testing.T, s *kernel.Set, shape nets.MLP, p nets.Params, x []float32, rows int, loss nets.Loss, workers int) []float32 {
	t.Helper()
	tr, err := newTrainer(s, shape, p, nets.TrainerOptions{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	g := p.Clone()
	tr.Gradient(g, x, rows, loss)
	return g.Flat()
}

func sameBits(t *testing.T, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("element %d is %v, want exactly %v", i, got[i], want[i])
		}
	}
}

// TestFirstBadRow breaks rows of two parts of a batch: the error must name the
// first.
func TestFirstBadRow(t *testing.T) {
	const rows = 1537
	shape := nets.MLP{9, 5, 3}
	p := shape.NewParams()
	shape.Init(p, 1)
	eachSet(t, func(t *testing.T, s *kernel.Set) {
		tr, err := newTrainer(s, shape, p.Clone(), nets.TrainerOptions{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		for _, bad := range []int{3, 700, 1536} {
			x := binary(rows, shape.In(), 0.9, 2)
			x[bad*shape.In()] = float32(math.NaN())
			x[(rows-1)*shape.In()+1] = float32(math.NaN())
			var invalid *nets.InvalidError
			if _, err := tr.Step(x, rows, benchLoss(rows, shape.Out())); !errors.As(err, &invalid) || invalid.Row != bad {
				t.Errorf("row %d is broken, and the error is %v", bad, err)
			}
		}
	})
}

// TestSparseFirstLayer compares rows that are listed with the same rows
// multiplied, because they share a block with denser ones, bit for bit: with
// usual parameters, with one that isn't finite, whose input is off in some
// rows, with biases of -0, and with weights that underflow.
func TestSparseFirstLayer(t *testing.T) {
	const rows = 8
	shape := nets.MLP{440, 70, 9}
	for what, change := range map[string]func(weight, bias []float32){
		"usual":     func(_, _ []float32) {},
		"infinite":  func(w, _ []float32) { w[5*70+3] = float32(math.Inf(1)) },
		"zero sums": func(w, b []float32) { clear(w); fill(b, float32(math.Copysign(0, -1))) },
		"underflow": func(w, b []float32) { fill(w, -math.SmallestNonzeroFloat32); clear(b) },
	} {
		p := shape.NewParams()
		shape.Init(p, 1)
		change(shape.Layer(p, 0))
		eachSet(t, func(t *testing.T, s *kernel.Set) {
			e, err := newEngine(s, shape, nets.EngineOptions{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			e.Load(p)
			e.Seal()
			x := binary(rows, shape.In(), 0.1, 2)
			for i := range x {
				x[i] *= 0.1 // so that products of the smallest numbers underflow
			}
			x = append(x, binary(2*rows, shape.In(), 1, 3)...)
			alone, among := make([]float32, rows*shape.Out()), make([]float32, 3*rows*shape.Out())
			e.Forward(alone, x, rows)
			e.Forward(among, x, 3*rows)
			t.Log(what)
			sameBits(t, alone, among[:len(alone)])
		})
	}
}

// TestSealed sends a sealed engine 10,000 requests of mixed sizes: it may
// allocate nothing and pack nothing.
func TestSealed(t *testing.T) {
	shape := nets.MLP{297, 64, 22}
	e, err := NewEngine(shape, nets.EngineOptions{Buckets: []int{1, 8, 64, 256}, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	p := shape.NewParams()
	shape.Init(p, 1)
	e.Load(p)
	e.Seal()
	const most = 300
	x, y := binary(most, shape.In(), 0.5, 2), make([]float32, most*shape.Out())
	sizes := vec.At(vec.Key(3, 0), 0)
	const requests = 10000
	allocations := testing.AllocsPerRun(requests, func() { e.Forward(y, x, 1+sizes.Intn(min(most, 1<<sizes.Intn(10)))) })
	s := e.Stats()
	if allocations != 0 || s.Requests != requests+1 || s.Loads != 0 || s.OffGrid == 0 {
		t.Errorf("%v allocations a request, %+v", allocations, s)
	}
}
