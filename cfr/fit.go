package cfr

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"vtrain/nets"
	"vtrain/vec"
)

// fitCritic fits the critic to the returns of the actions tried.
func (l *Learner) fitCritic(seed uint64) (Fit, error) {
	s := &l.traversal.samples
	l.rows = vec.AllRows(l.rows, s.Rows())
	return l.fitFresh(l.critic, seed, func(b *builder, row int32) {
		for k, hi := s.Legal(row); k < hi; k++ {
			if s.Xi[k] > 0 {
				b.set(s.Act[k], s.Return[k])
			}
		}
	})
}

// fitRegret fits the regrets of the traverser's decisions.
func (l *Learner) fitRegret(seed uint64) (Fit, error) {
	s := &l.traversal.samples
	l.rows = s.of(l.rows, Teaches)
	return l.fitFresh(l.regret, seed, func(b *builder, row int32) {
		for k, hi := s.Legal(row); k < hi; k++ {
			b.set(s.Act[k], s.Target[k])
		}
	})
}

// fitFresh trains a network by the squared error on l.rows of this iteration,
// in an order of its own for each pass. Fill sets the targets of a row.
func (l *Learner) fitFresh(n *network, seed uint64, fill func(b *builder, row int32)) (Fit, error) {
	f := Fit{Rows: len(l.rows)}
	for pass := range l.o.Passes {
		stream := vec.At(vec.Derive(seed, "order of "+n.name, uint64(pass)), 0)
		stream.Shuffle(len(l.rows), func(i, j int) { l.rows[i], l.rows[j] = l.rows[j], l.rows[i] })
		for rows := range batches(l.rows, l.o.Batch) {
			slices.Sort(rows) // ascending rows read memory in order
			b := &l.builder
			b.start(l.traversal.samples.State, n.view, rows)
			for i, row := range rows {
				b.at = i
				fill(b, row)
			}
			if err := f.step(n, b, b.squared()); err != nil {
				return f, err
			}
		}
	}
	n.publish()
	return f.average(), nil
}

// batches cuts rows into as few parts of at most size rows as possible, even
// ones: a short last part would take a step as large as the others.
func batches(rows []int32, size int) iter.Seq[[]int32] {
	return func(yield func([]int32) bool) {
		n := (len(rows) + size - 1) / size
		for i := range n {
			if !yield(rows[i*len(rows)/n : (i+1)*len(rows)/n]) {
				return
			}
		}
	}
}

// fitStrategy remembers the policy of the opponents' decisions, then fits the
// strategy network to rows drawn from all that is remembered, weighted by a
// power of their iteration: as many as fitFresh would take from those of this
// iteration.
func (l *Learner) fitStrategy(seed uint64) (Fit, error) {
	stream := vec.At(vec.Derive(seed, "memory", 0), 0)
	fresh := l.traversal.samples.of(l.rows, Opposes)
	l.memory.Add(&l.traversal.samples, fresh, l.iteration, &stream)
	f := Fit{Rows: len(fresh)}
	l.rows = fresh
	for range l.o.Passes * ((len(fresh) + l.o.Batch - 1) / l.o.Batch) {
		rows := l.rows[:0]
		for range l.o.Batch {
			rows = append(rows, int32(stream.Intn(l.memory.Rows())))
		}
		slices.Sort(rows)
		l.rows = rows
		if err := f.step(l.strategy, &l.builder, l.remembered(rows)); err != nil {
			return f, err
		}
	}
	return f.average(), nil
}

// remembered assembles rows of the memory.
func (l *Learner) remembered(rows []int32) nets.Loss {
	b := &l.builder
	b.start(l.memory.State, l.strategy.view, rows)
	l.memory.State.Legal(b.mask, rows)
	b.weight = vec.Grow(b.weight, len(rows))
	for i, row := range rows {
		b.legal = vec.MaskAppend(b.legal[:0], b.mask[i*b.words:(i+1)*b.words])
		policy := l.memory.Policy.Row(row)
		for k, a := range b.legal {
			b.target[i*b.actions+int(a)] = policy[k]
		}
		// Relative to the newest, since only ratios count and powers grow large.
		age := float64(l.memory.Iteration.Data[row]) / float64(l.iteration)
		b.weight[i] = float32(math.Pow(age, l.o.Averaging))
	}
	return b.crossEntropy()
}

// publish hands the new parameters to the engine of traversals.
func (n *network) publish() {
	if n.engine != nil {
		n.engine.Load(n.trainer.Params())
	}
}

// A builder assembles the rows of a training step.
type builder struct {
	rows, words, actions int

	x      []float32 // [rows,D]
	mask   []uint64  // [rows,W] outputs that count
	target []float32 // [rows,A]
	weight []float32 // [rows], for crossEntropy
	at     int       // row of the batch that set fills
	legal  []int32   // scratch

	losses struct {
		squared nets.SquaredError
		cross   nets.CrossEntropy
	}
}

// start observes the rows and empties their targets.
func (b *builder) start(state vec.Batch, view vec.View, rows []int32) {
	b.rows, b.actions, b.words = len(rows), state.Actions(), vec.MaskWords(state.Actions())
	b.x = vec.Grow(b.x, len(rows)*state.Width(view))
	b.mask = vec.Grow(b.mask, len(rows)*b.words)
	b.target = vec.Grow(b.target, len(rows)*b.actions)
	state.Observe(b.x, view, rows)
	clear(b.mask)
}

// set makes action a of the current row one that counts.
func (b *builder) set(a int32, target float32) {
	vec.MaskSet(b.mask[b.at*b.words:(b.at+1)*b.words], int(a))
	b.target[b.at*b.actions+int(a)] = target
}

func (b *builder) squared() nets.Loss {
	b.losses.squared = nets.SquaredError{Mask: b.mask, Target: b.target}
	return &b.losses.squared
}

func (b *builder) crossEntropy() nets.Loss {
	b.losses.cross = nets.CrossEntropy{Mask: b.mask, Target: b.target, Weight: b.weight}
	return &b.losses.cross
}

// Fit describes the training of one network in one iteration.
type Fit struct {
	Rows     int     // rows of this iteration
	Loss     float64 // mean over steps, before each
	GradNorm float64 // mean over steps, before clipping
	Clipped  float64 // share of steps whose gradient was clipped
	steps    int
}

// step trains on the assembled rows.
func (f *Fit) step(n *network, b *builder, loss nets.Loss) error {
	info, err := n.trainer.Step(b.x, b.rows, loss)
	if err != nil {
		return fmt.Errorf("step %d: %w", f.steps+1, err)
	}
	f.steps++
	f.Loss += info.Loss
	f.GradNorm += info.GradNorm
	f.Clipped += b2f(info.Clipped)
	return nil
}

// average turns sums over the steps into means.
func (f Fit) average() Fit {
	if f.steps > 0 {
		n := float64(f.steps)
		f.Loss, f.GradNorm, f.Clipped = f.Loss/n, f.GradNorm/n, f.Clipped/n
	}
	return f
}
