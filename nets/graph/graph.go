// Package graph trains the networks of package nets as gorgonia expression
// graphs. It is written for agreement, not for speed: its backward pass is
// derived by symbolic differentiation, so it shares no formula with the
// kernels it is compared with, and it allocates in every step. Gorgonia
// multiplies with its own BLAS, on one core, whatever the number of workers.
package graph

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"vtrain/nets"
	"vtrain/vec"
)

// NewTrainer returns a trainer for MLPs of that shape, which trains p in
// place. The error is about the shape or the options.
func NewTrainer(shape nets.MLP, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	return nets.NewTrainer(&gradient{MLP: slices.Clone(shape), batches: map[int]*batch{}}, p, o)
}

// gradient implements nets.Differentiator. Graphs have the number of rows
// built in, so each number seen has graphs of its own, kept for good.
type gradient struct {
	nets.MLP
	batches map[int]*batch
}

// batch is the two graphs for one number of rows: outputs alone, from which
// the loss derives dy, and the whole with dy as an input.
type batch struct{ forward, backward *network }

func (g *gradient) Prepare(*vec.Pool) {}

func (g *gradient) Gradient(dst, p nets.Params, x []float32, rows int, loss nets.Loss) (float64, int) {
	b := g.batches[rows]
	if b == nil {
		b = &batch{newNetwork(g.MLP, rows, false), newNetwork(g.MLP, rows, true)}
		g.batches[rows] = b
	}
	b.forward.run(x, p)
	y := floats(b.forward.y)
	sum, bad := nets.Score(loss, b.backward.dy.data, y, 0, rows)
	if bad >= 0 {
		return sum, bad
	}
	b.backward.run(x, p)
	for i, t := range dst.Tensors() {
		copy(t.Data, floats(b.backward.grads[i]))
	}
	return sum, -1
}

func (g *gradient) Describe() string { return fmt.Sprintf("gorgonia graph %v", g.MLP) }

func (g *gradient) Close() {
	for _, b := range g.batches {
		b.forward.close()
		b.backward.close()
	}
}

// network is a compiled graph, its inputs and what is read from it.
type network struct {
	machine gorgonia.VM
	x, dy   input // dy only with gradients
	params  []input
	y       gorgonia.Value
	grads   []gorgonia.Value // [tensor], only with gradients
}

// input is a node and the memory of its value.
type input struct {
	node *gorgonia.Node
	data []float32
}

// newNetwork builds y = …relu(relu(x·W₀ + 1·b₀)·W₁ + 1·b₁)…, where 1 is a column of
// ones, and with gradients the cost Σ y∘dy, whose gradient by the parameters
// is that of the loss if dy is the loss's derivative by y.
func newNetwork(shape nets.MLP, rows int, gradients bool) *network {
	g := gorgonia.NewGraph()
	n := &network{x: newInput(g, "x", rows, shape.In())}
	ones := newInput(g, "ones", rows, 1)
	for i := range ones.data {
		ones.data[i] = 1
	}
	y := n.x.node
	for l := range shape.Layers() {
		w := newInput(g, fmt.Sprintf("w%d", l), shape[l], shape[l+1])
		b := newInput(g, fmt.Sprintf("b%d", l), 1, shape[l+1])
		n.params = append(n.params, w, b)
		y = must(gorgonia.Add(must(gorgonia.Mul(y, w.node)), must(gorgonia.Mul(ones.node, b.node))))
		if l < shape.Layers()-1 {
			y = must(gorgonia.Rectify(y))
		}
	}
	gorgonia.Read(y, &n.y)
	if gradients {
		n.dy = newInput(g, "dy", rows, shape.Out())
		n.differentiate(must(gorgonia.Sum(must(gorgonia.HadamardProd(y, n.dy.node)))))
	}
	n.machine = gorgonia.NewTapeMachine(g)
	return n
}

func newInput(g *gorgonia.ExprGraph, name string, rows, cols int) input {
	data := make([]float32, rows*cols)
	value := tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(data))
	return input{gorgonia.NodeFromAny(g, value, gorgonia.WithName(name)), data}
}

// differentiate adds the gradient of the cost to the graph.
func (n *network) differentiate(cost *gorgonia.Node) {
	var by gorgonia.Nodes
	for _, p := range n.params {
		by = append(by, p.node)
	}
	grads, err := gorgonia.Grad(cost, by...)
	if err != nil {
		panic(err)
	}
	n.grads = make([]gorgonia.Value, len(grads))
	for i, g := range grads {
		gorgonia.Read(g, &n.grads[i])
	}
}

// run evaluates the graph on a batch.
func (n *network) run(x []float32, p nets.Params) {
	copy(n.x.data, x)
	for i, t := range p.Tensors() {
		copy(n.params[i].data, t.Data)
	}
	n.machine.Reset()
	if err := n.machine.RunAll(); err != nil {
		panic(err)
	}
}

// close frees the machine, whose error is about a log it doesn't keep.
func (n *network) close() { _ = n.machine.Close() }

// must returns the node of a graph that is right by construction: its shapes
// follow from those of the network.
func must(n *gorgonia.Node, err error) *gorgonia.Node {
	if err != nil {
		panic(err)
	}
	return n
}

// floats returns the elements of a value, which is a number where a matrix
// has shrunk to one.
func floats(v gorgonia.Value) []float32 {
	switch d := v.Data().(type) {
	case []float32:
		return d
	case float32:
		return []float32{d}
	}
	panic("graph: value of another type")
}
