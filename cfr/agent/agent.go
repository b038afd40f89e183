package agent

import (
	"fmt"
	"slices"
	"strings"

	"vtrain/cfr"
	"vtrain/cfr/arena"
	"vtrain/cfr/run"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/rules/bots"
	"vtrain/vec"
)

// The policies of a trained agent.
const (
	Average = "average"
	Current = "current"
)

// A Spec is an agent by name: a bot's, or run:DIR or ckpt:DIR with suffixes.
type Spec struct {
	name   string
	Bot    string // name of a bot, or empty
	Dir    string // run folder or checkpoint of a trained agent
	Policy string // Average or Current
	Greedy bool   // plays its likeliest action
}

// Parse reads an agent's name. The folder need not exist.
func Parse(name string) (Spec, error) {
	s := Spec{name: name, Policy: Average}
	kind, dir, trained := strings.Cut(name, ":")
	if !trained {
		if slices.Contains(bots.Names(), name) {
			s.Bot = name
			return s, nil
		}
		return s, unknown(name)
	}
	if kind != "run" && kind != "ckpt" {
		return s, unknown(name)
	}
	for {
		at := strings.LastIndexByte(dir, '@')
		if at < 0 || !s.suffix(dir[at+1:]) {
			break
		}
		dir = dir[:at]
	}
	if s.Dir = dir; dir == "" {
		return s, unknown(name)
	}
	return s, nil
}

// suffix applies a suffix, and reports whether there is one of that name. A
// folder's name may hold an @ too.
func (s *Spec) suffix(name string) bool {
	switch name {
	case Average, Current:
		s.Policy = name
	case "greedy":
		s.Greedy = true
	default:
		return false
	}
	return true
}

func unknown(name string) error {
	return fmt.Errorf("unknown agent %q, expected run:DIR, ckpt:DIR or one of %s", name, strings.Join(bots.Names(), ", "))
}

// CommonRules returns the rules that a match of these agents is played by:
// those that trained agents among them were trained on, which must agree, or
// else the named preset, cut like a training run's games; empty for the default.
func CommonRules(preset string, specs ...Spec) (rules.Config, error) {
	cfg := run.Default()
	if preset != "" {
		if err := cfg.Set("rules.preset=" + preset); err != nil {
			return rules.Config{}, err
		}
	}
	first := ""
	for _, s := range specs {
		if s.Bot != "" {
			continue
		}
		saved, err := run.LoadWeights(s.Dir)
		if err != nil {
			return rules.Config{}, err
		}
		own := saved.Config
		switch {
		case preset != "" && own.Rules.Config != cfg.Rules.Config:
			return rules.Config{}, fmt.Errorf("%s was trained on %+v, not on %s", s.name, own.Rules.Config, preset)
		case first != "" && own.Rules.Config != cfg.Rules.Config:
			return rules.Config{}, fmt.Errorf("%s was trained on %+v, %s on %+v", first, cfg.Rules.Config, s.name, own.Rules.Config)
		}
		first, cfg.Rules = s.name, own.Rules
	}
	return cfg.Rules.Config, nil
}

// Open returns the player. Rows is the largest batch it should move in at
// once, seed is for what it draws.
func (s Spec) Open(cfg rules.Config, rows int, seed uint64, pool *vec.Pool) (arena.Agent, error) {
	if s.Bot != "" {
		b, err := bots.New(s.Bot, cfg, seed)
		if err != nil {
			return nil, err
		}
		return b.On(pool), nil
	}
	return s.openTrained(rows, seed, pool)
}

func (s Spec) openTrained(rows int, seed uint64, pool *vec.Pool) (arena.Agent, error) {
	saved, err := run.LoadWeights(s.Dir)
	if err != nil {
		return nil, err
	}
	own := saved.Config
	layout, err := encode.New(own.Encoding.Layout, own.Rules.Config)
	if err != nil {
		return nil, err
	}
	fallback, err := cfr.ParseFallback(own.Learner.Fallback)
	if err != nil {
		return nil, err
	}
	net, rule := cfr.StrategyNet, cfr.Logits
	if s.Policy == Current {
		net, rule = cfr.RegretNet, cfr.Matching
	}
	params, ok := saved.Network(net)
	if !ok {
		return nil, fmt.Errorf("%s: has no %s network", saved.Dir, net)
	}
	shape := cfr.Shape(encode.NewBatch(layout, nil), own.Nets.Hidden, vec.Information)
	policy, err := cfr.NewPolicy(shape, params, rule, fallback, rows, seed, pool)
	if err != nil {
		return nil, err
	}
	policy.Greedy = s.Greedy
	return NewPolicyAgent(s.name, policy, layout), nil
}
