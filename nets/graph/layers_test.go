package graph

import (
	"math"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"

	"vtrain/nets"
	"vtrain/vec"
)

// slopes returns the value of a function of matrices [1,n] and the gradient of
// the sum of its elements by each.
func slopes(f func([]*gorgonia.Node) *gorgonia.Node, args ...[]float32) (value []float32, grads [][]float32) {
	n := &network{graph: gorgonia.NewGraph(), rows: 1}
	var nodes gorgonia.Nodes
	for _, data := range args {
		m := n.matrix(string(rune('a'+len(nodes))), 1, len(data))
		copy(m.data, data)
		nodes = append(nodes, m.node)
	}
	y := f(nodes)
	read := make([]gorgonia.Value, 1+len(args))
	gorgonia.Read(y, &read[0])
	by, err := gorgonia.Grad(must(gorgonia.Sum(y)), nodes...)
	if err != nil {
		panic(err)
	}
	for i, g := range by {
		gorgonia.Read(g, &read[1+i])
	}
	n.machine = gorgonia.NewTapeMachine(n.graph)
	defer n.close()
	n.run(nil, nets.Params{})
	for _, v := range read[1:] {
		grads = append(grads, slices.Clone(floats(v)))
	}
	return slices.Clone(floats(read[0])), grads
}

// TestMaximumAtTies has every way in which three can tie.
func TestMaximumAtTies(t *testing.T) {
	value, grads := slopes(maximum,
		[]float32{5, 5, 1, 5, 5, 0, -2},
		[]float32{1, 5, 5, 1, 5, 0, -3},
		[]float32{2, 1, 5, 5, 5, 0, -2})
	if want := []float32{5, 5, 5, 5, 5, 0, -2}; !slices.Equal(value, want) {
		t.Errorf("maximum %v, want %v", value, want)
	}
	for i, want := range [][]float32{{1, 1, 0, 1, 1, 1, 1}, {0, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0}} {
		if !slices.Equal(grads[i], want) {
			t.Errorf("derivatives by argument %d are %v, want %v", i, grads[i], want)
		}
	}
}

// TestMaximumSlopes compares derivatives with differences, of arguments that
// are further apart than a step.
func TestMaximumSlopes(t *testing.T) {
	const step = 1.0 / 64
	s := vec.At(vec.Key(1, 0), 0)
	args := make([][]float32, 6)
	for i := range args {
		for range 50 {
			args[i] = append(args[i], float32(4*i+s.Intn(1<<10)*24)*step)
		}
	}
	value, grads := slopes(maximum, args...)
	for i := range args {
		for j := range args[i] {
			args[i][j] += step
			above, _ := slopes(maximum, args...)
			args[i][j] -= step
			if got := (above[j] - value[j]) / step; got != grads[i][j] {
				t.Errorf("argument %d, element %d: derivative %v, by difference %v", i, j, grads[i][j], got)
			}
		}
	}
}

func TestReLU(t *testing.T) {
	nan := float32(math.NaN())
	value, grads := slopes(func(x []*gorgonia.Node) *gorgonia.Node { return relu(x[0]) }, []float32{-1, 0, 2, nan})
	if !slices.Equal(value[:3], []float32{0, 0, 2}) || value[3] == value[3] {
		t.Errorf("values %v", value)
	}
	if !slices.Equal(grads[0][:3], []float32{0, 0, 1}) {
		t.Errorf("derivatives %v", grads[0])
	}
}
