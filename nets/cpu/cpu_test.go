package cpu

import (
	"testing"

	"vtrain/nets"
	"vtrain/nets/kernel"
	"vtrain/nets/nettest"
	"vtrain/vec"
)

// eachSet runs a test on every set of kernels that this machine runs.
func eachSet(t *testing.T, f func(*testing.T, *kernel.Set)) {
	for _, s := range kernel.Sets() {
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

// TestMixedBatch takes the gradient of batches whose blocks differ in how many
// inputs are set: few in some, too many to list in others, in the majority
// either way. All rows together must give what float64 gives.
func TestMixedBatch(t *testing.T) {
	const rows = 300
	shape := nets.MLP{130, 33, 20, 7}
	p := shape.NewParams()
	shape.Init(p, 1)
	eachSet(t, func(t *testing.T, s *kernel.Set) {
		for _, few := range []int{0, 60, 200, rows} {
			x := binary(rows, shape.In(), 0.9, 2)
			copy(x, binary(few, shape.In(), 0.1, 3))
			loss := benchLoss(rows, shape.Out())
			tr, err := newTrainer(s, shape, p, nets.TrainerOptions{Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			got := p.Clone()
			tr.Gradient(got, x, rows, loss)
			want, _ := nettest.Gradient(shape, p, x, rows, loss)
			for i, g := range got.Flat() {
				if d := float64(g) - want[i]; d > 1e-6 || d < -1e-6 {
					t.Fatalf("%d sparse rows: element %d is %v, want %v", few, i, g, want[i])
				}
			}
		}
	})
}

// TestSparseFirstLayer compares rows that are listed with the same rows
// multiplied, because they share a block with denser ones, bit for bit.
func TestSparseFirstLayer(t *testing.T) {
	const rows = 8
	shape := nets.MLP{440, 70, 9}
	p := shape.NewParams()
	shape.Init(p, 1)
	eachSet(t, func(t *testing.T, s *kernel.Set) {
		e, err := newEngine(s, shape, nets.EngineOptions{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		e.Load(p)
		e.Seal()
		x := append(binary(rows, shape.In(), 0.1, 2), binary(2*rows, shape.In(), 1, 3)...)
		alone, among := make([]float32, rows*shape.Out()), make([]float32, 3*rows*shape.Out())
		e.Forward(alone, x, rows)
		e.Forward(among, x, 3*rows)
		for i, v := range alone {
			if v != among[i] {
				t.Fatalf("output %d is %v alone and %v among dense rows", i, v, among[i])
			}
		}
	})
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
