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
	a := gradient(t, graph.NewTrainer, shape, p, symbolic, x, rows, loss)
	b := gradient(t, cpu.NewTrainer, shape, p, kernels, x, rows, loss)
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

func gradient(t *testing.T, factory nettest.TrainerFactory, shape nets.MLP, p, dst nets.Params, x []float32, rows int, loss nets.Loss) float64 {
	t.Helper()
	tr, err := factory(shape, p, nets.TrainerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	return tr.Gradient(dst, x, rows, loss)
}
