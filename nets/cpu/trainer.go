package cpu

import (
	"fmt"
	"slices"

	"vtrain/nets"
	"vtrain/nets/kernel"
	"vtrain/vec"
)

// NewTrainer returns a trainer for MLPs of that shape, which trains p in
// place. The error is about the shape or the options.
func NewTrainer(shape nets.MLP, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
	set, err := kernel.Default()
	if err != nil {
		return nil, err
	}
	return newTrainer(set, shape, p, o)
}

func newTrainer(set *kernel.Set, shape nets.MLP, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	return nets.NewTrainer(newGradient(set, shape), p, o)
}

// gradient implements nets.Differentiator in four sweeps. The first packs the
// weights. The second takes blocks of rows forward and backward while they are
// in the cache, and keeps the activations and the derivatives of the whole
// batch. The third packs the derivatives, and the fourth multiplies them into
// weight gradients, Xᵀ·Δ, of blocks of inputs that each sum over all rows in
// order: no worker has a gradient of its own, nothing is left to reduce, and
// the sums don't depend on who computes them.
type gradient struct {
	nets.MLP
	set     *kernel.Set
	pool    *vec.Pool
	layers  []layer
	turned  []*kernel.Panels // [layer]: the transposed weights, above the first layer
	scratch vec.Locals[*trainScratch]

	// The batch, by layer. Slot l holds what layer l gives out.
	capacity int // rows there is room for
	y        []matrix
	delta    []matrix         // derivatives of the loss by the sums before ReLU
	packed   []*kernel.Panels // the derivatives as right factors
	sums     []float64        // [group]: part of the loss
	bad      []int            // [group]: first row that isn't finite, or -1
	dense    []bool           // [block]: whether its inputs are too many to list

	// What the sweeps are cut into.
	packing, repacking, products []job

	// Arguments of the ranges that the pool runs, and their functions.
	dst, params                         nets.Params
	x                                   matrix
	rows                                int
	loss                                nets.Loss
	packJobs, rowBlock, repackJobs, mul func(lo, hi int)
}

// A job is a part of a sweep over one layer: a range of panels or of inputs.
type job struct {
	kind          jobKind
	layer, lo, hi int
}

type jobKind int

const (
	weights       jobKind = iota // pack panels of the weights
	turnedWeights                // and of their transpose
	inputs                       // weight gradients of the inputs [lo,hi)
	biases                       // bias gradient
)

// group is the rows whose losses are summed together: the sum is the same
// however large the blocks are, which are a multiple.
const group = 8

// chunk is the rows whose set inputs are listed at a time.
const chunk = 512

// trainScratch is what one worker needs.
type trainScratch struct {
	set     sparse        // of a block of rows
	left    []float32     // [inputs of a job, rows], packed
	columns *kernel.Lists // the rows of a chunk in which each of 64 inputs is set
}

func newGradient(set *kernel.Set, shape nets.MLP) *gradient {
	n := shape.Layers()
	g := &gradient{
		MLP: slices.Clone(shape), set: set, layers: newLayers(set, shape),
		turned: make([]*kernel.Panels, n), packed: make([]*kernel.Panels, n),
		y: make([]matrix, n), delta: make([]matrix, n),
	}
	for l := 1; l < n; l++ {
		g.turned[l] = set.NewPanels(shape[l+1], shape[l])
	}
	g.packJobs, g.rowBlock, g.repackJobs, g.mul = g.runPacking, g.runRows, g.runRepacking, g.runProducts
	return g
}

func (g *gradient) Prepare(pool *vec.Pool) {
	g.pool = pool
	for l := range g.layers {
		g.packing = cut(g.packing, weights, l, g.layers[l].weight.Count(), packedPanels)
		if l > 0 {
			g.packing = cut(g.packing, turnedWeights, l, g.turned[l].Count(), packedPanels)
		}
		g.products = cut(g.products, inputs, l, g.MLP[l], g.inputsOf(l))
		g.products = append(g.products, job{biases, l, 0, 0})
	}
}

// packedPanels is the panels of a packing job.
const packedPanels = 4

// cut appends the jobs of one layer over [0,n), of step each.
func cut(jobs []job, kind jobKind, layer, n, step int) []job {
	for lo := 0; lo < n; lo += step {
		jobs = append(jobs, job{kind, layer, lo, min(lo+step, n)})
	}
	return jobs
}

// inputsOf returns the inputs of a product of layer l: so many that a panel of
// derivatives serves some tiles while it is in the cache, so few that every
// worker gets its share. In the first layer it is the inputs that are listed
// together.
func (g *gradient) inputsOf(l int) int {
	if l == 0 {
		return 64
	}
	tiles := g.MLP[l] / (2 * g.set.Rows() * g.pool.Workers())
	return g.set.Rows() * min(max(tiles, 1), 16)
}

func (g *gradient) Gradient(dst, p nets.Params, x []float32, rows int, loss nets.Loss) (float64, int) {
	g.reserve(rows)
	g.dst, g.params, g.x, g.rows, g.loss = dst, p, matrix{x, g.In()}, rows, loss
	g.pool.Run(len(g.packing), 1, g.packJobs)
	g.pool.Run(rows, g.set.Block(), g.rowBlock)
	sum, bad := g.verdict()
	if bad < 0 {
		g.pool.Run(len(g.repacking), 1, g.repackJobs)
		g.pool.Run(len(g.products), 1, g.mul)
	}
	g.x, g.loss = matrix{}, nil
	return sum, bad
}

// reserve makes room for a batch.
func (g *gradient) reserve(rows int) {
	if rows > g.capacity {
		g.grow(rows)
	}
	for _, p := range g.packed {
		p.Resize(rows)
	}
}

func (g *gradient) grow(rows int) {
	g.capacity, g.repacking = rows, nil
	top, widest := g.Layers()-1, 0
	for l := range g.layers {
		out := g.MLP[l+1]
		row := kernel.Stride(out)
		if l == top {
			row = out // as losses want it
		}
		g.y[l] = matrix{kernel.NewFloats(rows * row), row}
		g.delta[l] = matrix{kernel.NewFloats(rows * row), row}
		g.packed[l] = g.set.NewPanels(rows, out)
		g.repacking = cut(g.repacking, weights, l, g.packed[l].Count(), packedPanels)
		widest = max(widest, g.set.PackedRows(g.inputsOf(l), rows))
	}
	groups := (rows + group - 1) / group
	g.sums, g.bad, g.dense = make([]float64, groups), make([]int, groups), make([]bool, groups)
	g.scratch = vec.Locals[*trainScratch]{New: func() *trainScratch {
		return &trainScratch{newSparse(g.set, g.set.Block(), g.In()), kernel.NewFloats(widest), g.set.NewLists(64, 64*chunk)}
	}}
	for range g.pool.Workers() {
		g.scratch.Put(g.scratch.New())
	}
}

// verdict sums the loss over the groups, and finds the first bad row.
func (g *gradient) verdict() (sum float64, bad int) {
	bad = -1
	for i := range (g.rows + group - 1) / group {
		sum += g.sums[i]
		if bad < 0 {
			bad = g.bad[i]
		}
	}
	return sum, bad
}

func (g *gradient) runPacking(lo, hi int) {
	for _, j := range g.packing[lo:hi] {
		weight, bias := g.Layer(g.params, j.layer)
		if j.kind == turnedWeights {
			g.turned[j.layer].Pack(weight, 1, g.MLP[j.layer+1], j.lo, j.hi)
			continue
		}
		if j.lo == 0 {
			g.layers[j.layer].setBias(bias)
		}
		g.layers[j.layer].pack(weight, j.lo, j.hi)
	}
}

// runRows takes the rows [lo,hi), one block, forward and backward.
func (g *gradient) runRows(lo, hi int) {
	s, top, rows := g.scratch.Get(), g.Layers()-1, hi-lo
	x := g.x.from(lo)
	for l := range g.layers {
		y := g.y[l].from(lo)
		if l > 0 {
			g.layers[l].affine(g.set, y, x, rows, l < top)
		} else {
			g.first(s, y, x, lo, rows, l < top)
		}
		x = y
	}
	g.score(lo, hi)
	for l := top; l > 0; l-- {
		delta, below := g.delta[l].from(lo), g.delta[l-1].from(lo)
		p := kernel.Product{M: rows, A: delta.data, RowA: delta.row, ColumnA: 1, B: g.turned[l], C: below.data, RowC: below.row}
		g.set.Multiply(&p, 0, g.turned[l].Count())
		// With what lies between the rows, which is zero.
		g.set.Gate(below.data[:rows*below.row], g.y[l-1].from(lo).data[:rows*below.row])
	}
	g.scratch.Put(s)
}

// first computes the first layer, and notes whether its inputs can be listed.
func (g *gradient) first(s *trainScratch, y, x matrix, lo, rows int, hidden bool) {
	listed := s.set.list(x, rows, g.In())
	g.dense[lo/g.set.Block()] = !listed
	if listed {
		s.set.affine(g.set, &g.layers[0], y, hidden)
	} else {
		g.layers[0].affine(g.set, y, x, rows, hidden)
	}
}

// score evaluates the loss of the rows [lo,hi), group by group.
func (g *gradient) score(lo, hi int) {
	top := g.Layers() - 1
	for r := lo; r < hi; r += group {
		end := min(r+group, hi)
		dy, y := g.delta[top].from(r), g.y[top].from(r)
		n := (end - r) * g.Out()
		g.sums[r/group], g.bad[r/group] = nets.Score(g.loss, dy.data[:n], y.data[:n], r, end)
	}
}

// from returns the matrix from a row on.
func (m matrix) from(r int) matrix { return matrix{m.data[r*m.row:], m.row} }

func (g *gradient) runRepacking(lo, hi int) {
	for _, j := range g.repacking[lo:hi] {
		delta := g.delta[j.layer]
		g.packed[j.layer].Pack(delta.data, delta.row, 1, j.lo, j.hi)
	}
}

// runProducts computes parts of the gradient.
func (g *gradient) runProducts(lo, hi int) {
	s := g.scratch.Get()
	for _, j := range g.products[lo:hi] {
		weight, bias := g.Layer(g.dst, j.layer)
		switch {
		case j.kind == biases:
			ones := kernel.Product{M: 1, A: one[:], B: g.packed[j.layer], C: bias, RowC: len(bias)}
			g.set.Multiply(&ones, 0, g.packed[j.layer].Count())
		case j.layer == 0 && g.listed():
			g.addListed(s, weight, j.lo, j.hi)
		default:
			g.multiply(s, weight, j)
		}
	}
	g.scratch.Put(s)
}

// one is all elements of a row of ones, at a distance of zero.
var one = [1]float32{1}

// listed reports whether most blocks of the batch have few inputs set.
func (g *gradient) listed() bool {
	blocks, dense := (g.rows+g.set.Block()-1)/g.set.Block(), 0
	for _, d := range g.dense[:blocks] {
		if d {
			dense++
		}
	}
	return 2*dense < blocks
}

// multiply computes the weight gradients of a job's inputs.
func (g *gradient) multiply(s *trainScratch, weight []float32, j job) {
	x, out := g.x, g.MLP[j.layer+1]
	if j.layer > 0 {
		x = g.y[j.layer-1]
	}
	n := j.hi - j.lo
	left := s.left[:g.set.PackedRows(n, g.rows)]
	g.set.PackRows(left, x.data[j.lo:], x.row, n, g.rows)
	p := kernel.Product{M: n, A: left, Packed: true, B: g.packed[j.layer], C: weight[j.lo*out:], RowC: out}
	g.set.Multiply(&p, 0, g.packed[j.layer].Count())
}

// addListed computes the weight gradients of the inputs [lo,hi), at most 64 of
// them, by adding the derivatives of the rows in which they are set.
func (g *gradient) addListed(s *trainScratch, weight []float32, lo, hi int) {
	out, packed := g.MLP[1], g.packed[0]
	p := kernel.Product{B: packed, C: weight[lo*out:], RowC: out}
	for from := 0; from < g.rows; from += chunk {
		s.columns.Reset(g.rows)
		s.columns.AppendColumns(g.x.from(from).data, g.x.row, from, min(chunk, g.rows-from), lo, hi)
		p.Add = from > 0
		for j := 0; j < packed.Count(); j += gatherPanels {
			g.set.Gather(s.columns, &p, j, min(j+gatherPanels, packed.Count()))
		}
	}
}

func (g *gradient) Describe() string { return fmt.Sprintf("cpu %v on %s", g.MLP, g.set.Name()) }

func (g *gradient) Close() {}
