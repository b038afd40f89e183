package arena

import (
	"math"
	"testing"

	"vtrain/rules"
	"vtrain/rules/bots"
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
		r, err := Play(matchConfig(), bot(t, k.agent), bot(t, k.opponent), Options{Games: 1000, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
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
