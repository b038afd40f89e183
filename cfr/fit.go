package cfr

import (
	"fmt"
	"iter"
	"slices"

	"vtrain/nets"
	"vtrain/vec"
)

// fitCritic fits the critic to the returns of the actions tried.
func (l *Learner) fitCritic(seed uint64) (Fit, error) {
	s := &l.traversal.samples
	if l.o.Algorithm == PPO {
		return l.fitValues(seed)
	}
	l.rows = vec.AllRows(l.rows, s.Rows())
	return l.fitFresh(l.critic, seed, (*builder).regression, func(b *builder, i int, row int32) {
		for k, hi := s.Legal(row); k < hi; k++ {
			if s.Xi[k] > 0 {
				b.set(i, s.Act[k], s.Return[k])
			}
		}
	})
}

// fitCurrent fits what the current policy is made of: the policy itself, or the
// regrets of the traverser's decisions.
func (l *Learner) fitCurrent(seed uint64) (Fit, error) {
	switch {
	case l.o.Algorithm == PPO:
		return l.fitPolicy(seed)
	case l.o.Algorithm == Distill:
		return l.fitAdvice(seed)
	case l.regrets != nil:
		return l.fitRegrets(seed)
	}
	s := &l.traversal.samples
	l.rows = s.of(l.rows, Teaches)
	return l.fitFresh(l.current, seed, (*builder).regression, func(b *builder, i int, row int32) {
		for k, hi := s.Legal(row); k < hi; k++ {
			b.set(i, s.Act[k], s.Target[k])
		}
	})
}

// fitFresh trains a network on l.rows of this iteration, in an order of its own
// for each pass. Fill sets what the loss needs of a row.
func (l *Learner) fitFresh(n *network, seed uint64, loss func(*builder) nets.Loss, fill filler) (Fit, error) {
	f, b := Fit{Rows: len(l.rows)}, &l.builder
	for pass := range l.o.Passes {
		stream := vec.At(vec.Derive(seed, "order of "+n.name, uint64(pass)), 0)
		stream.Shuffle(len(l.rows), func(i, j int) { l.rows[i], l.rows[j] = l.rows[j], l.rows[i] })
		for rows := range batches(l.rows, l.o.Batch) {
			slices.Sort(rows) // ascending rows read memory in order
			b.fresh(&l.traversal.samples, n.view, n.shape[len(n.shape)-1], rows, fill)
			if err := f.step(n, b, loss(b)); err != nil {
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
// power of their iteration.
func (l *Learner) fitStrategy(seed uint64) (Fit, error) {
	if l.o.hasPolicy() {
		l.averageParameters()
		return Fit{}, nil
	}
	stream := vec.At(vec.Derive(seed, "memory", 0), 0)
	s := &l.traversal.samples
	l.rows = s.of(l.rows, Opposes)
	l.memory.Add(s, l.rows, s.Sigma, l.iteration, &stream)
	f, err := l.fitRemembered(l.strategy, l.memory, l.o.StrategySteps, &stream, l.o.Averaging, (*builder).crossEntropy)
	l.strategy.publish()
	return f, err
}

// publish hands the new parameters to the engine of traversals.
func (n *network) publish() {
	if n.engine != nil {
		n.engine.Load(n.trainer.Params())
	}
}

// Fit describes the training of one network in one iteration.
type Fit struct {
	Rows     int     // rows of this iteration
	Loss     float64 // mean over steps, before each
	GradNorm float64 // mean over steps, before clipping
	Clipped  float64 // share of steps whose gradient was clipped
	HeldOut  float64 // of distillation: the loss on this iteration's rows, before
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
