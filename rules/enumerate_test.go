package rules

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vtrain/vec"
)

// enumerable are variants with few enough deals to list.
func enumerable() map[string]Config {
	return map[string]Config{
		"tiny":       MustPreset("tiny"),
		"two wagers": {Colors: 2, Ranks: 2, MinRank: 2, Wagers: 2, Hand: 2, Penalty: -3, BonusAt: 2, Bonus: 5, MaxTurns: 9},
		"one color":  {Colors: 1, Ranks: 3, MinRank: 2, Wagers: 3, Hand: 2, Penalty: -3, BonusAt: 2, Bonus: 5, MaxTurns: 9},
		"no deck":    {Colors: 2, Ranks: 1, MinRank: 2, Wagers: 1, Hand: 2, Penalty: -3, BonusAt: 2, Bonus: 5, MaxTurns: 9},
	}
}

// TestDeals counts what the binomials say: without wagers, or with one, no two
// cards are alike.
func TestDeals(t *testing.T) {
	choose := func(n, k float64) float64 {
		x := 1.0
		for i := range int(k) {
			x *= (n - float64(i)) / float64(i+1)
		}
		return x
	}
	for name, want := range map[string]float64{
		"tiny":    420,
		"mid":     choose(18, 4) * choose(14, 4),
		"nowager": choose(45, 8) * choose(37, 8),
	} {
		if got := MustPreset(name).Deals(); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s has %v deals, expected %v", name, got, want)
		}
	}
	for name, cfg := range enumerable() {
		pairs := map[string]bool{}
		for _, one := range cfg.hands() {
			for _, two := range cfg.hands() {
				both := slices.Sorted(slices.Values(slices.Concat(one, two)))
				if isPart(both, cfg.Pack()) {
					pairs[fmt.Sprint(one, two)] = true
				}
			}
		}
		if got := cfg.Deals(); got != float64(len(pairs)) {
			t.Errorf("%s has %v deals, expected %d", name, got, len(pairs))
		}
	}
}

// isPart reports whether a pack has all of the cards, both ascending.
func isPart(cards, pack []Card) bool {
	for _, x := range pack {
		if len(cards) > 0 && cards[0] == x {
			cards = cards[1:]
		}
	}
	return len(cards) == 0
}

// TestDealEach: every deal is a whole pack, and hands that differ look so.
// vectest.Enumerable compares their probabilities with random deals.
func TestDealEach(t *testing.T) {
	for name, cfg := range enumerable() {
		g := NewGames(cfg, nil)
		outcomes := make([]vec.Outcome, int(cfg.Deals()))
		g.DealEach(outcomes)
		seen := map[[2]uint32]bool{}
		for b, o := range outcomes {
			seen[o.Seen] = true
			r := batchRow(g, int32(b))
			cards := r.DeckLen
			for p := range 2 {
				hand := 0
				for _, set := range r.Hand[p] {
					hand += vec.MaskCount([]uint64{uint64(set)})
				}
				if cards += hand; hand != cfg.Hand {
					t.Fatalf("%s: deal %d has a hand of %d cards", name, b, hand)
				}
			}
			if cards != cfg.Cards() || r.Plies != 0 || r.Done {
				t.Fatalf("%s: deal %d is %+v", name, b, r)
			}
		}
		if len(seen) != len(outcomes) {
			t.Errorf("%s: %d pairs of hands look different, expected %d", name, len(seen), len(outcomes))
		}
	}
}

// TestStepTo plays given decks: in each draw chance takes the way of the card
// on top, and the game is the one that the scalar rules play.
func TestStepTo(t *testing.T) {
	for name, cfg := range enumerable() {
		games := NewGames(cfg, nil)
		deals := make([]vec.Outcome, int(cfg.Deals()))
		rapid.Check(t, func(rt *rapid.T) {
			deck := rapid.Permutation(cfg.Pack()).Draw(rt, "deck")
			scalar, err := NewGameFrom(cfg, deck, 1, 0)
			if err != nil {
				rt.Fatal(err)
			}
			games.DealEach(deals)
			b := dealOf(games, scalar)
			for !scalar.Done() {
				a := rapid.SampledFrom(scalar.Legal()).Draw(rt, "action")
				stepAlike(rt, games, b, scalar, a)
				if err := scalar.Step(a); err != nil {
					rt.Fatal(err)
				}
				got, want := batchRow(games, b), scalarRow(games.Tables, scalar)
				if scalar.Done() { // the last card drawn may be another
					got.Hand, got.Deck = want.Hand, want.Deck
				}
				if !reflect.DeepEqual(got, want) {
					rt.Fatalf("%s: lockstep %+v\nscalar %+v", name, got, want)
				}
			}
		})
	}
}

// dealOf returns the row with a scalar game's hands.
func dealOf(games *Games, scalar *Game) int32 {
	want := scalarRow(games.Tables, scalar).Hand
	for b := range int32(games.Rows()) {
		if batchRow(games, b).Hand == want {
			return b
		}
	}
	return -1
}

// stepAlike makes an action in row b with the outcome that the scalar game's
// deck is about to have.
func stepAlike(rt *rapid.T, games *Games, b int32, scalar *Game, a Action) {
	rows, actions, ways := []int32{b}, []int32{int32(a)}, []int32{0}
	outcome, player := make([]vec.Outcome, 1), scalar.Player()
	games.Outcomes(ways, rows, actions)
	if a != games.DrawDeck() || ways[0] == 1 {
		ways[0] = 0
		games.StepTo(outcome, rows, actions, ways)
		return
	}
	top := scalar.deck[len(scalar.deck)-1]
	copies := 0
	for _, x := range scalar.deck {
		if x == top {
			copies++
		}
	}
	for way := ways[0] - 1; way >= 0; way-- {
		if x, _ := games.typeLeft(b, int(way)); x == top {
			ways[0] = way
		}
	}
	games.StepTo(outcome, rows, actions, ways)
	want := vec.Outcome{P: float64(copies) / float64(len(scalar.deck))}
	want.Seen[player] = 1 + uint32(top)
	if outcome[0] != want {
		rt.Fatalf("the outcome is %+v, expected %+v", outcome[0], want)
	}
}
