package train

import (
	"context"
	"fmt"
	"slices"

	"vtrain/cfr/agent"
	"vtrain/cfr/arena"
	"vtrain/cfr/run"
	"vtrain/vec"
)

// Seeds of what is drawn beside the learner's own.
const (
	matchPurpose    = "evaluation matches"
	actionPurpose   = "evaluation actions"
	opponentPurpose = "evaluation opponents"
)

// openOpponents opens the players of all evaluations.
func (s *Session) openOpponents() error {
	e := s.cfg.Evaluation
	if e.Games == 0 {
		return nil
	}
	for i, text := range e.Opponents {
		name, err := run.ParseAgent(text)
		if err != nil {
			return err
		}
		seed := vec.Derive(s.cfg.Run.Seed, opponentPurpose, 0)
		o, err := agent.Open(name, s.cfg.Rules.Config, min(e.Games, arena.DefaultBatch), seed, s.pool)
		if err != nil {
			return fmt.Errorf("evaluation.opponents[%d]: %w", i, err)
		}
		s.opponents = append(s.opponents, o)
	}
	return nil
}

// evaluate plays the matches of the configuration. Once ctx is cancelled it
// starts no other, and returns none.
func (s *Session) evaluate(ctx context.Context) ([]arena.Result, error) {
	if len(s.opponents) == 0 {
		return nil, nil
	}
	var results []arena.Result
	for _, policy := range s.cfg.Evaluation.Policies {
		r, err := s.matches(ctx, policy)
		if err != nil {
			return nil, err
		}
		results = append(results, r...)
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	return results, nil
}

// matches plays one policy against all opponents, each time on the same deals.
func (s *Session) matches(ctx context.Context, name string) ([]arena.Result, error) {
	policyOf := s.learner.Average
	if name == run.Current {
		policyOf = s.learner.Current
	}
	seed, games := s.cfg.Run.Seed, s.cfg.Evaluation.Games
	policy, err := policyOf(min(games, arena.DefaultBatch), vec.Derive(seed, actionPurpose, 0))
	if err != nil {
		return nil, err
	}
	player := agent.NewPolicyAgent(name, policy, s.layout)
	defer player.Close()
	o := arena.Options{Games: games, Seed: vec.Derive(seed, matchPurpose, 0), Pool: s.pool}
	var results []arena.Result
	for _, opponent := range s.opponents {
		if ctx.Err() != nil {
			return nil, nil
		}
		r, err := arena.Play(s.cfg.Rules.Config, player, opponent, o)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// columns returns the numbers of matches as the metrics name them, such as
// eval_average_rule_points.
func columns(results []arena.Result) map[string]float64 {
	named := map[string]float64{}
	for _, r := range results {
		for figure, value := range map[string]float64{
			winFigure: r.WinRate, pointsFigure: r.MeanPoints, "win_se": r.SEWin, "points_se": r.SEPoints, "draw": r.DrawRate,
			pliesFigure: r.PliesPerGame, cappedFigure: float64(r.Capped), uselessFigure: r.UselessDraws, "expeditions": r.Expeditions,
		} {
			named[column(r.Agent, r.Opponent, figure)] = value
		}
	}
	return named
}

// Figures that LastEvaluation reads back.
const (
	winFigure     = "win"
	pointsFigure  = "points"
	pliesFigure   = "plies"
	cappedFigure  = "capped"
	uselessFigure = "useless_draws"
)

func column(policy, opponent, figure string) string {
	return run.MetricKey("eval", policy, opponent, figure)
}

// LastEvaluation finds the newest evaluation in lines of metrics: its
// iteration, and win rates, mean points, plies, capped games and useless draws of
// its matches. There are none if there has been no evaluation.
func LastEvaluation(e run.Evaluation, rows []map[string]float64) (iteration int, results []arena.Result) {
	for _, row := range slices.Backward(rows) {
		if results := evaluationIn(e, row); len(results) > 0 {
			return int(row["iteration"]), results
		}
	}
	return 0, nil
}

func evaluationIn(e run.Evaluation, row map[string]float64) []arena.Result {
	var results []arena.Result
	for _, policy := range e.Policies {
		for _, opponent := range e.Opponents {
			if win, ok := row[column(policy, opponent, winFigure)]; ok {
				points := row[column(policy, opponent, pointsFigure)]
				results = append(results, arena.Result{
					Agent: policy, Opponent: opponent, WinRate: win, MeanPoints: points,
					PliesPerGame: row[column(policy, opponent, pliesFigure)], Capped: int(row[column(policy, opponent, cappedFigure)]),
					UselessDraws: row[column(policy, opponent, uselessFigure)],
				})
			}
		}
	}
	return results
}
