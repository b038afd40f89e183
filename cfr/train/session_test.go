package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vtrain/cfr"
	"vtrain/cfr/arena"
	"vtrain/cfr/run"
	"vtrain/rules"
)

// smallConfig is a run that takes moments.
func smallConfig(t *testing.T, more ...string) run.Config {
	t.Helper()
	c := run.Default()
	for _, s := range append([]string{
		"rules.preset=tiny", "nets.hidden=8", "learner.games=16", "learner.batch=32", "memory.strategy_rows=200", "run.iterations=5",
		"evaluation.games=4", "evaluation.every=2", "evaluation.opponents=random,rule", "checkpoint.every=2", "checkpoint.keep=9",
	}, more...) {
		if err := c.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// A diary is a Reporter that writes down what it is told.
type diary struct {
	iterations, evaluations, checkpoints []int
	progress                             float64
	onIteration                          func(iteration int)
}

func (d *diary) Iteration(m cfr.Metrics, progress float64) {
	d.iterations, d.progress = append(d.iterations, m.Iteration), progress
	if d.onIteration != nil {
		d.onIteration(m.Iteration)
	}
}

func (d *diary) Evaluation(iteration int, _ []arena.Result) {
	d.evaluations = append(d.evaluations, iteration)
}

func (d *diary) Checkpoint(iteration int) { d.checkpoints = append(d.checkpoints, iteration) }

func mustNew(t *testing.T, c run.Config, report Reporter) *Session {
	t.Helper()
	s, err := New(c, report)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func mustAttach(t *testing.T, s *Session, f *run.Folder) {
	t.Helper()
	if err := s.Attach(f); err != nil {
		t.Fatal(err)
	}
}

func mustCreate(t *testing.T, c run.Config) *run.Folder {
	t.Helper()
	f, err := run.Create(filepath.Join(t.TempDir(), "run"), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func mustOpen(t *testing.T, dir string) *run.Folder {
	t.Helper()
	f, err := run.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// start begins a run in a folder of its own, or continues one.
func start(t *testing.T, f *run.Folder, d *diary) *Session {
	t.Helper()
	s := mustNew(t, f.Config, d)
	mustAttach(t, s, f)
	return s
}

func mustRun(t *testing.T, s *Session) {
	t.Helper()
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// runUntilKilled runs a session that dies as it reports an iteration: nothing
// that comes after it happens.
func runUntilKilled(t *testing.T, f *run.Folder, iteration int) {
	t.Helper()
	type killed struct{}
	s := start(t, f, &diary{onIteration: func(n int) {
		if n == iteration {
			panic(killed{})
		}
	}})
	defer func() {
		if _, ok := recover().(killed); !ok {
			t.Fatalf("the session was not killed in iteration %d", iteration)
		}
		f.Close() // as the system does
	}()
	_ = s.Run(context.Background())
}

// lines returns the iterations in the metrics, and the time of the last.
func lines(t *testing.T, f *run.Folder) (iterations []int, elapsed float64) {
	t.Helper()
	rows, err := run.ReadMetrics(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		iterations, elapsed = append(iterations, int(row["iteration"])), row[elapsedColumn]
	}
	return iterations, elapsed
}

func mustBe(t *testing.T, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// mustEqualCheckpoints compares all files of two folders.
func mustEqualCheckpoints(t *testing.T, a, b string) {
	t.Helper()
	entries, err := os.ReadDir(a)
	if err != nil || len(entries) < 4 {
		t.Fatalf("%s holds %d files, %v", a, len(entries), err)
	}
	for _, e := range entries {
		x, errX := os.ReadFile(filepath.Join(a, e.Name()))
		y, errY := os.ReadFile(filepath.Join(b, e.Name()))
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs (%v, %v)", e.Name(), errX, errY)
		}
	}
}

func TestDue(t *testing.T) {
	for _, k := range []struct {
		iteration, every int
		want             bool
	}{{1, 1, true}, {1, 2, false}, {4, 2, true}, {5, 2, false}, {7, 0, false}} {
		if due(k.iteration, k.every) != k.want {
			t.Errorf("iteration %d is due every %d: %v", k.iteration, k.every, !k.want)
		}
	}
}

// TestEvaluated: five times as often before the first full interval.
func TestEvaluated(t *testing.T) {
	for every, want := range map[int][]int{0: nil, 2: {2, 4, 6}, 5: {1, 2, 3, 4, 5, 10, 15}, 50: {10, 20, 30, 40, 50, 100}} {
		var got []int
		for n := 1; n <= max(50*min(every, 2), 3*min(every, 5)); n++ {
			if evaluated(n, every) {
				got = append(got, n)
			}
		}
		mustBe(t, "every "+strconv.Itoa(every), got[:min(len(want), len(got))], want)
	}
}

func TestSchedule(t *testing.T) {
	d := &diary{}
	f := mustCreate(t, smallConfig(t))
	mustRun(t, start(t, f, d))
	mustBe(t, "iterations", d.iterations, []int{1, 2, 3, 4, 5})
	mustBe(t, "evaluations", d.evaluations, []int{0, 2, 4, 5})
	mustBe(t, "checkpoints", d.checkpoints, []int{2, 4, 5})
	got, _ := lines(t, f)
	mustBe(t, "metrics", got, []int{0, 1, 2, 3, 4, 5})
	if d.progress != 1 {
		t.Errorf("progress ends at %v", d.progress)
	}
}

func TestNoEvaluation(t *testing.T) {
	for _, s := range []string{"evaluation.games=0", "evaluation.opponents=", "evaluation.policies="} {
		d := &diary{}
		f := mustCreate(t, smallConfig(t, s, "run.iterations=2", "checkpoint.every=0"))
		mustRun(t, start(t, f, d))
		mustBe(t, s+": evaluations", d.evaluations, nil)
		mustBe(t, s+": checkpoints", d.checkpoints, []int{2})
		got, _ := lines(t, f)
		mustBe(t, s+": metrics", got, []int{0, 1, 2})
	}
}

// A clock only moves when it is told to.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// inMinutes is a session whose iterations take 20 seconds each.
func inMinutes(t *testing.T, f *run.Folder, d *diary) *Session {
	t.Helper()
	c := &clock{time.Unix(1e9, 0)}
	d.onIteration = func(int) { c.at = c.at.Add(20 * time.Second) }
	s := start(t, f, d)
	s.now = c.now
	return s
}

// TestMinutes: the clock is read before an iteration is reported, so the third
// reaches 40 seconds and the fourth a minute.
func TestMinutes(t *testing.T) {
	d := &diary{}
	f := mustCreate(t, smallConfig(t, "run.iterations=0", "run.minutes=1", "evaluation.every=0"))
	s := inMinutes(t, f, d)
	mustRun(t, s)
	mustBe(t, "iterations", d.iterations, []int{1, 2, 3, 4})
	mustBe(t, "evaluations", d.evaluations, []int{0, 4}) // the last one always
	if _, elapsed := lines(t, f); elapsed != 80 {
		t.Errorf("%v seconds logged, expected 80", elapsed)
	}
	f.Close()

	// Resumed to two minutes in total, it has 40 seconds left.
	c := f.Config
	c.Run.Minutes = 2
	f = mustOpen(t, f.Dir)
	if err := f.Reconfigure(c); err != nil {
		t.Fatal(err)
	}
	d = &diary{}
	s = inMinutes(t, f, d)
	if p := s.Progress(); math.Abs(p-80.0/120) > 1e-9 {
		t.Errorf("a resumed run begins at %v of its budget", p)
	}
	mustRun(t, s)
	mustBe(t, "iterations of the second session", d.iterations, []int{5, 6, 7})
	if _, elapsed := lines(t, f); elapsed != 140 {
		t.Errorf("%v seconds logged, expected 140", elapsed)
	}
}

// TestShortestBudget: it is enough for an iteration.
func TestShortestBudget(t *testing.T) {
	d := &diary{}
	f := mustCreate(t, smallConfig(t, "run.iterations=0", "run.minutes=1e-9"))
	s := start(t, f, d)
	if s.Done() {
		t.Error("done before it has begun")
	}
	mustRun(t, s)
	mustBe(t, "iterations", d.iterations, []int{1})
	if !s.Done() {
		t.Error("not done at its end")
	}
	rows, err := run.ReadMetrics(f.Dir)
	if err != nil || rows[0]["states"] != 0 {
		t.Fatal(rows, err)
	}
	if _, ok := rows[0]["critic_error"]; ok {
		t.Errorf("the untrained agent has %v", rows[0])
	}
}

func TestResumeOfAFinishedRun(t *testing.T) {
	f := mustCreate(t, smallConfig(t))
	mustRun(t, start(t, f, &diary{}))
	before, elapsed := lines(t, f)
	f.Close()
	d := &diary{}
	f = mustOpen(t, f.Dir)
	s := start(t, f, d)
	mustRun(t, s)
	mustBe(t, "iterations", d.iterations, nil)
	if after, again := lines(t, f); !slices.Equal(before, after) || elapsed != again {
		t.Errorf("metrics %v, %v became %v, %v", before, elapsed, after, again)
	}
	if l := s.Learner(); l.Iteration() != 5 || l.Decisions() == 0 {
		t.Errorf("the learner says %d iterations, %d decisions", l.Iteration(), l.Decisions())
	}
}

// TestKilledBeforeTheFirstCheckpoint: the run starts over, but the untrained
// agent isn't measured again, and its time counts.
func TestKilledBeforeTheFirstCheckpoint(t *testing.T) {
	straight := mustCreate(t, smallConfig(t))
	mustRun(t, start(t, straight, &diary{}))

	f := mustCreate(t, smallConfig(t))
	runUntilKilled(t, f, 2)
	rows, err := run.ReadMetrics(f.Dir)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d lines before the kill, %v", len(rows), err)
	}
	f, d := mustOpen(t, f.Dir), &diary{}
	s := start(t, f, d)
	if got, want := s.elapsed().Seconds(), rows[0][elapsedColumn]; math.Abs(got-want) > 1e-6 || want == 0 {
		t.Errorf("the resumed run starts at %v seconds, expected %v", got, want)
	}
	mustRun(t, s)
	got, _ := lines(t, f)
	mustBe(t, "metrics", got, []int{0, 1, 2, 3, 4, 5})
	mustBe(t, "evaluations", d.evaluations, []int{2, 4, 5})
	mustEqualCheckpoints(t, straight.Path("checkpoints", "000005"), f.Path("checkpoints", "000005"))
}

// TestMetricsAheadOfTheCheckpoint: what was logged after the checkpoint is
// done, and logged, again.
func TestMetricsAheadOfTheCheckpoint(t *testing.T) {
	straight := mustCreate(t, smallConfig(t))
	mustRun(t, start(t, straight, &diary{}))

	f := mustCreate(t, smallConfig(t))
	runUntilKilled(t, f, 4)
	if got, _ := lines(t, f); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Fatalf("metrics before the kill: %v", got)
	}
	f, d := mustOpen(t, f.Dir), &diary{}
	mustRun(t, start(t, f, d))
	mustBe(t, "iterations", d.iterations, []int{3, 4, 5})
	got, _ := lines(t, f)
	mustBe(t, "metrics", got, []int{0, 1, 2, 3, 4, 5})
	for _, name := range []string{"000004", "000005"} {
		mustEqualCheckpoints(t, straight.Path("checkpoints", name), f.Path("checkpoints", name))
	}
}

// mustBeInterrupted checks what an interrupted run says.
func mustBeInterrupted(t *testing.T, err error, says string) {
	t.Helper()
	if !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, expected an interruption that says %q", err, says)
	}
}

// TestInterruptBeforeTheFirstIteration: nothing is saved, and nothing says so.
func TestInterruptBeforeTheFirstIteration(t *testing.T) {
	f, d := mustCreate(t, smallConfig(t)), &diary{}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	mustBeInterrupted(t, start(t, f, d).Run(ctx), "nothing to save")
	mustBe(t, "iterations", d.iterations, nil)
	mustBe(t, "checkpoints", d.checkpoints, nil)
	if got, _ := lines(t, f); len(got) > 0 {
		t.Errorf("metrics have %v", got)
	}
	mustRun(t, start(t, f, d)) // from the start
	mustBe(t, "evaluations", d.evaluations, []int{0, 2, 4, 5})
}

func TestInterruptInAnIteration(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d := &diary{onIteration: func(n int) {
		if n == 3 {
			cancel()
		}
	}}
	f := mustCreate(t, smallConfig(t))
	mustBeInterrupted(t, start(t, f, d).Run(ctx), "iteration 3 is saved")
	mustBe(t, "checkpoints", d.checkpoints, []int{2, 3})
	got, _ := lines(t, f)
	mustBe(t, "metrics", got, []int{0, 1, 2, 3})
}

// An opponent calls back at every move of the agent that it wraps, and counts how
// often it is closed.
type opponent struct {
	arena.Agent
	onAct  func()
	closed int
}

func (o *opponent) Act(dst []int32, g *rules.Games, rows []int32) {
	if o.onAct != nil {
		o.onAct()
	}
	o.Agent.Act(dst, g, rows)
}

func (o *opponent) Close() error {
	o.closed++
	return nil
}

// TestInterruptInAnEvaluation: the match is played to its end, the next isn't
// begun, and the iteration is saved without an evaluation.
func TestInterruptInAnEvaluation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d := &diary{}
	f := mustCreate(t, smallConfig(t))
	s := start(t, f, d)
	s.opponents[0] = &opponent{Agent: s.opponents[0], onAct: func() {
		if len(d.iterations) == 2 {
			cancel()
		}
	}}
	s.opponents[1] = &opponent{Agent: s.opponents[1], onAct: func() {
		if ctx.Err() != nil {
			t.Error("another match was played after the interrupt")
		}
	}}
	mustBeInterrupted(t, s.Run(ctx), "iteration 2 is saved")
	mustBe(t, "evaluations", d.evaluations, []int{0})
	mustBe(t, "checkpoints", d.checkpoints, []int{2})
	got, _ := lines(t, f)
	mustBe(t, "metrics", got, []int{0, 1, 2})
}

// TestOpponentsAreClosed, once each.
func TestOpponentsAreClosed(t *testing.T) {
	s, err := New(smallConfig(t), &diary{})
	if err != nil {
		t.Fatal(err)
	}
	o := &opponent{Agent: s.opponents[0]}
	s.opponents[0] = o
	s.Close()
	if o.closed != 1 {
		t.Errorf("closed %d times", o.closed)
	}
}

// TestNewErrors: what can't be trained is refused without a goroutine left.
func TestNewErrors(t *testing.T) {
	trained := mustCreate(t, smallConfig(t, "run.iterations=1"))
	mustRun(t, start(t, trained, &diary{}))
	before := runtime.NumGoroutine()
	for s, says := range map[string]string{
		"evaluation.opponents=rule,run:/nowhere":  "evaluation.opponents[1]: run:/nowhere: stat /nowhere",
		"evaluation.opponents=run:" + trained.Dir: "was trained on tiny rules, the match is played on mid: rules.colors is 2, expected 3",
		"evaluation.opponents=run:":               "evaluation.opponents[0]",
		"run.iterations=0":                        "run.minutes and run.iterations",
		"nets.hidden=0":                           "nets.hidden[0] is 0",
		"rules.max_turns=1e9":                     "games",
		"evaluation.opponents=ckpt:" + trained.Dir + "/checkpoints/000009": "000009",
	} {
		s2, err := New(smallConfig(t, "rules.preset=mid", "run.workers=3", s), &diary{})
		if err == nil {
			s2.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v does not say %q", s, err, says)
		}
	}
	for range 100 { // workers end a moment after their pool is closed
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, expected %d as before", runtime.NumGoroutine(), before)
}

// TestTrainedOpponent: one that was saved is opened once and plays every
// evaluation.
func TestTrainedOpponent(t *testing.T) {
	trained := mustCreate(t, smallConfig(t, "run.iterations=1"))
	mustRun(t, start(t, trained, &diary{}))
	d := &diary{}
	f := mustCreate(t, smallConfig(t))
	f.Config.Evaluation.Opponents = []string{"run:" + trained.Dir + "@current"}
	s := start(t, f, d)
	if err := os.RemoveAll(trained.Dir); err != nil {
		t.Fatal(err)
	}
	mustRun(t, s)
	mustBe(t, "evaluations", d.evaluations, []int{0, 2, 4, 5})
}

func TestLastEvaluation(t *testing.T) {
	e := run.Evaluation{Policies: []string{"average", "current"}, Opponents: []string{"heuristic-balanced", "run:runs/a"}}
	if n, results := LastEvaluation(e, []map[string]float64{{"iteration": 3}}); n != 0 || results != nil {
		t.Errorf("found %v in iteration %d", results, n)
	}
	want := []arena.Result{
		{Agent: "average", Opponent: "heuristic-balanced", WinRate: .5, MeanPoints: 3},
		{Agent: "current", Opponent: "run:runs/a", WinRate: .25, MeanPoints: -1},
	}
	row := columns(want)
	row["iteration"] = 4
	n, got := LastEvaluation(e, []map[string]float64{columns(want[:1]), row, {"iteration": 5}})
	if n != 4 || !slices.Equal(got, want) {
		t.Errorf("iteration %d: %+v, expected %+v", n, got, want)
	}
}

// TestEstimatorsTrain: every estimator, way to accumulate and kind of opponent
// runs as a whole, from configuration to checkpoint.
func TestEstimatorsTrain(t *testing.T) {
	for name, settings := range map[string][]string{
		"external":  {"learner.estimator=external", "learner.accumulate=reservoir"},
		"continued": {"learner.estimator=external", "learner.accumulate=reservoir", "learner.refit=continued", "learner.regret_steps=3", "learner.alternate=true", "learner.decay=true"},
		"once":      {"learner.estimator=robust", "learner.branch=2", "learner.branch_once=true", "learner.branch_plies=6"},
		"outcome":   {"learner.estimator=outcome", "learner.opponents=average=.5,current"},
		"league":    {"learner.opponents=league=.25,rule=.25,heuristic-balanced", "memory.snapshots=2"},
		"slots":     {"encoding.layout=slots-d1s1", "learner.opponents=rule"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &diary{}
			s := mustNew(t, smallConfig(t, settings...), d)
			mustAttach(t, s, mustCreate(t, smallConfig(t, settings...)))
			if err := s.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(d.iterations) != 5 || len(d.checkpoints) != 3 {
				t.Errorf("%d iterations and %d checkpoints, expected 5 and 3", len(d.iterations), len(d.checkpoints))
			}
		})
	}
	if _, err := New(smallConfig(t, "learner.opponents=nobody"), &diary{}); err == nil || !strings.Contains(err.Error(), "learner.opponents") || !strings.Contains(err.Error(), "league") {
		t.Errorf("error %v of an opponent that nobody knows", err)
	}
}
