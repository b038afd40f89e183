package run

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"vtrain/cfr"
)

func mustCreate(t *testing.T, c Config) *Folder {
	t.Helper()
	f, err := Create(filepath.Join(t.TempDir(), "runs", "a"), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func mustReopen(t *testing.T, f *Folder) *Folder {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	g, err := Open(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func TestCreateAndOpen(t *testing.T) {
	c := Default()
	c.Learner.Epsilon = 0.25
	f := mustCreate(t, c)
	for _, name := range []string{configName, metricsName, lockName, checkpointsName, plotsName} {
		if !exists(f.Path(name)) {
			t.Errorf("no %s", name)
		}
	}
	if g := mustReopen(t, f); !reflect.DeepEqual(g.Config, c) {
		t.Errorf("configuration differs: %v", Diff(c, g.Config))
	}
}

func TestCreateIsForNewFolders(t *testing.T) {
	f := mustCreate(t, Default())
	_, err := Create(f.Dir, Default())
	mustFail(t, err, f.Dir, "holds", "expected a new or empty folder")

	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Create(foreign, Default())
	mustFail(t, err, foreign, "holds thesis.txt")
	if entries, _ := os.ReadDir(foreign); len(entries) != 1 {
		t.Errorf("the foreign folder now holds %v", entries)
	}

	g, err := Create(t.TempDir(), Default()) // empty
	if err != nil {
		t.Fatal(err)
	}
	g.Close()
}

func TestCreateAfterInterruptedCreate(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{checkpointsName, plotsName} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{lockName, metricsName, asidePrefix + configName} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Create(dir, Default())
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestCreateInImpossiblePlaces(t *testing.T) {
	file := writeFile(t, "")
	for _, dir := range []string{file, filepath.Join(file, "a", "b"), "/proc/runs/a", filepath.Join(t.TempDir(), strings.Repeat("x", 300))} {
		_, err := Create(dir, Default())
		mustFail(t, err, dir)
	}
	// What was made on the way is gone again.
	root := t.TempDir()
	_, err := Create(filepath.Join(root, "made", strings.Repeat("x", 300)), Default())
	mustFail(t, err, "made")
	if entries, _ := os.ReadDir(root); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
	c := Default()
	c.Checkpoint.Keep = 0
	_, err = Create(filepath.Join(root, "b"), c)
	mustFail(t, err, "checkpoint.keep is 0")
}

func TestCreateInReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o555); err != nil {
		t.Fatal(err)
	}
	_, err := Create(filepath.Join(root, "a"), Default())
	mustFail(t, err, root)
}

func TestOpenErrors(t *testing.T) {
	empty := t.TempDir()
	_, err := Open(empty)
	mustFail(t, err, empty, "has no config.yaml")
	_, err = Open("/nowhere")
	mustFail(t, err, "/nowhere")
	if entries, _ := os.ReadDir(empty); len(entries) > 0 {
		t.Errorf("Open has made %v", entries)
	}
	f := mustCreate(t, Default())
	f.Close()
	if err := os.WriteFile(f.Path(configName), []byte("rules: {hand: 99}"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Open(f.Dir)
	mustFail(t, err, f.Path(configName), "two hands")
}

func TestOneProcessTrains(t *testing.T) {
	f := mustCreate(t, Default())
	_, err := Open(f.Dir)
	mustFail(t, err, f.Path(lockName), "held by another process")
	if _, err := ReadMetrics(f.Dir); err != nil {
		t.Errorf("reading needs the lock: %v", err)
	}
	mustReopen(t, f)
}

func TestReconfigure(t *testing.T) {
	f := mustCreate(t, Default())
	c := Default()
	c.Run.Iterations, c.Learner.Epsilon = 500, 0.2
	if err := f.Reconfigure(c); err != nil {
		t.Fatal(err)
	}
	f = mustReopen(t, f)
	if d := Diff(f.Config, c); len(d) > 0 {
		t.Errorf("not kept: %v", d)
	}
	for s, both := range map[string]string{
		"rules.hand=7":               "rules.hand is 7, expected 8",
		"nets.hidden=8":              "nets.hidden is [8], expected [256, 256]",
		"learner.scale=10":           "learner.scale is 10, expected 40",
		"run.seed=2":                 "run.seed is 2, expected 1",
		"memory.strategy_rows=5":     "memory.strategy_rows is 5, expected 1000000",
		"encoding.layout=slots-d0s0": "encoding.layout is slots-d0s0, expected cards-sorted",
	} {
		c := f.Config
		if err := c.Set(s); err != nil {
			t.Fatal(err)
		}
		mustFail(t, f.Reconfigure(c), f.Dir, both, "a run that has begun can't change it")
	}
	c.Learner.Epsilon = 7
	mustFail(t, f.Reconfigure(c), "epsilon is 7")
}

func TestMetricKeys(t *testing.T) {
	for name, want := range map[string]string{"CriticError": "critic_error", "States": "states", "StatesPerSecond": "states_per_second", "NashConv": "nash_conv", "CPU": "cpu"} {
		if got := snake(name); got != want {
			t.Errorf("snake(%q) is %q, want %q", name, got, want)
		}
	}
	if got := MetricKey("eval", "average", "heuristic-balanced", "win"); got != "eval_average_heuristic_balanced_win" {
		t.Errorf("key is %q", got)
	}
	seen := map[string]bool{}
	for _, m := range flatten(nil, "", reflect.ValueOf(cfr.Metrics{})) {
		if seen[m.key] {
			t.Errorf("two metrics are called %s", m.key)
		}
		seen[m.key] = true
	}
	for _, key := range []string{"iteration", "states", "seconds", "critic_error", "critic_loss", "stages_forward"} {
		if !seen[key] {
			t.Errorf("no metric %s among %v", key, seen)
		}
	}
}

func TestAppendAndRead(t *testing.T) {
	f := mustCreate(t, Default())
	for i := 1; i <= 5; i++ {
		m := cfr.Metrics{Iteration: i, States: 1 << 52, Entropy: 0.1}
		m.Critic.Loss = 1e-7
		var extra map[string]float64
		if i == 5 {
			extra = map[string]float64{"eval_average_rule_win": 0.5, "a": 1e300}
		}
		if err := f.Append(m, extra); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := ReadMetrics(f.Dir)
	if err != nil || len(rows) != 5 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	last := rows[4]
	for key, want := range map[string]float64{"iteration": 5, "states": 1 << 52, "entropy": 0.1, "critic_loss": 1e-7, "eval_average_rule_win": 0.5, "a": 1e300} {
		if got, ok := last[key]; !ok || got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	text, _ := os.ReadFile(f.Path(metricsName))
	if lines := strings.Split(string(text), "\n"); !strings.HasPrefix(lines[0], `{"iteration":1,"states":4503599627370496,`) {
		t.Errorf("first line is %s", lines[0])
	}
}

func TestAppendRefusesWhatIsNoNumber(t *testing.T) {
	f := mustCreate(t, Default())
	m := cfr.Metrics{Iteration: 3}
	m.Current.Loss = math.NaN()
	mustFail(t, f.Append(m, nil), metricsName, "iteration 3", "current_loss is NaN")
	mustFail(t, f.Append(cfr.Metrics{}, map[string]float64{"eval": math.Inf(1)}), "eval is +Inf")
	mustFail(t, f.Append(cfr.Metrics{}, map[string]float64{"entropy": 1}), `"entropy"`)
	mustFail(t, f.Append(cfr.Metrics{}, map[string]float64{"Win-rate": 1}), `"Win-rate"`)
	if rows, err := ReadMetrics(f.Dir); err != nil || len(rows) != 0 {
		t.Errorf("%v, %v: want nothing", rows, err)
	}
}

func TestMetricsAfterAKill(t *testing.T) {
	f := mustCreate(t, Default())
	for i := range 6 {
		if err := f.Append(cfr.Metrics{Iteration: i + 1}, nil); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	whole, _ := os.ReadFile(f.Path(metricsName))
	if err := os.WriteFile(f.Path(metricsName), whole[:len(whole)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	if rows, err := ReadMetrics(f.Dir); err != nil || len(rows) != 5 {
		t.Errorf("%d rows, %v: want 5", len(rows), err)
	}
	f = mustReopen(t, f)
	if _, err := f.Resume(); err != nil { // from the start
		t.Fatal(err)
	}
	for i := 1; i <= 6; i++ {
		if err := f.Append(cfr.Metrics{Iteration: i}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := os.ReadFile(f.Path(metricsName)); string(text) != string(whole) {
		t.Errorf("log is\n%s\nwant\n%s", text, whole)
	}
}

func TestDamagedMetrics(t *testing.T) {
	f := mustCreate(t, Default())
	for _, line := range []string{"{}x\n", "null\n", "{\"a\":\"b\"}\n", "\n"} {
		if err := os.WriteFile(f.Path(metricsName), []byte("{\"iteration\":1}\n"+line), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadMetrics(f.Dir)
		mustFail(t, err, f.Path(metricsName)+":2: ", "expected an object of numbers")
	}
	_, err := ReadMetrics(t.TempDir())
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}
