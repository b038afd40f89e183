package cfr

import (
	"math"
	"math/bits"

	"vtrain/nets"
	"vtrain/vec"
)

// A builder assembles the rows of a training step on the workers of a pool.
// Each row is filled in by itself, so that a batch has the same bits for any
// number of them, and nothing allocates once there was a batch as large. The
// zero value works alone.
type builder struct {
	rows, words, outputs, width int

	x      []float32    // [rows,D]
	mask   []uint64     // [rows,W] outputs that count
	target []float32    // [rows,A], anything for outputs that don't
	weight []float32    // [rows], of remembered rows only
	taken  actionsTaken // of a policy's rows only

	pool    *vec.Pool
	args    builderArgs
	kernels struct{ recall, fill func(lo, hi int) }
	copies  vec.Locals[*Reservoir] // rows of a memory, side by side; each worker's own, or writes to neighbours would share cache lines
	all     []int32                // 0, 1, … fillGrain-1

	losses struct {
		squared   nets.SquaredError
		surrogate surrogate
		cross     nets.CrossEntropy
	}
}

// builderArgs are the arguments of the kernel that is running: handing ranges to
// the pool allocates no closure.
type builderArgs struct {
	rows    []int32
	view    vec.View
	samples *Samples
	fill    filler
	memory  *Reservoir
	now     float64
	power   float64
}

// A filler sets what entry i of a batch is fitted to, which is that row of the
// samples. It runs on all workers, and may touch no other entry.
type filler func(b *builder, i int, row int32)

// fillGrain is the rows that a worker takes at a time: it observes them itself.
const fillGrain = vec.Inline

// bind makes the builder work on a pool, nil for the caller alone.
func (b *builder) bind(pool *vec.Pool) {
	b.pool = pool
	if b.kernels.fill == nil {
		b.kernels.recall, b.kernels.fill = b.recallRange, b.fillRange
		b.all = vec.AllRows(b.all, fillGrain)
	}
}

// fresh assembles rows of samples for a network of that many outputs; fill sets
// their targets.
func (b *builder) fresh(s *Samples, view vec.View, outputs int, rows []int32, fill filler) {
	b.bind(b.pool)
	b.size(s.State, view, outputs, len(rows))
	b.args = builderArgs{rows: rows, view: view, samples: s, fill: fill}
	b.pool.Run(len(rows), fillGrain, b.kernels.fill)
	b.args = builderArgs{}
}

// remembered assembles rows of a reservoir, in any order: targets are the values
// of the legal actions, and a row weighs that power of its iteration, relative to
// now, since only ratios count and powers grow large.
func (b *builder) remembered(memory *Reservoir, view vec.View, rows []int32, now int, power float64) {
	b.bind(b.pool)
	if b.copies.New == nil {
		b.copies.New = func() *Reservoir {
			r := NewReservoir(memory.State, fillGrain)
			r.resize(fillGrain)
			return r
		}
	}
	b.size(memory.State, view, memory.State.Actions(), len(rows))
	b.weight = vec.Grow(b.weight, len(rows))
	b.args = builderArgs{rows: rows, view: view, memory: memory, now: float64(now), power: power}
	b.pool.Run(len(rows), fillGrain, b.kernels.recall)
	b.args = builderArgs{}
}

// size makes room for a batch.
func (b *builder) size(game vec.Batch, view vec.View, outputs, rows int) {
	b.rows, b.outputs, b.words, b.width = rows, outputs, vec.MaskWords(outputs), game.Width(view)
	b.taken.resize(rows)
	b.x = vec.Grow(b.x, rows*b.width)
	b.mask = vec.Grow(b.mask, rows*b.words)
	b.target = vec.Grow(b.target, rows*b.outputs)
}

// recallRange assembles remembered rows. They are copied first, column by column:
// a row of a large memory is in no cache, and copies wait for many at a time, an
// encoder for one.
func (b *builder) recallRange(lo, hi int) {
	copied, rows := b.copies.Get(), b.all[:hi-lo]
	defer b.copies.Put(copied)
	copied.scatter(rows, b.args.memory, b.args.rows[lo:hi])
	copied.State.Observe(b.x[lo*b.width:hi*b.width], b.args.view, rows)
	copied.State.Legal(b.mask[lo*b.words:hi*b.words], rows)
	for i := lo; i < hi; i++ {
		values, target, k := copied.Value.Row(int32(i-lo)), b.target[i*b.outputs:(i+1)*b.outputs], 0
		for w, word := range b.mask[i*b.words : (i+1)*b.words] {
			for ; word != 0; word &= word - 1 {
				target[w<<6+bits.TrailingZeros64(word)] = values[k]
				k++
			}
		}
		b.weight[i] = float32(math.Pow(float64(copied.Iteration.Data[i-lo])/b.args.now, b.args.power))
	}
}

func (b *builder) fillRange(lo, hi int) {
	a := &b.args
	a.samples.State.Observe(b.x[lo*b.width:hi*b.width], a.view, a.rows[lo:hi])
	clear(b.mask[lo*b.words : hi*b.words])
	for i := lo; i < hi; i++ {
		a.fill(b, i, a.rows[i])
	}
}

// set makes action a of entry i one that counts.
func (b *builder) set(i int, a int32, target float32) {
	vec.MaskSet(b.mask[i*b.words:(i+1)*b.words], int(a))
	b.target[i*b.outputs+int(a)] = target
}

// regression returns the squared error of fresh rows.
func (b *builder) regression() nets.Loss { return b.squared(nil) }

// squared returns the squared error of the batch; a nil weight counts all rows
// alike.
func (b *builder) squared(weight []float32) nets.Loss {
	b.losses.squared = nets.SquaredError{Mask: b.mask, Target: b.target, Weight: weight}
	return &b.losses.squared
}

// crossEntropy returns the weighted cross-entropy of remembered rows.
func (b *builder) crossEntropy() nets.Loss { return b.crossEntropyOf(b.weight) }

// crossEntropyOf returns the cross-entropy of the batch; a nil weight counts all
// rows alike.
func (b *builder) crossEntropyOf(weight []float32) nets.Loss {
	b.losses.cross = nets.CrossEntropy{Mask: b.mask, Target: b.target, Weight: weight}
	return &b.losses.cross
}
