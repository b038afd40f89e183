package bots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"vtrain/rules"
	"vtrain/vec"
)

func must(b *Bot, err error) *Bot {
	if err != nil {
		panic(err)
	}
	return b
}

// capped returns a preset with a turn limit, since bots may loop for ever.
func capped(preset string) rules.Config {
	cfg := rules.MustPreset(preset)
	cfg.MaxTurns = 100
	return cfg
}

func TestNew(t *testing.T) {
	cfg := rules.MustPreset("classic")
	for _, name := range Names() {
		if b, err := New(name, cfg, 1); err != nil || b.Name() != name {
			t.Errorf("New(%q) = %v, %v", name, b, err)
		}
	}
	if _, err := New("heuristic-bold", cfg, 1); err == nil || !strings.Contains(err.Error(), "heuristic-balanced") {
		t.Errorf("unknown bot: error %v, expected one that lists the names", err)
	}
	cfg.Hand = 0
	if _, err := New("rule", cfg, 1); err == nil {
		t.Error("a configuration without a hand: no error")
	}
}

func TestOtherConfiguration(t *testing.T) {
	b := must(New("rule", rules.MustPreset("classic"), 1))
	b.ActGame(rules.NewGame(capped("classic"), 1, 1)) // the limit may differ
	defer func() {
		if recover() == nil {
			t.Error("a classic bot played classic6")
		}
	}()
	b.ActGame(rules.NewGame(rules.MustPreset("classic6"), 1, 1))
}

// A table plays the same games as a batch and one by one.
type table struct {
	cfg   rules.Config
	batch *rules.Games
	games []*rules.Game
	live  []int32
}

const testSeed = 7

func newTable(cfg rules.Config, n int) *table {
	s := &table{cfg: cfg, batch: rules.NewGames(cfg, nil)}
	s.batch.Deal(n, testSeed, 0)
	for k := range n {
		s.games = append(s.games, rules.NewGame(cfg, testSeed, uint64(k)))
	}
	s.live = vec.AllRows(nil, n)
	return s
}

// step lets a bot move in all live games.
func (s *table) step(tb testing.TB, actions []int32) {
	tb.Helper()
	for i, b := range s.live {
		if err := s.games[b].Step(rules.Action(actions[i])); err != nil {
			tb.Fatal(err)
		}
	}
	s.batch.Step(s.live, actions)
	s.live = vec.Keep(s.live, s.live, s.batch.Finish.Data, 0)
}

// TestBatchEqualsGame plays each bot against a random one, and against itself,
// in every preset. At each ply the batch, on any number of workers and on any
// selection of rows, does what the scalar game does, and that is legal.
func TestBatchEqualsGame(t *testing.T) {
	pool := vec.NewPool(3)
	defer pool.Close()
	for _, preset := range rules.Presets() {
		for _, name := range Names() {
			t.Run(preset+"/"+name, func(t *testing.T) {
				cfg := capped(preset)
				b := must(New(name, cfg, 3))
				games := 300
				if testing.Short() {
					games = 50
				}
				playBoth(t, newTable(cfg, games), b, must(New("random", cfg, 5)), pool)
				playBoth(t, newTable(cfg, 20), b, b, nil)
			})
		}
	}
}

func playBoth(t *testing.T, s *table, first, second *Bot, pool *vec.Pool) {
	for ply := 0; len(s.live) > 0; ply++ {
		b := first
		if ply/2%2 == 1 {
			b = second
		}
		actions := make([]int32, len(s.live))
		b.Act(actions, s.batch, s.live)
		checkScalar(t, s, b, actions)
		checkSelection(t, s, b.On(pool), actions)
		s.step(t, actions)
	}
}

func checkScalar(t *testing.T, s *table, b *Bot, actions []int32) {
	t.Helper()
	for i, row := range s.live {
		g := s.games[row]
		if a := b.ActGame(g); a != rules.Action(actions[i]) {
			t.Fatalf("game %d ply %d: scalar %s, batch %s", row, g.Plies(), s.cfg.ActionName(a), s.cfg.ActionName(rules.Action(actions[i])))
		}
		if !slices.Contains(g.Legal(), rules.Action(actions[i])) {
			t.Fatalf("game %d ply %d: illegal action %d", row, g.Plies(), actions[i])
		}
		if b.kind == heuristicKind {
			checkHighest(t, s, b, row, rules.Action(actions[i]))
		}
	}
}

// checkHighest holds a heuristic's choice to the values of its candidates: the
// last of the highest, but the deck before all piles.
func checkHighest(t *testing.T, s *table, b *Bot, row int32, a rules.Action) {
	t.Helper()
	var seen, seenScalar view
	seen.fromRow(s.batch, row)
	seenScalar.fromGame(s.games[row], b.t)
	values, scalar := b.h.values(&seen), b.h.values(&seenScalar)
	if !slices.Equal(values, scalar) {
		t.Fatalf("game %d: values %v in the batch, %v in the scalar game", row, values, scalar)
	}
	highest := slices.Max(values)
	best := rules.Action(-1)
	for i, v := range values {
		if v >= highest-tie && best != s.cfg.DrawDeck() {
			best = rules.Action(i)
		}
	}
	if a != best {
		t.Fatalf("game %d: chose %s at %g, expected %s at %g", row, s.cfg.ActionName(a), values[a], s.cfg.ActionName(best), highest)
	}
}

// checkSelection lets the bot act on every other row, on the bot's pool.
func checkSelection(t *testing.T, s *table, b *Bot, actions []int32) {
	t.Helper()
	var rows, expected []int32
	for i := 0; i < len(s.live); i += 2 {
		rows, expected = append(rows, s.live[i]), append(expected, actions[i])
	}
	got := make([]int32, len(rows))
	b.Act(got, s.batch, rows)
	if !slices.Equal(got, expected) {
		t.Fatalf("every other row: %v, expected %v", got, expected)
	}
}

func TestWorkers(t *testing.T) {
	s := newTable(capped("classic"), 3000)
	for _, name := range Names() {
		b := must(New(name, s.cfg, 3))
		alone := make([]int32, len(s.live))
		b.Act(alone, s.batch, s.live)
		for _, workers := range []int{2, 5} {
			pool := vec.NewPool(workers)
			together := make([]int32, len(s.live))
			b.On(pool).Act(together, s.batch, s.live)
			pool.Close()
			if !slices.Equal(alone, together) {
				t.Errorf("%s: other actions on %d workers", name, workers)
			}
		}
	}
}

// TestNoise compares heuristic-noisy with heuristic-balanced: it differs where
// it plays at random and does not happen to choose the same.
func TestNoise(t *testing.T) {
	cfg := capped("classic")
	s := newTable(cfg, 2000)
	calm, noisy := must(New("heuristic-balanced", cfg, 1)), must(New("heuristic-noisy", cfg, 1))
	differ, expected, variance := 0.0, 0.0, 0.0
	for ply := 0; ply < 20; ply++ {
		a, b := make([]int32, len(s.live)), make([]int32, len(s.live))
		calm.Act(a, s.batch, s.live)
		noisy.Act(b, s.batch, s.live)
		for i, row := range s.live {
			p := noise * (1 - 1/float64(len(s.games[row].Legal())))
			expected += p
			variance += p * (1 - p)
			if a[i] != b[i] {
				differ++
			}
		}
		s.step(t, a)
	}
	if math.Abs(differ-expected) > 4*math.Sqrt(variance) {
		t.Errorf("heuristic-noisy differs %g times, expected %.0f ± %.0f", differ, expected, math.Sqrt(variance))
	}
}

// TestRandomUniform deals the same cards to many games: their keys alone tell
// the actions apart.
func TestRandomUniform(t *testing.T) {
	const n = 20000
	cfg := rules.MustPreset("classic")
	g := rules.NewOrderedGames(cfg, nil)
	g.DealFrom(slices.Repeat([][]rules.Card{cfg.Pack()}, n), testSeed, 0)
	legal := make([]uint64, g.MaskWords)
	g.Legal(legal, []int32{0})
	actions := make([]int32, n)
	must(New("random", cfg, 1)).Act(actions, g, vec.AllRows(nil, n))
	counts := map[int32]float64{}
	for _, a := range actions {
		counts[a]++
	}
	k := vec.MaskCount(legal)
	expected, chi2 := float64(n)/float64(k), 0.0
	for _, c := range counts {
		chi2 += (c - expected) * (c - expected) / expected
	}
	if len(counts) != k {
		t.Errorf("%d actions seen, %d are legal", len(counts), k)
	}
	if df := float64(k - 1); chi2 > df+5*math.Sqrt(2*df) {
		t.Errorf("χ² = %.1f with %g degrees of freedom", chi2, df)
	}
}

func TestVerifyRejects(t *testing.T) {
	cfg := rules.MustPreset("classic")
	g := rules.NewGame(cfg, testSeed, 1)
	hand := g.Hand(0)
	absent := rules.Card(0)
	for slices.Contains(hand, absent) {
		absent++
	}
	worse := func(b *Bot) rules.Action {
		for _, a := range g.Legal() {
			if a != b.ActGame(g) {
				return a
			}
		}
		panic("one action only")
	}
	for _, name := range Names() {
		b := must(New(name, cfg, 1))
		good := Record{Action: b.ActGame(g), Arrival: hand}
		good.Balanced = must(New("heuristic-balanced", cfg, 1)).ActGame(g)
		if err := b.VerifyGame(g, good); err != nil {
			t.Error(err)
		}
		bad := good
		bad.Action = cfg.Discard(absent)
		if b.VerifyGame(g, bad) == nil {
			t.Errorf("%s: accepts an illegal action", name)
		}
		bad = good
		switch b.kind {
		case randomKind:
			continue
		case noisyKind:
			bad.Balanced = worse(must(New("heuristic-balanced", cfg, 1)))
		default:
			bad.Action = worse(b)
		}
		if b.VerifyGame(g, bad) == nil {
			t.Errorf("%s: accepts another action", name)
		}
	}
	b := must(New("discard-only", cfg, 1))
	for _, arrival := range [][]rules.Card{nil, hand[1:], slices.Repeat([]rules.Card{absent}, len(hand)), {255}} {
		if b.VerifyGame(g, Record{Action: b.ActGame(g), Arrival: arrival}) == nil {
			t.Errorf("discard-only: accepts %v as the hand in order of arrival", arrival)
		}
	}
}

func TestActAllocates(t *testing.T) {
	cfg := rules.MustPreset("classic")
	g := rules.NewGames(cfg, nil)
	g.Deal(100, testSeed, 0)
	rows, actions := vec.AllRows(nil, 100), make([]int32, 100)
	for _, name := range Names() {
		b := must(New(name, cfg, 1))
		if n := testing.AllocsPerRun(20, func() { b.Act(actions, g, rows) }); n != 0 {
			t.Errorf("%s: %g allocations in Act", name, n)
		}
	}
}

// positions returns games in all stages, with as many card as draw plies.
func positions(tb testing.TB, n int) (*rules.Games, []*rules.Game) {
	cfg := rules.MustPreset("classic")
	s := newTable(cfg, n)
	half := must(New("heuristic-noisy", cfg, 1))
	stop := func(b int32) bool { return s.batch.Made.Data[b] >= uint32(b)%80 }
	for {
		s.live = slices.DeleteFunc(s.live, stop)
		if len(s.live) == 0 {
			return s.batch, s.games
		}
		actions := make([]int32, len(s.live))
		half.Act(actions, s.batch, s.live)
		s.step(tb, actions)
	}
}

func BenchmarkAct(b *testing.B) {
	const n = 4096
	batch, games := positions(b, n)
	rows := slices.DeleteFunc(vec.AllRows(nil, n), batch.Done)
	actions := make([]int32, len(rows))
	for _, name := range Names() {
		bot := must(New(name, batch.Config, 1))
		b.Run(fmt.Sprintf("%s/batch", name), func(b *testing.B) {
			for b.Loop() {
				bot.Act(actions, batch, rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/act")
		})
		b.Run(fmt.Sprintf("%s/game", name), func(b *testing.B) {
			for b.Loop() {
				for _, r := range rows {
					bot.ActGame(games[r])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/act")
		})
	}
}
