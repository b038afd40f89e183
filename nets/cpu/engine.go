package cpu

import (
	"fmt"
	"slices"

	"vtrain/nets"
	"vtrain/vec"
)

// NewEngine returns an engine for MLPs of that shape. The error is about the
// shape or the options. Any number of rows costs just those rows: the padding
// of buckets is counted, not computed.
func NewEngine(shape nets.MLP, o nets.EngineOptions) (nets.Engine, error) {
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	return nets.NewEngine(newBackend(shape), o)
}

// backend implements nets.Backend.
type backend struct {
	nets.MLP
	kernel  kernel
	params  nets.Params
	pool    *vec.Pool
	scratch vec.Locals[*scratch]

	// Arguments of the ranges of one forward, and their function, made once
	// because a closure made for each forward would be garbage.
	dst, x []float32
	tile   func(lo, hi int)
}

// scratch is the activations of one tile, this layer's and the next's.
type scratch struct{ this, next []float32 }

func newBackend(shape nets.MLP) *backend {
	b := &backend{MLP: slices.Clone(shape), kernel: registered(), params: shape.NewParams()}
	b.tile = b.forwardTile
	return b
}

func (b *backend) Prepare(pool *vec.Pool, _ []int) {
	b.pool = pool
	n := tileRows * b.Widest()
	b.scratch.New = func() *scratch { return &scratch{make([]float32, n), make([]float32, n)} }
	for range pool.Workers() {
		b.scratch.Put(b.scratch.New())
	}
}

func (b *backend) Load(p nets.Params) { copy(b.params.Flat(), p.Flat()) }

func (b *backend) Forward(dst, x []float32, rows, _ int) int {
	b.dst, b.x = dst, x
	b.pool.Run(rows, tileRows, b.tile)
	b.dst, b.x = nil, nil
	return rows
}

// affine computes y = x·W + b for rows of x, with ReLU if the layer is hidden.
// The sum starts at the bias.
func affine(k kernel, y, x, weight, bias []float32, rows int, hidden bool) {
	in, out := len(x)/rows, len(bias)
	for r := range rows {
		copy(y[r*out:(r+1)*out], bias)
	}
	k.multiply(rows, out, in, x, weight, y)
	if hidden {
		relu(y)
	}
}

// forwardTile takes the rows [lo,hi) through all layers.
func (b *backend) forwardTile(lo, hi int) {
	s := b.scratch.Get()
	rows, x := hi-lo, b.x[lo*b.In():hi*b.In()]
	for l := range b.Layers() {
		last := l == b.Layers()-1
		y := s.next[:rows*b.MLP[l+1]]
		if last {
			y = b.dst[lo*b.Out() : hi*b.Out()]
		}
		weight, bias := b.Layer(b.params, l)
		affine(b.kernel, y, x, weight, bias, rows, !last)
		x = y
		s.this, s.next = s.next, s.this
	}
	b.scratch.Put(s)
}

func (b *backend) Describe() string { return fmt.Sprintf("cpu %v on %s", b.MLP, name(b.kernel)) }

func (b *backend) Close() {}

// name returns the kernel and the BLAS it calls.
func name(k kernel) string {
	switch k := k.(type) {
	case dense:
		return fmt.Sprintf("%T", k.impl)
	default:
		return "gonum, sparse"
	}
}
