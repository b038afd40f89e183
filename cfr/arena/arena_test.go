package arena

import (
	"math"
	"testing"

	"vtrain/rules"
	"vtrain/rules/bots"
	"vtrain/vec"
)

func matchConfig() rules.Config {
	cfg := rules.MustPreset("classic")
	cfg.MaxTurns = 400
	return cfg
}

func bot(t *testing.T, name string) *bots.Bot {
	t.Helper()
	b, err := bots.New(name, matchConfig(), 11)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPublishedMatches plays the pairs whose results are known from an
// independent implementation: 1000 duplicate games each, within three standard
// errors of the difference.
func TestPublishedMatches(t *testing.T) {
	const h = "heuristic-"
	for _, k := range []struct {
		agent, opponent string
		win, points     float64
	}{
		{"rule", h + "balanced", .911, 32.6},
		{"rule", h + "cautious", .919, 33.3},
		{"rule", h + "aggressive", .907, 34.5},
		{h + "balanced", "random", 1, 104},
		{h + "balanced", h + "cautious", .506, 2.0},
		{h + "balanced", h + "aggressive", .566, 2.7},
	} {
		r := mustPlay(t, bot(t, k.agent), bot(t, k.opponent), Options{Games: 1000, Seed: 7})
		t.Logf("%s - %s: %.1f%% (%.1f) %+.1f (%.1f), %.0f plies, %d capped", r.Agent, r.Opponent, 100*r.WinRate, 100*r.SEWin, r.MeanPoints, r.SEPoints, r.PliesPerGame, r.Capped)
		// The published figure has an error of its own, of the same size.
		if d := math.Abs(r.MeanPoints - k.points); d > 3*math.Sqrt2*r.SEPoints {
			t.Errorf("%s against %s makes %+.1f points, expected %+.1f", k.agent, k.opponent, r.MeanPoints, k.points)
		}
		if d := math.Abs(r.WinRate - k.win); d > 3*math.Sqrt2*r.SEWin+.001 {
			t.Errorf("%s against %s wins %.1f%%, expected %.1f%%", k.agent, k.opponent, 100*r.WinRate, 100*k.win)
		}
	}
}

// TestMirrorMatch: a deterministic bot against itself plays the same game from
// both seats of a deal, so that everything cancels exactly.
func TestMirrorMatch(t *testing.T) {
	r := mustPlay(t, bot(t, "rule"), bot(t, "rule"), Options{Games: 200, Seed: 3})
	if r.MeanPoints != 0 || r.SEPoints != 0 || r.WinRate != (1-r.DrawRate)/2 {
		t.Errorf("rule against itself: %+v", r)
	}
}

func mustPlay(t *testing.T, agent, opponent Agent, o Options) Result {
	t.Helper()
	r, err := Play(matchConfig(), agent, opponent, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSameResultForAnyBatch: neither the games at once nor the workers matter.
func TestSameResultForAnyBatch(t *testing.T) {
	pool := vec.NewPool(3)
	defer pool.Close()
	want := mustPlay(t, bot(t, "heuristic-noisy"), bot(t, "random"), Options{Games: 60, Seed: 5})
	for _, o := range []Options{{Batch: 2}, {Batch: 7}, {Batch: 60}, {Pool: pool}} {
		o.Games, o.Seed = 60, 5
		if got := mustPlay(t, bot(t, "heuristic-noisy"), bot(t, "random"), o); got != want {
			t.Errorf("batch %d: %+v, expected %+v", o.Batch, got, want)
		}
	}
}

func TestOddGamesAreRefused(t *testing.T) {
	for _, games := range []int{-2, 0, 2, 5} {
		if _, err := Play(matchConfig(), bot(t, "rule"), bot(t, "random"), Options{Games: games}); err == nil {
			t.Errorf("%d games were played", games)
		}
	}
}

func TestEndlessGamesAreRefused(t *testing.T) {
	cfg := matchConfig()
	cfg.MaxTurns = 0
	if _, err := Play(cfg, bot(t, "rule"), bot(t, "random"), Options{Games: 4}); err == nil {
		t.Error("a match without a turn limit was played")
	}
}

// recorder is an agent that writes down what it does.
type recorder struct {
	Agent
	actions map[uint64][]rules.Action // by game key, shared by both sides
}

func (r recorder) Act(dst []int32, g *rules.Games, rows []int32) {
	r.Agent.Act(dst, g, rows)
	for i, b := range rows {
		key := g.Keys.Data[b]
		r.actions[key] = append(r.actions[key], rules.Action(dst[i]))
	}
}

// TestResultAgainstScalarReplay counts a match again from its actions, game by
// game in the scalar form.
func TestResultAgainstScalarReplay(t *testing.T) {
	cfg := matchConfig()
	cfg.MaxTurns = 90 // cuts some of the games
	const games, seed = 40, 8
	log := map[uint64][]rules.Action{}
	got, err := Play(cfg, recorder{bot(t, "heuristic-noisy"), log}, recorder{bot(t, "random"), log}, Options{Games: games, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	decks := (&match{cfg: cfg, o: Options{Seed: seed}}).decks(0, games)
	want := Result{Agent: got.Agent, Opponent: got.Opponent, Games: games, SEPoints: got.SEPoints, SEWin: got.SEWin}
	for id := range uint64(games) {
		g, err := rules.NewGameFrom(cfg, decks[id], seed, id)
		if err != nil {
			t.Fatal(err)
		}
		seat := int(id % 2)
		drawn := rules.Action(-1) // the discard that would make the agent's last draw useless
		for _, a := range log[g.Key()] {
			if g.Player() == seat {
				if a == drawn {
					want.UselessDraws += 1.0 / games
				}
				drawn = -1
				if verb, _, color := cfg.Split(a); verb == rules.DrawPile {
					pile := g.Pile(color)
					drawn = cfg.Discard(pile[len(pile)-1])
				}
			}
			if err := g.Step(a); err != nil {
				t.Fatal(err)
			}
		}
		if !g.Done() {
			t.Fatalf("game %d has not ended after its actions", id)
		}
		points := g.Score(seat) - g.Score(1-seat)
		want.MeanPoints += float64(points) / games
		want.PliesPerGame += float64(g.Plies()) / games
		if points > 0 {
			want.WinRate += 1.0 / games
		}
		if points == 0 {
			want.DrawRate += 1.0 / games
		}
		if g.Capped() {
			want.Capped++
		}
		for c := range cfg.Colors {
			if len(g.Expedition(seat, c)) > 0 {
				want.Expeditions += 1.0 / games
			}
		}
	}
	if want.Capped == 0 || want.UselessDraws == 0 || want.WinRate == 0 {
		t.Fatalf("the match shows too little: %+v", want)
	}
	for _, k := range []struct {
		what      string
		got, want float64
	}{
		{"win rate", got.WinRate, want.WinRate}, {"draw rate", got.DrawRate, want.DrawRate}, {"points", got.MeanPoints, want.MeanPoints},
		{"plies", got.PliesPerGame, want.PliesPerGame}, {"capped", float64(got.Capped), float64(want.Capped)},
		{"useless draws", got.UselessDraws, want.UselessDraws}, {"expeditions", got.Expeditions, want.Expeditions},
	} {
		if math.Abs(k.got-k.want) > 1e-9 {
			t.Errorf("%s is %v, the scalar replay says %v", k.what, k.got, k.want)
		}
	}
}
