package cfr

import (
	"math"
	"slices"
	"testing"

	"vtrain/encode"
	"vtrain/nets"
	"vtrain/nets/graph"
	"vtrain/rules"
	"vtrain/vec"
)

// TestSharedOverColors joins the groups of the cards layout to a network over
// groups: after a step of training on random rows, which look alike in no two
// colours, renaming the colours of x renames those of y.
func TestSharedOverColors(t *testing.T) {
	const rows = 20
	layout := encode.NewCards(rules.MustPreset("classic"))
	g := layout.Groups()
	shape := nets.Shared{
		Groups:  nets.Groups{In: layout.Width(), Out: layout.Actions(), Inputs: g.Features, Outputs: g.Actions},
		Encoder: []int{16, 8}, Trunk: []int{12}, Head: []int{10},
	}
	if err := shape.Validate(); err != nil {
		t.Fatal(err)
	}
	params := shape.NewParams()
	shape.Init(params, 1)
	before := params.Clone()
	stream := vec.At(vec.Key(2, 0), 0)
	x, target := make([]float32, rows*shape.In()), make([]float32, rows*shape.Out())
	for _, v := range [][]float32{x, target} {
		for i := range v {
			v[i] = stream.Float32() - 0.5
		}
	}
	trainer, err := graph.NewTrainer(shape, params, nets.TrainerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	if _, err := trainer.Step(x, rows, &nets.SquaredError{Target: target}); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(before.Flat(), params.Flat()) {
		t.Error("the step changed nothing")
	}
	engine, err := graph.NewEngine(shape, nets.EngineOptions{Buckets: []int{rows}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	engine.Load(params)
	engine.Seal()
	y := make([]float32, len(target))
	engine.Forward(y, x, rows)
	for _, perm := range [][]int{{1, 0, 2, 3, 4}, {1, 2, 3, 4, 0}, {4, 2, 0, 1, 3}} {
		p := layout.Permutation(perm)
		renamed, want, got := make([]float32, len(x)), make([]float32, len(y)), make([]float32, len(y))
		for r := range rows {
			p.Observation(renamed[r*shape.In():(r+1)*shape.In()], x[r*shape.In():(r+1)*shape.In()])
			p.Values(want[r*shape.Out():(r+1)*shape.Out()], y[r*shape.Out():(r+1)*shape.Out()])
		}
		engine.Forward(got, renamed, rows)
		if off := farthest(got, want); !(off < 1e-5) {
			t.Errorf("colours %v: outputs are off by %g", perm, off)
		}
		if off := farthest(want, y); off < 0.01 {
			t.Errorf("colours %v: outputs differ by %g, too little to tell", perm, off)
		}
	}
}

// farthest returns the largest difference.
func farthest(a, b []float32) float64 {
	most := 0.0
	for i := range a {
		most = max(most, math.Abs(float64(a[i])-float64(b[i])))
	}
	return most
}
