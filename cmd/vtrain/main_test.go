package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vtrain/cfr/arena"
	"vtrain/cfr/run"
	"vtrain/vec/vectest"
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
		"deck too small":        {[]string{"train", "--run", missing, "--set", "rules.hand=40"}, exitUsage, []string{"two hands", "60"}},
		"17 cards a colour":     {[]string{"train", "--run", missing, "--set", "rules.ranks=14"}, exitUsage, []string{"17", "16"}},
		"unknown preset":        {[]string{"train", "--run", missing, "--set", "rules.preset=clasic"}, exitUsage, []string{"clasic", "classic6"}},
		"unwritable folder":     {[]string{"train", "--run", filepath.Join(file, "run")}, exitFailure, []string{filepath.Join(file, "run")}},
		"missing configuration": {[]string{"train", "--config", missing}, exitUsage, []string{missing}},
		"two budgets":           {[]string{"train", "--run", missing, "--minutes", "1", "--iterations", "1"}, exitUsage, []string{"--minutes", "--iterations"}},
		"two budgets set":       {[]string{"train", "--run", missing, "--set", "run.minutes=3", "--set", "run.iterations=5"}, exitUsage, []string{"run.minutes is 3", "run.iterations 5"}},
		"no iterations":         {[]string{"train", "--run", missing, "--iterations", "0"}, exitUsage, []string{"--iterations is 0"}},
		"no minutes":            {[]string{"train", "--run", missing, "--minutes", "0"}, exitUsage, []string{"--minutes is 0"}},
		"minutes of no number":  {[]string{"train", "--run", missing, "--minutes", "nan"}, exitUsage, []string{"--minutes is NaN"}},
		"negative minutes":      {[]string{"train", "--run", missing, "--minutes=-1"}, exitUsage, []string{"--minutes is -1"}},
		"no turn limit":         {[]string{"train", "--run", missing, "--set", "rules.max_turns=0"}, exitUsage, []string{"max_turns is 0"}},
		"no bound":              {[]string{"train", "--run", missing, "--set", "rules.max_turns=1e8"}, exitUsage, []string{"learner.games is ", "200000000 plies"}},
		"odd evaluation":        {[]string{"train", "--run", missing, "--set", "evaluation.games=21"}, exitUsage, []string{"evaluation.games is 21", "even"}},
		"short evaluation":      {[]string{"train", "--run", missing, "--set", "evaluation.games=2"}, exitUsage, []string{"evaluation.games is 2", "from 4"}},
		"opponent of no run":    {[]string{"train", "--run", missing, "--set", "evaluation.opponents=rule,run:/nowhere"}, exitFailure, []string{"evaluation.opponents[1]", "/nowhere"}},
		"opponent of no folder": {[]string{"train", "--run", missing, "--set", "evaluation.opponents=run:"}, exitUsage, []string{"evaluation.opponents[0]", `"run:"`}},
		"resume with settings":  {[]string{"train", "--resume", t.TempDir(), "--set", "run.seed=3"}, exitUsage, []string{"--resume", "--set"}},
		"resume of nothing":     {[]string{"train", "--resume", t.TempDir()}, exitFailure, []string{"config.yaml"}},
		"too many minutes":      {[]string{"train", "--run", missing, "--minutes", "inf"}, exitUsage, []string{"--minutes is +Inf"}},
		"too many iterations":   {[]string{"train", "--run", missing, "--iterations", "3000000000"}, exitUsage, []string{"--iterations is 3000000000"}},
		"impossible set":        {[]string{"config", "--set", "learner.epsilon=2"}, exitUsage, []string{"learner.epsilon is 2"}},
		"impossible file":       {[]string{"config", "--config", write(t, "c.yaml", "learner: {games: -5}"), "--set", "run.seed=3"}, exitFailure, []string{"c.yaml: learner.games is -5"}},
		"impossible together":   {[]string{"config", "--config", write(t, "c.yaml", "run: {minutes: 5}"), "--set", "run.iterations=3"}, exitUsage, []string{"vtrain: run.minutes is 5"}},
		"forgotten values":      {[]string{"config", "--config", write(t, "c.yaml", "rules: {preset: classic, colors: 5, ranks: 9, min_rank: 2, wagers: 0, hand: 8, penalty: -20, bonus_at: 8, bonus: 20}")}, exitFailure, []string{"c.yaml:1", "rules.preset is classic", "nowager"}},
		"misspelt bot":          {[]string{"eval", "--agent", "rulle", "--opponent", "rule"}, exitUsage, []string{"did you mean rule?"}},
		"suffix of a bot":       {[]string{"eval", "--agent", "rule@greedy", "--opponent", "rule"}, exitUsage, []string{"suffixes are for trained agents"}},
		"unknown suffix":        {[]string{"eval", "--agent", "run:" + missing + "@greddy", "--opponent", "rule"}, exitFailure, []string{"run:" + missing + "@greddy: ", "@greddy", "@greedy"}},
		"two policies":          {[]string{"eval", "--agent", "run:" + missing + "@average@current", "--opponent", "rule"}, exitUsage, []string{"contradict"}},
		"too many games":        {[]string{"eval", "--agent", "rule", "--opponent", "random", "--games", "20000000"}, exitUsage, []string{"--games is 20000000"}},
		"unknown agent":         {[]string{"eval", "--agent", "rulle", "--opponent", "rule"}, exitUsage, []string{"rulle", "heuristic-balanced"}},
		"agent of no run":       {[]string{"eval", "--agent", "run:" + missing, "--opponent", "rule"}, exitFailure, []string{missing}},
		"odd games":             {[]string{"eval", "--agent", "rule", "--opponent", "random", "--games", "7"}, exitUsage, []string{"7", "even"}},
		"odd games of no run":   {[]string{"eval", "--agent", "run:" + missing, "--opponent", "random", "--games", "7"}, exitUsage, []string{"--games is 7"}},
		"rules of no preset":    {[]string{"eval", "--agent", "rule", "--opponent", "random", "--rules", "clasic"}, exitUsage, []string{"clasic", "classic6"}},
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

// TestOpponentOfOtherRules: a trained opponent is compared with the run that is
// to play it before anything of the run is written.
func TestOpponentOfOtherRules(t *testing.T) {
	root := t.TempDir()
	tiny, mid := filepath.Join(root, "tiny"), filepath.Join(root, "mid")
	trainSmall(t, tiny, "--iterations", "1")
	args := append([]string{"train", "--run", mid}, small...)
	code, out, stderr := vtrain(t, append(args, "--set", "rules.preset=mid", "--set", "evaluation.opponents=run:"+tiny)...)
	if code != exitFailure || out != "" || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
	mustSay(t, stderr, "evaluation.opponents[0]", "run:"+tiny, "on tiny", "on mid", "rules.hand is 2, expected 4")
	if _, err := os.Stat(mid); err == nil {
		t.Errorf("%s was left behind", mid)
	}
}

// TestEvalOfOtherRules: agents must have been trained on the same rules, and
// those are the rules of --rules if it is given.
func TestEvalOfOtherRules(t *testing.T) {
	root := t.TempDir()
	tiny, mid := filepath.Join(root, "tiny"), filepath.Join(root, "mid")
	trainSmall(t, tiny, "--iterations", "1")
	trainSmall(t, mid, "--iterations", "1", "--set", "rules.preset=mid")
	for _, args := range [][]string{
		{"--agent", "run:" + tiny, "--opponent", "run:" + mid},
		{"--agent", "run:" + tiny, "--opponent", "rule", "--rules", "mid"},
	} {
		code, out, stderr := vtrain(t, append([]string{"eval", "--games", "4"}, args...)...)
		if code != exitFailure || out != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, stderr)
		}
		mustSay(t, stderr, "run:"+tiny, "on tiny", "on mid", "rules.hand is ", "expected ")
	}
	mustRun(t, "eval", "--games", "4", "--agent", "rule", "--opponent", "run:"+mid, "--rules", "mid")
	mustRun(t, "eval", "--games", "4", "--agent", "run:"+tiny, "--opponent", "run:"+tiny+"@current")
}

func mustSay(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
}

// TestResumeOfAFinishedRun: it has the results of the sessions before.
func TestResumeOfAFinishedRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	first := trainSmall(t, dir, "--iterations", "3")
	mustSay(t, first, "trained 3 iterations", "average  won ", "current  won ", " against rule", "curves: "+filepath.Join(dir, "plots", "training.png"))
	if again := mustRun(t, "train", "--resume", dir); again != first {
		t.Errorf("resumed it says\n%s\nexpected\n%s", again, first)
	}
	config, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	code, out, stderr := vtrain(t, "train", "--resume", dir, "--iterations", "2")
	if code != exitOK || out != first {
		t.Errorf("resumed to less it ends with %d and says\n%s", code, out)
	}
	mustSay(t, stderr, "nothing to do: 3 of 2 iterations are done")
	if again, _ := os.ReadFile(filepath.Join(dir, "config.yaml")); !bytes.Equal(again, config) {
		t.Errorf("config.yaml has become\n%s", again)
	}
	mustSay(t, mustRun(t, "train", "--resume", dir, "--iterations", "4"), "trained 4 iterations")
}

// TestResumeWithoutCheckpoints: metrics of what must have been saved aren't
// thrown away.
func TestResumeWithoutCheckpoints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	trainSmall(t, dir, "--iterations", "3")
	before := countLines(t, filepath.Join(dir, "metrics.jsonl"))
	if err := os.RemoveAll(filepath.Join(dir, "checkpoints")); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := vtrain(t, "train", "--resume", dir)
	if code != exitFailure || out != "" || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
	mustSay(t, stderr, dir, "no checkpoints/latest", "iteration 3")
	if after := countLines(t, filepath.Join(dir, "metrics.jsonl")); after != before {
		t.Errorf("%d lines of metrics became %d", before, after)
	}
}

// TestDamagedNewestCheckpoint: the error names those to fall back to.
func TestDamagedNewestCheckpoint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	trainSmall(t, dir, "--iterations", "5")
	if err := os.WriteFile(filepath.Join(dir, "checkpoints", "000005", "weights.safetensors"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := vtrain(t, "train", "--resume", dir, "--iterations", "6")
	if code != exitFailure || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, %q", code, stderr)
	}
	mustSay(t, stderr, "000005", "older: 000004, 000002; name one in "+filepath.Join(dir, "checkpoints", "latest"))
	if err := os.WriteFile(filepath.Join(dir, "checkpoints", "latest"), []byte("000004\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	mustSay(t, mustRun(t, "train", "--resume", dir, "--iterations", "6"), "trained 6 iterations")
}

func TestLost(t *testing.T) {
	for _, r := range []arena.Result{{Games: 1000, WinRate: .9, DrawRate: .1}, {Games: 300, WinRate: 0.7, DrawRate: 0.3}} {
		if text := describe(r); strings.Contains(text, "-0.0%") || !strings.Contains(text, "lost 0.0%") {
			t.Errorf("describes a match without losses as %s", text)
		}
	}
}

// TestNoCurves: a run without evaluations doesn't speak of a plot.
func TestNoCurves(t *testing.T) {
	out := trainSmall(t, filepath.Join(t.TempDir(), "run"), "--iterations", "1", "--set", "evaluation.games=0")
	if mustSay(t, out, "trained 1 iteration, ", " states\n", "measure it"); strings.Contains(out, "curves") || strings.Contains(out, "won") {
		t.Errorf("without an evaluation it says %q", out)
	}
}

// TestBounds: nodes and memory are printed before anything is trained.
func TestBounds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, _, stderr := vtrain(t, append([]string{"train", "--run", dir, "--iterations", "1", "--set", "rules.max_turns=30"}, small...)...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	before, _, _ := strings.Cut(stderr, " n=1 ")
	mustSay(t, before, "memory: at most ", " an iteration, ", " for the reservoir; at most 1952 nodes an iteration")
}

// TestVerify: recorded vectors as they are, and with one number changed.
func TestVerify(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "regret_matching.jsonl.gz")
	mustSay(t, mustRun(t, "verify", path), path, "items checked", "0 mismatches", "total")
	text := vectest.Unzip(t, path)
	const policy, other = `"py_argmax":[0.0,1.0,`, `"py_argmax":[1.0,0.0,`
	if !strings.Contains(text, policy) {
		t.Fatalf("%s has no %s", path, policy)
	}
	code, out, stderr := vtrain(t, "verify", write(t, "changed.jsonl", strings.Replace(text, policy, other, 1)))
	if code != exitFailure || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, expected %d; it says %q", code, exitFailure, stderr)
	}
	mustSay(t, out, "changed.jsonl", "py_argmax of action 0", "total")
	mustSay(t, stderr, " mismatches in ")
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
	root := filepath.Join(dir, "checkpoints", fmt.Sprintf("%06d", iteration))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
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

// mustEqual compares a checkpoint of a run with that of another.
func mustEqual(t *testing.T, straight, resumed string, iteration int) {
	t.Helper()
	a, b := checkpoint(t, straight, iteration), checkpoint(t, resumed, iteration)
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s of the resumed run differs", name)
		}
	}
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
	log := &tripwire{text: " n=3 ", cancel: cancel}
	args := append([]string{"train", "--run", dir, "--iterations", "5"}, small...)
	if code := execute(ctx, args, io.Discard, log); code != exitInterrupted || !strings.Contains(log.String(), "saved") {
		t.Fatalf("exit %d, expected %d after\n%s", code, exitInterrupted, log.String())
	}
	mustSay(t, log.String(), "interrupted: iteration 3 is saved")
	checkpoint(t, dir, 3)
	mustRun(t, "train", "--resume", dir)
	mustEqual(t, straight, dir, 5)
	rows, err := run.ReadMetrics(dir)
	if err != nil || len(rows) != 6 { // the untrained agent, then five iterations
		t.Errorf("%d lines of metrics, expected 6 (%v)", len(rows), err)
	}
}

// TestInterruptAtOnce: before the first iteration nothing is saved, and the run
// can be resumed none the less.
func TestInterruptAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var log bytes.Buffer
	args := append([]string{"train", "--run", dir, "--iterations", "2"}, small...)
	if code := execute(ctx, args, io.Discard, &log); code != exitInterrupted {
		t.Errorf("exit %d, expected %d", code, exitInterrupted)
	}
	mustSay(t, log.String(), "nothing to save")
	code, out, stderr := vtrain(t, "train", "--resume", dir)
	if code != exitOK {
		t.Errorf("resumed: exit %d", code)
	}
	mustSay(t, out, "trained 2 iterations")
	mustSay(t, stderr, "no checkpoint yet: starting from the first iteration")
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
