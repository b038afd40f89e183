package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlotRuns draws two runs, and says what is wrong in one line.
func TestPlotRuns(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	trainSmall(t, a, "--iterations", "2")
	trainSmall(t, b, "--iterations", "2", "--set", "run.seed=2")
	path := filepath.Join(dir, "both.svg")
	code, out, stderr := vtrain(t, "plot", a, b, "--out", path, "--time")
	text, err := os.ReadFile(path)
	if code != exitOK || out != path+"\n" || err != nil || !strings.Contains(string(text), "minutes") {
		t.Fatalf("exit %d, %q, %q, %v", code, out, stderr, err)
	}
	for name, k := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no run":    {[]string{"plot"}, exitUsage, "<run>"},
		"no folder": {[]string{"plot", filepath.Join(dir, "c")}, exitUsage, "c"},
		"empty":     {[]string{"plot", t.TempDir(), "--out", path}, exitFailure, "metrics.jsonl"},
		"extension": {[]string{"plot", a, "--out", "x.gif"}, exitUsage, ".png or .svg"},
	} {
		code, out, stderr := vtrain(t, k.args...)
		if code != k.code || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, k.says) {
			t.Errorf("%s: exit %d, %q, %q", name, code, out, stderr)
		}
	}
}
