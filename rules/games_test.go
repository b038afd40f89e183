package rules

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vtrain/vec"
	"vtrain/vec/vectest"
)

// setOf returns cards of one colour as the compact form's set.
func setOf(t *Tables, cards []Card, color int) uint16 {
	var set uint16
	for _, x := range cards {
		if t.Config.Color(x) == color {
			set = t.With(set, t.Rank(x))
		}
	}
	return set
}

// row is everything observable of one game, in a form that both
// implementations can be asked for.
type row struct {
	Hand, Exp, Known [2][MaxColors]uint16
	Deck             [MaxColors]uint16
	Piles            [MaxColors][]int
	DeckLen, Pending int
	Plies, Turns     int
	Phase            Phase
	Player           int
	Done, Capped     bool
	Score            [2]int
	Legal            []Action
}

func scalarRow(t *Tables, g *Game) row {
	r := row{
		DeckLen: g.Deck(), Pending: g.Pending(), Plies: g.Plies(), Turns: g.Turns(), Phase: g.Phase(),
		Player: g.Player(), Done: g.Done(), Capped: g.Capped(), Score: [2]int{g.Score(0), g.Score(1)}, Legal: g.Legal(),
	}
	for c := range t.Colors {
		for p := range 2 {
			r.Hand[p][c] = setOf(t, g.hand[p], c)
			r.Exp[p][c] = setOf(t, g.exp[p][c], c)
			r.Known[p][c] = setOf(t, g.known[p], c)
		}
		r.Deck[c] = setOf(t, g.deck, c)
		for _, x := range g.piles[c] {
			r.Piles[c] = append(r.Piles[c], t.Rank(x))
		}
	}
	return r
}

func batchRow(g *Games, b int32) row {
	r := row{
		DeckLen: int(g.DeckLen.Data[b]), Pending: NoColor, Plies: int(g.Made.Data[b]), Turns: g.Turns(b), Phase: g.Phase(b),
		Player: g.Player(b), Done: g.Done(b), Capped: g.Capped(b),
		Score: [2]int{int(g.PlayerScore(b, 0)), int(g.PlayerScore(b, 1))},
	}
	if c := g.Pending.Data[b]; c != NoPending {
		r.Pending = int(c)
	}
	for c := range g.Colors {
		for p := range 2 {
			r.Hand[p][c] = g.Hand.Row(b)[p*g.Colors+c]
			r.Exp[p][c] = g.Exp.Row(b)[p*g.Colors+c]
			r.Known[p][c] = g.Known.Row(b)[p*g.Colors+c]
		}
		r.Deck[c] = g.Deck.Row(b)[c]
		for i := range g.PileLen.Row(b)[c] {
			r.Piles[c] = append(r.Piles[c], g.pileRank(g.Pile.Row(b)[c]>>(4*i)&15))
		}
	}
	mask := make([]uint64, g.MaskWords)
	g.Legal(mask, []int32{b})
	for _, a := range vec.MaskAppend(nil, mask) {
		r.Legal = append(r.Legal, Action(a))
	}
	return r
}

// pick is the action that tests play: a fixed function of game and ply.
func pick(legal []Action, key uint64, ply int) Action {
	s := vec.At(vec.Derive(key, "test", 0), uint32(ply))
	return legal[s.Intn(len(legal))]
}

// variants are the presets, unlimited and cut, and configurations at the
// limits of the compact form.
func variants() map[string]Config {
	v := map[string]Config{
		"no-deck":  {Colors: 2, Ranks: 3, MinRank: 2, Wagers: 1, Hand: 4, Penalty: -20, BonusAt: 8, Bonus: 20},
		"16-ranks": {Colors: 8, Ranks: 16, MinRank: 1, Hand: 6, Penalty: -30, BonusAt: 9, Bonus: 25, MaxTurns: 90},
		"15-wager": {Colors: 2, Ranks: 1, MinRank: 5, Wagers: 15, Hand: 3, Penalty: -1, BonusAt: 2, Bonus: 3, MaxTurns: 60},
		"1-color":  {Colors: 1, Ranks: 9, MinRank: 2, Wagers: 3, Hand: 4, Penalty: -20, BonusAt: 8, Bonus: 20, MaxTurns: 50},
	}
	for _, name := range Presets() {
		cfg := MustPreset(name)
		cfg.MaxTurns = 60
		v[name] = cfg
	}
	return v
}

// TestLockstepEqualsScalar plays games of every variant in both forms, over
// all batch shapes, and compares everything observable at every ply.
func TestLockstepEqualsScalar(t *testing.T) {
	vectest.Run(t, func(t *testing.T, c vectest.Case) {
		for name, cfg := range variants() {
			if _, err := Preset(name); err != nil && c.Size > 100 {
				continue // odd variants need no large batches
			}
			checkPlay(t, name, cfg, c)
		}
	})
}

func checkPlay(t *testing.T, name string, cfg Config, c vectest.Case) {
	const seed = 5
	games := NewGames(cfg, c.Pool)
	games.Deal(c.Size, seed, 100)
	scalar := make(map[int32]*Game)
	for _, b := range c.Live {
		scalar[b] = NewGame(cfg, seed, 100+uint64(b))
	}
	check := func(rows []int32) {
		t.Helper()
		for _, b := range rows {
			if got, want := batchRow(games, b), scalarRow(games.Tables, scalar[b]); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: row %d, ply %d:\nlockstep %+v\nscalar   %+v", name, b, scalar[b].Plies(), got, want)
			}
		}
	}
	idle := firstIdle(c)
	before := batchRow(games, idle)
	live := slices.Clone(c.Live)
	mask := make([]uint64, len(live)*games.MaskWords)
	for len(live) > 0 {
		check(some(live))
		actions := playPly(games, live, mask[:len(live)*games.MaskWords])
		for i, b := range live {
			if err := scalar[b].Step(Action(actions[i])); err != nil {
				t.Fatal(err)
			}
		}
		live = vec.Keep(live, live, games.Finish.Data, 0)
	}
	check(c.Live) // a finished game shows all that went wrong in it
	if len(c.Live) < c.Size && !reflect.DeepEqual(before, batchRow(games, idle)) {
		t.Fatalf("%s: row %d was not among the rows to step, yet changed", name, idle)
	}
}

// playPly steps the live rows by a test policy and returns the actions.
func playPly(games *Games, live []int32, mask []uint64) []int32 {
	games.Legal(mask, live)
	actions := make([]int32, len(live))
	for i, b := range live {
		legal := mask[i*games.MaskWords : (i+1)*games.MaskWords]
		s := vec.At(vec.Derive(games.Keys.Data[b], "test", 0), games.Made.Data[b])
		actions[i] = int32(vec.MaskSelect(legal, s.Intn(vec.MaskCount(legal))))
	}
	games.Step(live, actions)
	return actions
}

// some returns the rows to compare at every ply: all of a few, a sample of
// many with the first and the last.
func some(live []int32) []int32 {
	if len(live) < 12 {
		return live
	}
	rows := []int32{}
	for i := 0; i < len(live); i += len(live) / 9 {
		rows = append(rows, live[i])
	}
	return append(rows, live[len(live)-1])
}

func firstIdle(c vectest.Case) int32 {
	for i, b := range c.Live {
		if int32(i) != b {
			return int32(i)
		}
	}
	return int32(min(len(c.Live), c.Size-1))
}

// TestGivenDecks holds batches with given decks to the scalar game.
func TestGivenDecks(t *testing.T) {
	for name, cfg := range variants() {
		rapid.Check(t, func(rt *rapid.T) {
			deck := rapid.Permutation(cfg.Pack()).Draw(rt, "deck")
			seed := rapid.Uint64().Draw(rt, "seed")
			scalar, err := NewGameFrom(cfg, deck, seed, 7)
			if err != nil {
				rt.Fatal(err)
			}
			games := NewOrderedGames(cfg, nil)
			games.DealFrom([][]Card{cfg.Pack(), deck}, seed, 6)
			live := []int32{1}
			for !scalar.Done() {
				legal := scalar.Legal()
				a := rapid.SampledFrom(legal).Draw(rt, "action")
				if err := scalar.Step(a); err != nil {
					rt.Fatal(err)
				}
				games.Step(live, []int32{int32(a)})
				if got, want := batchRow(games, 1), scalarRow(games.Tables, scalar); !reflect.DeepEqual(got, want) {
					rt.Fatalf("%s: lockstep %+v\nscalar %+v", name, got, want)
				}
			}
			if err := scalar.Step(0); err != nil {
				rt.Fatalf("stepping a finished game: %v", err)
			}
		})
	}
}

// TestCardsAreConserved counts every card type at every ply: each is in one
// place, and known cards are cards in hand.
func TestCardsAreConserved(t *testing.T) {
	for name, cfg := range variants() {
		rapid.Check(t, func(rt *rapid.T) {
			g := NewGame(cfg, rapid.Uint64().Draw(rt, "seed"), 0)
			for !g.Done() {
				all := slices.Concat(g.hand[0], g.hand[1], g.deck)
				for c := range cfg.Colors {
					all = slices.Concat(all, g.exp[0][c], g.exp[1][c], g.piles[c])
				}
				slices.Sort(all)
				if !slices.Equal(all, cfg.Pack()) {
					rt.Fatalf("%s, ply %d: cards are %v", name, g.Plies(), all)
				}
				for p := range 2 {
					rest := g.Hand(p)
					for _, x := range g.Known(p) {
						had := false
						if rest, had = remove(rest, x); !had {
							rt.Fatalf("%s: known card %d is not in the hand %v", name, x, g.Hand(p))
						}
					}
				}
				if err := g.Step(pick(g.Legal(), g.Key(), g.Plies())); err != nil {
					rt.Fatal(err)
				}
			}
		})
	}
}

// TestLockstepSharesPhaseAndPlayer states the property the engine rests on.
func TestLockstepSharesPhaseAndPlayer(t *testing.T) {
	games := NewGames(MustPreset("mid"), nil)
	games.Deal(500, 1, 0)
	live := vec.AllRows(nil, 500)
	mask := make([]uint64, 500*games.MaskWords)
	for len(live) > 0 {
		for _, b := range live {
			if games.Phase(b) != games.Phase(live[0]) || games.Player(b) != games.Player(live[0]) {
				t.Fatalf("rows %d and %d differ in phase or player", live[0], b)
			}
		}
		playPly(games, live, mask[:len(live)*games.MaskWords])
		live = vec.Keep(live, live, games.Finish.Data, 0)
	}
}

// TestGatherScatter copies games between batches and plays the copies on: they
// draw the same cards.
func TestGatherScatter(t *testing.T) {
	cfg := MustPreset("classic")
	src := NewGames(cfg, nil)
	src.Deal(9, 3, 0)
	dst := src.New()
	dst.Gather(src, []int32{2, 2, 8})
	if got, want := batchRow(dst, 1), batchRow(src, 2); !reflect.DeepEqual(got, want) {
		t.Fatalf("gathered %+v, expected %+v", got, want)
	}
	draw := []int32{int32(dst.Config.Discard(firstCard(dst, 0)))}
	dst.Step([]int32{0}, draw)
	src.Step([]int32{2}, draw)
	dst.Step([]int32{0}, []int32{int32(cfg.DrawDeck())})
	src.Step([]int32{2}, []int32{int32(cfg.DrawDeck())})
	if got, want := batchRow(dst, 0), batchRow(src, 2); !reflect.DeepEqual(got, want) {
		t.Fatalf("the copy drew %+v, the original %+v", got, want)
	}
	src.Scatter([]int32{0}, dst, []int32{2})
	if got, want := batchRow(src, 0), batchRow(src, 8); !reflect.DeepEqual(got, want) {
		t.Fatalf("scattered %+v, expected %+v", got, want)
	}
}

func firstCard(g *Games, b int32) Card {
	for c, set := range g.Hand.Row(b)[:g.Colors] {
		for rank := range g.Ranks + 1 {
			if g.Has(set, rank) {
				return g.Card(c, rank)
			}
		}
	}
	panic("empty hand")
}

func TestKernelsAllocateNothing(t *testing.T) {
	pool := vec.NewPool(2)
	defer pool.Close()
	games := NewGames(MustPreset("classic"), pool)
	const n = 2048
	rows := vec.AllRows(nil, n)
	mask := make([]uint64, n*games.MaskWords)
	actions, scores := make([]int32, n), make([]int32, 2*n)
	games.Deal(n, 1, 0)
	next := games.New()
	next.Gather(games, rows)
	play := func() {
		games.Deal(n, 1, 0)
		for range 4 {
			games.Legal(mask, rows)
			for i := range rows {
				actions[i] = int32(vec.MaskSelect(mask[i*games.MaskWords:(i+1)*games.MaskWords], 0))
			}
			games.Step(rows, actions)
			games.Score(scores, rows)
			next.Gather(games, rows)
		}
	}
	if got := testing.AllocsPerRun(5, play); got != 0 {
		t.Fatalf("%v allocations, expected none", got)
	}
}

func TestIllegalActionsPanicUnderInvariants(t *testing.T) {
	if !vec.Invariants {
		t.Skip("needs -tags invariants or -race")
	}
	games := NewGames(MustPreset("classic"), nil)
	games.Deal(1, 1, 0)
	defer func() {
		if recover() == nil {
			t.Fatal("drawing in the card phase did not panic")
		}
	}()
	games.Step([]int32{0}, []int32{int32(games.DrawDeck())})
}

func BenchmarkRandomPlay(b *testing.B) {
	cfg := MustPreset("classic")
	b.Run("lockstep", func(b *testing.B) {
		for _, n := range []int{256, 1024, 4096} {
			b.Run(fmt.Sprintf("games=%d", n), func(b *testing.B) { benchLockstep(b, cfg, n) })
		}
	})
	b.Run("scalar", func(b *testing.B) {
		plies := 0
		for i := range b.N {
			g := NewGame(cfg, 1, uint64(i))
			for ; !g.Done(); plies++ {
				legal := g.Legal()
				s := vec.At(g.Key()^1, uint32(g.Plies()))
				if err := g.Step(legal[s.Intn(len(legal))]); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(plies)/1e6/b.Elapsed().Seconds(), "Mplies/s")
	})
}

func benchLockstep(b *testing.B, cfg Config, n int) {
	games := NewGames(cfg, nil)
	mask := make([]uint64, n*games.MaskWords)
	actions, live := make([]int32, n), make([]int32, 0, n)
	plies := 0
	for i := range b.N {
		games.Deal(n, 1, uint64(i*n))
		live = vec.AllRows(live, n)
		for len(live) > 0 {
			plies += len(live)
			randomPly(games, live, mask, actions)
			live = vec.Keep(live, live, games.Finish.Data, 0)
		}
	}
	b.ReportMetric(float64(plies)/1e6/b.Elapsed().Seconds(), "Mplies/s")
}

// randomPly plays one uniformly random action in each live row. mask and
// actions are scratch of at least len(live) rows.
func randomPly(games *Games, live []int32, mask []uint64, actions []int32) {
	mask, actions = mask[:len(live)*games.MaskWords], actions[:len(live)]
	games.Legal(mask, live)
	for i, b := range live {
		legal := mask[i*games.MaskWords : (i+1)*games.MaskWords]
		s := vec.At(games.Keys.Data[b]^1, games.Made.Data[b])
		actions[i] = int32(vec.MaskSelect(legal, s.Intn(vec.MaskCount(legal))))
	}
	games.Step(live, actions)
}
