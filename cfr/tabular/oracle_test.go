package tabular

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// variants are games of Lost Cities that the oracle can look at: few cards, and
// expeditions that may pay.
var variants = map[string]rules.Config{
	"two colors": {Colors: 2, Ranks: 2, MinRank: 2, Hand: 1, Penalty: -2, BonusAt: 2, Bonus: 1, MaxTurns: 4},
	"one color":  {Colors: 1, Ranks: 2, MinRank: 2, Wagers: 2, Hand: 1, Penalty: -2, BonusAt: 2, Bonus: 1, MaxTurns: 5},
	"wagers":     {Colors: 2, Ranks: 1, MinRank: 4, Wagers: 1, Hand: 1, Penalty: -3, BonusAt: 2, Bonus: 1, MaxTurns: 3},
}

// TestLostCitiesByRules compares values, best responses and NashConv with those
// that the definitions give, over every order of the deck, by the scalar rules.
func TestLostCitiesByRules(t *testing.T) {
	for name, cfg := range variants {
		tree := mustBuild(t, lostCities(cfg))
		policy := observed(tree)
		o := oracle{cfg: cfg, layout: encode.NewCards(cfg), responder: -1}
		near(t, name+": value", tree.Value(policy), o.value(o.deals(), nil), 1e-12)
		for o.responder = range 2 {
			want := 0.0
			for _, worlds := range o.split(o.deals(), nil) {
				want += o.value(worlds, nil)
			}
			near(t, name+": best response", tree.BestResponse(nil, policy, o.responder), want*float64(1-2*o.responder), 1e-12)
		}
	}
}

// observed returns a policy that is a function of what the mover sees.
func observed(tree *Tree) []float64 {
	states := tree.States()
	width := states.Width(vec.Information)
	x := make([]float32, tree.InformationSets()*width)
	states.Observe(x, vec.Information, vec.AllRows(nil, tree.InformationSets()))
	policy := make([]float64, tree.Sequences())
	for i := range tree.InformationSets() {
		lo, hi := tree.Span(i)
		for q := lo; q < hi; q++ {
			policy[q] = weight(x[i*width:(i+1)*width], tree.Action(q))
		}
	}
	tree.Normalise(policy)
	return policy
}

func weight(observation []float32, action int) float64 {
	h := fnv.New32a()
	fmt.Fprint(h, observation, action)
	return float64(1 + h.Sum32()%97)
}

// An oracle knows the rules of a game card by card, and a policy. A responder,
// if not -1, plays the best against it instead.
type oracle struct {
	cfg       rules.Config
	layout    *encode.Cards
	responder int
}

// A world is an order of the deck, weighted by how probable it is and what the
// other player does in it.
type world struct {
	deck   []rules.Card
	weight float64
}

// deals returns every order of the deck.
func (o *oracle) deals() []world {
	var all []world
	pack := o.cfg.Pack()
	var permute func(k int)
	permute = func(k int) {
		if k == len(pack) {
			all = append(all, world{slices.Clone(pack), 1})
			return
		}
		for i := k; i < len(pack); i++ {
			pack[k], pack[i] = pack[i], pack[k]
			permute(k + 1)
			pack[k], pack[i] = pack[i], pack[k]
		}
	}
	permute(0)
	for i := range all {
		all[i].weight = 1 / float64(len(all))
	}
	return all
}

// game replays actions in a world.
func (o *oracle) game(w world, actions []rules.Action) *rules.Game {
	g, err := rules.NewGameFrom(o.cfg, w.deck, 1, 0)
	if err != nil {
		panic(err)
	}
	for _, a := range actions {
		if err := g.Step(a); err != nil {
			panic(err)
		}
	}
	return g
}

// value returns what player 0 wins in worlds that the responder can't tell
// apart, times their weights.
func (o *oracle) value(worlds []world, actions []rules.Action) float64 {
	g := o.game(worlds[0], actions)
	switch {
	case g.Done():
		sum := 0.0
		for _, w := range worlds {
			g := o.game(w, actions)
			sum += w.weight * float64(g.Score(0)-g.Score(1))
		}
		return sum
	case g.Player() == o.responder:
		return o.best(worlds, actions, g.Legal())
	}
	return o.expected(worlds, actions)
}

// best tries all actions of the responder, who then sees what he draws.
func (o *oracle) best(worlds []world, actions, legal []rules.Action) float64 {
	frame, best := float64(1-2*o.responder), math.Inf(-1)
	for _, a := range legal {
		next := append(slices.Clone(actions), a)
		sum := 0.0
		for _, same := range o.split(worlds, next) {
			sum += o.value(same, next)
		}
		best = max(best, frame*sum)
	}
	return frame * best
}

// split groups worlds by the responder's hand.
func (o *oracle) split(worlds []world, actions []rules.Action) map[string][]world {
	groups := map[string][]world{}
	for _, w := range worlds {
		hand := fmt.Sprint(o.game(w, actions).Hand(o.responder))
		groups[hand] = append(groups[hand], w)
	}
	return groups
}

// expected lets the policy choose, world by world; all see the action.
func (o *oracle) expected(worlds []world, actions []rules.Action) float64 {
	next := map[rules.Action][]world{}
	for _, w := range worlds {
		g := o.game(w, actions)
		x := make([]float32, o.layout.Width())
		o.layout.ObserveGame(x, g, g.Player())
		sum := 0.0
		for _, a := range g.Legal() {
			sum += weight(x, int(a))
		}
		for _, a := range g.Legal() {
			next[a] = append(next[a], world{w.deck, w.weight * weight(x, int(a)) / sum})
		}
	}
	sum := 0.0
	for a, worlds := range next {
		sum += o.value(worlds, append(slices.Clone(actions), a))
	}
	return sum
}
