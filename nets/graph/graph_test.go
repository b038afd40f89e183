package graph_test

import (
	"math"
	"testing"

	"vtrain/nets"
	"vtrain/nets/cpu"
	"vtrain/nets/graph"
	"vtrain/nets/nettest"
	"vtrain/vec"
)

func TestEngine(t *testing.T) {
	nettest.RunEngine(t, graph.NewEngine, nettest.Traits{Allocates: true})
}

func TestTrainer(t *testing.T) {
	nettest.RunTrainer(t, graph.NewTrainer, nettest.Traits{Allocates: true})
}

// TestAgreesWithKernels compares the symbolic gradient with that of nets/cpu
// at the size of a real network, where float64 would be slow.
func TestAgreesWithKernels(t *testing.T) {
	const rows = 500
	shape := nets.MLP{440, 256, 256, 106}
	p := shape.NewParams()
	shape.Init(p, 1)
	s := vec.At(vec.Key(2, 0), 0)
	x, target := make([]float32, rows*shape.In()), make([]float32, rows*shape.Out())
	mask := make([]uint64, rows*vec.MaskWords(shape.Out()))
	for i := range x {
		x[i] = float32(s.Intn(10) / 9)
	}
	for i := range target {
		target[i] = s.Float32()
		if s.Intn(10) == 0 {
			vec.MaskSet(mask[i/shape.Out()*vec.MaskWords(shape.Out()):], i%shape.Out())
		}
	}
	loss := &nets.SquaredError{Mask: mask, Target: target}
	symbolic, kernels := p.Clone(), p.Clone()
	a := gradient(t, graph.NewTrainer, shape, p, symbolic, x, loss)
	b := gradient(t, cpu.NewTrainer, shape, p, kernels, x, loss)
	if math.Abs(a-b) > 1e-6*a {
		t.Errorf("loss %v by graph, %v by kernels", a, b)
	}
	for i, tensor := range symbolic.Tensors() {
		scale, worst := 0.0, 0.0
		for j, v := range tensor.Data {
			scale = max(scale, math.Abs(float64(v)))
			worst = max(worst, math.Abs(float64(v-kernels.Tensors()[i].Data[j])))
		}
		if !(worst <= 1e-5*scale) || scale == 0 {
			t.Errorf("%s: gradients differ by %g, the largest is %g", tensor.Name, worst, scale)
		}
	}
}

func gradient[S nets.Shape](t *testing.T, factory nettest.TrainerFactory[S], shape nets.Shape, p, dst nets.Params, x []float32, loss nets.Loss) float64 {
	t.Helper()
	tr, err := factory(shape.(S), p, nets.TrainerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	return tr.Gradient(dst, x, len(x)/shape.In(), loss)
}

// TestPaddingIsReal checks what the engine says about the padding of buckets.
func TestPaddingIsReal(t *testing.T) {
	shape := nets.MLP{7, 3}
	e, err := graph.NewEngine(shape, nets.EngineOptions{Buckets: []int{100}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Load(shape.NewParams())
	e.Seal()
	e.Forward(make([]float32, 130*3), make([]float32, 130*7), 130)
	want := nets.Stats{Requests: 1, Forwards: 2, Rows: 130, Padded: 70, Computed: 200, OffGrid: 1}
	if s := e.Stats(); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}

// unknown is an architecture that this package hasn't heard of.
type unknown struct{ nets.MLP }

func TestUnknownArchitecture(t *testing.T) {
	shape := unknown{nets.MLP{7, 3}}
	if _, err := graph.NewEngine(shape, nets.EngineOptions{}); err == nil {
		t.Error("engine: no error")
	}
	if _, err := graph.NewTrainer(shape, shape.NewParams(), nets.TrainerOptions{}); err == nil {
		t.Error("trainer: no error")
	}
}
