package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vtrain/cfr/arena"
	"vtrain/cfr/run"
)

// TestBadTournaments: each mistake is one line that names it.
func TestBadTournaments(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for name, k := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"no agents":          {nil, exitUsage, []string{"agents given: 0", "at least two"}},
		"one agent":          {[]string{"rule"}, exitUsage, []string{"agents given: 1", "at least two"}},
		"a bot twice":        {[]string{"rule", "random", "rule"}, exitUsage, []string{"rule and rule are the same player"}},
		"a run twice":        {[]string{"run:" + missing, "random", "run:" + missing + "/@average"}, exitUsage, []string{missing + "/@average", "the same player"}},
		"odd games":          {[]string{"rule", "random", "--games", "7"}, exitUsage, []string{"--games is 7", "even"}},
		"no games":           {[]string{"rule", "random", "--games", "0"}, exitUsage, []string{"--games is 0", "from 4"}},
		"too many games":     {[]string{"rule", "random", "--games", "20000000"}, exitUsage, []string{"--games is 20000000"}},
		"too many workers":   {[]string{"rule", "random", "--workers", "5000"}, exitUsage, []string{"--workers is 5000"}},
		"negative workers":   {[]string{"rule", "random", "--workers=-1"}, exitUsage, []string{"--workers is -1"}},
		"misspelt bot":       {[]string{"rule", "randm"}, exitUsage, []string{"did you mean random?"}},
		"agent of no run":    {[]string{"rule", "run:" + missing}, exitFailure, []string{missing}},
		"rules of no preset": {[]string{"rule", "random", "--rules", "clasic"}, exitUsage, []string{"clasic", "classic6"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, stderr := vtrain(t, append([]string{"tournament"}, k.args...)...)
			if code != k.code || out != "" || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit %d, expected %d; one line on standard error, got %q and output %q", code, k.code, stderr, out)
			}
			mustSay(t, stderr, k.says...)
		})
	}
}

// TestTournamentJSON: one object, whatever the workers, whose first row is what
// eval says of the pair.
func TestTournamentJSON(t *testing.T) {
	args := []string{"tournament", "--games", "40", "--seed", "3", "random", "rule", "heuristic-noisy", "--json"}
	out := mustRun(t, args...)
	if workers := mustRun(t, append(args, "--workers", "3")...); workers != out {
		t.Errorf("with 3 workers it says\n%s\nexpected\n%s", workers, out)
	}
	var keys map[string]any
	var got standings
	for _, v := range []any{&keys, &got} {
		if err := json.Unmarshal([]byte(out), v); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"agents", "games", "seed", "rows", "elo"} {
		if _, ok := keys[key]; !ok || len(keys) != 5 {
			t.Errorf("expected %s among five keys: %s", key, out)
		}
	}
	if !slices.Equal(got.Agents, []string{"random", "rule", "heuristic-noisy"}) || got.Games != 40 || got.Seed != 3 || len(got.Rows) != 3 || len(got.Elo) != 3 {
		t.Errorf("read back it is %+v", got)
	}
	var pair arena.Result
	if err := json.Unmarshal([]byte(mustRun(t, "eval", "-a", "random", "-o", "rule", "--games", "40", "--seed", "3", "--json")), &pair); err != nil || pair != got.Rows[0] {
		t.Errorf("eval says %+v, the tournament %+v (%v)", pair, got.Rows[0], err)
	}
}

// TestTournamentTables: the best agent is first, and stalling shows.
func TestTournamentTables(t *testing.T) {
	out := mustRun(t, "tournament", "random", "heuristic-balanced", "heuristic-cautious", "rule", "--games", "40")
	mustSay(t, out, "4 agents, 40 games of each pair (20 deals, ", "Elo", "won %", "points", "plies", "useless", "capped", "one standard error")
	ratings, matches, _ := strings.Cut(out, "opponent")
	order := []string{"\nrule ", "\nheuristic-", "\nheuristic-", "\nrandom "}
	for _, next := range order {
		_, rest, found := strings.Cut(ratings, next)
		if !found {
			t.Fatalf("no %q in its place:\n%s", next, out)
		}
		ratings = "\n" + rest
	}
	if n := strings.Count(matches, " ± "); n != 2*6 {
		t.Errorf("%d errors of six matches:\n%s", n, matches)
	}
	if strings.Contains(out, "-0 ") || strings.Contains(out, "-0.0 ") || strings.Contains(out, "NaN") {
		t.Errorf("odd numbers:\n%s", out)
	}
}

// TestMeansOfAnAgent: from either side of its matches.
func TestMeansOfAnAgent(t *testing.T) {
	s := standings{Agents: []string{"a", "b", "c"}, Tournament: arena.Tournament{Rows: []arena.Result{
		{Agent: "a", Opponent: "b", Games: 8, WinRate: .5, DrawRate: .25, MeanPoints: 3, PliesPerGame: 90, UselessDraws: 1, OpponentUselessDraws: 5, Capped: 2},
		{Agent: "a", Opponent: "c", Games: 8, WinRate: 1},
		{Agent: "b", Opponent: "c", Games: 8, WinRate: .75, MeanPoints: 5, PliesPerGame: 110, UselessDraws: 7, OpponentUselessDraws: 9, Capped: 1},
	}}}
	want := arena.Result{Agent: "b", Games: 16, WinRate: .5, DrawRate: .125, MeanPoints: 1, PliesPerGame: 100, UselessDraws: 6, Capped: 3}
	if got := s.mean("b"); got != want {
		t.Errorf("got %+v, expected %+v", got, want)
	}
}

// TestTournamentOfARun: trained agents play under their names, by the rules
// that they were trained on.
func TestTournamentOfARun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	trainSmall(t, dir, "--iterations", "1", "--set", "learner.algorithm=deepcfr")
	out := mustRun(t, "tournament", "--games", "8", "run:"+dir, "run:"+dir+"@current", "rule")
	mustSay(t, out, "3 agents", "run:"+dir+" ", "run:"+dir+"@current ")
	code, _, stderr := vtrain(t, "tournament", "--games", "8", "run:"+dir, "rule", "--rules", "mid")
	if code != exitFailure || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, %q", code, stderr)
	}
	mustSay(t, stderr, "on tiny", "on mid")
}

// TestLength: results of training say how long games were, if they know.
func TestLength(t *testing.T) {
	r := arena.Result{Agent: "average", Opponent: "rule", WinRate: .5, MeanPoints: 2}
	for says, r := range map[string]arena.Result{
		"50.0% (+2.0) against rule":                                          r,
		"50.0% (+2.0, 140 plies) against rule":                               {Agent: r.Agent, Opponent: r.Opponent, WinRate: .5, MeanPoints: 2, PliesPerGame: 140.2},
		"50.0% (+2.0, 390 plies, 7 capped) against rule":                     {Agent: r.Agent, Opponent: r.Opponent, WinRate: .5, MeanPoints: 2, PliesPerGame: 390, Capped: 7},
		"50.0% (+2.0, 390 plies, 68.4 useless draws, 7 capped) against rule": {Agent: r.Agent, Opponent: r.Opponent, WinRate: .5, MeanPoints: 2, PliesPerGame: 390, UselessDraws: 68.37, Capped: 7},
	} {
		if got := table([]arena.Result{r}); len(got) != 1 || got[0].text != says {
			t.Errorf("got %v, expected %q", got, says)
		}
	}
}

// TestSamePlayer: what spellings may differ in, and what they may not.
func TestSamePlayer(t *testing.T) {
	for _, k := range []struct {
		a, b string
		same bool
	}{
		{"run:x", "run:x/@average", true}, {"run:x", "run:./x", true}, {"run:x@greedy", "run:x@average@greedy", true},
		{"run:x", "run:x@current", false}, {"run:x", "run:x@greedy", false}, {"run:x", "run:y", false},
		{"champion", "champion@average", true}, {"champion", "run:champion", false}, {"rule", "random", false},
	} {
		var names []run.AgentName
		for _, text := range []string{k.a, k.b} {
			n, err := run.ParseAgent(text)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, n)
		}
		if err := differ(names); (err != nil) != k.same {
			t.Errorf("%s and %s: %v", k.a, k.b, err)
		}
	}
}

func TestSigned(t *testing.T) {
	for want, x := range map[string]float64{"+0.0": -.04, "-0.1": -.06, "+12.3": 12.34} {
		if got := signed(x, 1); got != want {
			t.Errorf("%v is written %s, expected %s", x, got, want)
		}
	}
}
