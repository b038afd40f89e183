package nets_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"vtrain/nets"
)

func TestParamsShareOneVector(t *testing.T) {
	p := nets.MLP{3, 4, 2}.NewParams()
	if p.Len() != 3*4+4+4*2+2 || len(p.Flat()) != p.Len() {
		t.Fatalf("%d parameters", p.Len())
	}
	for i := range p.Flat() {
		p.Flat()[i] = float32(i)
	}
	next := float32(0)
	for _, tensor := range p.Tensors() {
		for _, v := range tensor.Data {
			if v != next {
				t.Fatalf("%s holds %v, want %v", tensor.Name, v, next)
			}
			next++
		}
		if cap(tensor.Data) != len(tensor.Data) {
			t.Errorf("an append to %s would write to its neighbour", tensor.Name)
		}
	}
	if w, ok := p.Tensor("layers.1.weight"); !ok || !slices.Equal(w.Shape, []int{4, 2}) || w.Data[0] != 16 {
		t.Errorf("layers.1.weight is %+v", w)
	}
	if _, ok := p.Tensor("layers.2.weight"); ok {
		t.Error("found a tensor that isn't there")
	}
}

func TestParamsCopies(t *testing.T) {
	p := nets.MLP{3, 4, 2}.NewParams()
	q := p.Clone()
	q.Flat()[5] = 7
	if p.Flat()[5] != 0 || !p.Same(q) {
		t.Error("Clone shares data or changes the shape")
	}
	p.CopyFrom(q)
	if p.Tensors()[0].Data[5] != 7 {
		t.Error("CopyFrom copied nothing")
	}
	for _, other := range []nets.Params{
		{}, nets.MLP{3, 2, 4}.NewParams(), nets.MLP{3, 4}.NewParams(),
		nets.NewParams(nets.Spec{Name: "w", Shape: []int{p.Len()}}),
	} {
		if p.Same(other) {
			t.Errorf("same as %+v", other.Tensors())
		}
		mustPanic(t, func() { p.CopyFrom(other) })
	}
	mustPanic(t, func() { nets.NewParams(nets.Spec{Name: "w", Shape: []int{2, 0}}) })
	mustPanic(t, func() { nets.NewParams(nets.Spec{Name: "w", Shape: []int{2}}, nets.Spec{Name: "w", Shape: []int{3}}) })
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if s, _ := recover().(string); !strings.HasPrefix(s, "nets: ") {
			t.Errorf("panics with %q, want a message of nets", s)
		}
	}()
	f()
}

func TestMLPValidate(t *testing.T) {
	for _, test := range []struct {
		shape nets.MLP
		says  string
	}{
		{nil, "at least"}, {nets.MLP{4}, "at least"}, {nets.MLP{4, 0, 2}, "width 0 at position 1"},
		{nets.MLP{-3, 2}, "width -3 at position 0"}, {nets.MLP{1 << 16, 1 << 16}, "more than"},
		{nets.MLP{1 << 62, 1 << 62}, "position 0"},
	} {
		if err := test.shape.Validate(); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v: error %v, want one that says %q", test.shape, err, test.says)
		}
	}
	for _, shape := range []nets.MLP{{1, 1}, {440, 256, 256, 106}} {
		if err := shape.Validate(); err != nil {
			t.Error(err)
		}
	}
	if s := (nets.MLP{440, 256, 106}).String(); s != "440-256-106" {
		t.Errorf("String is %q", s)
	}
}

func TestMLPInit(t *testing.T) {
	shape := nets.MLP{400, 300, 200}
	p, q := shape.NewParams(), shape.NewParams()
	for i := range p.Flat() {
		p.Flat()[i] = 9
	}
	shape.Init(p, 1)
	shape.Init(q, 1)
	if !slices.Equal(p.Flat(), q.Flat()) {
		t.Error("the same seed gives other parameters")
	}
	shape.Init(q, 2)
	if slices.Equal(p.Tensors()[0].Data, q.Tensors()[0].Data) {
		t.Error("other seeds give the same parameters")
	}
	for l, want := range []float64{math.Sqrt(2.0 / 400), 0.1 * math.Sqrt(2.0/300)} {
		weight, bias := shape.Layer(p, l)
		mean, deviation, extreme := moments(weight)
		// Five standard errors of either estimate.
		n := math.Sqrt(float64(len(weight)))
		if math.Abs(mean) > 5*want/n || math.Abs(deviation/want-1) > 5/(n*math.Sqrt2) {
			t.Errorf("layer %d: mean %v, deviation %v, want 0, %v", l, mean, deviation, want)
		}
		if extreme < 3.5*want || extreme > 7*want {
			t.Errorf("layer %d: the largest weight is %v deviations, which no normal sample has", l, extreme/want)
		}
		if slices.Max(bias) != 0 || slices.Min(bias) != 0 {
			t.Errorf("layer %d: biases aren't zero", l)
		}
	}
	mustPanic(t, func() { shape.Init(nets.MLP{400, 200}.NewParams(), 1) })
}

func moments(v []float32) (mean, deviation, extreme float64) {
	for _, f := range v {
		mean += float64(f) / float64(len(v))
		extreme = max(extreme, math.Abs(float64(f)))
	}
	for _, f := range v {
		deviation += (float64(f) - mean) * (float64(f) - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(v))), extreme
}

// TestMLPInitIsFrozen pins the first weights of a seed: saved runs name seeds.
func TestMLPInitIsFrozen(t *testing.T) {
	shape := nets.MLP{2, 2, 1}
	p := shape.NewParams()
	shape.Init(p, 7)
	want := []float32{-0.68412566, 0.34517366, 0.36100325, 1.5916928, 0, 0, -0.114895776, -0.082800865, 0}
	for i, v := range p.Flat() {
		if math.Abs(float64(v-want[i])) > 1e-6 {
			t.Fatalf("parameters %v, want %v: a change here invalidates every seed", p.Flat(), want)
		}
	}
}
