package bench

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
)

// TestRunCurves: a run's curve has the columns of one policy and figure, over
// what was asked for.
func TestRunCurves(t *testing.T) {
	rows := []map[string]float64{evaluated(0, .1), {"states": 5e5}, evaluated(1e6, .6)}
	rows[2]["elapsed_seconds"] = 90
	rows[2]["eval_current_rule_win"] = .9
	r := RunLog{"a", rows}
	for _, k := range []struct {
		o    RunsOptions
		x, y []float64
		err  float64
	}{
		{RunsOptions{Policy: "average"}, []float64{0, 1}, []float64{10, 60}, 1},
		{RunsOptions{Policy: "average", Points: true, Time: true}, []float64{0, 1.5}, []float64{-40, 10}, 1},
	} {
		all := r.curves(k.o)
		c := all["heuristic-balanced"]
		if len(all) != 1 || !slices.Equal(c.X, k.x) || !slices.Equal(c.Y, k.y) || c.Error[1] != k.err || c.Label != "a" {
			t.Errorf("%+v: %+v, expected x %v, y %v", k.o, all, k.x, k.y)
		}
	}
	if c := r.curves(RunsOptions{Policy: "current"})["rule"]; len(c.X) != 1 {
		t.Errorf("the current policy has %+v", c)
	}
}

func TestDrawRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.svg")
	runs := []RunLog{{"a", []map[string]float64{evaluated(0, .1), evaluated(1e6, .6)}}, {"b", []map[string]float64{evaluated(0, .2), evaluated(2e6, .7)}}}
	if err := DrawRuns(path, runs, RunsOptions{Policy: "average"}); err != nil {
		t.Fatal(err)
	}
	if err := DrawRuns(path, runs, RunsOptions{Policy: "current"}); !errors.Is(err, ErrNoCurve) {
		t.Errorf("no evaluation: %v, expected ErrNoCurve", err)
	}
}
