package rules

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vtrain/vec"
	"vtrain/vec/vectest"
	"vtrain/vec/vectest/chance"
)

// TestDeterminizeEqualsScalar compares the forms over all batch shapes, in
// batches of both kinds, and plays some of the games on to their end: what is
// drawn later must be the same too.
func TestDeterminizeEqualsScalar(t *testing.T) {
	vectest.Run(t, func(t *testing.T, c vectest.Case) {
		for name, cfg := range variants() {
			if _, err := Preset(name); err != nil && c.Size > 100 || c.Size > 1000 {
				continue
			}
			for _, ordered := range []bool{false, true} {
				checkDeterminize(t, fmt.Sprintf("%s, ordered %v", name, ordered), cfg, ordered, c)
			}
		}
	})
}

func checkDeterminize(t *testing.T, name string, cfg Config, ordered bool, c vectest.Case) {
	const plies = 21
	games, scalar := dealBoth(t, cfg, ordered, c)
	all := vec.AllRows(nil, c.Size)
	for range plies {
		playAlike(t, games, scalar, all)
	}
	idle := firstIdle(c)
	before := batchRow(games, idle)
	keys := testKeys(len(c.Live))
	games.Determinize(c.Live, keys)
	for i, b := range c.Live {
		scalar[b] = scalar[b].Determinized(keys[i])
	}
	for checked := slices.Compact(some(c.Live)); ; {
		for _, b := range checked {
			if got, want := batchRow(games, b), scalarRow(games.Tables, scalar[b]); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: row %d, ply %d:\nlockstep %+v\nscalar   %+v", name, b, scalar[b].Plies(), got, want)
			}
			if !scalar[b].Done() && games.Keys.Data[b] != scalar[b].Key() {
				t.Fatalf("%s: row %d has key %d, expected %d", name, b, games.Keys.Data[b], scalar[b].Key())
			}
		}
		live := vec.Keep(nil, checked, games.Finish.Data, 0)
		if len(live) == 0 {
			break
		}
		playAlike(t, games, scalar, live)
	}
	if len(c.Live) < c.Size && !reflect.DeepEqual(before, batchRow(games, idle)) {
		t.Fatalf("%s: row %d was not among the rows, yet changed", name, idle)
	}
}

// dealBoth deals games in both forms.
func dealBoth(t *testing.T, cfg Config, ordered bool, c vectest.Case) (*Games, []*Game) {
	t.Helper()
	scalar := make([]*Game, c.Size)
	if !ordered {
		games := NewGames(cfg, c.Pool)
		games.Deal(c.Size, 5, 100)
		for b := range scalar {
			scalar[b] = NewGame(cfg, 5, 100+uint64(b))
		}
		return games, scalar
	}
	decks := make([][]Card, c.Size)
	for b := range scalar {
		decks[b] = shuffled(cfg, uint64(b))
		var err error
		if scalar[b], err = NewGameFrom(cfg, decks[b], 5, 100+uint64(b)); err != nil {
			t.Fatal(err)
		}
	}
	games := NewOrderedGames(cfg, c.Pool)
	games.DealFrom(decks, 5, 100)
	return games, scalar
}

func shuffled(cfg Config, seed uint64) []Card {
	deck, stream := cfg.Pack(), vec.At(vec.Key(3, seed), 0)
	stream.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	return deck
}

// playAlike makes the test policy's move in rows of both forms.
func playAlike(t *testing.T, games *Games, scalar []*Game, rows []int32) {
	t.Helper()
	live := vec.Keep(nil, rows, games.Finish.Data, 0)
	actions := playPly(games, live, make([]uint64, len(live)*games.MaskWords))
	for i, b := range live {
		if err := scalar[b].Step(Action(actions[i])); err != nil {
			t.Fatal(err)
		}
	}
}

func testKeys(n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = vec.Key(77, uint64(i))
	}
	return keys
}

// TestDeterminizedKeepsWhatIsKnown holds the scalar form to what it promises: the
// mover's view stays, known cards stay in the hand, no card appears or is lost,
// and the game it was made from is as it was.
func TestDeterminizedKeepsWhatIsKnown(t *testing.T) {
	for name, cfg := range variants() {
		rapid.Check(t, func(rt *rapid.T) {
			g := randomPosition(rt, cfg)
			before := fmt.Sprint(g)
			d := g.Determinized(rapid.Uint64().Draw(rt, "key"))
			if got := fmt.Sprint(g); got != before {
				rt.Fatalf("%s: the original became %s, it was %s", name, got, before)
			}
			player := g.Player()
			if got, want := view(d, player), view(g, player); !reflect.DeepEqual(got, want) {
				rt.Fatalf("%s: the mover sees %v, before %v", name, got, want)
			}
			rest := d.Hand(1 - player)
			for _, x := range d.Known(1 - player) {
				had := false
				if rest, had = remove(rest, x); !had {
					rt.Fatalf("%s: known card %d has left the hand %v", name, x, d.Hand(1-player))
				}
			}
			if got, want := unseen(d, player), unseen(g, player); !slices.Equal(got, want) {
				rt.Fatalf("%s: the unseen cards are %v, before %v", name, got, want)
			}
			if len(d.hand[1-player]) != len(g.hand[1-player]) || len(d.deck) != len(g.deck) {
				rt.Fatalf("%s: a hand of %d and a deck of %d, expected %d and %d", name, len(d.hand[1-player]), len(d.deck), len(g.hand[1-player]), len(g.deck))
			}
		})
	}
}

// randomPosition plays some plies from a deck or a set.
func randomPosition(rt *rapid.T, cfg Config) *Game {
	g := NewGame(cfg, rapid.Uint64().Draw(rt, "seed"), 0)
	if rapid.Bool().Draw(rt, "ordered") {
		var err error
		if g, err = NewGameFrom(cfg, rapid.Permutation(cfg.Pack()).Draw(rt, "deck"), 1, 0); err != nil {
			rt.Fatal(err)
		}
	}
	for range rapid.IntRange(0, 50).Draw(rt, "plies") {
		if g.Done() {
			break
		}
		if err := g.Step(pick(g.Legal(), g.Key(), g.Plies())); err != nil {
			rt.Fatal(err)
		}
	}
	return g
}

// view is all that a player knows.
func view(g *Game, player int) any {
	return []any{g.Hand(player), g.known, g.exp, g.piles, len(g.deck), len(g.hand[1-player]), g.plies, g.done, g.pending}
}

// unseen is the cards that a player does not see, ascending.
func unseen(g *Game, player int) []Card {
	all := g.cfg.Pack()
	for _, cards := range slices.Concat(g.exp[0], g.exp[1], g.piles, [][]Card{g.hand[player], g.known[1-player]}) {
		for _, x := range cards {
			all, _ = remove(all, x)
		}
	}
	return all
}

// TestDeterminizeIgnoresTheTruth: positions that differ only in what the mover
// does not see become the same.
func TestDeterminizeIgnoresTheTruth(t *testing.T) {
	for name, cfg := range variants() {
		for _, ordered := range []bool{false, true} {
			c := vectest.Case{Size: 40}
			games, scalar := dealBoth(t, cfg, ordered, c)
			all := vec.AllRows(nil, c.Size)
			for range 5 {
				playAlike(t, games, scalar, all)
			}
			live := vec.Keep(nil, all, games.Finish.Data, 0)
			other := games.New()
			other.Gather(games, all)
			other.Determinize(live, testKeys(len(live))) // another truth
			changed := false
			for _, b := range live {
				changed = changed || !reflect.DeepEqual(batchRow(games, b), batchRow(other, b))
			}
			if cfg.DeckSize() > 0 && !changed {
				t.Fatalf("%s: nothing was dealt anew", name)
			}
			keys := testKeys(2 * len(live))[len(live):]
			games.Determinize(live, keys)
			other.Determinize(live, keys)
			for i, f := range games.Fields() {
				if ordered && f.Name == "order" {
					continue // cards drawn before stay behind the deck's end
				}
				if got := other.Fields()[i].Data; !reflect.DeepEqual(got, f.Data) {
					t.Errorf("%s, ordered %v: column %s is %v, expected %v", name, ordered, f.Name, got, f.Data)
				}
			}
			for _, b := range live {
				left := games.DeckLen.Data[b]
				if ordered && !slices.Equal(games.Order.Row(b)[:left], other.Order.Row(b)[:left]) {
					t.Errorf("%s: decks %v and %v", name, games.Order.Row(b)[:left], other.Order.Row(b)[:left])
				}
			}
		}
	}
}

// TestDeterminizeIsUniform counts the opponent's hands, with the next two cards
// of the deck, against all arrangements of the unseen cards, in a position where
// the opponent has a card that is known.
func TestDeterminizeIsUniform(t *testing.T) {
	for name, cfg := range enumerable() {
		if cfg.DeckSize() < 3 {
			continue // its deck ends too early
		}
		for _, ordered := range []bool{false, true} {
			games, b, g := withKnownCard(t, cfg, ordered)
			number, weights := arrangements(g)
			n := 50 * len(weights)
			copies := games.New()
			copies.Gather(games, slices.Repeat([]int32{b}, n))
			copies.Determinize(vec.AllRows(nil, n), testKeys(n))
			counts := make([]int, len(weights))
			for r, text := range dealtAnew(copies, 1-g.Player()) {
				i, ok := number[text]
				if !ok {
					t.Fatalf("%s: row %d has %s, which is not among all arrangements", name, r, text)
				}
				counts[i]++
			}
			chance.Fair(t, fmt.Sprintf("%s, ordered %v", name, ordered), counts, weights)
		}
	}
}

// withKnownCard returns a position, as row b and as g, in which the player to
// move knows one card of the opponent's hand, and two turns are left to play.
func withKnownCard(t *testing.T, cfg Config, ordered bool) (games *Games, b int32, g *Game) {
	t.Helper()
	c := vectest.Case{Size: 100}
	games, scalar := dealBoth(t, cfg, ordered, c)
	for range 10 {
		for b, g := range scalar {
			if !g.Done() && g.Phase() == CardPhase && len(g.Known(1-g.Player())) == 1 && g.Deck() >= 2 {
				return games, int32(b), g
			}
		}
		playAlike(t, games, scalar, vec.AllRows(nil, c.Size))
	}
	t.Fatal("no game came to such a position")
	return nil, 0, nil
}

// arrangements numbers all that Determinize may lead to, as dealtAnew names it,
// and counts the orders of the unseen cards that lead there.
func arrangements(g *Game) (number map[string]int, weights []float64) {
	number = map[string]int{}
	opponent := 1 - g.Player()
	known := g.Known(opponent)
	hidden := len(g.hand[opponent]) - len(known)
	eachOrder(unseen(g, g.Player()), 0, func(cards []Card) {
		hand := slices.Sorted(slices.Values(slices.Concat(known, cards[:hidden])))
		text := fmt.Sprint(hand, cards[hidden:hidden+2])
		i, ok := number[text]
		if !ok {
			i = len(weights)
			number[text] = i
			weights = append(weights, 0)
		}
		weights[i]++
	})
	return number, weights
}

// eachOrder calls f for every order of the cards from the i-th on.
func eachOrder(cards []Card, i int, f func(cards []Card)) {
	if i == len(cards) {
		f(cards)
		return
	}
	for j := i; j < len(cards); j++ {
		cards[i], cards[j] = cards[j], cards[i]
		eachOrder(cards, i+1, f)
		cards[i], cards[j] = cards[j], cards[i]
	}
}

// dealtAnew returns each row's hand of a player and the next two cards of its
// deck, which it draws.
func dealtAnew(games *Games, player int) []string {
	rows := vec.AllRows(nil, games.Rows())
	hands, draws := make([][]Card, len(rows)), make([][]Card, len(rows))
	for _, b := range rows {
		hands[b] = listCards(games.Tables, games.colors(&games.Hand, b, player))
	}
	for range 2 {
		deck := slices.Clone(games.Deck.Data)
		mask, actions := make([]uint64, len(rows)*games.MaskWords), make([]int32, len(rows))
		games.Legal(mask, rows)
		for i := range rows {
			actions[i] = int32(vec.MaskSelect(mask[i*games.MaskWords:(i+1)*games.MaskWords], 0))
		}
		games.Step(rows, actions)
		games.Step(rows, slices.Repeat([]int32{int32(games.DrawDeck())}, len(rows)))
		for _, b := range rows {
			drawn := make([]uint16, games.Colors)
			for c, left := range games.Deck.Row(b) {
				drawn[c] = deck[int(b)*games.Colors+c] &^ left
			}
			draws[b] = append(draws[b], listCards(games.Tables, drawn)...)
		}
	}
	all := make([]string, len(rows))
	for i := range rows {
		all[i] = fmt.Sprint(hands[i], draws[i])
	}
	return all
}

// listCards lists the cards of sets [C], ascending.
func listCards(t *Tables, sets []uint16) []Card {
	cards := []Card{}
	for c, set := range sets {
		cards = append(cards, slices.Repeat([]Card{t.Card(c, 0)}, t.WagerCount(set))...)
		for rank := 1; rank <= t.Ranks; rank++ {
			if t.Has(set, rank) {
				cards = append(cards, t.Card(c, rank))
			}
		}
	}
	return cards
}

// TestDeterminizedCopiesAreOneGame: copies of a position that share a key draw
// the same cards, whichever batch they are in; other keys lead to other games.
func TestDeterminizedCopiesAreOneGame(t *testing.T) {
	cfg := MustPreset("classic")
	for _, ordered := range []bool{false, true} {
		games, _ := dealBoth(t, cfg, ordered, vectest.Case{Size: 3})
		copies := games.New()
		copies.Gather(games, []int32{2, 2, 2, 1})
		copies.Determinize([]int32{0, 1, 2}, []uint64{8, 8, 9})
		alone := games.New()
		alone.Gather(games, []int32{2})
		alone.Determinize([]int32{0}, []uint64{8})
		discard := int32(cfg.Discard(firstCard(games, 2)))
		draw := int32(cfg.DrawDeck())
		for _, a := range []int32{discard, draw} {
			copies.Step([]int32{0, 1, 2}, []int32{a, a, a})
			alone.Step([]int32{0}, []int32{a})
		}
		want := batchRow(alone, 0)
		for b := range int32(2) {
			if got := batchRow(copies, b); !reflect.DeepEqual(got, want) {
				t.Errorf("ordered %v: copy %d is %+v, alone it is %+v", ordered, b, got, want)
			}
		}
		if got := batchRow(copies, 2); reflect.DeepEqual(got, want) {
			t.Errorf("ordered %v: another key led to the same game", ordered)
		}
		if got, want := batchRow(copies, 3), batchRow(games, 1); !reflect.DeepEqual(got, want) {
			t.Errorf("ordered %v: a row that was not named is %+v, expected %+v", ordered, got, want)
		}
	}
}

func TestDeterminizeAllocatesNothing(t *testing.T) {
	pool := vec.NewPool(2)
	defer pool.Close()
	const n = 1500
	rows, keys := vec.AllRows(nil, n), testKeys(n)
	for _, ordered := range []bool{false, true} {
		games, _ := dealBoth(t, MustPreset("classic"), ordered, vectest.Case{Size: n, Pool: pool})
		if got := testing.AllocsPerRun(5, func() { games.Determinize(rows, keys) }); got != 0 {
			t.Errorf("ordered %v: %v allocations, expected none", ordered, got)
		}
	}
}

func BenchmarkDeterminize(b *testing.B) {
	const n = 1024
	rows, keys := vec.AllRows(nil, n), testKeys(n)
	random := NewGames(MustPreset("classic"), nil)
	random.Deal(n, 1, 0)
	ordered := NewOrderedGames(MustPreset("classic"), nil)
	decks := make([][]Card, n)
	for i := range decks {
		decks[i] = shuffled(ordered.Config, uint64(i))
	}
	ordered.DealFrom(decks, 1, 0)
	for name, games := range map[string]*Games{"random": random, "ordered": ordered} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				games.Determinize(rows, keys)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/state")
		})
	}
}
