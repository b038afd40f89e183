package encode_test

import (
	"fmt"
	"math"
	"testing"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// odd are configurations at the edges of what the rules allow.
var odd = map[string]rules.Config{
	"widest":    {Colors: 8, Ranks: 16, MinRank: 0, Hand: 64, Penalty: -3, BonusAt: 2, Bonus: 7},
	"manywager": {Colors: 3, Ranks: 1, MinRank: 5, Wagers: 15, Hand: 5, Penalty: -20, BonusAt: 8, Bonus: 20},
	"onecolor":  {Colors: 1, Ranks: 9, MinRank: 2, Wagers: 3, Hand: 3, Penalty: 0, BonusAt: 8, Bonus: 20, MaxTurns: 9},
	"free":      {Colors: 4, Ranks: 3, MinRank: 0, Wagers: 2, Hand: 4, Penalty: 0, BonusAt: 1, Bonus: 0},
}

// eachConfig runs a test for every preset and every odd configuration.
func eachConfig(t *testing.T, test func(t *testing.T, cfg rules.Config)) {
	for _, name := range rules.Presets() {
		t.Run(name, func(t *testing.T) { test(t, rules.MustPreset(name)) })
	}
	for name, cfg := range odd {
		t.Run(name, func(t *testing.T) { test(t, cfg) })
	}
}

// fewer returns how many cases to try, short with -short.
func fewer(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}

func layouts(cfg rules.Config) []encode.Layout {
	var all []encode.Layout
	for _, name := range encode.Names() {
		l, err := encode.New(name, cfg)
		if err != nil {
			panic(err)
		}
		all = append(all, l)
	}
	return all
}

// pair is the same games twice: as columns and one by one.
type pair struct {
	cfg   rules.Config
	games *rules.Games
	one   []*rules.Game
	rows  []int32
	eager bool // half the moves are the lowest action: wagers are played
}

func deal(cfg rules.Config, pool *vec.Pool, n int, seed uint64) *pair {
	p := &pair{cfg: cfg, games: rules.NewGames(cfg, pool), rows: vec.AllRows(nil, n)}
	p.games.Deal(n, seed, 0)
	for i := range n {
		p.one = append(p.one, rules.NewGame(cfg, seed, uint64(i)))
	}
	return p
}

// step makes a random legal move in every game.
func (p *pair) step() {
	actions := make([]int32, len(p.one))
	for i, g := range p.one {
		legal := g.Legal()
		if len(legal) == 0 {
			continue
		}
		stream := vec.At(g.Key()+1, uint32(g.Plies()))
		a := legal[stream.Intn(len(legal))]
		if p.eager && stream.Intn(2) == 0 {
			a = legal[0]
		}
		actions[i] = int32(a)
		if err := g.Step(a); err != nil {
			panic(err)
		}
	}
	p.games.Step(p.rows, actions)
}

func (p *pair) stepTo(ply int) {
	for p.one[0].Plies() < ply && !p.done() {
		p.step()
	}
}

func (p *pair) done() bool {
	for _, g := range p.one {
		if !g.Done() {
			return false
		}
	}
	return true
}

// A view is one way to observe, in both forms.
type view struct {
	name  string
	width int
	rows  func(dst []float32, g *rules.Games, rows []int32)
	one   func(dst []float32, g *rules.Game)
}

// views are all ways to observe through a layout.
func views(l encode.Layout) []view {
	c := encode.NewCritic(l)
	all := []view{
		{l.Name(), l.Width(), l.Observe, func(dst []float32, g *rules.Game) { l.ObserveGame(dst, g, g.Player()) }},
		{c.Name(), c.Width(), c.ObserveOpen, func(dst []float32, g *rules.Game) { c.ObserveOpenGame(dst, g, g.Player()) }},
	}
	for player := range 2 {
		all = append(all,
			view{fmt.Sprintf("%s as %d", l.Name(), player), l.Width(),
				func(dst []float32, g *rules.Games, rows []int32) { l.ObserveAs(dst, g, player, rows) },
				func(dst []float32, g *rules.Game) { l.ObserveGame(dst, g, player) }},
			view{fmt.Sprintf("%s as %d", c.Name(), player), c.Width(),
				func(dst []float32, g *rules.Games, rows []int32) { c.ObserveOpenAs(dst, g, player, rows) },
				func(dst []float32, g *rules.Game) { c.ObserveOpenGame(dst, g, player) }})
	}
	return all
}

// poisoned returns a slice of NaNs: what a kernel leaves unwritten shows.
func poisoned(n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(math.NaN())
	}
	return s
}

// firstDifference returns the first index where two slices differ in a bit, or
// -1.
func firstDifference(a, b []float32) int {
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return i
		}
	}
	return -1
}

func expectPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	f()
}
