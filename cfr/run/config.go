package run

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"vtrain/cfr"
	"vtrain/cfr/arena"
	"vtrain/encode"
	"vtrain/nets"
	"vtrain/rules"
)

// Config is the configuration of a run, section by section. The zero value is
// not valid; start from Default.
type Config struct {
	Run        Run         `yaml:"run"`
	Rules      Rules       `yaml:"rules"`
	Encoding   Encoding    `yaml:"encoding"`
	Nets       Nets        `yaml:"nets"`
	Learner    cfr.Options `yaml:"learner"`
	Memory     cfr.Memory  `yaml:"memory"`
	Evaluation Evaluation  `yaml:"evaluation"`
	Checkpoint Schedule    `yaml:"checkpoint"`
}

// Run is the section of the run as such. Minutes or Iterations are its budget,
// never both; where both are 0 the caller decides, DefaultMinutes as a rule.
type Run struct {
	Name       string  `yaml:"name"`
	Init       string  `yaml:"init"`
	Seed       uint64  `yaml:"seed"`
	Minutes    float64 `yaml:"minutes"`
	Iterations int     `yaml:"iterations"`
	Workers    int     `yaml:"workers"`
}

// Rules is a variant of the game, and the preset that it is, or custom.
type Rules struct {
	Preset       string `yaml:"preset"`
	rules.Config `yaml:",inline"`
}

// Encoding selects what networks see.
type Encoding struct {
	Layout string `yaml:"layout"`
}

// Nets is what all networks share: their shape between inputs and outputs, and
// the numbers that they are evaluated in.
type Nets struct {
	Hidden    []int  `yaml:"hidden"`
	Precision string `yaml:"precision"`
}

// Networks returns what a learner is told of the networks. The precision must
// be valid.
func (n Nets) Networks() cfr.Nets {
	p, err := nets.ParsePrecision(n.Precision)
	if err != nil {
		panic(err)
	}
	return cfr.Nets{Hidden: n.Hidden, Precision: p}
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

// DefaultMinutes is the budget of a run that was given none.
const DefaultMinutes = 10

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
		Encoding:   Encoding{Layout: "cards-sorted"},
		Nets:       Nets{Hidden: []int{256, 256}, Precision: nets.Float32.String()},
		Learner:    cfr.DefaultOptions(),
		Memory:     cfr.DefaultMemory(),
		Evaluation: Evaluation{Every: 100, Games: 400, Opponents: []string{"random", "heuristic-balanced", "rule"}, Policies: slices.Clone(policies)},
		Checkpoint: Schedule{Every: 100, Keep: 3},
	}
}

// Core returns the part of the configuration that decides what is learned, the
// rest at its defaults: runs of equal cores learn the same, whatever they are
// called, on however many cores, and however often they stop to be measured or
// saved.
func (c Config) Core() Config {
	d := Default()
	d.Run.Init, d.Run.Seed, d.Run.Iterations = c.Run.Init, c.Run.Seed, c.Run.Iterations
	c.Run, c.Evaluation, c.Checkpoint = d.Run, d.Evaluation, d.Checkpoint
	return c
}

// A Difference is a key that two configurations have different values of.
type Difference struct{ Key, Have, Want string }

// String returns the difference as part of an error: "rules.hand is 3, expected
// 8".
func (d Difference) String() string {
	return fmt.Sprintf("%s is %s, expected %s", d.Key, d.Have, d.Want)
}

// Diff lists the keys whose values differ. The preset is none of them: it is
// where values came from, and only the values count.
func Diff(have, want Config) []Difference {
	var all []Difference
	other := keysOf(&want)
	for i, k := range keysOf(&have) {
		if a, b := format(k.value), format(other[i].value); a != b && k.name != presetKey {
			all = append(all, Difference{k.name, a, b})
		}
	}
	return all
}

// SameRules reports the keys that two variants differ in, the turn limit aside:
// neither bots nor networks look at it.
func SameRules(have, want rules.Config) error {
	have.MaxTurns = want.MaxTurns
	var texts []string
	for _, d := range Diff(Config{Rules: Rules{Config: have}}, Config{Rules: Rules{Config: want}}) {
		texts = append(texts, d.String())
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(texts, "; "))
}

// fixed are the sections and keys that can't change once a run has begun: what
// its checkpoints hold depends on them. Other settings of the learner, and the
// budget, may: the run then goes on by the new ones.
var fixed = []string{"run.init", "run.seed", "rules.", "encoding.", "nets.", "memory.", "learner.algorithm", "learner.estimator", "learner.accumulate", "learner.scale", "learner.regret_gain"}

// continues reports the first fixed key that differs.
func continues(have, want Config) error {
	for _, d := range Diff(have, want) {
		if slices.ContainsFunc(fixed, func(p string) bool { return strings.HasPrefix(d.Key, p) }) {
			return errors.New(d.String())
		}
	}
	return nil
}

// Bounds of what a configuration may ask for.
const (
	maxWidth    = 8192
	maxHidden   = 16
	maxWorkers  = 4096
	maxKeep     = 1 << 20
	maxNameSize = 200

	MaxMinutes    = 10_000_000
	MaxIterations = math.MaxInt32
	MaxGames      = 1 << 24 // of a match
)

// Validate reports the first impossible value of any section.
func (c Config) Validate() error {
	for _, section := range []func() error{c.validateName, c.validateInit, c.validateRules, c.validateNets, c.Learner.Validate, c.Memory.Validate, c.validateEvaluation, c.validateNumbers} {
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

func (c Config) validateInit() error {
	if c.Run.Init == "" {
		return nil
	}
	if c.Learner.Algorithm == cfr.DeepCFR {
		return fmt.Errorf("run.init is %q, expected nothing with learner.algorithm %s: its first iteration forgets all before", c.Run.Init, cfr.DeepCFR)
	}
	n, err := ParseAgent(c.Run.Init)
	if err != nil {
		return fmt.Errorf("run.init: %w", err)
	}
	if n.Bot != "" || !strings.HasSuffix(n.Text, n.Dir) {
		return fmt.Errorf("run.init is %q, expected a trained agent without suffixes", c.Run.Init)
	}
	return nil
}

func (c Config) validateRules() error {
	if _, err := rules.Preset(c.Rules.Preset); err != nil && c.Rules.Preset != customPreset {
		return badPreset(c.Rules.Preset)
	}
	if err := c.Rules.Config.Validate(); err != nil {
		return ruleKey(err)
	}
	if c.Rules.MaxTurns == 0 {
		return errors.New("rules.max_turns is 0, expected at least 1: players who only draw from piles would never end a game")
	}
	if names := encode.Names(); !slices.Contains(names, c.Encoding.Layout) {
		return fmt.Errorf("encoding.layout is %q, expected one of %s", c.Encoding.Layout, strings.Join(names, ", "))
	}
	return nil
}

func badPreset(name string) error {
	return fmt.Errorf("rules.preset is %q, expected one of %s or %s", name, strings.Join(rules.Presets(), ", "), customPreset)
}

// ruleKey writes "rules: hand is …" as "rules.hand is …". What combines keys
// stays as it is.
func ruleKey(err error) error {
	text, ok := strings.CutPrefix(err.Error(), "rules: ")
	if subject, _, _ := strings.Cut(text, " is "); !ok || strings.Contains(subject, " ") {
		return err
	}
	return errors.New("rules." + text)
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
	if _, err := nets.ParsePrecision(c.Nets.Precision); err != nil {
		return fmt.Errorf("nets.precision is %q, expected %s", c.Nets.Precision, strings.Join(nets.PrecisionNames(), " or "))
	}
	return nil
}

func (c Config) validateEvaluation() error {
	if n := c.Evaluation.Games; n != 0 && !arena.Playable(n) || n > MaxGames {
		return fmt.Errorf("evaluation.games is %d, expected 0 for no matches, or an even number from %d to %d", n, arena.MinGames, MaxGames)
	}
	for i, name := range c.Evaluation.Opponents {
		if _, err := ParseAgent(name); err != nil {
			return fmt.Errorf("evaluation.opponents[%d]: %w", i, err)
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
	if c.Run.Minutes > 0 && c.Run.Iterations > 0 {
		return fmt.Errorf("run.minutes is %v and run.iterations %d, expected one of them to be 0: only one can end the run", c.Run.Minutes, c.Run.Iterations)
	}
	for _, k := range []struct {
		key    string
		value  float64
		lo, hi float64
	}{
		{"run.minutes", c.Run.Minutes, 0, MaxMinutes},
		{"run.iterations", float64(c.Run.Iterations), 0, MaxIterations},
		{"run.workers", float64(c.Run.Workers), 0, maxWorkers},
		{"evaluation.every", float64(c.Evaluation.Every), 0, math.MaxInt32},
		{"checkpoint.every", float64(c.Checkpoint.Every), 0, math.MaxInt32},
		{"checkpoint.keep", float64(c.Checkpoint.Keep), 1, maxKeep},
	} {
		if !(k.value >= k.lo && k.value <= k.hi) {
			return fmt.Errorf("%s is %s, expected %.0f to %.0f", k.key, strconv.FormatFloat(k.value, 'f', -1, 64), k.lo, k.hi)
		}
	}
	return nil
}
