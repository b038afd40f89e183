package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vtrain/cfr/run"
)

// small are flags of a run that takes moments.
var small = []string{
	"--set", "rules.preset=tiny", "--set", "nets.hidden=16", "--set", "learner.games=32", "--set", "learner.batch=64",
	"--set", "memory.strategy_rows=500", "--set", "evaluation.games=20", "--set", "evaluation.every=2", "--set", "checkpoint.every=2",
}

// vtrain runs a command line.
func vtrain(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = execute(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}

// mustRun runs a command line that has to succeed, and returns its output.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	code, out, err := vtrain(t, args...)
	if code != exitOK {
		t.Fatalf("vtrain %s: exit %d\n%s", strings.Join(args, " "), code, err)
	}
	return out
}

func trainSmall(t *testing.T, dir string, more ...string) string {
	t.Helper()
	return mustRun(t, append(append([]string{"train", "--run", dir}, small...), more...)...)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBadInput: each mistake is one line that names it, and leaves nothing
// behind.
func TestBadInput(t *testing.T) {
	games, err := os.ReadFile(filepath.Join("..", "..", "testdata", "games_small.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, "file", "not a folder")
	missing := filepath.Join(t.TempDir(), "missing")
	for name, k := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"no command":            {nil, exitUsage, []string{"expected one of"}},
		"unknown command":       {[]string{"trian"}, exitUsage, []string{"trian"}},
		"unknown flag":          {[]string{"train", "--minuets", "3"}, exitUsage, []string{"--minuets"}},
		"unknown key":           {[]string{"config", "--set", "learner.epsilom=.1"}, exitUsage, []string{"learner.epsilom", "learner.epsilon"}},
		"unknown key in a file": {[]string{"config", "--config", write(t, "c.yaml", "learner:\n  gmaes: 4\n")}, exitFailure, []string{"c.yaml", "gmaes", "learner.games"}},
		"wrong type":            {[]string{"config", "--set", "nets.hidden=wide"}, exitUsage, []string{"nets.hidden", "wide"}},
		"deck too small":        {[]string{"train", "--run", missing, "--set", "rules.hand=40"}, exitFailure, []string{"two hands", "60"}},
		"17 cards a colour":     {[]string{"train", "--run", missing, "--set", "rules.ranks=14"}, exitFailure, []string{"17", "16"}},
		"unknown preset":        {[]string{"train", "--run", missing, "--set", "rules.preset=clasic"}, exitUsage, []string{"clasic", "classic6"}},
		"unwritable folder":     {[]string{"train", "--run", filepath.Join(file, "run")}, exitFailure, []string{filepath.Join(file, "run")}},
		"missing configuration": {[]string{"train", "--config", missing}, exitUsage, []string{missing}},
		"two budgets":           {[]string{"train", "--run", missing, "--minutes", "1", "--iterations", "1"}, exitUsage, []string{"--minutes", "--iterations"}},
		"resume of nothing":     {[]string{"train", "--resume", t.TempDir()}, exitFailure, []string{"config.yaml"}},
		"unknown agent":         {[]string{"eval", "--agent", "rulle", "--opponent", "rule"}, exitUsage, []string{"rulle", "heuristic-balanced"}},
		"agent of no run":       {[]string{"eval", "--agent", "run:" + missing, "--opponent", "rule"}, exitFailure, []string{missing}},
		"odd games":             {[]string{"eval", "--agent", "rule", "--opponent", "random", "--games", "7"}, exitUsage, []string{"7", "even"}},
		"truncated vectors":     {[]string{"verify", write(t, "games_cut.jsonl.gz", string(games[:len(games)/2]))}, exitFailure, []string{"games_cut.jsonl.gz"}},
		"foreign vectors":       {[]string{"verify", write(t, "foreign.jsonl", `{"temperature": 21}`)}, exitFailure, []string{"foreign.jsonl"}},
		"missing vectors":       {[]string{"verify", missing}, exitFailure, []string{missing}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, stderr := vtrain(t, k.args...)
			if code != k.code {
				t.Errorf("exit %d, expected %d; it says %q", code, k.code, stderr)
			}
			if strings.Count(stderr, "\n") != 1 || out != "" {
				t.Errorf("expected one line on standard error, got %q and output %q", stderr, out)
			}
			for _, text := range k.says {
				if !strings.Contains(stderr, text) {
					t.Errorf("%q does not name %q", stderr, text)
				}
			}
			if _, err := os.Stat(missing); err == nil {
				t.Errorf("%s was left behind", missing)
			}
		})
	}
}

// TestTrainAndMeasure runs the main job from end to end.
func TestTrainAndMeasure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if out := trainSmall(t, dir, "--iterations", "4"); !strings.Contains(out, "trained 4 iterations") {
		t.Errorf("the result is %q", out)
	}
	for _, name := range []string{"config.yaml", "metrics.jsonl", "plots/training.png", "checkpoints/latest", "checkpoints/000004/manifest.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	var result map[string]any
	out := mustRun(t, "eval", "--agent", "run:"+dir+"@greedy", "--opponent", "random", "--games", "40", "--json")
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"agent", "opponent", "games", "win_rate", "draw_rate", "mean_points", "se_points", "plies_per_game", "capped", "useless_draws"} {
		if _, ok := result[key]; !ok {
			t.Errorf("eval --json has no %s: %s", key, out)
		}
	}
	code, _, stderr := vtrain(t, "train", "--run", dir)
	if code != exitFailure || !strings.Contains(stderr, dir) {
		t.Errorf("training into a used folder: exit %d, %q", code, stderr)
	}
}

// TestSameBytes: one seed, one checkpoint, whatever the workers.
func TestSameBytes(t *testing.T) {
	root := t.TempDir()
	one, two, other := filepath.Join(root, "1"), filepath.Join(root, "2"), filepath.Join(root, "3")
	trainSmall(t, one, "--iterations", "3", "--set", "run.workers=1")
	trainSmall(t, two, "--iterations", "3", "--set", "run.workers=3", "--set", "evaluation.every=0")
	trainSmall(t, other, "--iterations", "3", "--set", "run.seed=2")
	a, b, c := checkpoint(t, one, 3), checkpoint(t, two, 3), checkpoint(t, other, 3)
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs between 1 and 3 workers", name)
		}
	}
	if bytes.Equal(a["weights.safetensors"], c["weights.safetensors"]) {
		t.Error("another seed gave the same weights")
	}
}

// checkpoint reads the files of a checkpoint that depend on the run alone.
func checkpoint(t *testing.T, dir string, iteration int) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	root := filepath.Join(dir, "checkpoints", "00000"+string(rune('0'+iteration)))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "machine.json" {
			return err
		}
		text, err := os.ReadFile(path)
		files[d.Name()] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 4 {
		t.Fatalf("%s holds %d files", root, len(files))
	}
	return files
}

// tripwire is a log that cancels a context when it is told something.
type tripwire struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (w *tripwire) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.cancel()
	}
	return w.Buffer.Write(p)
}

// TestInterruptAndResume stops a run between checkpoints, and continues it to
// the same bytes as one that was left alone.
func TestInterruptAndResume(t *testing.T) {
	root := t.TempDir()
	dir, straight := filepath.Join(root, "stopped"), filepath.Join(root, "straight")
	trainSmall(t, straight, "--iterations", "5")

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	log := &tripwire{text: "n=3 ", cancel: cancel}
	args := append([]string{"train", "--run", dir, "--iterations", "5"}, small...)
	if code := execute(ctx, args, io.Discard, log); code != exitInterrupted || !strings.Contains(log.String(), "saved") {
		t.Fatalf("exit %d, expected %d after\n%s", code, exitInterrupted, log.String())
	}
	checkpoint(t, dir, 3)
	mustRun(t, "train", "--resume", dir)
	a, b := checkpoint(t, straight, 5), checkpoint(t, dir, 5)
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s of the resumed run differs", name)
		}
	}
	rows, err := run.ReadMetrics(dir)
	if err != nil || len(rows) != 6 { // the untrained agent, then five iterations
		t.Errorf("%d lines of metrics, expected 6 (%v)", len(rows), err)
	}
}

// TestConfigReadsBack: what config prints is a configuration file.
func TestConfigReadsBack(t *testing.T) {
	first := mustRun(t, "config", "--set", "learner.epsilon=0.25", "--set", "rules.preset=mid")
	if second := mustRun(t, "config", "--config", write(t, "c.yaml", first)); second != first {
		t.Errorf("read back as\n%s\nexpected\n%s", second, first)
	}
}

func TestInfo(t *testing.T) {
	out := mustRun(t, "info")
	for _, text := range []string{"processor", "cores granted", "440-256-256-106"} {
		if !strings.Contains(out, text) {
			t.Errorf("info says nothing of %q:\n%s", text, out)
		}
	}
}
