package bench

import (
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// evaluated is a line of metrics with a match in it.
func evaluated(states, win float64) map[string]float64 {
	return map[string]float64{
		"states": states, "eval_average_heuristic_balanced_win": win, "eval_average_heuristic_balanced_win_se": .01,
		"eval_average_heuristic_balanced_points": 100*win - 50, "eval_average_heuristic_balanced_points_se": 1,
	}
}

func TestDrawTraining(t *testing.T) {
	path := filepath.Join(t.TempDir(), "training.png")
	rows := []map[string]float64{evaluated(0, .1), {"states": 5e5}, evaluated(1e6, .6)}
	if err := DrawTraining(path, "a run", rows); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() < 600 || b.Dy() < 600 {
		t.Errorf("the picture is %v", b)
	}
	if err := DrawTraining(path, "a run", rows[:2]); !errors.Is(err, ErrNoCurve) {
		t.Errorf("one evaluation: %v, expected ErrNoCurve", err)
	}
	if err := DrawTraining(filepath.Join(path, "x.png"), "a run", rows); err == nil {
		t.Error("a file in a file was drawn")
	}
}

// TestDrawLeavesNothingAside: the folder holds the picture alone, readable for
// everybody, and after a failure nothing.
func TestDrawLeavesNothingAside(t *testing.T) {
	rows := []map[string]float64{evaluated(0, .1), evaluated(1e6, .6)}
	dir := t.TempDir()
	if err := DrawTraining(filepath.Join(dir, "a.png"), "a run", rows); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "a.png" {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	taken := filepath.Join(t.TempDir(), "taken.png")
	if err := os.MkdirAll(filepath.Join(taken, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := DrawTraining(taken, "a run", rows); err == nil {
		t.Error("a folder was overwritten")
	}
	if entries, err := os.ReadDir(filepath.Dir(taken)); err != nil || len(entries) != 1 {
		t.Errorf("a failure left %v, %v", entries, err)
	}
}

// TestDrawChangesNothing: panels are the caller's, who may draw them again.
func TestDrawChangesNothing(t *testing.T) {
	panels := []Panel{{Y: "y", Curves: []Curve{{Label: "a", X: []float64{1, 2}, Y: []float64{3, 4}}}}}
	if err := Draw(filepath.Join(t.TempDir(), "a.svg"), "x", panels); err != nil || panels[0].X != "" {
		t.Errorf("%v, x is %q", err, panels[0].X)
	}
}

// TestLegendFits: long labels make the legend wider, and many make it higher.
func TestLegendFits(t *testing.T) {
	l := legend{Legend: plot.NewLegend(), has: map[string]bool{}}
	l.add("short", nil)
	width, height := l.size()
	long := strings.Repeat("297-512-", 20)
	l.add(long, nil)
	wider, higher := l.size()
	if !(wider > width && wider > l.TextStyle.Width(long)+l.ThumbnailWidth && higher > height) {
		t.Errorf("%v by %v, then %v by %v", width, height, wider, higher)
	}
}

func TestCurves(t *testing.T) {
	c := curves([]map[string]float64{evaluated(0, .1), {"states": 5e5}, evaluated(2e6, .6)}, "_win", 100)
	if len(c) != 1 || c[0].Label != "average - heuristic-balanced" || c[0].Dashed {
		t.Fatalf("curves %+v", c)
	}
	if got := c[0]; got.X[1] != 2 || got.Y[1] != 60 || got.Error[1] != 1 || len(got.X) != 2 {
		t.Errorf("curve %+v", got)
	}
}

func TestRoundTicks(t *testing.T) {
	for _, k := range []struct {
		lo, hi float64
		want   []string
	}{
		{0, 100, []string{"0", "20", "40", "60", "80", "100"}},
		{0, 28.7, []string{"0", "5", "10", "15", "20", "25"}},
		{-110, 115, []string{"-100", "-50", "0", "50", "100"}},
		{0, .031, []string{"0", "0.01", "0.02", "0.03"}},
		{3, 3, nil},
	} {
		var got []string
		for _, tick := range roundTicks(k.lo, k.hi) {
			got = append(got, tick.Label)
		}
		if !slices.Equal(got, k.want) {
			t.Errorf("ticks of %v to %v are %v, expected %v", k.lo, k.hi, got, k.want)
		}
	}
}
