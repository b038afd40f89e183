package search

import (
	"math"
	"slices"
	"strings"
	"testing"

	"vtrain/rules"
	"vtrain/vec"
)

// few are options that are quick to search by.
func few() Options {
	o := DefaultOptions()
	o.Candidates, o.Deals = 3, 12
	return o
}

// someNetworks are policies of several layouts: one names cards, one colours by
// their place, one hand slots, of which several may be the same move.
var someNetworks = []network{
	{layout: "cards", hidden: []int{16}, sharp: 4},
	{layout: "cards-sorted", hidden: []int{16, 8}, sharp: 2},
	{layout: "slots-d0s0", hidden: []int{8}, sharp: 4},
}

// networks returns them, with -short only the first.
func networks() []network {
	if testing.Short() {
		return someNetworks[:1]
	}
	return someNetworks
}

// positions returns games at several plies, and the live rows among them. In
// given decks they are also what a match has.
func positions(t *testing.T, cfg rules.Config, pool *vec.Pool, ordered bool, n int) (*rules.Games, []int32) {
	t.Helper()
	g := rules.NewGames(cfg, pool)
	if ordered {
		g = rules.NewOrderedGames(cfg, pool)
		g.DealFrom(decks(cfg, n), 3, 0)
	} else {
		g.Deal(n, 3, 0)
	}
	all := vec.AllRows(nil, n)
	for ply := range 12 {
		step(g, vec.Keep(nil, all[:n-n*ply/12], g.Finish.Data, 0))
	}
	return g, vec.Keep(nil, all, g.Finish.Data, 0)
}

func decks(cfg rules.Config, n int) [][]rules.Card {
	all := make([][]rules.Card, n)
	for i := range all {
		deck, stream := cfg.Pack(), vec.At(vec.Key(8, uint64(i)), 0)
		stream.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		all[i] = deck
	}
	return all
}

// step makes a random move in rows.
func step(g *rules.Games, rows []int32) []int32 {
	mask, actions := make([]uint64, len(rows)*g.MaskWords), make([]int32, len(rows))
	g.Legal(mask, rows)
	for i, b := range rows {
		legal := mask[i*g.MaskWords : (i+1)*g.MaskWords]
		stream := vec.At(vec.Derive(g.Keys.Data[b], "test", 0), g.Made.Data[b])
		actions[i] = int32(vec.MaskSelect(legal, stream.Intn(vec.MaskCount(legal))))
	}
	g.Step(rows, actions)
	return actions
}

// asked returns an agent's actions.
func asked(a *Agent, g *rules.Games, rows []int32) []int32 {
	dst := make([]int32, len(rows))
	a.Act(dst, g, rows)
	return dst
}

// TestActionsDependOnThePositionAlone: not on the other rows, on how many
// playouts there are at once, on the workers, or on who was asked before.
func TestActionsDependOnThePositionAlone(t *testing.T) {
	pool := vec.NewPool(3)
	defer pool.Close()
	cfg := limited("mid", 30)
	for _, n := range networks() {
		for _, ordered := range []bool{false, true} {
			g, rows := positions(t, cfg, nil, ordered, 48)
			want := asked(newAgent(t, n, cfg, few(), nil), g, rows)
			for _, playouts := range []int{1, 100, 5000} {
				for _, workers := range []*vec.Pool{nil, pool} {
					o := few()
					o.Rows = playouts
					a := newAgent(t, n, cfg, o, workers)
					g, rows := positions(t, cfg, workers, ordered, 48)
					if got := asked(a, g, rows); !slices.Equal(got, want) {
						t.Fatalf("%s, ordered %v, %d playouts at once: actions %v, expected %v", n.layout, ordered, playouts, got, want)
					}
				}
			}
			a := newAgent(t, n, cfg, few(), nil)
			for i, b := range rows {
				alone := g.New()
				alone.Gather(g, []int32{b})
				if got := asked(a, alone, []int32{0}); got[0] != want[i] {
					t.Fatalf("%s, ordered %v: row %d alone plays %d, expected %d", n.layout, ordered, b, got[0], want[i])
				}
			}
		}
	}
}

// TestHiddenCardsHaveNoInfluence deals what the mover can't see anew, and asks
// again: the truth must not matter.
func TestHiddenCardsHaveNoInfluence(t *testing.T) {
	cfg := limited("mid", 30)
	for _, n := range networks() {
		for _, ordered := range []bool{false, true} {
			a := newAgent(t, n, cfg, few(), nil)
			g, rows := positions(t, cfg, nil, ordered, 40)
			want := asked(a, g, rows)
			other := g.New()
			other.Gather(g, vec.AllRows(nil, g.Rows()))
			keys := make([]uint64, len(rows))
			for i := range keys {
				keys[i] = vec.Key(1234, uint64(i))
			}
			other.Determinize(rows, keys)
			if slices.Equal(other.Hand.Data, g.Hand.Data) {
				t.Fatal("no hand has changed")
			}
			copy(other.Keys.Data, g.Keys.Data) // deals are drawn by the game's key
			if got := asked(a, other, rows); !slices.Equal(got, want) {
				t.Errorf("%s, ordered %v: actions %v, expected %v", n.layout, ordered, got, want)
			}
		}
	}
}

// TestActLeavesTheGamesAlone: what is tried is tried on copies.
func TestActLeavesTheGamesAlone(t *testing.T) {
	cfg := limited("mid", 30)
	a := newAgent(t, someNetworks[0], cfg, few(), nil)
	for _, ordered := range []bool{false, true} {
		g, rows := positions(t, cfg, nil, ordered, 20)
		before := g.New()
		before.Gather(g, vec.AllRows(nil, g.Rows()))
		asked(a, g, rows)
		for i, f := range g.Fields() {
			if err := equalFields(f, before.Fields()[i]); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestLastCard: in the last turn only the card matters, and what it is worth can
// be read off the table. Search by points alone plays the best, so never worse
// than the policy.
func TestLastCard(t *testing.T) {
	for _, preset := range []string{"tiny", "mid", "classic"} {
		cfg := limited(preset, 7)
		o := few()
		o.Candidates, o.Deals, o.Prior = 2*cfg.Hand, 2, 0
		a := newAgent(t, someNetworks[1], cfg, o, nil)
		g := rules.NewGames(cfg, nil)
		g.Deal(60, 3, 0)
		rows := vec.AllRows(nil, 60)
		for range 2 * (cfg.MaxTurns - 1) {
			step(g, rows)
			rows = vec.Keep(rows, rows, g.Finish.Data, 0)
		}
		if len(rows) == 0 {
			t.Fatalf("%s: no game came to its last turn", preset)
		}
		for i, action := range asked(a, g, rows) {
			if got, most := pointsAfter(g, rows[i], action), bestCard(g, rows[i]); got != most {
				t.Errorf("%s, row %d: %s leaves %d points, the best card %d", preset, rows[i], cfg.ActionName(rules.Action(action)), got, most)
			}
		}
	}
}

// pointsAfter returns what the mover has after an action in a copy of row b.
func pointsAfter(g *rules.Games, b, action int32) int32 {
	after := g.New()
	after.Gather(g, []int32{b})
	player := after.Player(0)
	after.Step([]int32{0}, []int32{action})
	return after.PlayerScore(0, player)
}

// bestCard returns the most of that over all legal actions.
func bestCard(g *rules.Games, b int32) int32 {
	most := int32(math.MinInt32)
	mask := make([]uint64, g.MaskWords)
	g.Legal(mask, []int32{b})
	for _, action := range vec.MaskAppend(nil, mask) {
		most = max(most, pointsAfter(g, b, action))
	}
	return most
}

// TestTies: in the last turn's draw all actions are worth the same, and the
// likeliest is played, whatever the prior.
func TestTies(t *testing.T) {
	cfg := limited("mid", 5)
	for _, prior := range []float64{0, 2} {
		o := few()
		o.Prior = prior
		a := newAgent(t, someNetworks[0], cfg, o, nil)
		g := rules.NewGames(cfg, nil)
		g.Deal(40, 3, 0)
		rows := vec.AllRows(nil, 40)
		for range 2*cfg.MaxTurns - 1 {
			step(g, rows)
			rows = vec.Keep(rows, rows, g.Finish.Data, 0)
		}
		several := 0
		for i, action := range asked(a, g, rows) {
			tried := a.candidates.of(i)
			if action != tried[0].action {
				t.Errorf("prior %v, row %d: action %d of %v", prior, rows[i], action, tried)
			}
			if len(tried) > 1 {
				several++
			}
		}
		if several == 0 {
			t.Error("nowhere was there a choice")
		}
	}
}

// TestPrior: a prior that outweighs any points leaves the policy's likeliest
// action; without one others are played too.
func TestPrior(t *testing.T) {
	cfg := limited("mid", 30)
	for prior, always := range map[float64]bool{0: false, maxPrior: true} {
		o := few()
		o.Prior = prior
		a := newAgent(t, network{layout: "cards", hidden: []int{16}, sharp: 8}, cfg, o, nil)
		g, rows := positions(t, cfg, nil, false, 60)
		likeliest := 0
		for i, action := range asked(a, g, rows) {
			if action == a.candidates.of(i)[0].action {
				likeliest++
			}
		}
		if (likeliest == len(rows)) != always {
			t.Errorf("prior %v: the likeliest action in %d of %d positions", prior, likeliest, len(rows))
		}
	}
}

// TestNothingToSearch: where one action is certain, or only one is to be
// tried, nothing is played out.
func TestNothingToSearch(t *testing.T) {
	cfg := limited("mid", 30)
	one := few()
	one.Candidates = 1
	for name, a := range map[string]*Agent{
		"certain":       newAgent(t, network{layout: "cards", hidden: []int{4}, deck: 20}, cfg, few(), nil),
		"one candidate": newAgent(t, someNetworks[0], cfg, one, nil),
	} {
		g := rules.NewGames(cfg, nil)
		g.Deal(30, 1, 0)
		rows := vec.AllRows(nil, 30)
		step(g, rows) // now they draw
		for i, action := range asked(a, g, rows) {
			if want := a.candidates.of(i)[0].action; action != want || name == "certain" && want != int32(cfg.DrawDeck()) {
				t.Errorf("%s: action %d, expected %d", name, action, want)
			}
		}
		if n := a.playouts.games.Rows(); n != 0 {
			t.Errorf("%s: %d playouts", name, n)
		}
	}
}

// TestPlayoutsKeepTheTurnLimit: games that would go on for ever are cut where
// the match cuts them.
func TestPlayoutsKeepTheTurnLimit(t *testing.T) {
	cfg := limited("classic", 9)
	a := newAgent(t, network{layout: "cards", hidden: []int{4}, deck: -20}, cfg, few(), nil)
	g := rules.NewGames(cfg, nil)
	g.Deal(4, 1, 0)
	asked(a, g, vec.AllRows(nil, 4))
	played := a.playouts.games
	if played.Rows() == 0 {
		t.Fatal("nothing was played out")
	}
	for b := range int32(played.Rows()) {
		if !played.Capped(b) || played.Turns(b) != cfg.MaxTurns {
			t.Fatalf("playout %d ended after %d turns, expected %d", b, played.Turns(b), cfg.MaxTurns)
		}
	}
}

// TestMemoryIsBounded: ever more positions take no more playouts at once, and
// nothing is allocated once warm.
func TestMemoryIsBounded(t *testing.T) {
	const most = 150
	cfg := limited("mid", 8)
	o := few()
	o.Rows = 200
	a := newAgent(t, someNetworks[1], cfg, o, nil)
	g := rules.NewGames(cfg, nil)
	for _, n := range []int{1, 50, most} {
		g.Deal(n, 1, 0)
		asked(a, g, vec.AllRows(nil, n))
		if got := cap(a.playouts.games.Made.Data); got > o.Rows {
			t.Errorf("%d positions: room for %d playouts, expected at most %d", n, got, o.Rows)
		}
		if got := cap(a.candidates.probabilities); got > o.Rows*cfg.Actions() {
			t.Errorf("%d positions: room for %d probabilities, expected at most %d", n, got, o.Rows*cfg.Actions())
		}
	}
	rows, dst := vec.AllRows(nil, most), make([]int32, most)
	if got := testing.AllocsPerRun(2, func() { a.Act(dst, g, rows) }); got != 0 {
		t.Errorf("%v allocations, expected none", got)
	}
	room, other := a.playouts.games, g.New()
	other.Deal(most, 2, 0)
	if a.Act(dst, other, rows); a.playouts.games != room {
		t.Error("other games of the same kind got playouts of their own")
	}
	if got := a.playouts.games.Rows(); got < o.Rows/4 {
		t.Errorf("%d playouts at once, expected nearly %d", got, o.Rows)
	}
}

// TestManyDealsOfOnePosition: those of one position are played together even
// where they are more than Rows.
func TestManyDealsOfOnePosition(t *testing.T) {
	cfg := limited("tiny", 9)
	o := few()
	o.Rows, o.Deals = 5, 40
	a := newAgent(t, someNetworks[0], cfg, o, nil)
	g := rules.NewGames(cfg, nil)
	g.Deal(3, 1, 0)
	asked(a, g, vec.AllRows(nil, 3))
	if got := a.playouts.games.Rows(); got != 3*40 {
		t.Errorf("%d playouts, expected %d", got, 3*40)
	}
}

// TestAnotherBatch: the agent follows whoever asks it to other games.
func TestAnotherBatch(t *testing.T) {
	cfg := limited("mid", 30)
	a := newAgent(t, someNetworks[0], cfg, few(), nil)
	for _, ordered := range []bool{false, true, false} {
		g, rows := positions(t, cfg, nil, ordered, 10)
		want := asked(newAgent(t, someNetworks[0], cfg, few(), nil), g, rows)
		if got := asked(a, g, rows); !slices.Equal(got, want) {
			t.Errorf("ordered %v: actions %v, expected %v", ordered, got, want)
		}
	}
}

func TestCallersMistakes(t *testing.T) {
	a := newAgent(t, someNetworks[0], limited("tiny", 9), few(), nil)
	unlimited := rules.NewGames(rules.MustPreset("tiny"), nil)
	unlimited.Deal(1, 1, 0)
	mustPanic(t, endless, func() { a.Act(make([]int32, 1), unlimited, []int32{0}) })
	mustPanic(t, badLength, func() { a.Act(make([]int32, 2), unlimited, []int32{0}) })
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, expected %q", got, want)
		}
	}()
	f()
}

func TestValidate(t *testing.T) {
	if err := DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
	for name, set := range map[string]func(o *Options){
		"candidates": func(o *Options) { o.Candidates = 0 },
		"deals":      func(o *Options) { o.Deals = 0 },
		"prior":      func(o *Options) { o.Prior = math.NaN() },
		"rows":       func(o *Options) { o.Rows = -1 },
	} {
		o := DefaultOptions()
		set(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
		if a, err := New("", nil, nil, o); err == nil || a != nil {
			t.Errorf("%s: the agent was made", name)
		}
	}
}

func TestShortlist(t *testing.T) {
	for _, k := range []struct {
		all  []candidate
		most int
		want []candidate
	}{
		{[]candidate{{3, .2}, {5, .5}, {4, .3}}, 2, []candidate{{5, .5}, {4, .3}}},
		{[]candidate{{9, .25}, {2, .25}, {4, .5}}, 3, []candidate{{4, .5}, {2, .25}, {9, .25}}},
		{[]candidate{{7, .375}, {8, .375}, {7, .25}}, 3, []candidate{{7, .625}, {8, .375}}},
		{[]candidate{{1, .0004}, {2, .9996}}, 3, []candidate{{2, .9996}}},
		{[]candidate{{1, .0004}, {2, .0005}}, 3, []candidate{{2, .0005}}},
	} {
		if got := shortlist(slices.Clone(k.all), k.most); !slices.Equal(got, k.want) {
			t.Errorf("%v: %v, expected %v", k.all, got, k.want)
		}
	}
	mustPanic(t, noAction, func() { shortlist(nil, 3) })
}
