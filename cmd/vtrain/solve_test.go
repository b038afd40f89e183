package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vtrain/cfr/tabular"
)

// solved is what solve --json prints.
type solved struct {
	Rules, Algo string
	Turns       int
	Curve       []struct {
		Iteration         int
		Nodes             int64
		NashConv, Seconds float64
	}
}

func mustSolve(t *testing.T, args ...string) solved {
	t.Helper()
	out := mustRun(t, append([]string{"solve", "--json"}, args...)...)
	var s solved
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil || len(s.Curve) == 0 || strings.Count(out, "\n") != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

// TestSolve: each algorithm on the games that it is known by.
func TestSolve(t *testing.T) {
	for _, c := range []struct {
		rules, algo string
		iterations  string
		nashconv    float64
	}{
		{"kuhn", "cfr", "1000", .00188},
		{"kuhn", "lcfr", "100", .00218},
		{"kuhn", "cfr+", "100", .00239},
		{"kuhn", "dcfr", "1000", .0003},
		{"kuhn", "external", "10000", .01},
		{"kuhn", "outcome", "100000", .03},
		{"leduc", "cfr", "1000", .0236},
	} {
		s := mustSolve(t, "--rules", c.rules, "--algo", c.algo, "--iterations", c.iterations)
		first, last := s.Curve[0], s.Curve[len(s.Curve)-1]
		if s.Rules != c.rules || s.Algo != c.algo || s.Turns != 0 || first.Iteration != 1 {
			t.Errorf("%+v: solved %+v", c, s)
		}
		if last.NashConv > 1.01*c.nashconv || last.Nodes <= first.Nodes || last.Seconds <= 0 {
			t.Errorf("%+v: ends with %+v", c, last)
		}
	}
}

// TestSolveLostCities: presets, cut sooner than by default, and files.
func TestSolveLostCities(t *testing.T) {
	s := mustSolve(t, "--rules", "tiny", "--turns", "2", "--algo", "dcfr", "--iterations", "100")
	if last := s.Curve[len(s.Curve)-1]; s.Turns != 2 || last.NashConv > .1 {
		t.Errorf("two turns of tiny: %+v", last)
	}
	file := write(t, "small.yaml", "rules: {colors: 2, ranks: 2, min_rank: 2, wagers: 0, hand: 1, penalty: -2, bonus_at: 2, bonus: 1, max_turns: 4}")
	if s := mustSolve(t, "--rules", file, "-n", "10"); s.Turns != 4 || s.Rules != file || s.Algo != "cfr+" {
		t.Errorf("a file: %+v", s)
	}
	if s := mustSolve(t, "--rules", file, "-n", "10", "--turns", "3"); s.Turns != 3 {
		t.Errorf("a file with --turns: %+v", s)
	}
}

// TestSolveForPeople: the table, the value of the game and the figure.
func TestSolveForPeople(t *testing.T) {
	plot := filepath.Join(t.TempDir(), "curve.svg")
	code, out, stderr := vtrain(t, "solve", "--rules", "kuhn", "--algo", "cfr", "-n", "100", "--plot", plot)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	mustSay(t, out, "kuhn by cfr: 54 nodes, 12 information sets", "NashConv", "0.137398", "0.016452", "value of the game for player 0: -0.06")
	mustSay(t, stderr, "nodes=54")
	text, err := os.ReadFile(plot)
	if err != nil {
		t.Fatal(err)
	}
	mustSay(t, string(text), "<svg", "iterations", "nodes touched", "NashConv")
}

// TestSolveRefuses: each mistake is one line that names it.
func TestSolveRefuses(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for name, k := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"no game":             {nil, exitUsage, []string{"--rules"}},
		"unknown game":        {[]string{"--rules", "tinny"}, exitUsage, []string{"tinny", "kuhn, leduc", "tiny"}},
		"unknown algorithm":   {[]string{"--rules", "kuhn", "--algo", "crf"}, exitUsage, []string{"crf", "cfr, cfr+, lcfr, dcfr, external, outcome"}},
		"no iterations":       {[]string{"--rules", "kuhn", "-n", "0"}, exitUsage, []string{"--iterations is 0"}},
		"no turns":            {[]string{"--rules", "tiny", "--turns", "0"}, exitUsage, []string{"--turns is 0"}},
		"turns of poker":      {[]string{"--rules", "leduc", "--turns", "2"}, exitUsage, []string{"--turns", "leduc"}},
		"no nodes":            {[]string{"--rules", "kuhn", "--limit", "0"}, exitUsage, []string{"--limit is 0"}},
		"too large":           {[]string{"--rules", "mid", "--limit", "3000000"}, exitFailure, []string{"mid cut after 10 turns", "3063060 nodes", "3000000", "--turns"}},
		"far too large":       {[]string{"--rules", "classic"}, exitFailure, []string{"classic cut after 44 turns", "e+17 nodes"}},
		"too large by a flag": {[]string{"--rules", "leduc", "--limit", "1889"}, exitFailure, []string{"leduc is too large", "1890 nodes", "1889"}},
		"plot of no format":   {[]string{"--rules", "kuhn", "--plot", "curve.pdf"}, exitUsage, []string{"curve.pdf", ".svg"}},
		"plot of a point":     {[]string{"--rules", "kuhn", "-n", "1", "--plot", "curve.svg"}, exitUsage, []string{"--plot", "two"}},
		"plot in no folder":   {[]string{"--rules", "kuhn", "--plot", filepath.Join(missing, "curve.svg")}, exitFailure, []string{missing}},
		"unknown key":         {[]string{"--rules", write(t, "c.yaml", "rules: {colours: 3}")}, exitFailure, []string{"c.yaml", "colours", "rules.colors"}},
		"impossible file":     {[]string{"--rules", write(t, "c.yaml", "rules: {hand: 40}")}, exitFailure, []string{"c.yaml", "80 cards"}},
		"no limit":            {[]string{"--rules", write(t, "c.yaml", "rules: {preset: tiny, max_turns: 0}")}, exitFailure, []string{"c.yaml", "max_turns is 0", "--turns"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, stderr := vtrain(t, append([]string{"solve"}, k.args...)...)
			if code != k.code || out != "" || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit %d, expected %d; output %q; it says %q", code, k.code, out, stderr)
			}
			mustSay(t, stderr, k.says...)
		})
	}
}

// TestPlotOfNothing: a logarithmic axis has no place for 0.
func TestPlotOfNothing(t *testing.T) {
	f := solution{Algo: "cfr", Curve: []tabular.Point{{Iteration: 1, NashConv: 0.5}, {Iteration: 2}, {Iteration: 3}}}
	path := filepath.Join(t.TempDir(), "curve.svg")
	if err := f.draw(path); err == nil || isFile(path) {
		t.Errorf("one point was drawn: %v", err)
	}
}

// TestSolveByNetworks: what the learner makes of Kuhn poker, by each average policy.
func TestSolveByNetworks(t *testing.T) {
	small := []string{"-s", "learner.games=400", "-s", "nets.hidden=32,32", "-s", "learner.regret_steps=100", "-s", "learner.strategy_steps=100"}
	for _, algo := range []string{"deepcfr", "sdcfr", "critic"} {
		s := mustSolve(t, append([]string{"--rules", "kuhn", "--algo", algo, "--iterations", "30"}, small...)...)
		last := s.Curve[len(s.Curve)-1]
		if last.NashConv > .25 || last.Nodes < 30*400 {
			t.Errorf("%s ends with %+v, expected a NashConv below .25 where uniform play has .917", algo, last)
		}
	}
	for text, args := range map[string][]string{
		"--set is for algorithms with networks": {"--algo", "cfr", "-s", "learner.games=3"},
		"expected a key of learner":             {"--algo", "deepcfr", "-s", "rules.hand=3"},
		"learner.games is 0":                    {"--algo", "deepcfr", "-s", "learner.games=0"},
	} {
		code, _, stderr := vtrain(t, append([]string{"solve", "--rules", "kuhn"}, args...)...)
		if code != 2 || !strings.Contains(stderr, text) {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
}
