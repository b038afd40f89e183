package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"vtrain/cfr/run"
	"vtrain/cfr/tabular"
	"vtrain/cfr/tabular/games"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// A solvable is a game that can be solved if it is small enough.
type solvable struct {
	batch vec.Enumerable
	name  string // for people
	turns int    // after which Lost Cities is cut, 0 for other games
}

// game finds the game that --rules names.
func (c *solveCmd) game() (solvable, error) {
	if b := games.Open(c.Rules); b != nil {
		if c.Turns != nil {
			return solvable{}, usageError{fmt.Errorf("--turns is for Lost Cities, and %s ends by itself", c.Rules)}
		}
		return solvable{batch: b, name: c.Rules}, nil
	}
	cfg, err := c.variant()
	if err != nil {
		return solvable{}, err
	}
	if c.Turns != nil {
		cfg.MaxTurns = *c.Turns
	}
	if err := cfg.Validate(); err != nil {
		return solvable{}, fmt.Errorf("%s: %w", c.Rules, err)
	}
	name := fmt.Sprintf("%s cut after %s", c.Rules, counted(int64(cfg.MaxTurns), "turn"))
	return solvable{encode.NewBatch(encode.NewCards(cfg), nil), name, cfg.MaxTurns}, nil
}

// variant returns the rules of Lost Cities that --rules names, with a turn
// limit: drawing from piles could go on for ever.
func (c *solveCmd) variant() (rules.Config, error) {
	if c.Turns != nil && *c.Turns < 1 {
		return rules.Config{}, usageError{fmt.Errorf("--turns is %d, expected at least 1", *c.Turns)}
	}
	cfg, err := rules.Preset(c.Rules)
	switch {
	case err == nil:
		cfg.MaxTurns = max(1, cfg.DeckSize())
		return cfg, nil
	case !isFile(c.Rules):
		names := slices.Concat(games.Names(), rules.Presets())
		return cfg, usageError{fmt.Errorf("--rules is %q, expected one of %s, or a configuration file", c.Rules, strings.Join(names, ", "))}
	}
	file, err := run.LoadConfig(c.Rules)
	if err == nil && file.Rules.MaxTurns == 0 && c.Turns == nil {
		err = fmt.Errorf("%s: rules.max_turns is 0, expected at least 1 or --turns", c.Rules)
	}
	return file.Rules.Config, err
}

// explain says what can be done about a game that is too large.
func (g solvable) explain(err error) error {
	var large *tabular.TooLargeError
	if !errors.As(err, &large) {
		return err
	}
	remedy := "--limit"
	if g.turns > 1 {
		remedy = "--turns or --limit"
	}
	return fmt.Errorf("%s is too large: %w; see %s", g.name, err, remedy)
}
