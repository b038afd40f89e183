package run

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/rules/bots"
)

// Config is the configuration of a run, section by section. The zero value is
// not valid; start from Default.
type Config struct {
	Run        Run         `yaml:"run"`
	Rules      Rules       `yaml:"rules"`
	Encoding   Encoding    `yaml:"encoding"`
	Nets       Nets        `yaml:"nets"`
	Learner    cfr.Options `yaml:"learner"`
	Memory     Memory      `yaml:"memory"`
	Evaluation Evaluation  `yaml:"evaluation"`
	Checkpoint Schedule    `yaml:"checkpoint"`
}

// Run is the section of the run as such. Minutes and Iterations are its budget;
// where both are 0 the caller decides.
type Run struct {
	Name       string  `yaml:"name"`
	Seed       uint64  `yaml:"seed"`
	Minutes    float64 `yaml:"minutes"`
	Iterations int     `yaml:"iterations"`
	Workers    int     `yaml:"workers"`
}

// Rules is a variant of the game: a preset and its values, which may have been
// changed since.
type Rules struct {
	Preset       string `yaml:"preset"`
	rules.Config `yaml:",inline"`
}

// Encoding selects what networks see.
type Encoding struct {
	Layout string `yaml:"layout"`
}

// Nets is the shape that all networks share between inputs and outputs.
type Nets struct {
	Hidden []int `yaml:"hidden"`
}

// Memory bounds what the average strategy is learned from.
type Memory struct {
	StrategyRows int `yaml:"strategy_rows"`
}

// Evaluation is how often, and against whom, a run plays matches.
type Evaluation struct {
	Every     int      `yaml:"every"`
	Games     int      `yaml:"games"`
	Opponents []string `yaml:"opponents"`
	Policies  []string `yaml:"policies"`
}

// Schedule is how often checkpoints are written and how many stay.
type Schedule struct {
	Every int `yaml:"every"`
	Keep  int `yaml:"keep"`
}

// defaultTurns bounds games by default: players who only draw from piles would
// play for ever.
const defaultTurns = 400

// Default returns the configuration of the default agent.
func Default() Config {
	variant := rules.MustPreset("classic")
	variant.MaxTurns = defaultTurns
	return Config{
		Run:        Run{Seed: 1},
		Rules:      Rules{Preset: "classic", Config: variant},
		Encoding:   Encoding{Layout: "cards"},
		Nets:       Nets{Hidden: []int{256, 256}},
		Learner:    cfr.DefaultOptions(),
		Memory:     Memory{StrategyRows: 1_000_000},
		Evaluation: Evaluation{Every: 50, Games: 400, Opponents: []string{"random", "heuristic-balanced", "rule"}, Policies: []string{"average", "current"}},
		Checkpoint: Schedule{Every: 50, Keep: 3},
	}
}

// Core returns the part of the configuration that decides what is learned, the
// rest at its defaults: runs of equal cores learn the same, whatever they are
// called, on however many cores, and however often they stop to be measured or
// saved.
func (c Config) Core() Config {
	d := Default()
	d.Run.Seed, d.Run.Iterations = c.Run.Seed, c.Run.Iterations
	c.Run, c.Evaluation, c.Checkpoint = d.Run, d.Evaluation, d.Checkpoint
	return c
}

// Hash returns the SHA-256 of all keys and values, as hexadecimal digits. The
// comments of Marshal don't enter it.
func (c Config) Hash() string {
	h := sha256.New()
	for _, k := range keysOf(&c) {
		fmt.Fprintf(h, "%s: %s\n", k.name, format(k.value))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Diff lists the keys whose values differ, as in "learner.epsilon: 0.1 -> 0.2".
func Diff(a, b Config) []string {
	var changes []string
	other := keysOf(&b)
	for i, k := range keysOf(&a) {
		if from, to := format(k.value), format(other[i].value); from != to {
			changes = append(changes, fmt.Sprintf("%s: %s -> %s", k.name, from, to))
		}
	}
	return changes
}

// Bounds of what a configuration may ask for.
const (
	maxWidth    = 8192
	maxHidden   = 16
	maxMinutes  = 1e7
	maxWorkers  = 4096
	maxGames    = 1 << 24
	maxKeep     = 1 << 20
	maxNameSize = 200
)

var policies = []string{"average", "current"}

// Validate reports the first impossible value of any section.
func (c Config) Validate() error {
	for _, section := range []func() error{c.validateName, c.validateRules, c.validateNets, c.Learner.Validate, c.validateEvaluation, c.validateNumbers} {
		if err := section(); err != nil {
			return err
		}
	}
	return nil
}

func (c Config) validateName() error {
	name := c.Run.Name
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
	if len(name) > maxNameSize || strings.HasPrefix(name, ".") || !plain {
		return fmt.Errorf("run.name is %q, expected at most %d letters, digits, '-', '_' and '.', the first no '.'", name, maxNameSize)
	}
	return nil
}

func (c Config) validateRules() error {
	if _, err := rules.Preset(c.Rules.Preset); err != nil {
		return badPreset(c.Rules.Preset)
	}
	if err := c.Rules.Config.Validate(); err != nil {
		return err
	}
	if names := encode.Names(); !slices.Contains(names, c.Encoding.Layout) {
		return fmt.Errorf("encoding.layout is %q, expected one of %s", c.Encoding.Layout, strings.Join(names, ", "))
	}
	return nil
}

func badPreset(name string) error {
	return fmt.Errorf("rules.preset is %q, expected one of %s", name, strings.Join(rules.Presets(), ", "))
}

func (c Config) validateNets() error {
	if n := len(c.Nets.Hidden); n > maxHidden {
		return fmt.Errorf("nets.hidden has %d layers, expected at most %d", n, maxHidden)
	}
	for i, w := range c.Nets.Hidden {
		if w < 1 || w > maxWidth {
			return fmt.Errorf("nets.hidden[%d] is %d, expected 1 to %d", i, w, maxWidth)
		}
	}
	return nil
}

func (c Config) validateEvaluation() error {
	for i, name := range c.Evaluation.Opponents {
		saved := strings.HasPrefix(name, "run:") || strings.HasPrefix(name, "ckpt:")
		if !saved && !slices.Contains(bots.Names(), name) {
			return fmt.Errorf("evaluation.opponents[%d] is %q, expected run:DIR, ckpt:DIR or one of %s", i, name, strings.Join(bots.Names(), ", "))
		}
	}
	for i, name := range c.Evaluation.Policies {
		if !slices.Contains(policies, name) {
			return fmt.Errorf("evaluation.policies[%d] is %q, expected %s", i, name, strings.Join(policies, " or "))
		}
	}
	return nil
}

func (c Config) validateNumbers() error {
	for _, k := range []struct {
		key    string
		value  float64
		lo, hi float64
	}{
		{"run.minutes", c.Run.Minutes, 0, maxMinutes},
		{"run.iterations", float64(c.Run.Iterations), 0, math.MaxInt32},
		{"run.workers", float64(c.Run.Workers), 0, maxWorkers},
		{"memory.strategy_rows", float64(c.Memory.StrategyRows), 1, math.MaxInt32},
		{"evaluation.every", float64(c.Evaluation.Every), 0, math.MaxInt32},
		{"evaluation.games", float64(c.Evaluation.Games), 2, maxGames},
		{"checkpoint.every", float64(c.Checkpoint.Every), 0, math.MaxInt32},
		{"checkpoint.keep", float64(c.Checkpoint.Keep), 1, maxKeep},
	} {
		if !(k.value >= k.lo && k.value <= k.hi) {
			return fmt.Errorf("%s is %v, expected %.0f to %.0f", k.key, k.value, k.lo, k.hi)
		}
	}
	return nil
}
