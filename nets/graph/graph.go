// Package graph runs the networks of package nets as gorgonia expression
// graphs: any architecture that can be written down as one can be trained and
// played. It is written for agreement, not for speed: its backward pass is
// derived by symbolic differentiation, so it shares no formula with the
// kernels it is compared with, it allocates in every step, and the padding of
// buckets is computed. Gorgonia multiplies with its own BLAS, on one core,
// whatever the number of workers.
//
// Columns of x are gathered into a graph and columns of y scattered from it
// outside, so that a graph is made of products and element-wise operations
// alone, which gorgonia differentiates best.
package graph

import (
	"fmt"

	"vtrain/nets"
	"vtrain/vec"
)

// NewTrainer returns a trainer for networks of that shape, an MLP or a Shared,
// which trains p in place. The error is about the shape or the options.
func NewTrainer(shape nets.Shape, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
	a, err := newArchitecture(shape)
	if err != nil {
		return nil, err
	}
	return nets.NewTrainer(&gradient{architecture: a, batches: map[int]*batch{}}, p, o)
}

// An architecture writes networks of its shape down.
type architecture interface {
	nets.Shape
	build(n *network)
}

// newArchitecture checks and copies a shape.
func newArchitecture(shape nets.Shape) (architecture, error) {
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	switch s := shape.(type) {
	case nets.MLP:
		return mlp{append(nets.MLP{}, s...)}, nil
	case nets.Shared:
		return shared{s.Clone()}, nil
	}
	return nil, fmt.Errorf("graph: unknown architecture %T", shape)
}

// gradient implements nets.Differentiator. Graphs have the number of rows
// built in, so each number seen has graphs of its own, kept for good.
type gradient struct {
	architecture
	batches map[int]*batch
}

// batch is the two graphs for one number of rows: outputs alone, from which
// the loss derives dy, and the whole with dy as an input.
type batch struct {
	forward, backward *network
	y, dy             []float32 // [rows,Out]
}

func newBatch(a architecture, rows int) *batch {
	return &batch{
		newNetwork(a, rows, false), newNetwork(a, rows, true),
		make([]float32, rows*a.Out()), make([]float32, rows*a.Out()),
	}
}

func (g *gradient) Prepare(*vec.Pool) {}

func (g *gradient) Gradient(dst, p nets.Params, x []float32, rows int, loss nets.Loss) (float64, int) {
	b := g.batches[rows]
	if b == nil {
		b = newBatch(g.architecture, rows)
		g.batches[rows] = b
	}
	b.forward.run(x, p)
	b.forward.outputs(b.y)
	sum, bad := nets.Score(loss, b.dy, b.y, 0, rows)
	if bad < 0 {
		b.backward.setDerivatives(b.dy)
		b.backward.run(x, p)
		b.backward.gradient(dst)
	}
	return sum, bad
}

func (g *gradient) Describe() string { return fmt.Sprintf("gorgonia graph %v", g.architecture) }

func (g *gradient) Close() {
	for _, b := range g.batches {
		b.forward.close()
		b.backward.close()
	}
}
