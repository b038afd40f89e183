package search

import (
	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// playouts are games from several positions on, in lockstep: to their ends, or so
// many plies far, where a critic says what they are worth.
type playouts struct {
	from  *rules.Games // where the positions are
	games *rules.Games // [R]
	view  *encode.Batch

	rows    []int32  // [R] the position of each
	keys    []uint64 // [R] of its deal, the same for all candidates
	actions []int32  // [R] its candidate; then what is played
	all     []int32  // [R]
	live    []int32
	won     []float32 // [R] player 0's points less player 1's
	values  []float32 // of live, for the mover
	movers  []uint8
}

// follow makes room for playouts of games like these, at most so many. A learner
// asks about two states in turn: for games of a kind the memory stays.
func (p *playouts) follow(g *rules.Games, layout encode.Layout, most int) {
	like := p.from != nil && p.from.SameKind(g)
	if p.from = g; like {
		return
	}
	p.games = g.New()
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
// Without a critic that is to the end.
func (p *playouts) run(policy *cfr.Policy, critic *cfr.Valuer, plies int) {
	n := len(p.rows)
	p.all = vec.AllRows(p.all, n)
	p.games.Gather(p.from, p.rows)
	p.games.Determinize(p.all, p.keys)
	p.games.Step(p.all, p.actions)
	p.live = vec.Keep(p.live, p.all, p.games.Finish.Data, 0)
	for made := 0; len(p.live) > 0 && (critic == nil || made < plies); made++ {
		actions := p.actions[:len(p.live)]
		policy.Act(actions, p.view, p.live)
		p.view.Step(p.live, actions)
		p.live = vec.Keep(p.live, p.live, p.games.Finish.Data, 0)
	}
	p.won = vec.Grow(p.won, n)
	p.view.Utility(p.won, p.all)
	if len(p.live) > 0 {
		p.value(critic)
	}
}

// value sets what live games are worth.
func (p *playouts) value(critic *cfr.Valuer) {
	p.values, p.movers = vec.Grow(p.values, len(p.live)), vec.Grow(p.movers, len(p.live))
	critic.Values(p.values, p.view, p.live)
	p.view.ToMove(p.movers, p.live)
	for i, b := range p.live {
		p.won[b] = p.values[i] * float32(sign(int(p.movers[i])))
	}
}

// sign turns a player's points into player 0's and back.
func sign(player int) float64 { return float64(1 - 2*player) }

// points returns the sum over playouts lo to hi of what a player made.
func (p *playouts) points(lo, hi, player int) float64 {
	sum := 0.0
	for _, x := range p.won[lo:hi] {
		sum += float64(x)
	}
	return sum * sign(player)
}
