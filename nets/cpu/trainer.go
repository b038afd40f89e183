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

// gradient implements nets.Differentiator in three sweeps. The first packs the
// weights. The second takes blocks of rows forward and backward while they are
// in the cache, and packs their activations and derivatives as the factors of
// weight gradients. The third multiplies those, Xᵀ·Δ, for blocks of inputs that
// each sum over all rows in order: no worker has a gradient of its own, nothing
// is left to reduce, and the sums don't depend on who computes them.
type gradient struct {
	nets.MLP
	set     *kernel.Set
	pool    *vec.Pool
	layers  []layer
	turned  []*kernel.Panels // [layer]: the transposed weights, above the first layer
	scratch vec.Locals[*trainScratch]

	// The batch, for which there is room for so many rows.
	capacity int
	left     [][]float32      // [layer]: what goes into the layer, transposed, as a left factor
	right    []*kernel.Panels // [layer]: derivatives of the loss by its sums before ReLU
	sums     []float64        // [group]: part of the loss
	bad      []int            // [group]: first row that isn't finite, or -1
	dense    []bool           // [block]: whether its inputs are too many to list

	packing, products []job // what sweeps are cut into

	// Arguments of the ranges that the pool runs, and their functions.
	dst, params                         nets.Params
	x                                   matrix
	rows                                int
	loss                                nets.Loss
	packJobs, rowBlock, inputBlock, mul func(lo, hi int)
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
	set      sparse        // of a block of rows
	columns  *kernel.Lists // the rows of a chunk in which each of 64 inputs is set
	y, delta []matrix      // [layer]: of a block of rows; of layer l, what it gives out
}

func newGradient(set *kernel.Set, shape nets.MLP) *gradient {
	n := shape.Layers()
	g := &gradient{
		MLP: slices.Clone(shape), set: set, layers: newLayers(set, shape),
		turned: make([]*kernel.Panels, n), left: make([][]float32, n), right: make([]*kernel.Panels, n),
	}
	for l := 1; l < n; l++ {
		g.turned[l] = set.NewPanels(shape[l+1], shape[l])
	}
	g.scratch.New = g.newScratch
	g.packJobs, g.rowBlock, g.inputBlock, g.mul = g.runPacking, g.runRows, g.packInputs, g.runProducts
	return g
}

func (g *gradient) newScratch() *trainScratch {
	rows, n := g.set.Block(), g.Layers()
	s := &trainScratch{newSparse(g.set, rows, g.In()), g.set.NewLists(64, 64*chunk), make([]matrix, n), make([]matrix, n)}
	for l, out := range g.MLP[1:] {
		row := kernel.Stride(out)
		if l == n-1 {
			row = out // as losses want it
		}
		s.y[l] = matrix{kernel.NewFloats(rows * row), row}
		s.delta[l] = matrix{kernel.NewFloats(rows * row), row}
	}
	return s
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
	for range pool.Workers() {
		g.scratch.Put(g.newScratch())
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
		return 64 / g.set.Rows() * g.set.Rows()
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
		if !g.listed() {
			g.pool.Run(rows, g.set.Block(), g.inputBlock)
		}
		g.pool.Run(len(g.products), 1, g.mul)
	}
	g.x, g.loss = matrix{}, nil
	return sum, bad
}

// reserve makes room for a batch.
func (g *gradient) reserve(rows int) {
	if rows > g.capacity {
		g.capacity = rows
		for l := range g.layers {
			g.left[l] = kernel.NewFloats(g.set.PackedRows(g.MLP[l], rows))
			g.right[l] = g.set.NewPanels(rows, g.MLP[l+1])
		}
		groups := (rows + group - 1) / group
		g.sums, g.bad, g.dense = make([]float64, groups), make([]int, groups), make([]bool, groups)
	}
	for _, p := range g.right {
		p.Resize(rows)
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
			g.turned[j.layer].PackTransposed(weight, g.MLP[j.layer+1], j.lo, j.hi)
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
	s, rows := g.scratch.Get(), hi-lo
	g.forward(s, lo, rows)
	g.score(s, lo, hi)
	for l := g.Layers() - 1; ; l-- {
		delta := s.delta[l]
		g.right[l].PackRows(delta.data, delta.row, lo, rows)
		if l == 0 {
			break
		}
		below := s.delta[l-1]
		p := kernel.Product{M: rows, A: delta.data, RowA: delta.row, ColumnA: 1, B: g.turned[l], C: below.data, RowC: below.row}
		g.set.Multiply(&p, 0, g.turned[l].Count())
		// With what lies between the rows, which is zero.
		g.set.Gate(below.data[:rows*below.row], s.y[l-1].data[:rows*below.row])
	}
	g.scratch.Put(s)
}

// forward takes rows from lo on through all layers, and packs what goes into
// each.
func (g *gradient) forward(s *trainScratch, lo, rows int) {
	x, top := g.x.from(lo), g.Layers()-1
	for l := range g.layers {
		if l == 0 {
			g.first(s, x, lo, rows)
		} else {
			g.layers[l].affine(g.set, s.y[l], x, rows, l < top)
		}
		if l > 0 || g.dense[lo/g.set.Block()] {
			g.set.PackRows(g.left[l], g.MLP[l], g.rows, x.data, x.row, lo, rows)
		}
		x = s.y[l]
	}
}

// first computes the first layer, and notes whether its inputs can be listed.
func (g *gradient) first(s *trainScratch, x matrix, lo, rows int) {
	hidden, listed := g.Layers() > 1, s.set.list(x, rows, g.In())
	g.dense[lo/g.set.Block()] = !listed
	if listed {
		s.set.affine(g.set, &g.layers[0], s.y[0], hidden)
	} else {
		g.layers[0].affine(g.set, s.y[0], x, rows, hidden)
	}
}

// score evaluates the loss of the rows [lo,hi), group by group.
func (g *gradient) score(s *trainScratch, lo, hi int) {
	top, out := g.Layers()-1, g.Out()
	y, dy := s.y[top].data, s.delta[top].data
	for r := lo; r < hi; r += group {
		from, to := r-lo, min(r+group, hi)-lo
		g.sums[r/group], g.bad[r/group] = nets.Score(g.loss, dy[from*out:to*out], y[from*out:to*out], r, lo+to)
	}
}

// from returns the matrix from a row on.
func (m matrix) from(r int) matrix { return matrix{m.data[r*m.row:], m.row} }

// runProducts computes parts of the gradient.
func (g *gradient) runProducts(lo, hi int) {
	s := g.scratch.Get()
	for _, j := range g.products[lo:hi] {
		weight, bias := g.Layer(g.dst, j.layer)
		right := g.right[j.layer]
		switch {
		case j.kind == biases:
			ones := kernel.Product{M: 1, A: one[:], B: right, C: bias, RowC: len(bias)}
			g.set.Multiply(&ones, 0, right.Count())
		case j.layer == 0 && g.listed():
			g.addListed(s, weight, j.lo, j.hi)
		default:
			g.multiply(weight, j)
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

// packInputs packs the inputs of the rows [lo,hi), one block, unless the
// forward did.
func (g *gradient) packInputs(lo, hi int) {
	if !g.dense[lo/g.set.Block()] {
		g.set.PackRows(g.left[0], g.In(), g.rows, g.x.from(lo).data, g.x.row, lo, hi-lo)
	}
}

// multiply computes the weight gradients of a job's inputs, which begin a tile.
func (g *gradient) multiply(weight []float32, j job) {
	out, right := g.MLP[j.layer+1], g.right[j.layer]
	p := kernel.Product{M: j.hi - j.lo, A: g.left[j.layer][j.lo*g.rows:], Packed: true, B: right, C: weight[j.lo*out:], RowC: out}
	g.set.Multiply(&p, 0, right.Count())
}

// addListed computes the weight gradients of the inputs [lo,hi), at most 64 of
// them, by adding the derivatives of the rows in which they are set.
func (g *gradient) addListed(s *trainScratch, weight []float32, lo, hi int) {
	out, right := g.MLP[1], g.right[0]
	p := kernel.Product{B: right, C: weight[lo*out:], RowC: out}
	for from := 0; from < g.rows; from += chunk {
		s.columns.Reset(g.rows)
		s.columns.AppendColumns(g.x.from(from).data, g.x.row, from, min(chunk, g.rows-from), lo, hi)
		p.Add = from > 0
		for j := 0; j < right.Count(); j += gatherPanels {
			g.set.Gather(s.columns, &p, j, min(j+gatherPanels, right.Count()))
		}
	}
}

func (g *gradient) Describe() string { return fmt.Sprintf("cpu %v on %s", g.MLP, g.set.Name()) }

func (g *gradient) Close() {}
