package search

import (
	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/vec"
)

// floor is the least probability of a candidate beside the likeliest. With the
// default prior such an action would have to look 14 points better than a
// certain one, which means of a few deals show by chance rather than by right. So
// the many moves that a policy is sure of cost no playout.
const floor = 1e-3

// A candidate is an action worth trying, and its probability.
type candidate struct {
	action int32
	p      float32
}

// candidates are the likeliest actions of some positions.
type candidates struct {
	all []candidate // position by position, the likeliest first
	off []int32     // [N+1] where each position's begin

	probabilities []float32 // [N,A]
	rows, actions []int32   // of all actions that have a probability
}

// of returns the candidates of the i-th position.
func (c *candidates) of(i int) []candidate { return c.all[c.off[i]:c.off[i+1]] }

// find lists at most so many for each of the rows, which must be live.
func (c *candidates) find(policy *cfr.Policy, layout encode.Layout, view *encode.Batch, rows []int32, most int) {
	a := layout.Actions()
	c.probabilities = vec.Grow(c.probabilities, len(rows)*a)
	policy.Probabilities(c.probabilities, view, rows)
	c.all, c.off = c.all[:0], append(c.off[:0], 0)
	c.rows, c.actions = c.rows[:0], c.actions[:0]
	for i, b := range rows {
		for action, p := range c.probabilities[i*a : (i+1)*a] {
			if p > 0 {
				c.all = append(c.all, candidate{p: p})
				c.rows, c.actions = append(c.rows, b), append(c.actions, int32(action))
			}
		}
		c.off = append(c.off, int32(len(c.all)))
	}
	layout.RulesActions(c.actions, view.Games(), c.rows, c.actions)
	for i, action := range c.actions {
		c.all[i].action = action
	}
	c.pack(most)
}

// pack keeps the best of each position, and closes the gaps.
func (c *candidates) pack(most int) {
	end, lo := int32(0), int32(0)
	for i := range c.off[1:] {
		hi := c.off[i+1]
		kept := shortlist(c.all[lo:hi], most)
		end += int32(copy(c.all[end:], kept))
		c.off[i+1], lo = end, hi
	}
	c.all = c.all[:end]
}

// shortlist sorts a position's actions by probability, the lower action first on
// ties, and returns the few that are worth trying. Actions that layouts tell
// apart may be one to the rules: such add up.
func shortlist(all []candidate, most int) []candidate {
	if len(all) == 0 {
		panic(noAction)
	}
	all = merge(all)
	for i := range all {
		for ; i > 0 && before(all[i], all[i-1]); i-- {
			all[i], all[i-1] = all[i-1], all[i]
		}
	}
	n := 1
	for n < min(most, len(all)) && all[n].p >= floor {
		n++
	}
	return all[:n]
}

func before(x, y candidate) bool { return x.p > y.p || x.p == y.p && x.action < y.action }

// merge adds up the probabilities of equal actions.
func merge(all []candidate) []candidate {
	n := 0
next:
	for _, x := range all {
		for i := range all[:n] {
			if all[i].action == x.action {
				all[i].p += x.p
				continue next
			}
		}
		all[n] = x
		n++
	}
	return all[:n]
}
