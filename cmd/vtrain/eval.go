package main

import (
	"encoding/json"
	"fmt"
	"math"

	"vtrain/cfr/agent"
	"vtrain/cfr/arena"
	"vtrain/cfr/run"
	"vtrain/rules"
	"vtrain/vec"
)

type evalCmd struct {
	Agent    string `required:"" short:"a" help:"A bot's name, champion, run:DIR or ckpt:DIR, with suffixes @current, @average (default), @greedy, @search."`
	Opponent string `required:"" short:"o" help:"The same for the opponent."`
	matchFlags
}

// matchFlags are what matches have in common, of two agents or of all pairs.
type matchFlags struct {
	Games   int    `short:"n" default:"1000" help:"Games of a match, an even number: each deal is played twice, with seats swapped."`
	Seed    uint64 `default:"1" help:"Seed of deals and random choices."`
	Rules   string `placeholder:"PRESET" help:"Rules to play by; default those that the first trained agent was trained on, or else classic, cut after 400 turns."`
	Workers int    `placeholder:"N" help:"Workers, on which no result depends; default one for each core granted."`
	JSON    bool   `help:"Print one JSON object."`
}

// Run plays the match.
func (c *evalCmd) Run(s *streams) error {
	names, err := c.check(c.Agent, c.Opponent)
	if err != nil {
		return usageError{err}
	}
	var result arena.Result
	err = c.play(s, names, func(cfg rules.Config, agents []arena.Agent, o arena.Options) (err error) {
		result, err = arena.Play(cfg, agents[0], agents[1], o)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(s.out).Encode(result)
	}
	_, err = fmt.Fprint(s.out, describe(result))
	return err
}

// check finds what is wrong with the command line alone.
func (f *matchFlags) check(agents ...string) ([]run.AgentName, error) {
	var names []run.AgentName
	for _, text := range agents {
		name, err := run.ParseAgent(text)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if !arena.Playable(f.Games) || f.Games > run.MaxGames {
		return nil, fmt.Errorf("--games is %d, expected an even number from %d to %d", f.Games, arena.MinGames, run.MaxGames)
	}
	if f.Workers < 0 || f.Workers > maxWorkers {
		return nil, fmt.Errorf("--workers is %d, expected 0 to %d", f.Workers, maxWorkers)
	}
	if f.Rules != "" {
		if _, err := rules.Preset(f.Rules); err != nil {
			return nil, fmt.Errorf("--rules: %w", err)
		}
	}
	return names, nil
}

// maxWorkers is as many as a run may have.
const maxWorkers = 4096

// play opens the agents, has them play each other, and shows progress.
func (f *matchFlags) play(s *streams, names []run.AgentName, with func(rules.Config, []arena.Agent, arena.Options) error) error {
	cfg, err := f.rules(names)
	if err != nil {
		return err
	}
	pool := vec.NewPool(f.Workers)
	defer pool.Close()
	var players []arena.Agent
	for i, name := range names {
		seed := vec.Derive(f.Seed, "agent", uint64(i))
		a, err := agent.Open(name, cfg, min(f.Games, arena.DefaultBatch), seed, pool)
		if err != nil {
			return err
		}
		defer agent.Close(a)
		players = append(players, a)
	}
	progress := newMatchProgress(s, f.Games*arena.Pairs(len(names)))
	defer progress.finish()
	return with(cfg, players, arena.Options{Games: f.Games, Seed: f.Seed, Pool: pool, Progress: progress.played})
}

// rules returns those of the flag, or else the agents' own.
func (f *matchFlags) rules(names []run.AgentName) (rules.Config, error) {
	cfg := run.Default().Rules.Config
	if f.Rules == "" {
		return agent.Rules(cfg, names...)
	}
	turns := cfg.MaxTurns
	cfg, err := rules.Preset(f.Rules)
	cfg.MaxTurns = turns
	return cfg, err
}

// lost returns the share of games lost, counted: one less the other shares can
// be a little below zero.
func lost(r arena.Result) float64 {
	games := float64(r.Games)
	return (games - math.Round(r.WinRate*games) - math.Round(r.DrawRate*games)) / games
}

// describe returns a match as a few lines.
func describe(r arena.Result) string {
	return fmt.Sprintf(`%s against %s, %d games (%d deals, each from both seats)
  won            %5.1f%% ± %.1f    drawn %.1f%%, lost %.1f%%
  points a game  %+6.1f ± %.1f
  plies a game   %6.1f         cut by the turn limit: %d games
  useless draws  %6.2f a game  (the opponent %.2f): from a pile, and discarded at the next turn
  expeditions    %6.1f a game
(± is one standard error)
`, r.Agent, r.Opponent, r.Games, r.Games/2, 100*r.WinRate, 100*r.SEWin, 100*r.DrawRate, 100*lost(r),
		r.MeanPoints, r.SEPoints, r.PliesPerGame, r.Capped, r.UselessDraws, r.OpponentUselessDraws, r.Expeditions)
}
