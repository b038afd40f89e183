package search

import (
	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// playouts are games from several positions to their ends, in lockstep.
type playouts struct {
	from  *rules.Games // where the positions are
	games *rules.Games // [R]
	view  *encode.Batch

	rows    []int32  // [R] the position of each
	keys    []uint64 // [R] of its deal, the same for all candidates
	actions []int32  // [R] its candidate; then what is played
	all     []int32  // [R]
	live    []int32
	scores  []int32 // [R,P]
}

// follow makes room for playouts of games like these, at most so many.
func (p *playouts) follow(g *rules.Games, layout encode.Layout, most int) {
	p.from, p.games = g, g.New()
	p.games.Limit(most)
	p.view = encode.Wrap(layout, p.games)
}

func (p *playouts) clear() { p.rows, p.keys, p.actions = p.rows[:0], p.keys[:0], p.actions[:0] }

// add appends those of one position: every candidate on the same deals. Copies
// of one deal share a key, so that as long as they are alike the same cards are
// drawn and the same actions played.
func (p *playouts) add(row int32, tried []candidate, key uint64, deals int) {
	for _, c := range tried {
		for d := range deals {
			p.rows = append(p.rows, row)
			p.keys = append(p.keys, vec.Key(key, uint64(d)))
			p.actions = append(p.actions, c.action)
		}
	}
}

// run deals the unseen cards, makes the candidates, and plays on by the policy.
func (p *playouts) run(policy *cfr.Policy) {
	n := len(p.rows)
	p.all = vec.AllRows(p.all, n)
	p.games.Gather(p.from, p.rows)
	p.games.Determinize(p.all, p.keys)
	p.games.Step(p.all, p.actions)
	p.live = vec.Keep(p.live, p.all, p.games.Finish.Data, 0)
	for len(p.live) > 0 {
		actions := p.actions[:len(p.live)]
		policy.Act(actions, p.view, p.live)
		p.view.Step(p.live, actions)
		p.live = vec.Keep(p.live, p.live, p.games.Finish.Data, 0)
	}
	p.scores = vec.Grow(p.scores, 2*n)
	p.games.Score(p.scores, p.all)
}

// points returns the sum over playouts lo to hi of what a player made.
func (p *playouts) points(lo, hi, player int) int {
	sum := 0
	for i := lo; i < hi; i++ {
		sum += int(p.scores[2*i+player] - p.scores[2*i+1-player])
	}
	return sum
}
