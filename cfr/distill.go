package cfr

import (
	"slices"

	"vtrain/vec"
)

// Distillation makes the policy what others play: bots are cloned, and search on
// top of a policy is made part of it (expert iteration, Anthony et al. 2017). The
// policy under training plays the traverser, somebody else of learner.opponents
// the other seat, so that he is asked about positions that the policy leads to as
// well (DAgger, Ross et al. 2011). What he would play is remembered in a reservoir
// of all iterations, and fitted by cross-entropy.

// An Adviser is an Actor that knows better than by one action how good all are.
type Adviser interface {
	Actor
	// Advice returns actions of row rows[i] of the last Act, and the
	// probabilities that it would play them with, which sum to 1. Others have
	// none. Both are valid until the next Act.
	Advice(i int) (actions []int32, probabilities []float32)
}

// advise sets the policy of a row to an adviser's.
func (s *Samples) advise(row int32, actions []int32, probabilities []float32) {
	lo, hi := s.Legal(row)
	sigma := s.Sigma[lo:hi]
	clear(sigma)
	for i, a := range actions {
		k := slices.Index(s.Act[lo:hi], a)
		if k < 0 {
			panic("cfr: an opponent advises an action that isn't legal")
		}
		sigma[k] = probabilities[i]
	}
}

// fitAdvice remembers what the others played, and fits the policy to all that is
// remembered. The loss on what is new, before, is that on games never seen.
func (l *Learner) fitAdvice(seed uint64) (Fit, error) {
	s := &l.traversal.samples
	l.rows = s.of(l.rows, Replaces)
	heldOut := l.surprisal()
	stream := vec.At(vec.Derive(seed, "memory", 0), 0)
	l.memory.Add(s, l.rows, s.Sigma, l.iteration, &stream)
	f, err := l.fitRemembered(l.current, l.memory, l.o.StrategySteps, &stream, 0, (*builder).crossEntropy)
	f.HeldOut = heldOut
	l.current.publish()
	return f, err
}

// surprisal returns the cross-entropy of the policy and the one recorded, over
// l.rows, 0 if there are none.
func (l *Learner) surprisal() float64 {
	n, s, b, sum := l.current, &l.traversal.samples, &l.builder, 0.0
	if l.gradient.Len() == 0 {
		l.gradient = n.trainer.Params().Clone()
	}
	for rows := range batches(l.rows, l.o.Batch) {
		b.fresh(s, n.view, n.shape[len(n.shape)-1], rows, func(b *builder, i int, row int32) {
			for k, hi := s.Legal(row); k < hi; k++ {
				b.set(i, s.Act[k], s.Sigma[k])
			}
		})
		sum += n.trainer.Gradient(l.gradient, b.x, b.rows, b.crossEntropyOf(nil)) * float64(len(rows))
	}
	return sum / float64(max(len(l.rows), 1))
}
