package bench

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/rules"
)

// short is traversals that take moments.
func short() TraverseGrid {
	cfg := rules.MustPreset("tiny")
	cfg.MaxTurns = 12
	return TraverseGrid{
		Rules: cfg, Layout: "cards", Hidden: []int{4}, Estimators: []string{cfr.Critic, cfr.Outcome, cfr.External, cfr.Robust},
		Opponent: cfr.CurrentOpponent, Cores: []int{1}, Batches: []int{8, 3},
	}
}

func TestTraverse(t *testing.T) {
	g := short()
	r, err := Traverse(g, briefly)
	if err != nil {
		t.Fatal(err)
	}
	rows := keys(t, r, "estimator", "layout", "layers", "batch", "cores", "states", "us_per_state", "forward_us_per_state", "ratio", "mean_rows", "max_rows",
		"traversals_per_s", "nodes_per_s_core", "shares", "noisy")
	if len(rows) != 8 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range r.Rows {
		if row.Estimator != g.Estimators[i/2] || row.Batch != g.Batches[i%2] || row.Repetitions != 3 || row.Clock != Wall || row.Layers != "104-4-19" {
			t.Errorf("row %d is %+v", i, row)
		}
		s := row.Shares
		if sum := s.Legal + s.Encode + s.Forward + s.Match + s.Step + s.Record + s.Backup; !(sum > 0.5 && sum < 1.001) {
			t.Errorf("row %d: stages take %v of the time", i, sum)
		}
		if q := row.RatioQuartiles; !(1 <= q[0] && q[0] <= row.Ratio && row.Ratio <= q[1]) || row.ForwardMicros >= row.MicrosPerState {
			t.Errorf("row %d: the networks take %v of %v µs, ratio %v in %v", i, row.ForwardMicros, row.MicrosPerState, row.Ratio, q)
		}
		if !near(row.NodesPerSecondCore, 1e6/row.MicrosPerState) || row.TraversalsPerSecond >= row.NodesPerSecondCore {
			t.Errorf("row %d has contradictory rates: %+v", i, row)
		}
		if row.Tight != 0 || row.MaxRows < row.Batch || row.MeanRows > float64(row.MaxRows) || r.levels[i][0] != float64(row.Batch) {
			t.Errorf("row %d: %v held back, %v rows, %v at most, levels %v", i, row.Tight, row.MeanRows, row.MaxRows, r.levels[i])
		}
	}
	if outcome, external := r.Rows[2], r.Rows[4]; outcome.MaxRows != 8 || external.MaxRows <= 8 {
		t.Errorf("outcome has levels of %d nodes, external of %d", outcome.MaxRows, external.MaxRows)
	}
	if m := r.Markdown(); strings.Count(m, "\n") != 2+8+2 || !strings.Contains(m, "Measured on: ") || !strings.Contains(m, "opponent current") {
		t.Errorf("as a page:\n%s", m)
	}
}

// TestTraverseRow: time by the clock, shares by the time that passed.
func TestTraverseRow(t *testing.T) {
	c := &course{options: cfr.Options{Estimator: cfr.Outcome, Games: 10}, cores: 2, kept: []tally{
		{runs: 1, clock: 1e-3, wall: 2e-3, states: 100, forwards: 10, rows: 100, maxRows: 10, levels: []int{10, 10}, stages: cfr.Stages{Forward: 1e-3, Step: 1e-3}},
		{runs: 2, clock: 2e-3, wall: 2e-3, states: 200, forwards: 10, rows: 200, maxRows: 9, levels: []int{20, 20, 6}, stages: cfr.Stages{Forward: 0.5e-3}, tight: 3},
	}}
	row := c.row()
	if row.States != 100 || row.MicrosPerState != 10 || row.ForwardMicros != 3.75 || row.Ratio != 3 || row.MeanRows != 15 || row.MaxRows != 10 {
		t.Errorf("%+v", row)
	}
	if row.TraversalsPerSecond != 1e4 || row.NodesPerSecondCore != 5e4 || row.Tight != 1 || row.Shares != (TraverseShares{Forward: 0.375, Step: 0.25}) {
		t.Errorf("%+v", row)
	}
	if levels := c.levels(); !slices.Equal(levels, []float64{10, 10, 2}) {
		t.Errorf("levels of %v nodes", levels)
	}
}

// TestTraverseInLittleMemory: learners make room for each other.
func TestTraverseInLittleMemory(t *testing.T) {
	g := short()
	g.Estimators, g.Batches = g.Estimators[:2], []int{3, 8}
	all, err := g.courses()
	if err != nil {
		t.Fatal(err)
	}
	g.Memory = uint64(all[1].plan.SampleBytes) // half of it for all, and a traversal takes less
	s, err := newCourses(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.measure(briefly); err != nil {
		t.Fatal(err)
	}
	away := 0
	for _, c := range s.all {
		if c.learner == nil {
			away++
		}
		if len(c.kept) != 3 || c.row().Repetitions != 3 {
			t.Errorf("%d repetitions", len(c.kept))
		}
	}
	if away == 0 {
		t.Error("nobody has made room")
	}
}

// TestTraverseHeldBack: memory bounds the nodes.
func TestTraverseHeldBack(t *testing.T) {
	g := short()
	g.Estimators, g.Batches = []string{cfr.External}, []int{8}
	all, err := g.courses()
	if err != nil {
		t.Fatal(err)
	}
	least := 8 * (2*g.Rules.MaxTurns + 1)
	o := all[0].options
	o.Nodes = least
	plan, err := cfr.NewPlan(encode.NewBatch(g.layout(), nil), g.Hidden, forgetful, o)
	if err != nil {
		t.Fatal(err)
	}
	g.Memory = uint64(plan.SampleBytes)
	s, err := newCourses(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.measure(briefly); err != nil {
		t.Fatal(err)
	}
	row := s.all[0].row()
	if row.Nodes != least || row.Tight <= 0 {
		t.Errorf("%v decisions of %d nodes held back, expected some of %d", row.Tight, row.Nodes, least)
	}
	if r := (&TraverseReport{Rows: []TraverseRow{row}}); !strings.Contains(r.Notes(), "Held back: ") || !strings.Contains(r.Markdown(), "held back |") {
		t.Errorf("as a page:\n%s", r.Markdown())
	}
}

func TestTraverseValidate(t *testing.T) {
	if err := short().Validate(); err != nil {
		t.Error(err)
	}
	for says, change := range map[string]func(*TraverseGrid){
		"nothing to measure":     func(g *TraverseGrid) { g.Batches = nil },
		"batch 0":                func(g *TraverseGrid) { g.Batches[1] = 0 },
		"batch 2097152":          func(g *TraverseGrid) { g.Batches[1] = 2 << 20 },
		"1048576 cores":          func(g *TraverseGrid) { g.Cores = []int{1 << 20} },
		`"pixels"`:               func(g *TraverseGrid) { g.Layout = "pixels" },
		`estimator is "oracle"`:  func(g *TraverseGrid) { g.Estimators[2] = "oracle" },
		"rules.max_turns is 0":   func(g *TraverseGrid) { g.Rules.MaxTurns = 0 },
		"expected at most 3 gam": func(g *TraverseGrid) { g.Memory = 20000 },
		"width 0":                func(g *TraverseGrid) { g.Hidden = []int{0} },
	} {
		g := short()
		change(&g)
		if err := g.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, expected an error about %s", err, says)
		}
		if _, err := Traverse(g, briefly); err == nil {
			t.Errorf("%s: it is traversed", says)
		}
	}
}

// TestTraverseDefaults: the largest default batch is within what a learner
// takes, whatever memory there is.
func TestTraverseDefaults(t *testing.T) {
	g := short()
	g.Rules, g.Batches = rules.MustPreset("classic"), []int{16384}
	g.Rules.MaxTurns = 400
	all, err := g.courses()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if least := 16384 * 801; c.plan.Nodes < least || c.options.Nodes*16 > math.MaxInt32 {
			t.Errorf("%s: %d nodes", c.options.Estimator, c.plan.Nodes)
		}
	}
}

func TestDrawTraversals(t *testing.T) {
	dir, r := t.TempDir(), &TraverseReport{}
	for _, estimator := range []string{cfr.Critic, cfr.Robust} {
		for _, cores := range []int{1, 2} {
			for _, batch := range []int{16, 4} {
				r.Rows = append(r.Rows, TraverseRow{Estimator: estimator, Cores: cores, Batch: batch, MicrosPerState: 3, ForwardMicros: 2})
				r.levels = append(r.levels, []float64{float64(batch), 3, 1})
			}
		}
	}
	if p := r.frontiers(); len(p.Curves) != 4 || p.Curves[3].Label != cfr.Robust || p.Curves[3].Color != 1 || !slices.Equal(p.Curves[3].Y, []float64{4, 3, 1}) || p.Curves[3].X[0] != 1 {
		t.Errorf("curves %+v", p.Curves)
	}
	path := filepath.Join(dir, "a.svg")
	if err := r.Draw(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"nodes of each level", "Traversal on 2 cores", "robust, networks alone"} {
		if !strings.Contains(string(text), says) {
			t.Errorf("the figure has no %q", says)
		}
	}
	r.Rows = r.Rows[1:]
	if err := r.Draw(path); err == nil {
		t.Error("a batch was drawn as a curve")
	}
}
