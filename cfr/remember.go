package cfr

import (
	"vtrain/nets"
	"vtrain/vec"
)

// fitRegrets remembers the regrets of the traverser's decisions, and fits the
// regret network to all that are remembered. An iteration weighs as much as its
// number, as in linear CFR: the network then stands for their weighted mean, from
// which regret matching makes what it would make of their sum.
func (l *Learner) fitRegrets(seed uint64) (Fit, error) {
	stream := vec.At(vec.Derive(seed, "regret memory", 0), 0)
	s := &l.traversal.samples
	l.rows = s.of(l.rows, Teaches)
	l.regrets.Add(s, l.rows, s.Target, l.iteration, &stream)
	if l.o.Refit == Scratch {
		if err := l.refresh(l.current, seed); err != nil {
			return Fit{}, err
		}
	}
	f, err := l.fitRemembered(l.current, l.regrets, l.o.RegretSteps, &stream, 1, regretLoss)
	l.current.publish()
	return f, err
}

// refresh gives a network fresh parameters and its optimiser a fresh state.
func (l *Learner) refresh(n *network, seed uint64) error {
	n.shape.Init(n.trainer.Params(), vec.Derive(seed, "init "+n.name, 0))
	return n.trainer.SetState(nets.State{})
}

func regretLoss(b *builder) nets.Loss { return b.squared(b.weight) }

// fitRemembered trains a network on rows drawn from a reservoir, in so many steps,
// or as many as passes over l.rows would take. An iteration weighs a power of its
// number.
func (l *Learner) fitRemembered(n *network, memory *Reservoir, steps int, stream *vec.Stream, power float64, loss func(*builder) nets.Loss) (Fit, error) {
	f := Fit{Rows: len(l.rows)}
	if memory.Rows() == 0 {
		return f, nil
	}
	if steps == 0 {
		steps = l.o.Passes * ((len(l.rows) + l.o.Batch - 1) / l.o.Batch)
	}
	b := &l.builder
	for step := range steps {
		if l.o.Decay {
			n.trainer.SetRate(l.rate(n) * (1 - float64(step)/float64(steps)))
		}
		l.rows = memory.Draw(l.rows, l.o.Batch, stream)
		b.remembered(memory, n.view, l.rows, l.iteration, power)
		if err := f.step(n, b, loss(b)); err != nil {
			return f, err
		}
	}
	return f.average(), nil
}
