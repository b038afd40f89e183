package search

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"vtrain/cfr"
	"vtrain/cfr/internal/exact"
	"vtrain/encode"
	"vtrain/nets"
	"vtrain/nets/cpu"
	"vtrain/rules"
	"vtrain/vec"
)

func equalFields(got, want vec.Field) error {
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("column %s is %v, expected %v", want.Name, got.Data, want.Data)
	}
	return nil
}

// plain is the same search, written plainly: game by game on the scalar rules,
// a row a forward.
type plain struct {
	o      Options
	layout encode.Layout
	engine nets.Engine
	critic func(g *rules.Game) float64 // of the mover, nil to play to the end
}

func newPlain(t *testing.T, n network, cfg rules.Config, o Options) plain {
	t.Helper()
	l := newLayout(t, n.layout, cfg)
	shape, params := n.params(l)
	return plain{o, l, oneRow(t, shape, params), nil}
}

// oneRow returns an engine that takes a row at a time.
func oneRow(t *testing.T, shape nets.MLP, params nets.Params) nets.Engine {
	t.Helper()
	engine, err := cpu.NewEngine(shape, nets.EngineOptions{Buckets: []int{1}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	engine.Load(params)
	engine.Seal()
	return engine
}

// policy returns the moves and their probabilities.
func (s plain) policy(g *rules.Game) (moves []rules.Action, p []float32) {
	x, y := make([]float32, s.layout.Width()), make([]float32, s.layout.Actions())
	s.layout.ObserveGame(x, g, g.Player())
	s.engine.Forward(y, x, 1)
	var logits []float32
	for _, a := range s.layout.LegalGame(g) {
		moves, logits = append(moves, s.layout.RulesAction(g, a)), append(logits, y[a])
	}
	p = make([]float32, len(logits))
	cfr.Softmax(p, logits)
	return moves, p
}

// move draws one as cfr.Policy does.
func (s plain) move(g *rules.Game) rules.Action {
	moves, p := s.policy(g)
	stream := vec.At(vec.Key(policySeed, g.Key()), uint32(g.Plies()))
	u := stream.Float32()
	for i := range p {
		if u -= p[i]; u < 0 {
			return moves[i]
		}
	}
	return moves[len(moves)-1]
}

// act searches.
func (s plain) act(g *rules.Game) rules.Action {
	moves, p := s.policy(g)
	likely := map[rules.Action]float32{}
	for i, a := range moves {
		likely[a] += p[i]
	}
	tried := slices.Compact(slices.Sorted(slices.Values(moves)))
	slices.SortStableFunc(tried, func(a, b rules.Action) int { return cmp.Compare(likely[b], likely[a]) })
	tried = tried[:min(len(tried), s.o.Candidates)]
	best, highest := tried[0], math.Inf(-1)
	for _, a := range tried {
		if score := s.mean(g, a) + s.o.Prior*math.Log(float64(likely[a])); likely[a] >= floor && score > highest {
			best, highest = a, score
		}
	}
	return best
}

// mean plays an action out on all deals.
func (s plain) mean(g *rules.Game, a rules.Action) float64 {
	seed := vec.Derive(s.o.Seed, "search deals", 0)
	sum, player := 0.0, g.Player()
	for d := range s.o.Deals {
		playout := g.Determinized(vec.Key(vec.Key(vec.Key(seed, g.Key()), uint64(g.Plies())), uint64(d)))
		truncated := false
		for next, made := a, 0; !playout.Done(); next = s.move(playout) {
			if err := playout.Step(next); err != nil {
				panic(err)
			}
			if truncated = s.critic != nil && made == s.o.Plies; playout.Done() || truncated {
				break
			}
			made++
		}
		switch {
		case !truncated || playout.Done():
			sum += float64(playout.Score(player) - playout.Score(1-player))
		case playout.Player() == player:
			sum += s.critic(playout)
		default:
			sum -= s.critic(playout)
		}
	}
	return sum / float64(s.o.Deals)
}

// TestLockstepEqualsPlain plays games by search in lockstep, and asks the plain
// form in every position.
func TestLockstepEqualsPlain(t *testing.T) {
	for _, n := range networks() {
		for _, k := range []struct {
			cfg   rules.Config
			games int
		}{{limited("tiny", 12), 8}, {limited("mid", 14), 3}} {
			for _, ordered := range []bool{false, true} {
				o := few()
				o.Seed = 99
				comparePlain(t, newAgent(t, n, k.cfg, o, nil), newPlain(t, n, k.cfg, o), k.cfg, ordered, k.games)
				o.Plies = 3
				a, s := newAgent(t, n, k.cfg, o, nil), newPlain(t, n, k.cfg, o)
				truncate(t, a, &s)
				comparePlain(t, a, s, k.cfg, ordered, k.games)
			}
		}
	}
}

// truncate gives both the same untrained critic.
func truncate(t *testing.T, a *Agent, s *plain) {
	t.Helper()
	const scale = 30
	shape := nets.MLP{encode.NewCritic(s.layout).Width(), 8, 1}
	params := shape.NewParams()
	shape.Init(params, 3)
	critic, err := cfr.NewValuer(shape, params, nets.Float32, nil, scale, 16384, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Truncate(critic)
	engine, open := oneRow(t, shape, params), encode.NewCritic(s.layout)
	s.critic = func(g *rules.Game) float64 {
		x, y := make([]float32, open.Width()), make([]float32, 1)
		open.ObserveOpenGame(x, g, g.Player())
		engine.Forward(y, x, 1)
		return float64(y[0] * scale)
	}
}

func comparePlain(t *testing.T, a *Agent, s plain, cfg rules.Config, ordered bool, n int) {
	t.Helper()
	g, scalar := rules.NewGames(cfg, nil), make([]*rules.Game, n)
	if ordered {
		g = rules.NewOrderedGames(cfg, nil)
		g.DealFrom(decks(cfg, n), 4, 0)
	} else {
		g.Deal(n, 4, 0)
	}
	for i, deck := range decks(cfg, n) {
		scalar[i] = rules.NewGame(cfg, 4, uint64(i))
		if ordered {
			var err error
			if scalar[i], err = rules.NewGameFrom(cfg, deck, 4, uint64(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for live := vec.AllRows(nil, n); len(live) > 0; live = vec.Keep(live, live, g.Finish.Data, 0) {
		actions := asked(a, g, live)
		for i, b := range live {
			if want := s.act(scalar[b]); rules.Action(actions[i]) != want {
				t.Fatalf("%s, ordered %v, game %d, ply %d: %s, plainly %s", s.layout.Name(), ordered, b, scalar[b].Plies(),
					cfg.ActionName(rules.Action(actions[i])), cfg.ActionName(want))
			}
			if err := scalar[b].Step(rules.Action(actions[i])); err != nil {
				t.Fatal(err)
			}
		}
		g.Step(live, actions)
	}
}

// small is a variant whose every state can be visited.
var small = rules.Config{Colors: 2, Ranks: 2, MinRank: 5, Wagers: 1, Hand: 2, Penalty: -8, BonusAt: 3, Bonus: 4, MaxTurns: 4}

// TestSearchAgainstExactValues compares with what the actions are worth exactly
// if both go on by the policy, over all arrangements that agree with what the
// mover knows. Search must play the best action wherever it is better than the
// others by more than the playouts' error, and gain on the policy as a whole.
func TestSearchAgainstExactValues(t *testing.T) {
	n := network{layout: "cards", hidden: []int{8}, sharp: 2}
	o := Options{Candidates: small.MaxLegal(), Deals: 400, Rows: 20000}
	const noise = 1.5 // points: some five standard errors of the difference of two means
	l := newLayout(t, n.layout, small)
	policy := n.open(t, l, nil)
	defer policy.Close()
	advantages := exact.Advantages(encode.NewBatch(l, nil), policy, 1)
	a := newAgent(t, n, small, o, nil)
	g := rules.NewGames(small, nil)
	g.Deal(60, 7, 0)
	sure, gain, count := 0, 0.0, 0
	for live := vec.AllRows(nil, 60); len(live) > 0; live = vec.Keep(live, live, g.Finish.Data, 0) {
		for i, action := range asked(a, g, live) {
			legal, worth := meanAdvantages(g, l, live[i], advantages)
			played := worth[slices.Index(legal, action)]
			best := slices.Max(worth)
			if played < best-noise {
				t.Errorf("row %d, ply %d: %s is %.2f points better than the policy, the best action %.2f", live[i], g.Made.Data[live[i]],
					small.ActionName(rules.Action(action)), played, best)
			}
			if played == best && best-second(worth) > noise {
				sure++
			}
			gain += played
			count++
		}
		step(g, live)
	}
	t.Logf("%d positions, %d of them clear, %+.2f points over the policy", count, sure, gain/float64(count))
	if sure < 50 || gain < 0.5*float64(count) {
		t.Errorf("%d clear positions of %d, %+.2f points over the policy", sure, count, gain/float64(count))
	}
}

// second returns the second largest value.
func second(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[max(0, len(sorted)-2)]
}

// meanAdvantages returns the legal actions of row b, and their advantages on
// average over all hands that the opponent may have. Without like cards and
// without an order of the deck, all are equally likely.
func meanAdvantages(g *rules.Games, l encode.Layout, b int32, advantages map[string][]float64) (legal []int32, mean []float64) {
	mask := make([]uint64, g.MaskWords)
	g.Legal(mask, []int32{b})
	legal = vec.MaskAppend(nil, mask)
	mean = make([]float64, len(legal))
	hands := 0
	eachHand(g, b, func(h *rules.Games) {
		state := advantages[string(exact.States(encode.Wrap(l, h)).Append(nil, 0))]
		if len(state) != len(legal) {
			panic("a state that the exact values don't have")
		}
		for i, x := range state {
			mean[i] += x
		}
		hands++
	})
	for i := range mean {
		mean[i] /= float64(hands)
	}
	return legal, mean
}

// eachHand calls f with row b for every hand of the opponent's.
func eachHand(g *rules.Games, b int32, f func(h *rules.Games)) {
	h := g.New()
	h.Gather(g, []int32{b})
	n, colors := h.Colors, h.PerColor()
	theirs := n * (1 - h.Player(0))
	hand, known, deck := h.Hand.Data[theirs:theirs+n], h.Known.Data[theirs:theirs+n], h.Deck.Data
	var unseen []int // colour·cards + bit
	hidden := 0
	for c := range n {
		for bit := range colors {
			in := hand[c]&^known[c]>>bit&1 != 0
			if in {
				hidden++
			}
			if in || deck[c]>>bit&1 != 0 {
				unseen = append(unseen, c*colors+bit)
			}
		}
	}
	for set := range 1 << len(unseen) {
		if vec.MaskCount([]uint64{uint64(set)}) != hidden {
			continue
		}
		for c := range n {
			hand[c], deck[c] = known[c], 0
		}
		for i, x := range unseen {
			if set>>i&1 != 0 {
				hand[x/colors] |= 1 << (x % colors)
			} else {
				deck[x/colors] |= 1 << (x % colors)
			}
		}
		f(h)
	}
}
