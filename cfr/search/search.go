// Package search plays Lost Cities by trying a policy's likeliest actions out:
// the cards that the player can't see are dealt many times anew, in agreement
// with what he knows, and each candidate is played to the end on each of these
// deals, by the policy in both seats. It is one-ply search on determinizations,
// or rollouts (Tesauro and Galperin 1996), with the policy as a prior.
//
// Conventions:
//   - Letters in shapes: N positions, A actions, K candidates of a position, M
//     deals, R = the K·M playouts of several positions.
//   - Candidates are the rules' actions, best first. Playouts lie position by
//     position, candidate by candidate, deal by deal.
//   - Points are the mover's minus the opponent's.
package search

import (
	"fmt"
	"math"

	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// Messages of the panics raised for a caller's mistake.
const (
	badLength = "search: one action for each row"
	endless   = "search: games without a turn limit" // two players may draw from piles for ever
	noAction  = "search: the policy gives no action a probability"
)

// Options are the settings of a search.
type Options struct {
	Candidates int     // most actions tried
	Deals      int     // deals that each is played out on
	Prior      float64 // points for each nat of an action's log-probability
	Rows       int     // most playouts at once, but for those of one position; forwards are as large
	Plies      int     // after which a critic, if there is one, values playouts
	Softness   float64 // points for each nat of the policy that Advice gives
	Seed       uint64  // of the deals
}

// DefaultOptions returns the usual settings. The best of several noisy means is
// often the luckiest: more deals and the prior are against that, but a heavy
// prior leaves little to find.
func DefaultOptions() Options {
	return Options{Candidates: 4, Deals: 64, Prior: 2, Plies: 4, Softness: 2, Rows: 16384}
}

// Bounds of the settings, far beyond what is of use.
const (
	maxDeals = 1 << 20
	maxRows  = 1 << 24
	maxPrior = 1e6
	maxPlies = 1 << 20
)

// Validate reports the first impossible setting.
func (o Options) Validate() error {
	for _, k := range []struct {
		name          string
		value, lo, hi float64
	}{
		{"candidates", float64(o.Candidates), 1, rules.MaxActions},
		{"deals", float64(o.Deals), 1, maxDeals},
		{"prior", o.Prior, 0, maxPrior},
		{"plies", float64(o.Plies), 0, maxPlies},
		{"softness", o.Softness, 0, maxPrior},
		{"rows", float64(o.Rows), 1, maxRows},
	} {
		if !(k.value >= k.lo && k.value <= k.hi) {
			return fmt.Errorf("search: %s is %v, expected %v to %v", k.name, k.value, k.lo, k.hi)
		}
	}
	return nil
}

// An Agent plays by search on top of a policy; it implements arena.Agent. Its
// memory is bounded by Options.Rows, however many positions it is asked about.
// It is not safe for concurrent use.
type Agent struct {
	name   string
	policy *cfr.Policy
	critic *cfr.Valuer // nil to play to the end
	layout encode.Layout
	o      Options
	seed   uint64

	asked      *rules.Games // the games that it was last asked about
	view       *encode.Batch
	candidates candidates // of some positions there
	open       []int32    // [N] those among them that wait to be played out
	playouts   playouts   // of open
	scores     []float64  // of one position's candidates
	advice     advice
}

// New returns a player that owns the policy, which must have been trained with
// the layout. In playouts a Greedy policy plays its likeliest action.
func New(name string, policy *cfr.Policy, layout encode.Layout, o Options) (*Agent, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Agent{name: name, policy: policy, layout: layout, o: o, seed: vec.Derive(o.Seed, "search deals", 0)}, nil
}

// Truncate makes playouts end after Options.Plies, at the values of a critic of
// the policy, which the agent then owns. Its opinion replaces the luck of all
// the draws to come: means of as many deals are closer to the truth, and cost
// less.
func (a *Agent) Truncate(critic *cfr.Valuer) { a.critic = critic }

// Name returns what reports call the agent.
func (a *Agent) Name() string { return a.name }

// Close frees the policy; it implements io.Closer.
func (a *Agent) Close() error {
	a.policy.Close()
	if a.critic != nil {
		a.critic.Close()
	}
	return nil
}

// Act implements arena.Agent. The games must have a turn limit, which ends
// playouts too. What the player can't see has no influence.
func (a *Agent) Act(dst []int32, g *rules.Games, rows []int32) {
	switch {
	case len(dst) != len(rows):
		panic(badLength)
	case g.MaxTurns == 0:
		panic(endless)
	}
	a.follow(g)
	a.advice.clear()
	for lo := 0; lo < len(rows); lo += a.o.Rows {
		hi := min(lo+a.o.Rows, len(rows))
		a.candidates.find(a.policy, a.layout, a.view, rows[lo:hi], a.o.Candidates)
		a.advice.extend(&a.candidates)
		a.decide(dst[lo:hi], rows[lo:hi])
	}
}

// follow turns to the games of whoever asks.
func (a *Agent) follow(g *rules.Games) {
	if a.asked == g {
		return
	}
	a.asked, a.view = g, encode.Wrap(a.layout, g)
	most := min(a.o.Candidates, a.layout.MaxLegal()) * a.o.Deals
	a.playouts.follow(g, a.layout, max(most, a.o.Rows))
}

// decide sets dst to the best of each position's candidates: where there is
// only one, without playing it out.
func (a *Agent) decide(dst, rows []int32) {
	queued := 0
	for i := range rows {
		tried := a.candidates.of(i)
		if len(tried) == 1 {
			dst[i] = tried[0].action
			a.advice.chunk(i, &a.candidates)[0] = 1
			continue
		}
		n := len(tried) * a.o.Deals
		if queued > 0 && queued+n > a.o.Rows {
			a.playOut(dst, rows)
			queued = 0
		}
		a.open = append(a.open, int32(i))
		queued += n
	}
	a.playOut(dst, rows)
}

// playOut decides the positions that wait.
func (a *Agent) playOut(dst, rows []int32) {
	if len(a.open) == 0 {
		return
	}
	p := &a.playouts
	p.clear()
	for _, i := range a.open {
		p.add(rows[i], a.candidates.of(int(i)), a.key(rows[i]), a.o.Deals)
	}
	p.run(a.policy, a.critic, a.o.Plies)
	first := 0
	for _, i := range a.open {
		tried := a.candidates.of(int(i))
		a.score(tried, first, a.asked.Player(rows[i]))
		dst[i] = tried[highest(a.scores)].action
		soften(a.advice.chunk(int(i), &a.candidates), a.scores, a.o.Softness)
		first += len(tried) * a.o.Deals
	}
	a.open = a.open[:0]
}

// key stands for all deals that a position is played out on: a hash of the
// game's key and the ply.
func (a *Agent) key(row int32) uint64 {
	return vec.Key(vec.Key(a.seed, a.asked.Keys.Data[row]), uint64(a.asked.Made.Data[row]))
}

// score sets the candidates' scores: mean points in the playouts from the given
// one on, and what the prior adds.
func (a *Agent) score(tried []candidate, first, player int) {
	a.scores = a.scores[:0]
	for k, c := range tried {
		lo := first + k*a.o.Deals
		points := a.playouts.points(lo, lo+a.o.Deals, player)
		a.scores = append(a.scores, points/float64(a.o.Deals)+a.o.Prior*math.Log(float64(c.p)))
	}
}

// highest returns the index of the highest score, the lowest on ties.
func highest(scores []float64) int {
	best := 0
	for k, s := range scores {
		if s > scores[best] {
			best = k
		}
	}
	return best
}
