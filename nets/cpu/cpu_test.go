package cpu_test

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"

	"vtrain/nets"
	"vtrain/nets/cpu"
	"vtrain/nets/nettest"
)

func TestEngine(t *testing.T) { nettest.RunEngine(t, cpu.NewEngine) }

func TestTrainer(t *testing.T) { nettest.RunTrainer(t, cpu.NewTrainer, nettest.Traits{}) }

// other is a BLAS that isn't gonum's own type.
type other struct{ gonum.Implementation }

// TestRegisteredBLAS runs the suites on a BLAS registered from outside.
func TestRegisteredBLAS(t *testing.T) {
	blas32.Use(other{})
	defer blas32.Use(gonum.Implementation{})
	e, err := cpu.NewEngine(nets.MLP{7, 3}, nets.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if !strings.Contains(e.Describe(), "cpu_test.other") {
		t.Errorf("engine describes itself as %q", e.Describe())
	}
	t.Run("Engine", func(t *testing.T) { nettest.RunEngine(t, cpu.NewEngine) })
	t.Run("Trainer", func(t *testing.T) { nettest.RunTrainer(t, cpu.NewTrainer, nettest.Traits{}) })
}

// TestPaddingIsFree checks what the engine says about the padding of buckets.
func TestPaddingIsFree(t *testing.T) {
	shape := nets.MLP{7, 3}
	e, err := cpu.NewEngine(shape, nets.EngineOptions{Buckets: []int{100}, Workers: 1})
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
