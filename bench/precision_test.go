package bench

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vtrain/cfr"
	"vtrain/cfr/run"
	"vtrain/encode"
	"vtrain/rules/record"
)

// untrained saves an agent that has learned nothing, and loads it.
func untrained(t *testing.T) *run.Checkpoint {
	t.Helper()
	c := run.Default()
	c.Nets.Hidden, c.Learner.Games, c.Memory.StrategyRows = []int{64, 48}, 4, 10
	layout, err := encode.New(c.Encoding.Layout, c.Rules.Config)
	if err != nil {
		t.Fatal(err)
	}
	l, err := cfr.NewLearner(encode.NewBatch(layout, nil), c.Nets.Networks(), c.Memory, c.Learner, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := run.Create(filepath.Join(t.TempDir(), "run"), c)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Save(l.State()); err != nil {
		t.Fatal(err)
	}
	saved, err := run.LoadWeights(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func TestPrecision(t *testing.T) {
	games, err := record.ReadGames("../testdata/games_classic.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	o := MeasureOptions{Repetitions: 5, Shortest: time.Microsecond, Budget: time.Microsecond}
	saved := untrained(t)
	r, err := Precision(saved, games, 1500, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.States != 1500 || len(r.Rows) != 2 || len(r.Engines) != 4 || len(r.Table().Rows) != 2 {
		t.Fatalf("%+v", r)
	}
	for _, row := range r.Rows {
		// Nothing is that exact; only a mistake is far off.
		if row.Mean <= 0 || row.Mean > 0.05 || row.Max < row.P99 || row.P99 < row.P90 || row.P90 < row.Median || row.Float32 <= 0 || row.Int8 <= 0 || row.Layers != "440-64-48-106" {
			t.Errorf("%+v", row)
		}
	}
	if _, err := Precision(saved, games, 1e7, o); err == nil || !strings.Contains(err.Error(), "expected at least 10000000") {
		t.Errorf("more states than there are: %v", err)
	}
}

// TestPrecisionOfOtherRules: games of rules that the agent doesn't know are as
// good as none.
func TestPrecisionOfOtherRules(t *testing.T) {
	games, err := record.ReadGames("../testdata/games_small.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	saved := untrained(t)
	for says, games := range map[string][]*record.Game{"rules.wagers is 0, expected 3": games, "there are none": nil} {
		_, err := Precision(saved, games, 10, briefly)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "classic rules") {
			t.Errorf("%d games: %v, expected an error that says %q", len(games), err, says)
		}
	}
}

// TestDistances checks what is said of two states.
func TestDistances(t *testing.T) {
	var r PrecisionRow
	r.compare([]float32{0.5, 0.5, 0, 0, 0, 1}, []float32{0.25, 0.5, 0.25, 0, 0.0625, 0.9375}, 3)
	const low, high = 0.0625, 0.25
	want := PrecisionRow{Mean: (low + high) / 2, Median: (low + high) / 2, Max: high, Far: 0.5, Likeliest: 0.5}
	want.P90, want.P99 = round(low+0.9*(high-low)), round(low+0.99*(high-low))
	if r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}
