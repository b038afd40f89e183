// Package train is the main job: it runs a learner over a run folder, with
// evaluations, metrics and checkpoints, until its budget is spent or it is
// asked to stop.
package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"vtrain/cfr"
	"vtrain/cfr/agent"
	"vtrain/cfr/arena"
	"vtrain/cfr/run"
	"vtrain/encode"
	"vtrain/vec"
)

// ErrInterrupted is what Run returns, wrapped in a line about what is saved,
// when it was asked to stop.
var ErrInterrupted = errors.New("interrupted")

// A Reporter is told what happens. Methods are called one at a time.
type Reporter interface {
	// Iteration is called after each iteration. Progress, in [0,1], is the
	// share of the budget spent.
	Iteration(m cfr.Metrics, progress float64)
	// Evaluation is called when matches have been played and recorded.
	Evaluation(iteration int, results []arena.Result)
	// Checkpoint is called when a checkpoint is safe on disk.
	Checkpoint(iteration int)
}

// elapsedColumn is the metric of the seconds spent on a run, by all sessions.
const elapsedColumn = "elapsed_seconds"

// A Session is a run in progress.
type Session struct {
	cfg       run.Config
	report    Reporter
	pool      *vec.Pool
	layout    encode.Layout
	plan      cfr.Plan
	learner   *cfr.Learner
	opponents []arena.Agent // of evaluations
	taught    []arena.Agent // of the traverser

	folder *run.Folder
	begun  bool          // the learner has what it starts from
	logged bool          // the metrics have a line already
	saved  int           // iteration of the newest checkpoint
	before time.Duration // spent on the run by earlier sessions

	now     func() time.Time
	started time.Time // zero before Run
}

// New prepares a session of a configuration, and opens all that it names: no
// folder is needed, and none is touched. The caller closes the session.
func New(cfg run.Config, report Reporter) (*Session, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Run.Minutes == 0 && cfg.Run.Iterations == 0 {
		return nil, errors.New("run.minutes and run.iterations are 0, expected one of them as the run's budget")
	}
	s := &Session{cfg: cfg, report: report, pool: vec.NewPool(cfg.Run.Workers), now: time.Now}
	if err := s.prepare(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Check reports what is impossible about a configuration by itself, the
// opponents' folders aside.
func Check(c run.Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	layout, err := encode.New(c.Encoding.Layout, c.Rules.Config)
	if err != nil {
		return err
	}
	_, err = cfr.NewPlan(encode.NewBatch(layout, nil), c.Nets.Hidden, c.Memory, c.Learner)
	return err
}

func (s *Session) prepare() (err error) {
	c := &s.cfg
	if s.layout, err = encode.New(c.Encoding.Layout, c.Rules.Config); err != nil {
		return err
	}
	if err := s.openOpponents(); err != nil {
		return err
	}
	game := encode.NewBatch(s.layout, s.pool)
	if s.plan, err = cfr.NewPlan(game, c.Nets.Hidden, c.Memory, c.Learner); err != nil {
		return err
	}
	if s.learner, err = cfr.NewLearner(game, c.Nets.Networks(), c.Memory, c.Learner, c.Run.Seed, s.pool); err != nil {
		return err
	}
	return s.enterOpponents()
}

// enterOpponents brings the learner those that it doesn't have itself.
func (s *Session) enterOpponents() error {
	for _, text := range slices.Clone(s.learner.Missing()) {
		name, err := run.ParseAgent(text)
		if err != nil {
			return fmt.Errorf("learner.opponents: %w; besides %s", err, strings.Join(cfr.OwnOpponents(), ", "))
		}
		o, err := agent.Open(name, s.cfg.Rules.Config, s.cfg.Learner.Games, vec.Derive(s.cfg.Run.Seed, "opponent "+text, 0), s.pool)
		if err != nil {
			return fmt.Errorf("learner.opponents: %w", err)
		}
		s.taught = append(s.taught, o)
		s.learner.Enter(text, agent.AsActor(o, s.layout))
	}
	return nil
}

// Begin gives a new learner what run.init says it starts from; if that is
// nothing, new networks. Attach does so where it finds no checkpoint.
func (s *Session) Begin() error {
	if s.begun || s.cfg.Run.Init == "" {
		return nil
	}
	name, err := run.ParseAgent(s.cfg.Run.Init)
	if err != nil {
		return err
	}
	saved, err := agent.Load(name, s.layout)
	if err != nil {
		return fmt.Errorf("run.init: %w", err)
	}
	if have, want := saved.Config.Learner.Scale, s.cfg.Learner.Scale; have != want {
		return fmt.Errorf("run.init: learner.scale of %s is %g, expected %g", name.Text, have, want)
	}
	if err := s.learner.Start(saved.Network); err != nil {
		return fmt.Errorf("run.init: %w", err)
	}
	s.begun = true
	return nil
}

// Attach gives the session the folder of its configuration, and continues from
// the newest checkpoint there, if there is one.
func (s *Session) Attach(folder *run.Folder) error {
	s.folder = folder
	saved, err := folder.Resume()
	if err != nil {
		return err
	}
	if saved == nil {
		if err := s.Begin(); err != nil {
			return err
		}
	} else {
		if err := s.learner.Restore(saved.State); err != nil {
			return fmt.Errorf("%s: %w", saved.Dir, err)
		}
		s.saved = saved.State.Iteration
	}
	rows, err := run.ReadMetrics(folder.Dir)
	if err != nil {
		return err
	}
	if n := len(rows); n > 0 {
		s.logged = true
		s.before = time.Duration(rows[n-1][elapsedColumn] * float64(time.Second))
	}
	return nil
}

// Close frees what the session holds.
func (s *Session) Close() {
	if s.learner != nil {
		s.learner.Close()
	}
	for _, o := range slices.Concat(s.opponents, s.taught) {
		_ = agent.Close(o) // only ever read from
	}
	s.pool.Close()
}

// Learner returns the learner, for what is printed about it.
func (s *Session) Learner() *cfr.Learner { return s.learner }

// Plan returns the bounds of what the session will use.
func (s *Session) Plan() cfr.Plan { return s.plan }

// Run iterates in the folder until the budget is spent. When ctx is cancelled
// it gives the traversal up, or finishes what it fits or plays, saves, and returns
// ErrInterrupted.
func (s *Session) Run(ctx context.Context) error {
	s.started = s.now()
	if s.learner.Iteration() == 0 && !s.logged { // the curves start with the untrained agent
		if err := s.recordUntrained(ctx); err != nil {
			return err
		}
	}
	var err error
	for done := s.Done(); !done && ctx.Err() == nil; {
		if done, err = s.iterate(ctx); err != nil {
			return err
		}
	}
	if err := s.save(); err != nil {
		return err
	}
	return s.interruption(ctx)
}

// interruption returns what to say of a run that was asked to stop, be it in
// its last iteration.
func (s *Session) interruption(ctx context.Context) error {
	switch n := s.learner.Iteration(); {
	case ctx.Err() == nil:
		return nil
	case n == 0:
		return fmt.Errorf("%w before iteration 1: there is nothing to save yet", ErrInterrupted)
	default:
		return fmt.Errorf("%w: iteration %d is saved", ErrInterrupted, n)
	}
}

// Progress returns the share of the budget spent: of the iterations alone if
// they are limited, so that nothing a run computes depends on the clock.
func (s *Session) Progress() float64 {
	if n := s.cfg.Run.Iterations; n > 0 {
		return float64(s.learner.Iteration()) / float64(n)
	}
	return s.elapsed().Minutes() / s.cfg.Run.Minutes
}

// Done reports whether the budget is spent. Even the shortest is enough for one
// iteration.
func (s *Session) Done() bool { return s.learner.Iteration() > 0 && s.Progress() >= 1 }

// Spent says what is done of the budget, such as "33 of 10 iterations".
func (s *Session) Spent() string {
	if n := s.cfg.Run.Iterations; n > 0 {
		return fmt.Sprintf("%d of %d iterations", s.learner.Iteration(), n)
	}
	return fmt.Sprintf("%.1f of %g minutes", s.elapsed().Minutes(), s.cfg.Run.Minutes)
}

func (s *Session) elapsed() time.Duration {
	if s.started.IsZero() {
		return s.before
	}
	return s.before + s.now().Sub(s.started)
}

// iterate does an iteration, and reports whether it was the last. That is
// decided once: the last iteration is evaluated, whatever the clock says next.
func (s *Session) iterate(ctx context.Context) (done bool, err error) {
	m, err := s.learner.Iterate(ctx, s.Progress())
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return false, nil // the iteration hasn't happened
	case err != nil:
		return false, err
	}
	progress := s.Progress()
	done = progress >= 1
	s.report.Iteration(m, min(progress, 1))
	var results []arena.Result
	if done || evaluated(m.Iteration, s.cfg.Evaluation.Every) {
		if results, err = s.evaluate(ctx); err != nil {
			return false, err
		}
	}
	if err := s.record(m, results); err != nil {
		return false, err
	}
	if due(m.Iteration, s.cfg.Checkpoint.Every) {
		return done, s.save()
	}
	return done, nil
}

// recordUntrained logs iteration 0. Unless it has been evaluated in full there
// is no reason to: a resumed run does it again.
func (s *Session) recordUntrained(ctx context.Context) error {
	results, err := s.evaluate(ctx)
	if err != nil || ctx.Err() != nil {
		return err
	}
	if err := s.folder.AppendUntrained(s.measured(results)); err != nil {
		return err
	}
	s.reportEvaluation(0, results)
	return nil
}

// measured returns the columns that aren't the learner's.
func (s *Session) measured(results []arena.Result) map[string]float64 {
	extra := columns(results)
	extra[elapsedColumn] = s.elapsed().Seconds()
	return extra
}

func (s *Session) reportEvaluation(iteration int, results []arena.Result) {
	if len(results) > 0 {
		s.report.Evaluation(iteration, results)
	}
}

// record appends an iteration's line to the metrics.
func (s *Session) record(m cfr.Metrics, results []arena.Result) error {
	if err := s.folder.Append(m, s.measured(results)); err != nil {
		return err
	}
	s.reportEvaluation(m.Iteration, results)
	return nil
}

// earlyEvaluations is how many parts the first interval between evaluations
// has, so that short runs have a curve.
const earlyEvaluations = 5

// evaluated reports whether an iteration is followed by an evaluation.
func evaluated(iteration, every int) bool {
	return due(iteration, every) || iteration < every && due(iteration, every/earlyEvaluations)
}

// due reports whether something is to be done every so many iterations; never
// if that is 0.
func due(iteration, every int) bool { return every > 0 && iteration%every == 0 }

// save writes a checkpoint of the iteration, unless there is one.
func (s *Session) save() error {
	if s.saved == s.learner.Iteration() {
		return nil
	}
	if err := s.folder.Save(s.learner.State()); err != nil {
		return err
	}
	s.saved = s.learner.Iteration()
	s.report.Checkpoint(s.saved)
	return nil
}
