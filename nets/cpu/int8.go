package cpu

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"vtrain/nets"
	"vtrain/nets/kernel"
	"vtrain/vec"
)

// int8Backend implements nets.Backend in bytes (Jacob et al. 2018,
// "Quantization and training of neural networks for efficient
// integer-arithmetic-only inference"). The weights of a layer are in steps of a
// size for each of its outputs, activations in steps chosen by what they are on
// the calibration rows. Bias, ReLU and rounding to the next layer's steps are
// part of the store; the outputs are float32.
//
// Where few inputs are set, adding weights in float32 beats multiplying bytes,
// so that the first layer stays what it is. The calibration rows decide that,
// once: were it decided for each block, a row's result would depend on the
// rows around it.
type int8Backend struct {
	*backend // what the calibration rows go through, and the first layer

	calibration matrix
	rows        int    // of calibration
	tops        matrix // [block,hidden outputs]: the largest activations in a block of calibration rows

	first  int // the first layer in bytes, 0 or 1
	input  quantiser
	bias   []float32            // of layer 0 in bytes, with what its inputs are worth at no steps
	layers []kernel.Int8Layer   // [layer]: what panels are packed from
	panels []*kernel.Int8Panels // [layer]: nil for one in float32
	bytes  vec.Locals[*int8Scratch]
	broken bool // some parameter isn't finite, and no output will be

	// What packing and calibrating are cut into, and their functions.
	packing                 []job
	odd                     atomic.Bool
	packJobs, calibrateRows func(lo, hi int)
}

// A quantiser turns float32 into steps: value·scale + offset.
type quantiser struct {
	scale, offset []float32 // [in]
	zero          []float32 // [in]: what no steps are worth
}

// int8Scratch is what a block of rows needs.
type int8Scratch struct {
	this, next []uint8
	row        int // bytes from a row to the next
	broken     []bool
}

func newInt8Backend(set *kernel.Set, shape nets.MLP, calibration []float32) (*int8Backend, error) {
	for l, w := range shape[:shape.Layers()] {
		if w > kernel.Int8MaxDepth {
			return nil, fmt.Errorf("nets: layers %v: width %d at position %d, int8 takes at most %d", []int(shape), w, l, kernel.Int8MaxDepth)
		}
	}
	if len(calibration)%shape.In() != 0 {
		return nil, fmt.Errorf("nets: %d numbers of calibration, want rows of %d", len(calibration), shape.In())
	}
	b := &int8Backend{backend: newBackend(set, shape), calibration: matrix{slices.Clone(calibration), shape.In()}, rows: len(calibration) / shape.In()}
	if isSparse(calibration) {
		b.first = 1
	}
	b.packJobs, b.calibrateRows = b.packPanels, b.calibrateBlock
	b.allocate()
	if b.first < b.Layers() { // or the only layer stays in float32
		b.block = b.forwardInt8
	}
	if b.first == 0 {
		b.bias = make([]float32, shape[1])
		b.input.cover(b.calibration, b.layers[0].In)
	}
	return b, nil
}

// isSparse reports whether so few inputs are set that adding weights beats
// multiplying bytes.
func isSparse(x []float32) bool {
	set := 0
	for _, v := range x {
		if v != 0 {
			set++
		}
	}
	return set*sparseShare <= len(x)
}

// allocate makes room for what depends on the shape.
func (b *int8Backend) allocate() {
	n := b.Layers()
	b.layers, b.panels = make([]kernel.Int8Layer, n), make([]*kernel.Int8Panels, n)
	for _, w := range b.MLP[1:n] {
		b.tops.row += w
	}
	b.tops.data = make([]float32, (b.rows+b.set.Block()-1)/b.set.Block()*b.tops.row)
	for l := b.first; l < n; l++ {
		in, out := b.MLP[l], b.MLP[l+1]
		b.panels[l] = b.set.NewInt8Panels(in, out)
		b.layers[l].In = make([]float32, in)
		if l > b.first {
			b.layers[l-1].Out = b.layers[l].In
		}
		for j := range b.panels[l].Count() {
			b.packing = append(b.packing, job{layer: l, lo: j, hi: j + 1})
		}
	}
	if b.first < n {
		in := b.MLP[b.first]
		b.input = quantiser{scale: make([]float32, in), offset: make([]float32, in), zero: make([]float32, in)}
	}
}

func (b *int8Backend) Precision() nets.Precision { return nets.Int8 }

func (b *int8Backend) Prepare(pool *vec.Pool, buckets []int) {
	b.backend.Prepare(pool, buckets)
	rows, stride := b.set.Block(), kernel.Int8Stride(slices.Max(b.MLP))
	b.bytes.New = func() *int8Scratch {
		return &int8Scratch{kernel.NewBytes(rows * stride), kernel.NewBytes(rows * stride), stride, make([]bool, rows)}
	}
	for range pool.Workers() {
		b.bytes.Put(b.bytes.New())
	}
}

func (b *int8Backend) Load(p nets.Params) {
	b.backend.Load(p)
	b.calibrate()
	for l := b.first; l < b.Layers(); l++ {
		b.layers[l].Weight, b.layers[l].Bias = b.Layer(p, l)
	}
	if b.first == 0 {
		b.shiftBias()
	}
	b.odd.Store(false)
	b.pool.Run(len(b.packing), 1, b.packJobs)
	b.broken = b.odd.Load()
	for l := range b.layers {
		b.layers[l].Weight, b.layers[l].Bias = nil, nil // the caller's
	}
}

func (b *int8Backend) packPanels(lo, hi int) {
	for _, j := range b.packing[lo:hi] {
		if !b.panels[j.layer].Pack(&b.layers[j.layer], j.lo, j.hi) {
			b.odd.Store(true)
		}
	}
}

// calibrate chooses the steps of the activations.
func (b *int8Backend) calibrate() {
	b.pool.Run(b.rows, b.set.Block(), b.calibrateRows)
	tops := b.tops.data[:b.tops.row]
	for i, v := range b.tops.data {
		tops[i%len(tops)] = max(tops[i%len(tops)], v)
	}
	for l, w := range b.MLP[1:b.Layers()] {
		worth(b.layers[l+1].In, tops[:w])
		tops = tops[w:]
	}
	if b.first == 1 {
		for i := range b.input.scale {
			b.input.scale[i] = 1 / b.layers[1].In[i]
		}
	}
}

// calibrateBlock takes the calibration rows [lo,hi) through the hidden layers
// in float32.
func (b *int8Backend) calibrateBlock(lo, hi int) {
	s := b.scratch.Get()
	x := matrix{b.calibration.data[lo*b.In() : hi*b.In()], b.In()}
	tops := b.tops.data[lo/b.set.Block()*b.tops.row:][:b.tops.row]
	clear(tops)
	for l, w := range b.MLP[1:b.Layers()] {
		y := s.next
		b.layer(s, l, y, x, hi-lo)
		for r := range hi - lo {
			for j, v := range y.data[r*y.row:][:w] {
				tops[j] = max(tops[j], v)
			}
		}
		tops = tops[w:]
		x = y
		s.this, s.next = s.next, s.this
	}
	b.scratch.Put(s)
}

// spare is how far above its largest value in calibration an activation may go
// before it is cut off.
const spare = 1.5

// worth sets dst to what a step of each activation of a layer is worth, given
// their largest values. It takes none of them to stay below the largest of all:
// other rows than those of calibration wake units that these leave asleep, and
// cutting them off does more harm than coarser steps.
func worth(dst, tops []float32) {
	largest := slices.Max(tops)
	if largest < minRange {
		largest = 1 // nothing here ever fires
	}
	for j, t := range tops {
		dst[j] = max(spare*t, largest) / kernel.Int8Steps
	}
}

// minRange bounds the ranges that count as zero.
const minRange = 1e-20

// cover chooses the steps of inputs, by rows of them: so that the smallest and
// the largest value of each, which are all that a binary one has, are whole
// steps, and a quarter of their distance is left on both sides. An input that
// never changes is taken to be able to change as much as any.
func (q *quantiser) cover(x matrix, worth []float32) {
	const below, between = 21, 84
	lows, highs := extremes(x)
	low, high := slices.Min(lows), slices.Max(highs)
	if high-low < minRange {
		high = low + 1
	}
	for i := range worth {
		lo, hi := lows[i], highs[i]
		if hi-lo < minRange {
			lo, hi = min(lo, low), max(hi, high)
		}
		step := (hi - lo) / between
		worth[i], q.scale[i] = step, 1/step
		q.zero[i], q.offset[i] = lo-below*step, below-lo/step
	}
}

// extremes returns the smallest and the largest value of each column.
func extremes(x matrix) (lows, highs []float32) {
	lows, highs = make([]float32, x.row), make([]float32, x.row)
	copy(lows, x.data)
	copy(highs, x.data)
	for i, v := range x.data {
		j := i % x.row
		lows[j], highs[j] = min(lows[j], v), max(highs[j], v)
	}
	return lows, highs
}

// shiftBias adds what the inputs are worth at no steps to the first bias.
func (b *int8Backend) shiftBias() {
	l := &b.layers[0]
	copy(b.bias, l.Bias)
	for i, v := range b.input.zero {
		for j, w := range l.Weight[i*len(b.bias) : (i+1)*len(b.bias)] {
			b.bias[j] += float32(v * w)
		}
	}
	l.Bias = b.bias
}

// forwardInt8 takes the rows [lo,hi) through all layers.
func (b *int8Backend) forwardInt8(lo, hi int) {
	s, f, rows := b.bytes.Get(), b.scratch.Get(), hi-lo
	x, out := b.backend.input(f, lo, hi)
	b.enter(s, f, x, rows)
	y := out.data
	for l := b.first; l < b.Layers(); l++ {
		p := kernel.Int8Product{M: rows, A: s.this, RowA: s.row, B: b.panels[l]}
		if l == b.Layers()-1 {
			p.C, p.RowC = y, b.Out()
		} else {
			p.Steps, p.RowSteps = s.next, s.row
		}
		b.set.MultiplyInt8(&p)
		s.this, s.next = s.next, s.this
	}
	// Bytes can't be NaN: the rows that hold it are remembered.
	for r, broken := range s.broken[:rows] {
		if broken {
			fill(y[r*b.Out():(r+1)*b.Out()], float32(math.NaN()))
		}
	}
	b.output(out, lo, hi)
	b.scratch.Put(f)
	b.bytes.Put(s)
}

// enter turns rows of inputs, or of the first layer's activations, into bytes.
func (b *int8Backend) enter(s *int8Scratch, f *scratch, x matrix, rows int) {
	if b.first == 1 {
		b.layer(f, 0, f.next, x, rows)
		x = f.next
	}
	in := b.MLP[b.first]
	for r := range rows {
		finite := b.set.Quantise(s.this[r*s.row:][:in], x.data[r*x.row:][:in], b.input.scale, b.input.offset)
		s.broken[r] = b.broken || !finite
	}
}

func fill(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}

func (b *int8Backend) Describe() string {
	first := ""
	if b.first == 1 {
		first = ", the first layer in float32"
	}
	return fmt.Sprintf("cpu %v in int8 on %s%s", b.MLP, b.set.Int8Name(), first)
}
