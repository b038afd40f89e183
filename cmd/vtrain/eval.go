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
	Agent    string `required:"" short:"a" help:"A bot's name, run:DIR or ckpt:DIR, with suffixes @current, @average (default), @greedy."`
	Opponent string `required:"" short:"o" help:"The same for the opponent."`
	Games    int    `short:"n" default:"1000" help:"Games to play, an even number: each deal is played twice, with seats swapped."`
	Seed     uint64 `default:"1" help:"Seed of deals and random choices."`
	Rules    string `placeholder:"PRESET" help:"Rules to play by; default those that the first trained agent was trained on, or else classic, cut after 400 turns."`
	JSON     bool   `help:"Print one JSON object."`
}

// Run plays the match.
func (c *evalCmd) Run(s *streams) error {
	names, err := c.check()
	if err != nil {
		return usageError{err}
	}
	result, err := c.play(names, s)
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
func (c *evalCmd) check() ([2]run.AgentName, error) {
	var names [2]run.AgentName
	for i, text := range []string{c.Agent, c.Opponent} {
		var err error
		if names[i], err = run.ParseAgent(text); err != nil {
			return names, err
		}
	}
	if !arena.Playable(c.Games) || c.Games > run.MaxGames {
		return names, fmt.Errorf("--games is %d, expected an even number from %d to %d", c.Games, arena.MinGames, run.MaxGames)
	}
	if c.Rules != "" {
		if _, err := rules.Preset(c.Rules); err != nil {
			return names, fmt.Errorf("--rules: %w", err)
		}
	}
	return names, nil
}

func (c *evalCmd) play(names [2]run.AgentName, s *streams) (arena.Result, error) {
	cfg, err := c.rules(names)
	if err != nil {
		return arena.Result{}, err
	}
	pool := vec.NewPool(0)
	defer pool.Close()
	var players [2]arena.Agent
	for i, name := range names {
		seed := vec.Derive(c.Seed, "agent", uint64(i))
		if players[i], err = agent.Open(name, cfg, min(c.Games, arena.DefaultBatch), seed, pool); err != nil {
			return arena.Result{}, err
		}
		defer agent.Close(players[i])
	}
	progress := newMatchProgress(s, c.Games)
	defer progress.finish()
	return arena.Play(cfg, players[0], players[1], arena.Options{Games: c.Games, Seed: c.Seed, Pool: pool, Progress: progress.played})
}

// rules returns those of the flag, or else the agents' own.
func (c *evalCmd) rules(names [2]run.AgentName) (rules.Config, error) {
	cfg := run.Default().Rules.Config
	if c.Rules == "" {
		return agent.Rules(cfg, names[:]...)
	}
	turns := cfg.MaxTurns
	cfg, err := rules.Preset(c.Rules)
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
  a game it opened %.1f expeditions and drew %.2f useless cards from piles
(± is one standard error)
`, r.Agent, r.Opponent, r.Games, r.Games/2, 100*r.WinRate, 100*r.SEWin, 100*r.DrawRate, 100*lost(r),
		r.MeanPoints, r.SEPoints, r.PliesPerGame, r.Capped, r.Expeditions, r.UselessDraws)
}
