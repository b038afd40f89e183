package cpu

import (
	"fmt"
	"slices"

	"vtrain/nets"
	"vtrain/nets/kernel"
	"vtrain/vec"
)

// NewEngine returns an engine for MLPs of that shape. The error is about the
// shape or the options. Any number of rows costs just those rows: the padding
// of buckets is counted, not computed.
func NewEngine(shape nets.MLP, o nets.EngineOptions) (nets.Engine, error) {
	set, err := kernel.Default()
	if err != nil {
		return nil, err
	}
	return newEngine(set, shape, o)
}

func newEngine(set *kernel.Set, shape nets.MLP, o nets.EngineOptions) (nets.Engine, error) {
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	if o.Precision != nets.Int8 {
		return nets.NewEngine(newBackend(set, shape), o)
	}
	b, err := newInt8Backend(set, shape, o.Calibration)
	if err != nil {
		return nil, err
	}
	return nets.NewEngine(b, o)
}

// backend implements nets.Backend.
type backend struct {
	nets.MLP
	set     *kernel.Set
	layers  []layer
	finite  bool // the first layer's weights are
	pool    *vec.Pool
	scratch vec.Locals[*scratch]

	// Arguments of the ranges of one forward, and their function, made once
	// because a closure made for each forward would be garbage.
	dst, x []float32
	stream nets.Stream // in place of both
	first  int         // row of the stream
	block  func(lo, hi int)
}

// scratch is what a block of rows needs: its activations, this layer's and
// the next's, and the inputs that are set.
type scratch struct {
	this, next matrix
	in, out    []float32 // rows of a stream, and their outputs
	set        sparse
}

func newBackend(set *kernel.Set, shape nets.MLP) *backend {
	b := &backend{MLP: slices.Clone(shape), set: set, layers: newLayers(set, shape)}
	b.block = b.forwardBlock
	return b
}

func (b *backend) Prepare(pool *vec.Pool, _ []int) {
	b.pool = pool
	rows, width := b.set.Block(), kernel.Stride(b.Widest())
	b.scratch.New = func() *scratch {
		return &scratch{
			in:   kernel.NewFloats(rows * b.In()),
			out:  kernel.NewFloats(rows * b.Out()),
			this: matrix{kernel.NewFloats(rows * width), width},
			next: matrix{kernel.NewFloats(rows * width), width},
			set:  newSparse(b.set, rows, b.In()),
		}
	}
	for range pool.Workers() {
		b.scratch.Put(b.scratch.New())
	}
}

func (b *backend) Load(p nets.Params) {
	for l := range b.layers {
		weight, bias := b.Layer(p, l)
		b.layers[l].pack(weight, 0, b.layers[l].weight.Count())
		copy(b.layers[l].bias, bias)
	}
	first, _ := b.Layer(p, 0)
	b.finite = listable(b.set, first)
}

func (b *backend) Forward(dst, x []float32, rows, _ int) int {
	b.dst, b.x = dst, x
	b.pool.Run(rows, grain(b.set, rows, b.pool.Workers()), b.block)
	b.dst, b.x = nil, nil
	return rows
}

// Stream implements nets.Streamer.
func (b *backend) Stream(s nets.Stream, first, rows, _ int) int {
	b.stream, b.first = s, first
	b.pool.Run(rows, grain(b.set, rows, b.pool.Workers()), b.block)
	b.stream = nil
	return rows
}

// input returns the rows [lo,hi) of what is going on, and where their outputs go.
func (b *backend) input(s *scratch, lo, hi int) (x, y matrix) {
	if b.stream == nil {
		return matrix{b.x[lo*b.In() : hi*b.In()], b.In()}, matrix{b.dst[lo*b.Out() : hi*b.Out()], b.Out()}
	}
	x, y = matrix{s.in[:(hi-lo)*b.In()], b.In()}, matrix{s.out[:(hi-lo)*b.Out()], b.Out()}
	b.stream.Fill(x.data, b.first+lo, b.first+hi)
	return x, y
}

// output hands the outputs of the rows [lo,hi) on.
func (b *backend) output(y matrix, lo, hi int) {
	if b.stream != nil {
		b.stream.Drain(y.data, b.first+lo, b.first+hi)
	}
}

// alone is the rows that one worker takes through a network in about the time
// that it takes to wake another.
const alone = 8

// turns is the blocks of a worker, at least, where there are others: one that
// wakes late leaves more of them to those awake.
const turns = 3

// grain returns the rows of a block: equal ones, as few as fit into a block
// each, but at least a tile.
func grain(set *kernel.Set, rows, workers int) int {
	if rows <= alone {
		return alone
	}
	rounds := (rows + workers*set.Block() - 1) / (workers * set.Block())
	if workers > 1 {
		rounds = max(rounds, turns)
	}
	blocks := workers * rounds
	return max((rows+blocks-1)/blocks, set.Rows())
}

// forwardBlock takes the rows [lo,hi) through all layers.
func (b *backend) forwardBlock(lo, hi int) {
	s := b.scratch.Get()
	rows := hi - lo
	x, out := b.input(s, lo, hi)
	for l := range b.layers {
		y := s.next
		if l == len(b.layers)-1 {
			y = out
		}
		b.layer(s, l, y, x, rows)
		x = y
		s.this, s.next = s.next, s.this
	}
	b.output(out, lo, hi)
	b.scratch.Put(s)
}

// layer takes rows through layer l.
func (b *backend) layer(s *scratch, l int, y, x matrix, rows int) {
	hidden := l < len(b.layers)-1
	to := y.of(rows, b.MLP[l+1])
	if l == 0 && b.finite && s.set.list(x, rows, b.In()) {
		s.set.affine(b.set, &b.layers[l], to, hidden)
	} else {
		b.layers[l].affine(b.set, to, x.of(rows, b.MLP[l]), rows, hidden)
	}
}

func (b *backend) Describe() string { return fmt.Sprintf("cpu %v on %s", b.MLP, b.set.Name()) }

func (b *backend) Precision() nets.Precision { return nets.Float32 }

func (b *backend) Close() {}
