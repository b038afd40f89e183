package cpu

import (
	"fmt"
	"slices"

	"vtrain/nets"
	"vtrain/vec"
)

// NewTrainer returns a trainer for MLPs of that shape, which trains p in
// place. The error is about the shape or the options.
func NewTrainer(shape nets.MLP, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	return nets.NewTrainer(newGradient(shape), p, o)
}

// gradient implements nets.Differentiator in two sweeps. The first takes
// tiles of rows forward and backward while they are in the cache, and keeps
// the activations and the derivatives of the whole batch. The second computes
// the weight gradients, Xᵀ·Δ, in tiles of weights that each sum over all rows
// in order: no worker has a gradient of its own, nothing is left to reduce,
// and the sums don't depend on who computes them.
type gradient struct {
	nets.MLP
	kernel  kernel
	pool    *vec.Pool
	turned  [][]float32 // [layer][out,in]: weights of layers above the first, transposed
	weights []weightTile

	// The batch, by layer. Slot l holds what layer l gives out.
	capacity int         // rows there is room for
	y        [][]float32 // [layer][rows,out]
	delta    [][]float32 // [layer][rows,out]: derivative of the loss by the sum before ReLU
	ones     []float32   // [rows]
	sums     []float64   // [tile]: part of the loss
	bad      []int       // [tile]: first row that isn't finite, or -1

	// Arguments of the ranges that the pool runs, and their functions.
	dst, params    nets.Params
	x              []float32
	rows           int
	loss           nets.Loss
	rowTile, wTile func(lo, hi int)
}

// A weightTile is a block of one weight gradient, or a bias gradient if it
// has no inputs.
type weightTile struct{ layer, inLo, inHi, outLo, outHi int }

func newGradient(shape nets.MLP) *gradient {
	g := &gradient{MLP: slices.Clone(shape), kernel: registered()}
	layers := g.Layers()
	g.turned, g.y, g.delta = make([][]float32, layers), make([][]float32, layers), make([][]float32, layers)
	for l := range layers {
		if l > 0 {
			g.turned[l] = make([]float32, shape[l]*shape[l+1])
		}
		g.weights = append(g.weights, tilesOf(l, shape[l], shape[l+1], g.kernel.columns(shape[l+1]))...)
	}
	g.rowTile, g.wTile = g.runRows, g.runWeights
	return g
}

// tilesOf cuts the gradient of one layer, step columns wide.
func tilesOf(layer, in, out, step int) []weightTile {
	var tiles []weightTile
	for j := 0; j < out; j += step {
		to := min(j+step, out)
		for i := 0; i < in; i += tileIns {
			tiles = append(tiles, weightTile{layer, i, min(i+tileIns, in), j, to})
		}
		tiles = append(tiles, weightTile{layer, 0, 0, j, to})
	}
	return tiles
}

func (g *gradient) Prepare(pool *vec.Pool) { g.pool = pool }

func (g *gradient) Gradient(dst, p nets.Params, x []float32, rows int, loss nets.Loss) (float64, int) {
	g.reserve(rows)
	g.dst, g.params, g.x, g.rows, g.loss = dst, p, x, rows, loss
	for l := 1; l < g.Layers(); l++ {
		weight, _ := g.Layer(p, l)
		transpose(g.turned[l], weight, g.MLP[l], g.MLP[l+1])
	}
	g.pool.Run(rows, tileRows, g.rowTile)
	sum, bad := g.verdict()
	if bad < 0 {
		g.pool.Run(len(g.weights), 1, g.wTile)
	}
	g.x, g.loss = nil, nil
	return sum, bad
}

// reserve makes room for a batch.
func (g *gradient) reserve(rows int) {
	if rows <= g.capacity {
		return
	}
	g.capacity = rows
	for l := range g.Layers() {
		g.y[l] = make([]float32, rows*g.MLP[l+1])
		g.delta[l] = make([]float32, rows*g.MLP[l+1])
	}
	g.ones = slices.Repeat([]float32{1}, rows)
	tiles := (rows + tileRows - 1) / tileRows
	g.sums, g.bad = make([]float64, tiles), make([]int, tiles)
}

// verdict sums the loss over the tiles, and finds the first bad row.
func (g *gradient) verdict() (sum float64, bad int) {
	bad = -1
	for t := range (g.rows + tileRows - 1) / tileRows {
		sum += g.sums[t]
		if bad < 0 {
			bad = g.bad[t]
		}
	}
	return sum, bad
}

// runRows takes the rows [lo,hi), one tile, forward and backward.
func (g *gradient) runRows(lo, hi int) {
	top, tile := g.Layers()-1, lo/tileRows
	x := g.x[lo*g.In() : hi*g.In()]
	for l := range g.Layers() {
		weight, bias := g.Layer(g.params, l)
		y := g.slice(g.y, l, lo, hi)
		affine(g.kernel, y, x, weight, bias, hi-lo, l < top)
		x = y
	}
	delta := g.slice(g.delta, top, lo, hi)
	g.sums[tile], g.bad[tile] = nets.Score(g.loss, delta, x, lo, hi)
	for l := top; l > 0; l-- {
		below := g.slice(g.delta, l-1, lo, hi)
		clear(below)
		g.kernel.multiply(hi-lo, g.MLP[l], g.MLP[l+1], delta, g.turned[l], below)
		gate(below, g.slice(g.y, l-1, lo, hi))
		delta = below
	}
}

// slice returns the rows [lo,hi) of layer l of y or delta.
func (g *gradient) slice(m [][]float32, l, lo, hi int) []float32 {
	out := g.MLP[l+1]
	return m[l][lo*out : hi*out]
}

// runWeights computes tiles of the gradient.
func (g *gradient) runWeights(lo, hi int) {
	for _, t := range g.weights[lo:hi] {
		weight, bias := g.Layer(g.dst, t.layer)
		in, out := g.MLP[t.layer], g.MLP[t.layer+1]
		delta := g.delta[t.layer][t.outLo:]
		if t.inHi == 0 {
			g.kernel.multiplyT(1, t.outHi-t.outLo, g.rows, g.ones, 1, delta, bias[t.outLo:], out)
			continue
		}
		x := g.x
		if t.layer > 0 {
			x = g.y[t.layer-1]
		}
		g.kernel.multiplyT(t.inHi-t.inLo, t.outHi-t.outLo, g.rows, x[t.inLo:], in, delta, weight[t.inLo*out+t.outLo:], out)
	}
}

func (g *gradient) Describe() string { return fmt.Sprintf("cpu %v on %s", g.MLP, name(g.kernel)) }

func (g *gradient) Close() {}

// transpose sets dst [n,m] to the transpose of src [m,n], in blocks of a few
// cache lines.
func transpose(dst, src []float32, m, n int) {
	const block = 16
	for i := 0; i < m; i += block {
		for j := 0; j < n; j += block {
			for ii := i; ii < min(i+block, m); ii++ {
				for jj := j; jj < min(j+block, n); jj++ {
					dst[jj*m+ii] = src[ii*n+jj]
				}
			}
		}
	}
}
