package rules

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"vtrain/vec/vectest/chance"
)

// TestIllegalActions tries one action for each reason there is to refuse it.
func TestIllegalActions(t *testing.T) {
	cfg := MustPreset("mid")
	pack := cfg.Pack() // hands: blue 5, white 1 3 5 against blue 4, white W 2 4
	for _, c := range []struct {
		name   string
		played []string
		action Action
		want   string
	}{
		{"a draw in the card phase", nil, cfg.DrawDeck(), "game 7, ply 0: illegal action 36"},
		{"a card not in hand", nil, cfg.Play(cfg.Card(0, 1)), "game 7, ply 0: illegal action 1"},
		{"a discard of a card not in hand", nil, cfg.Discard(cfg.Card(1, 4)), "game 7, ply 0: illegal action 28"},
		{"no action", nil, -1, "game 7, ply 0: illegal action -1"},
		{"no action either", nil, Action(cfg.Actions()), "game 7, ply 0: illegal action 40"},
		{"a card in the draw phase", []string{"play blue 5"}, cfg.Discard(cfg.Card(2, 1)), "game 7, ply 1: illegal action 31"},
		{"an empty pile", []string{"play blue 5"}, cfg.DrawPile(0), "game 7, ply 1: illegal action 37"},
		{"the pile discarded to", []string{"discard blue 5"}, cfg.DrawPile(1), "game 7, ply 1: illegal action 38"},
		{
			"a lower number",
			[]string{"play white 3", "draw deck", "discard blue 4", "draw deck"},
			cfg.Play(cfg.Card(2, 1)), "game 7, ply 4: illegal action 13",
		},
		{
			"a wager on a number",
			[]string{"discard white 3", "draw deck", "play white 2", "draw deck", "discard white 1", "draw deck"},
			cfg.Play(cfg.Card(2, 0)), "game 7, ply 6: illegal action 12",
		},
	} {
		g := script(t, cfg, pack, c.played...)
		before := g.Text(OpenHands)
		err := g.Step(c.action)
		if err == nil || err.Error() != "rules: "+c.want {
			t.Errorf("%s: got %v, expected %s", c.name, err, c.want)
		}
		if after := g.Text(OpenHands); after != before {
			t.Errorf("%s changed the game from\n%sto\n%s", c.name, before, after)
		}
	}
}

// TestEqualNumbersAreIllegal cannot be played, as a number is there once; the
// rule itself is asked.
func TestEqualNumbersAreIllegal(t *testing.T) {
	cfg := MustPreset("classic")
	g, _ := withExpedition(cfg, 0, cardsOf(cfg, 0, []int{0, 5}))
	for face, want := range map[int]bool{0: false, 4: false, 5: false, 6: true} {
		if x := cardsOf(cfg, 0, []int{face})[0]; g.Fits(1, x) != want || !g.Fits(0, x) {
			t.Errorf("%s on W 5: %v, expected %v", cfg.CardName(x), !want, want)
		}
	}
}

// TestThePendingPileOpensAgain: a pile is shut only in the turn that discarded
// to it, and only to that player.
func TestThePendingPileOpensAgain(t *testing.T) {
	cfg := MustPreset("mid")
	g := script(t, cfg, cfg.Pack(), "discard blue 5", "draw deck", "discard blue 4")
	if g.Pending() != 1 || slices.Contains(g.Legal(), cfg.DrawPile(1)) {
		t.Errorf("pending %d, legal %v", g.Pending(), g.Legal())
	}
	g = script(t, cfg, cfg.Pack(), "discard blue 5", "draw deck", "discard white 4")
	if g.Pending() != 2 || !slices.Contains(g.Legal(), cfg.DrawPile(1)) {
		t.Errorf("pending %d, legal %v", g.Pending(), g.Legal())
	}
	if got := g.Pile(1); !slices.Equal(got, []Card{cfg.Card(1, 5)}) {
		t.Errorf("the blue pile is %v", got)
	}
}

// TestFinishedGamesStay steps finished games of all endings, in both forms.
func TestFinishedGamesStay(t *testing.T) {
	cut := MustPreset("mid")
	cut.MaxTurns = 3
	for name, cfg := range map[string]Config{"deck": MustPreset("mid"), "cut": cut, "no draw": variants()["no-deck"]} {
		g, games := NewGame(cfg, 3, 0), NewGames(cfg, nil)
		games.Deal(1, 3, 0)
		for !g.Done() {
			a := pick(g.Legal(), g.Key(), g.Plies())
			games.Step([]int32{0}, []int32{int32(a)})
			if err := g.Step(a); err != nil {
				t.Fatal(err)
			}
		}
		want := scalarRow(games.Tables, g)
		if len(want.Legal) != 0 || g.Capped() != (name == "cut") {
			t.Errorf("%s: legal %v, capped %v", name, want.Legal, g.Capped())
		}
		for a := range Action(cfg.Actions()) {
			if err := g.Step(a); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			games.Step([]int32{0}, []int32{int32(a)})
		}
		if err := g.Step(-1); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := scalarRow(games.Tables, g); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the scalar game became %+v, expected %+v", name, got, want)
		}
		if got := batchRow(games, 0); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the row became %+v, expected %+v", name, got, want)
		}
	}
}

// TestTheLastDrawEndsTheGame: at once, with cards in hand, and phase and
// player stay.
func TestTheLastDrawEndsTheGame(t *testing.T) {
	cfg := MustPreset("tiny")
	g := script(t, cfg, cfg.Pack(), "play blue 4", "draw deck", "play blue 3", "draw deck", "play yellow 4", "draw deck")
	if g.Done() || g.Deck() != 1 || g.Player() != 1 || g.Phase() != CardPhase {
		t.Fatalf("too early:\n%s", g)
	}
	for _, name := range []string{"discard yellow 3", "draw from the deck"} {
		if err := g.Step(mustParse(t, cfg, name)); err != nil {
			t.Fatal(err)
		}
	}
	if !g.Done() || g.Capped() || g.Player() != 1 || g.Phase() != DrawPhase || g.Turns() != 4 || len(g.Hand(0)) != 2 {
		t.Errorf("after the last draw:\n%s", g)
	}
}

// TestTurnLimit: a game has at most MaxTurns turns, is Capped when they end it
// and cards are left, and scores as it stands.
func TestTurnLimit(t *testing.T) {
	for _, limit := range []int{1, 2, 5, 44, 1000} {
		cfg := MustPreset("classic")
		cfg.MaxTurns = limit
		g := NewGame(cfg, 8, 1)
		for !g.Done() {
			if err := g.Step(pick(g.Legal(), g.Key(), g.Plies())); err != nil {
				t.Fatal(err)
			}
		}
		if cut := g.Deck() > 0; g.Turns() > limit || g.Capped() != cut || cut && g.Turns() != limit {
			t.Errorf("limit %d: %d turns, %d cards left, capped %v", limit, g.Turns(), g.Deck(), g.Capped())
		}
	}
	// The limit's last draw that also empties the deck is no cut.
	cfg := MustPreset("tiny")
	cfg.MaxTurns = 4
	g := NewGame(cfg, 1, 1)
	for !g.Done() {
		a := cfg.DrawDeck()
		if g.Phase() == CardPhase {
			a = g.Legal()[0]
		}
		if err := g.Step(a); err != nil {
			t.Fatal(err)
		}
	}
	if g.Capped() || g.Turns() != 4 || g.Deck() != 0 {
		t.Errorf("the deck ran out in the last turn: capped %v, %d turns", g.Capped(), g.Turns())
	}
}

// TestKnownCards follows cards that the opponent has seen: taken from a pile
// they are known, played or discarded they are forgotten.
func TestKnownCards(t *testing.T) {
	cfg := MustPreset("mid")
	blue4, white5 := cfg.Card(1, 4), cfg.Card(2, 5)
	g := script(t, cfg, cfg.Pack())
	for _, c := range []struct {
		action string
		known  [2][]Card
	}{
		{"discard white 5", [2][]Card{}},
		{"draw from the deck", [2][]Card{}}, // nobody saw it
		{"discard blue 4", [2][]Card{}},
		{"draw from the white pile", [2][]Card{nil, {white5}}},
		{"discard white 3", [2][]Card{nil, {white5}}},
		{"draw from the blue pile", [2][]Card{{blue4}, {white5}}},
		{"discard white 4", [2][]Card{{blue4}, {white5}}}, // another card than the known one
		{"draw from the deck", [2][]Card{{blue4}, {white5}}},
		{"play blue 4", [2][]Card{nil, {white5}}},
		{"draw from the deck", [2][]Card{nil, {white5}}},
		{"discard white 5", [2][]Card{}},
	} {
		if err := g.Step(mustParse(t, cfg, c.action)); err != nil {
			t.Fatalf("%s: %v", c.action, err)
		}
		for p := range 2 {
			if got := g.Known(p); !slices.Equal(got, c.known[p]) {
				t.Errorf("after %s player %d's known cards are %v, expected %v", c.action, p, got, c.known[p])
			}
		}
	}
}

// TestKnownWagersAreCounted: wagers look alike, so only their number is known.
func TestKnownWagersAreCounted(t *testing.T) {
	cfg := Config{Colors: 2, Ranks: 3, MinRank: 2, Wagers: 3, Hand: 3, Penalty: -20, BonusAt: 8, Bonus: 20}
	w, x := cfg.Card(0, 0), func(rank int) Card { return cfg.Card(1, rank) }
	// Player 0 gets three wagers, player 1 the blue numbers.
	deck := append([]Card{cfg.Card(0, 1), cfg.Card(0, 2), cfg.Card(0, 3), x(0), x(0), x(0)}, x(3), w, x(2), w, x(1), w)
	g := script(t, cfg, deck)
	for _, c := range []struct {
		action string
		known  [2]int
	}{
		{"discard yellow wager", [2]int{0, 0}},
		{"draw from the deck", [2]int{0, 0}},
		{"discard blue 2", [2]int{0, 0}},
		{"draw from the yellow pile", [2]int{0, 1}},
		{"discard yellow wager", [2]int{0, 1}},
		{"draw from the blue pile", [2]int{0, 1}},
		{"discard blue 3", [2]int{0, 1}},
		{"draw from the yellow pile", [2]int{0, 2}},
		{"play blue 2", [2]int{0, 2}},
		{"draw from the deck", [2]int{0, 2}},
		{"play yellow wager", [2]int{0, 1}},
		{"draw from the blue pile", [2]int{0, 1}},
	} {
		if err := g.Step(mustParse(t, cfg, c.action)); err != nil {
			t.Fatalf("%s: %v", c.action, err)
		}
		got := [2]int{}
		for p := range 2 {
			for _, y := range g.Known(p) {
				if y == w {
					got[p]++
				}
			}
		}
		if got != c.known {
			t.Errorf("after %s the known wagers are %v, expected %v", c.action, got, c.known)
		}
	}
}

// TestRandomDealsAreFair deals many small games without wagers and asks whether
// each ordered choice of the two hands and the first card drawn comes equally
// often, and after that each card left in the deck.
func TestRandomDealsAreFair(t *testing.T) {
	cfg := Config{Colors: 2, Ranks: 4, MinRank: 2, Hand: 1, Penalty: -20, BonusAt: 8, Bonus: 20}
	const n = 60000
	games := NewGames(cfg, nil)
	games.Deal(n, 99, 0)
	triples := make([]int, 8*7*6)
	draws := make([][]int, cfg.DeckSize()) // by the place of the card among those left
	for i := range draws {
		draws[i] = make([]int, cfg.DeckSize()-i)
	}
	for b := range int32(n) {
		left := cfg.Pack()
		triple := 0
		for p := range 2 {
			k := slices.Index(left, handCard(games, b, p))
			triple = triple*len(left) + k
			left = slices.Delete(left, k, k+1)
		}
		for i := range draws {
			k := slices.Index(left, drawCard(games, b))
			draws[i][k]++
			if i == 0 {
				triples[triple*len(left)+k]++
			}
			left = slices.Delete(left, k, k+1)
		}
	}
	chance.Fair(t, "hands and first draw", triples, nil)
	for i, counts := range draws[:len(draws)-1] {
		chance.Fair(t, fmt.Sprintf("draw %d", i), counts, nil)
	}
}

// handCard returns the one card of a hand.
func handCard(g *Games, b int32, player int) Card {
	for c, set := range g.Hand.Row(b)[player*g.Colors:][:g.Colors] {
		if cards := g.AppendSet(nil, c, set); len(cards) > 0 {
			return cards[0]
		}
	}
	panic("empty hand")
}

// drawCard discards the one card of the player to move and returns the card
// that he draws from the deck.
func drawCard(g *Games, b int32) Card {
	player := g.Player(b)
	row := []int32{b}
	g.Step(row, []int32{int32(g.Discard(handCard(g, b, player)))})
	g.Step(row, []int32{int32(g.DrawDeck())})
	return handCard(g, b, player)
}

// TestRandomWagersAreFair: identical wagers count as so many cards.
func TestRandomWagersAreFair(t *testing.T) {
	cfg := Config{Colors: 2, Ranks: 2, MinRank: 2, Wagers: 3, Hand: 1, Penalty: -20, BonusAt: 8, Bonus: 20}
	const n = 40000
	games := NewGames(cfg, nil)
	games.Deal(n, 5, 0)
	dealt, drawn := make([]int, cfg.Types()), make([]int, cfg.Types())
	for b := range int32(n) {
		dealt[handCard(games, b, 0)]++
		drawn[drawCard(games, b)]++
	}
	weights := []float64{3, 1, 1, 3, 1, 1}
	chance.Fair(t, "the card dealt", dealt, weights)
	chance.Fair(t, "the card drawn", drawn, weights)
}

// TestViews compares what encoders and bots ask of a row with the scalar game:
// pile tops, the sets of piles, expeditions, and the bound of legal actions.
func TestViews(t *testing.T) {
	for name, cfg := range variants() {
		g, games := NewGame(cfg, 6, 2), NewGames(cfg, nil)
		games.Deal(1, 6, 2)
		for !g.Done() {
			for c := range cfg.Colors {
				pile, top := g.Pile(c), -1
				if len(pile) > 0 {
					top = cfg.Rank(pile[len(pile)-1])
				}
				if got := games.PileTop(0, c); got != top {
					t.Fatalf("%s, ply %d: top %d, expected %d", name, g.Plies(), got, top)
				}
				cards, bit := games.PileTopType(0, c)
				if want := uint64(1) << (top + 1) >> 1; int(cards) != len(pile) || bit != want {
					t.Fatalf("%s, ply %d: %d cards and top type %b, expected %d and %b", name, g.Plies(), cards, bit, len(pile), want)
				}
				if got, want := games.PileSet(0, c), setOf(games.Tables, pile, c); got != want {
					t.Fatalf("%s, ply %d: the pile is %b, expected %b", name, g.Plies(), got, want)
				}
				exp := games.AppendSet(nil, c, games.Exp.Row(0)[c])
				if want := g.Expedition(0, c); !slices.Equal(exp, want) {
					t.Fatalf("%s, ply %d: the expedition is %v, expected %v", name, g.Plies(), exp, want)
				}
			}
			legal := g.Legal()
			if len(legal) > cfg.MaxLegal() {
				t.Fatalf("%s, ply %d: %d legal actions, expected at most %d", name, g.Plies(), len(legal), cfg.MaxLegal())
			}
			a := pick(legal, g.Key(), g.Plies())
			games.Step([]int32{0}, []int32{int32(a)})
			if err := g.Step(a); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestGamesDiffer: other seeds and other numbers are other deals.
func TestGamesDiffer(t *testing.T) {
	cfg := MustPreset("classic")
	seen := make(map[string]string)
	for seed := range uint64(40) {
		for id := range uint64(40) {
			hand := fmt.Sprint(NewGame(cfg, seed, id).hand)
			name := fmt.Sprintf("seed %d, game %d", seed, id)
			if other, ok := seen[hand]; ok {
				t.Fatalf("%s and %s have the same hands", name, other)
			}
			seen[hand] = name
		}
	}
}
