// Package train is the main job: it runs a learner over a run folder, with
// evaluations, metrics and checkpoints, until its budget is spent or it is
// asked to stop.
package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vtrain/cfr"
	"vtrain/cfr/agent"
	"vtrain/cfr/arena"
	"vtrain/cfr/run"
	"vtrain/encode"
	"vtrain/vec"
)

// ErrInterrupted is what Run returns when it was asked to stop, after the
// iteration had been finished and saved.
var ErrInterrupted = errors.New("interrupted; the last iteration is saved")

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
	cfg     run.Config
	folder  *run.Folder
	report  Reporter
	pool    *vec.Pool
	layout  encode.Layout
	learner *cfr.Learner
	before  time.Duration // spent on the run by earlier sessions
	started time.Time
	saved   int // iteration of the newest checkpoint
}

// seeds of what is drawn beside the learner's own.
const (
	matchPurpose    = "evaluation matches"
	actionPurpose   = "evaluation actions"
	opponentPurpose = "evaluation opponents"
)

// New prepares a session over a folder, from its newest checkpoint if it has
// one. The caller closes the session, then the folder.
func New(folder *run.Folder, report Reporter) (*Session, error) {
	cfg := folder.Config
	s := &Session{cfg: cfg, folder: folder, report: report, pool: vec.NewPool(cfg.Run.Workers)}
	layout, err := encode.New(cfg.Encoding.Layout, cfg.Rules.Config)
	if err != nil {
		return nil, err
	}
	s.layout = layout
	game := encode.NewBatch(layout, s.pool)
	s.learner, err = cfr.NewLearner(game, cfg.Nets.Hidden, cfg.Memory.StrategyRows, cfg.Learner, cfg.Run.Seed, s.pool)
	if err != nil {
		s.pool.Close()
		return nil, err
	}
	if err := s.resume(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close frees what the session holds.
func (s *Session) Close() {
	s.learner.Close()
	s.pool.Close()
}

// Learner returns the learner, for what is printed about it.
func (s *Session) Learner() *cfr.Learner { return s.learner }

// Layout returns the encoding.
func (s *Session) Layout() encode.Layout { return s.layout }

// Run iterates until the budget is spent. When ctx is cancelled it finishes
// the iteration, saves, and returns ErrInterrupted.
func (s *Session) Run(ctx context.Context) error {
	s.started = time.Now()
	if s.learner.Iteration() == 0 { // the curves start with the untrained agent
		if err := s.record(cfr.Metrics{}, true); err != nil {
			return err
		}
	}
	for s.progress() < 1 {
		if ctx.Err() != nil {
			if err := s.save(); err != nil {
				return err
			}
			return ErrInterrupted
		}
		if err := s.iterate(); err != nil {
			return err
		}
	}
	return s.save()
}

// progress returns the share of the budget spent: of the iterations alone if
// they are limited, so that nothing a run computes depends on the clock.
func (s *Session) progress() float64 {
	if n := s.cfg.Run.Iterations; n > 0 {
		return float64(s.learner.Iteration()) / float64(n)
	}
	return s.elapsed().Minutes() / s.cfg.Run.Minutes
}

func (s *Session) elapsed() time.Duration { return s.before + time.Since(s.started) }

func (s *Session) iterate() error {
	m, err := s.learner.Iterate(s.progress())
	if err != nil {
		return err
	}
	s.report.Iteration(m, min(s.progress(), 1))
	if err := s.record(m, due(m.Iteration, s.cfg.Evaluation.Every) || s.progress() >= 1); err != nil {
		return err
	}
	if due(m.Iteration, s.cfg.Checkpoint.Every) {
		return s.save()
	}
	return nil
}

// record appends an iteration's line to the metrics, with matches if asked.
func (s *Session) record(m cfr.Metrics, evaluate bool) error {
	var results []arena.Result
	if evaluate && s.cfg.Evaluation.Games > 0 {
		var err error
		if results, err = s.evaluate(); err != nil {
			return err
		}
	}
	extra := columns(results)
	extra[elapsedColumn] = s.elapsed().Seconds()
	if err := s.folder.Append(m, extra); err != nil {
		return err
	}
	if results != nil {
		s.report.Evaluation(m.Iteration, results)
	}
	return nil
}

// due reports whether something is to be done every so many iterations; never
// if that is 0.
func due(iteration, every int) bool { return every > 0 && iteration%every == 0 }

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

// resume continues from the folder's newest checkpoint, if it has one.
func (s *Session) resume() error {
	saved, err := s.folder.Resume()
	if errors.Is(err, run.ErrNoCheckpoint) {
		return s.folder.Rewind(0)
	}
	if err != nil {
		return err
	}
	if err := s.learner.Restore(saved.State); err != nil {
		return fmt.Errorf("%s: %w", saved.Dir, err)
	}
	s.saved = saved.State.Iteration
	rows, err := run.ReadMetrics(s.folder.Dir)
	if err != nil {
		return err
	}
	if n := len(rows); n > 0 {
		s.before = time.Duration(rows[n-1][elapsedColumn] * float64(time.Second))
	}
	return nil
}

// evaluate plays the matches of the configuration.
func (s *Session) evaluate() ([]arena.Result, error) {
	var results []arena.Result
	for _, policy := range s.cfg.Evaluation.Policies {
		r, err := s.matches(policy)
		if err != nil {
			return nil, err
		}
		results = append(results, r...)
	}
	return results, nil
}

// columns returns the numbers of matches as the metrics name them, such as
// eval_average_rule_points.
func columns(results []arena.Result) map[string]float64 {
	named := map[string]float64{}
	for _, r := range results {
		for name, value := range map[string]float64{
			"win": r.WinRate, "win_se": r.SEWin, "draw": r.DrawRate, "points": r.MeanPoints, "points_se": r.SEPoints,
			"plies": r.PliesPerGame, "capped": float64(r.Capped), "useless_draws": r.UselessDraws, "expeditions": r.Expeditions,
		} {
			named[run.MetricKey("eval", r.Agent, r.Opponent, name)] = value
		}
	}
	return named
}

// matches plays one policy against all opponents, each time on the same deals.
func (s *Session) matches(name string) ([]arena.Result, error) {
	policyOf := s.learner.Average
	if name == agent.Current {
		policyOf = s.learner.Current
	}
	seed, games := s.cfg.Run.Seed, s.cfg.Evaluation.Games
	policy, err := policyOf(games, vec.Derive(seed, actionPurpose, 0))
	if err != nil {
		return nil, err
	}
	player := agent.NewPolicyAgent(name, policy, s.layout)
	defer player.Close()
	var results []arena.Result
	for _, opponent := range s.cfg.Evaluation.Opponents {
		spec, err := agent.Parse(opponent)
		if err != nil {
			return nil, err
		}
		other, err := spec.Open(s.cfg.Rules.Config, games, vec.Derive(seed, opponentPurpose, 0), s.pool)
		if err != nil {
			return nil, err
		}
		o := arena.Options{Games: games, Seed: vec.Derive(seed, matchPurpose, 0), Pool: s.pool}
		r, err := arena.Play(s.cfg.Rules.Config, player, other, o)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}
