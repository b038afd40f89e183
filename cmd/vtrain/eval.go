package main

import (
	"encoding/json"
	"fmt"

	"vtrain/cfr/agent"
	"vtrain/cfr/arena"
	"vtrain/vec"
)

type evalCmd struct {
	Agent    string `required:"" short:"a" help:"A bot's name, run:DIR or ckpt:DIR, with suffixes @current, @average (default), @greedy."`
	Opponent string `required:"" short:"o" help:"The same for the opponent."`
	Games    int    `short:"n" default:"1000" help:"Games to play, an even number: each deal is played twice, with seats swapped."`
	Seed     uint64 `default:"1" help:"Seed of deals and random choices."`
	Rules    string `placeholder:"PRESET" help:"Rules for two bots; trained agents bring their own. Games are cut after 400 turns."`
	JSON     bool   `help:"Print one JSON object."`
}

// Run plays the match.
func (c *evalCmd) Run(s *streams) error {
	specs := make([]agent.Spec, 2)
	for i, name := range []string{c.Agent, c.Opponent} {
		var err error
		if specs[i], err = agent.Parse(name); err != nil {
			return usageError{err}
		}
	}
	cfg, err := agent.CommonRules(c.Rules, specs...)
	if err != nil {
		return err
	}
	pool := vec.NewPool(0)
	defer pool.Close()
	players := make([]arena.Agent, 2)
	for i, spec := range specs {
		seed := vec.Derive(c.Seed, "agent", uint64(i))
		player, err := spec.Open(cfg, c.Games, seed, pool)
		if err != nil {
			return err
		}
		players[i] = player
	}
	result, err := arena.Play(cfg, players[0], players[1], arena.Options{Games: c.Games, Seed: c.Seed, Pool: pool})
	if err != nil {
		return usageError{err}
	}
	if c.JSON {
		return json.NewEncoder(s.out).Encode(result)
	}
	_, err = fmt.Fprint(s.out, describe(result))
	return err
}

// describe returns a match as a few lines.
func describe(r arena.Result) string {
	return fmt.Sprintf(`%s against %s, %d games (%d deals, each from both seats)
  won            %5.1f%% ± %.1f    drawn %.1f%%, lost %.1f%%
  points a game  %+6.1f ± %.1f
  plies a game   %6.1f         cut by the turn limit: %d games
  a game it opened %.1f expeditions and drew %.2f useless cards from piles
(± is one standard error)
`, r.Agent, r.Opponent, r.Games, r.Games/2, 100*r.WinRate, 100*r.SEWin, 100*r.DrawRate, 100*(1-r.WinRate-r.DrawRate),
		r.MeanPoints, r.SEPoints, r.PliesPerGame, r.Capped, r.Expeditions, r.UselessDraws)
}
