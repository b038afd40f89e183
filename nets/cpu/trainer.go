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

// gradient implements nets.Differentiator in sweeps. The first packs the
// weights. Then, for each part of the batch, one takes blocks of rows forward
// and backward while they are in the cache, and leaves their activations and
// derivatives in panels; another multiplies those, Xᵀ·Δ, and adds them to the
// gradient, for blocks of inputs that each sum over all rows in order. Between
// the two, where a part has few rows whose inputs are worth listing, the inputs
// of those rows follow into the panels. No worker has a gradient of its own,
// nothing is left to reduce, and the sums depend neither on who computes them
// nor on the parts, which bound the memory.
type gradient struct {
	nets.MLP
	set     *kernel.Set
	pool    *vec.Pool
	layers  []layer
	turned  []*kernel.Panels // [layer]: the transposed weights, above the first layer
	scratch vec.Locals[*trainScratch]

	// The part of the batch, for which there is room for so many rows.
	capacity int
	x        []*kernel.Panels // [layer]: what goes into it
	delta    []*kernel.Panels // [layer]: derivatives of the loss by its sums before ReLU
	dense    []bool           // [block]: whether its inputs are too many to list
	sums     []float64        // [group of the batch]: its part of the loss
	bad      []int            // [group of the batch]: its first row that isn't finite, or -1

	packing, products []job // what sweeps are cut into

	// Arguments of the ranges that the pool runs, and their functions.
	dst, params                         nets.Params
	finite                              bool // the first layer's weights are
	loss                                nets.Loss
	inputs                              matrix // from the part's first row on
	first, rows                         int    // the part: its place in the batch, and its rows
	grain                               int    // rows of a block
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
	inputWeights                 // weight gradients of the inputs [lo,hi)
	biases                       // bias gradient
)

// group is the rows whose losses are summed together: the sum is the same
// however large the blocks are, which are a multiple.
const group = 8

// listedInputs and chunk are the inputs and the rows whose set inputs are
// listed at a time.
const (
	listedInputs = 64
	chunk        = 512
)

// trainScratch is what one worker needs.
type trainScratch struct {
	set     sparse        // of a block of rows
	columns *kernel.Lists // the rows of a chunk in which some inputs are set
	y, dy   matrix        // outputs of a block of rows, and derivatives by them
}

func newGradient(set *kernel.Set, shape nets.MLP) *gradient {
	n := shape.Layers()
	g := &gradient{
		MLP: slices.Clone(shape), set: set, layers: newLayers(set, shape),
		turned: make([]*kernel.Panels, n), x: make([]*kernel.Panels, n), delta: make([]*kernel.Panels, n),
	}
	for l := 1; l < n; l++ {
		g.turned[l] = set.NewPanels(shape[l+1], shape[l])
	}
	g.scratch.New = g.newScratch
	g.packJobs, g.rowBlock, g.inputBlock, g.mul = g.runPacking, g.runRows, g.packInputs, g.runProducts
	return g
}

func (g *gradient) newScratch() *trainScratch {
	rows, out := g.set.Block(), g.Out()
	return &trainScratch{
		set: newSparse(g.set, rows, g.In()), columns: g.set.NewLists(listedInputs, listedInputs*chunk),
		y: matrix{kernel.NewFloats(rows * out), out}, dy: matrix{kernel.NewFloats(rows * out), out},
	}
}

func (g *gradient) Prepare(pool *vec.Pool) {
	g.pool = pool
	for l := range g.layers {
		g.packing = cut(g.packing, weights, l, g.layers[l].weight.Count(), packedPanels)
		if l > 0 {
			g.packing = cut(g.packing, turnedWeights, l, g.turned[l].Count(), packedPanels)
		}
		g.products = cut(g.products, inputWeights, l, g.MLP[l], g.inputsOf(l))
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

// inputsOf returns the inputs of a product of layer l, in whole panels: half of
// a worker's share, so that the workers end at about the same time, and no more
// than stay in the cache while the derivatives stream by.
func (g *gradient) inputsOf(l int) int {
	const most = 256
	jobs := max(2*g.pool.Workers(), (g.MLP[l]+most-1)/most)
	share := (g.MLP[l] + jobs - 1) / jobs
	return (share + g.set.Columns() - 1) / g.set.Columns() * g.set.Columns()
}

func (g *gradient) Gradient(dst, p nets.Params, x []float32, rows int, loss nets.Loss) (float64, int) {
	part := g.partRows(rows)
	g.reserve(rows, part)
	g.dst, g.params, g.loss = dst, p, loss
	first, _ := g.Layer(p, 0)
	g.finite = listable(g.set, first)
	g.pool.Run(len(g.packing), 1, g.packJobs)
	bad := -1
	for g.first = 0; g.first < rows; g.first += part {
		g.inputs, g.rows = matrix{x[g.first*g.In():], g.In()}, min(part, rows-g.first)
		if b := g.sweep(bad < 0); bad < 0 {
			bad = b
		}
	}
	g.inputs, g.loss = matrix{}, nil
	sum := 0.0
	for _, s := range g.sums[:(rows+group-1)/group] {
		sum += s
	}
	return sum, bad
}

// partRows returns the rows of a part of the batch: as many as the kernels sum
// over at once, or a block for each worker, in equal shares and whole groups.
func (g *gradient) partRows(rows int) int {
	most := max(g.set.Depth(), g.pool.Workers()*g.set.Block())
	parts := (rows + most - 1) / most
	share := (rows + parts - 1) / parts
	return (share + group - 1) / group * group
}

// reserve makes room for a batch and its parts.
func (g *gradient) reserve(rows, part int) {
	if part > g.capacity {
		g.capacity = part
		for l := range g.layers {
			g.x[l] = g.set.NewPanels(part, g.MLP[l])
			g.delta[l] = g.set.NewPanels(part, g.MLP[l+1])
		}
		g.dense = make([]bool, part)
	}
	if groups := (rows + group - 1) / group; groups > len(g.sums) {
		g.sums, g.bad = make([]float64, groups), make([]int, groups)
	}
}

// sweep takes the part forward and backward, and adds its weight gradients if
// they are wanted and all its rows are good. It returns the first bad row of
// the batch, or -1.
func (g *gradient) sweep(wanted bool) int {
	for l := range g.layers {
		g.x[l].Resize(g.rows)
		g.delta[l].Resize(g.rows)
	}
	g.grain = trainGrain(g.set, g.rows, g.pool.Workers())
	g.pool.Run(g.rows, g.grain, g.rowBlock)
	for _, bad := range g.bad[g.first/group : (g.first+g.rows+group-1)/group] {
		if bad >= 0 {
			return bad
		}
	}
	if wanted {
		if !g.listed() {
			g.pool.Run(g.rows, g.grain, g.inputBlock)
		}
		g.pool.Run(len(g.products), 1, g.mul)
	}
	return -1
}

// trainGrain returns the rows of a block, in whole tiles and groups, so that
// the workers get about equal shares.
func trainGrain(set *kernel.Set, rows, workers int) int {
	unit := set.Rows()
	for unit%group != 0 {
		unit += set.Rows()
	}
	share := (grain(set, rows, workers) + unit - 1) / unit * unit
	return min(share, set.Block()/unit*unit)
}

func (g *gradient) runPacking(lo, hi int) {
	for _, j := range g.packing[lo:hi] {
		weight, bias := g.Layer(g.params, j.layer)
		if j.kind == turnedWeights {
			g.turned[j.layer].PackTransposed(weight, g.MLP[j.layer+1], j.lo, j.hi)
			continue
		}
		if j.lo == 0 {
			copy(g.layers[j.layer].bias, bias)
		}
		g.layers[j.layer].pack(weight, j.lo, j.hi)
	}
}

// runRows takes the rows [lo,hi), one block, forward and backward.
func (g *gradient) runRows(lo, hi int) {
	s, rows, top := g.scratch.Get(), hi-lo, g.Layers()-1
	g.enter(s, lo, rows)
	for l := 1; l <= top; l++ {
		g.layers[l].affine(g.set, g.output(s, l, lo), g.x[l].From(lo), rows, l < top)
	}
	g.score(s, lo, hi)
	g.delta[top].PackRows(s.dy.data, s.dy.row, lo, rows)
	for l := top; l > 0; l-- {
		p := kernel.Product{M: rows, A: g.delta[l].From(lo), B: g.turned[l], C: g.delta[l-1].From(lo)}
		g.set.Multiply(&p, 0, g.turned[l].Count())
		g.delta[l-1].Gate(g.x[l], lo, rows)
	}
	g.scratch.Put(s)
}

// enter computes the first layer, and notes whether its inputs can be listed.
// If not, their gradient needs them in panels.
func (g *gradient) enter(s *trainScratch, lo, rows int) {
	x, y, hidden := g.inputs.from(lo), g.output(s, 0, lo), g.Layers() > 1
	listed := g.finite && s.set.list(x, rows, g.In())
	g.dense[lo/g.grain] = !listed
	if listed {
		s.set.affine(g.set, &g.layers[0], y, hidden)
	} else {
		g.layers[0].affine(g.set, y, x.of(rows, g.In()), rows, hidden)
		g.x[0].PackRows(x.data, x.row, lo, rows)
	}
}

// output returns where layer l puts its results for the rows from lo on: into
// the next layer's panels, or as losses want them.
func (g *gradient) output(s *trainScratch, l, lo int) kernel.Matrix {
	if l < g.Layers()-1 {
		return g.x[l+1].From(lo)
	}
	return s.y.of(len(s.y.data)/s.y.row, g.Out())
}

// score evaluates the loss of the rows [lo,hi), group by group.
func (g *gradient) score(s *trainScratch, lo, hi int) {
	y, dy, out := s.y.data, s.dy.data, g.Out()
	for r := lo; r < hi; r += group {
		from, to, row := r-lo, min(r+group, hi)-lo, g.first+r
		g.sums[row/group], g.bad[row/group] = nets.Score(g.loss, dy[from*out:to*out], y[from*out:to*out], row, row+to-from)
	}
}

// runProducts computes parts of the gradient.
func (g *gradient) runProducts(lo, hi int) {
	s := g.scratch.Get()
	for _, j := range g.products[lo:hi] {
		weight, bias := g.Layer(g.dst, j.layer)
		delta := g.delta[j.layer]
		switch {
		case j.kind == biases:
			ones := kernel.Product{M: 1, A: kernel.Ones(g.rows), B: delta, C: kernel.Rows(bias, len(bias), 1, len(bias)), Add: g.first > 0}
			g.set.Multiply(&ones, 0, delta.Count())
		case j.layer == 0 && g.listed():
			g.addListed(s, weight, j.lo, j.hi)
		default:
			g.multiply(weight, j)
		}
	}
	g.scratch.Put(s)
}

// listed reports whether most blocks of the part have few inputs set.
func (g *gradient) listed() bool {
	blocks, dense := (g.rows+g.grain-1)/g.grain, 0
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
	if !g.dense[lo/g.grain] {
		g.x[0].PackRows(g.inputs.from(lo).data, g.inputs.row, lo, hi-lo)
	}
}

// multiply computes the weight gradients of a job's inputs, which begin a
// panel.
func (g *gradient) multiply(weight []float32, j job) {
	out, n, delta := g.MLP[j.layer+1], j.hi-j.lo, g.delta[j.layer]
	p := kernel.Product{M: n, A: g.x[j.layer].Transposed(j.lo), B: delta, C: kernel.Rows(weight[j.lo*out:], out, n, out), Add: g.first > 0}
	g.set.Multiply(&p, 0, delta.Count())
}

// addListed computes the weight gradients of the inputs [lo,hi) by adding the
// derivatives of the rows in which they are set, for some inputs and a chunk of
// rows at a time.
func (g *gradient) addListed(s *trainScratch, weight []float32, lo, hi int) {
	for ; lo < hi; lo += listedInputs {
		for from := 0; from < g.rows; from += chunk {
			g.addChunk(s, weight, lo, min(lo+listedInputs, hi), from)
		}
	}
}

func (g *gradient) addChunk(s *trainScratch, weight []float32, lo, hi, from int) {
	out, delta := g.MLP[1], g.delta[0]
	s.columns.Reset(g.rows)
	s.columns.AppendColumns(g.inputs.from(from).data, g.inputs.row, from, min(chunk, g.rows-from), lo, hi)
	p := kernel.Product{B: delta, C: kernel.Rows(weight[lo*out:], out, hi-lo, out), Add: g.first+from > 0}
	g.set.Gather(s.columns, &p, 0, delta.Count())
}

func (g *gradient) Describe() string { return fmt.Sprintf("cpu %v on %s", g.MLP, g.set.Name()) }

func (g *gradient) Close() {}
