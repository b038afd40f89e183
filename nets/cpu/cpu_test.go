package cpu

import (
	"testing"

	"vtrain/nets"
	"vtrain/nets/kernel"
	"vtrain/nets/nettest"
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
