package cfr

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Memory bounds what a learner remembers from one iteration to the next.
type Memory struct {
	StrategyRows int `yaml:"strategy_rows"` // decisions that the average strategy is learned from, at most
	RegretRows   int `yaml:"regret_rows"`   // decisions that regrets are learned from, at most, if they are accumulated in a reservoir
	Snapshots    int `yaml:"snapshots"`     // earlier regret or policy networks, at most
}

// DefaultMemory returns the bounds of the default agent.
func DefaultMemory() Memory { return Memory{StrategyRows: 1_000_000, RegretRows: 1_000_000} }

// Validate reports the first impossible bound.
func (m Memory) Validate() error {
	for _, k := range []struct {
		key       string
		value, lo int
		hi        int
	}{
		{"strategy_rows", m.StrategyRows, 1, math.MaxInt32},
		{"regret_rows", m.RegretRows, 1, math.MaxInt32},
		{"snapshots", m.Snapshots, 0, 1 << 20},
	} {
		if k.value < k.lo || k.value > k.hi {
			return fmt.Errorf("memory.%s is %d, expected %d to %d", k.key, k.value, k.lo, k.hi)
		}
	}
	return nil
}

// Names of estimators; decide.go and backup.go say what they do.
const (
	Critic   = "critic"
	Outcome  = "outcome"
	External = "external"
	Robust   = "robust"
)

// Names of algorithms.
const (
	DeepCFR = "deepcfr" // regrets, as everything else here is about
	PPO     = "ppo"     // a policy gradient, gradient.go
	Distill = "distill" // a policy of what others play, distill.go
)

// Names of ways to accumulate regrets.
const (
	Window      = "window"    // bootstrapped from the network itself, as in Deep DCFR+
	Reservoired = "reservoir" // a sample of all regrets seen, as in Deep CFR
)

// Names of ways to learn from a reservoir.
const (
	Scratch   = "scratch"   // from new parameters, as in Deep CFR
	Continued = "continued" // from those of the iteration before
)

// Options are the settings of a Learner. The zero value is not valid; start
// from DefaultOptions. Symbols are those of the papers named at each.
type Options struct {
	Algorithm   string   `yaml:"algorithm"`    // deepcfr, ppo or distill
	Estimator   string   `yaml:"estimator"`    // how counterfactual values are estimated: critic, outcome, external or robust
	Games       int      `yaml:"games"`        // games traversed in an iteration
	Alternate   bool     `yaml:"alternate"`    // players traverse in turn, one in each iteration; otherwise each in half of the games
	Nodes       int      `yaml:"nodes"`        // most nodes of an iteration, before which external and robust cease to branch; 0 for 8 times those of games without branches
	Branch      int      `yaml:"branch"`       // actions that robust tries at a decision, at most
	BranchPlies int      `yaml:"branch_plies"` // plies before which external and robust branch, 0 for all
	BranchOnce  bool     `yaml:"branch_once"`  // they do at one decision of a game, the first from a ply drawn below branch_plies
	Opponents   []string `yaml:"opponents"`    // who plays against the traverser, each as NAME or NAME=SHARE of the games

	Epsilon    float64 `yaml:"epsilon"`     // share of uniform exploration at the traverser's nodes
	Lambda     float64 `yaml:"lambda"`      // λ of the return that the critic learns from
	Accumulate string  `yaml:"accumulate"`  // regrets of all iterations: window bootstraps them, reservoir remembers samples
	Refit      string  `yaml:"refit"`       // how the regret network learns from a reservoir: scratch or continued
	Window     int     `yaml:"window"`      // iterations that bootstrapped regrets remember
	RegretGain float64 `yaml:"regret_gain"` // regrets in the network's units per unit of utility; typical ones should be about 1
	Averaging  float64 `yaml:"averaging"`   // γ: iteration t weighs t^γ in the average policy; 1 is linear CFR, 2 DCFR
	Surrogate  float64 `yaml:"surrogate"`   // ε of PPO's clipped surrogate objective
	Entropy    float64 `yaml:"entropy"`     // weight of the policy's entropy in PPO's objective
	Correction bool    `yaml:"correction"`  // correct the critic's value of the action taken by what happened
	Clip       float64 `yaml:"clip"`        // largest importance weight 1/ξ of that correction
	Fallback   string  `yaml:"fallback"`    // policy where no regret is positive: argmax or uniform
	Scale      float64 `yaml:"scale"`       // game points in one unit of utility

	Batch         int     `yaml:"batch"`          // rows of a training step
	Passes        int     `yaml:"passes"`         // passes over the rows of an iteration
	RegretSteps   int     `yaml:"regret_steps"`   // training steps of an iteration on remembered regrets, 0 for as many as passes over its new rows
	StrategySteps int     `yaml:"strategy_steps"` // the same on remembered policies
	Decay         bool    `yaml:"decay"`          // learning rates on what is remembered fall to 0 within each iteration
	RegretRate    float64 `yaml:"regret_rate"`    // learning rate of the regret network
	PolicyRate    float64 `yaml:"policy_rate"`    // learning rate of the policy network of PPO and distillation
	CriticRate    float64 `yaml:"critic_rate"`    // learning rate of the critic
	StrategyRate  float64 `yaml:"strategy_rate"`  // learning rate of the strategy network
	Anneal        float64 `yaml:"anneal"`         // share of the learning rates left at the end of a run
	WeightDecay   float64 `yaml:"weight_decay"`   // decoupled weight decay of AdamW
	ClipNorm      float64 `yaml:"clip_norm"`      // largest norm of a gradient, 0 for no limit
}

// DefaultOptions returns the settings of the default agent, those of PPO:
// docs/decisions/0006 says by how much it is the stronger one.
func DefaultOptions() Options { return OptionsOf(PPO) }

// OptionsOf returns the settings that an algorithm starts from. Those of Deep CFR
// and PPO were tuned, docs/decisions/0003 and 0006; those of distillation are a
// guess. An unknown algorithm is for Validate to refuse.
func OptionsOf(algorithm string) Options {
	o := Options{
		Estimator: Critic, Games: 384, Branch: 3, Opponents: []string{CurrentOpponent}, Accumulate: Window, Refit: Scratch,
		Epsilon: 0.1, Lambda: 0.9, Window: 50, RegretGain: 25, Averaging: 2, Surrogate: 0.2, Entropy: 0.01, Clip: 4, Fallback: "argmax", Scale: 40,
		Batch: 1024, Passes: 1, RegretRate: 5e-4, PolicyRate: 5e-4, CriticRate: 1e-3, StrategyRate: 5e-4, Anneal: 0.1, ClipNorm: 1,
	}
	switch o.Algorithm = algorithm; algorithm {
	case PPO:
		o.Games, o.Lambda, o.Passes, o.Averaging, o.Anneal = 768, 0.95, 2, 30, 0.05
		o.PolicyRate, o.CriticRate = 1e-3, 2e-3
		o.Opponents = []string{"rule=0.3", CurrentOpponent}
	case Distill:
		o.Games, o.Passes, o.Averaging, o.Anneal = 128, 8, 30, 0.05
		o.Refit, o.Opponents = Continued, []string{"champion@search"}
	}
	return o
}

// Validate reports the first impossible setting.
func (o Options) Validate() error {
	for _, k := range []struct {
		key, value string
		names      []string
	}{
		{"algorithm", o.Algorithm, []string{DeepCFR, PPO, Distill}},
		{"estimator", o.Estimator, []string{Critic, Outcome, External, Robust}},
		{"accumulate", o.Accumulate, []string{Window, Reservoired}},
		{"refit", o.Refit, []string{Scratch, Continued}},
	} {
		if !slices.Contains(k.names, k.value) {
			return fmt.Errorf("learner.%s is %q, expected %s", k.key, k.value, alternatives(k.names))
		}
	}
	if o.Algorithm == Distill && o.Refit == Scratch {
		return fmt.Errorf("learner.refit is %s, expected %s with learner.algorithm %s: it averages parameters, which must be of one network", Scratch, Continued, Distill)
	}
	if o.BranchOnce && o.BranchPlies == 0 {
		return errors.New("learner.branch_plies is 0, expected 1 or more with learner.branch_once: the decision is drawn below it")
	}
	if _, err := o.shares(); err != nil {
		return err
	}
	if _, err := ParseFallback(o.Fallback); err != nil {
		return err
	}
	if shares, _ := o.shares(); o.Algorithm == Distill && !slices.ContainsFunc(shares, func(s share) bool {
		return s.part > 0 && !slices.Contains(OwnOpponents(), s.name)
	}) {
		return fmt.Errorf("learner.opponents are %v, expected somebody else with learner.algorithm %s, to learn from", o.Opponents, Distill)
	}
	steepest := 1000.0 // of averaged parameters
	if !o.hasPolicy() {
		steepest = 8 // weights of remembered rows would all but vanish
	}
	for _, k := range []struct {
		key    string
		value  float64
		lo, hi float64
	}{
		{"games", float64(o.Games), 1, 1 << 20},
		{"nodes", float64(o.Nodes), 0, 1 << 30},
		{"branch", float64(o.Branch), 1, 1 << 20},
		{"branch_plies", float64(o.BranchPlies), 0, 1 << 20},
		{"regret_steps", float64(o.RegretSteps), 0, 1 << 30},
		{"strategy_steps", float64(o.StrategySteps), 0, 1 << 30},
		{"epsilon", o.Epsilon, 0, 1},
		{"lambda", o.Lambda, 0, 1},
		{"window", float64(o.Window), 1, 1e6},
		{"regret_gain", o.RegretGain, 1e-6, 1e6},
		{"averaging", o.Averaging, 0, steepest},
		{"surrogate", o.Surrogate, 1e-6, 1},
		{"entropy", o.Entropy, 0, 1e6},
		{"clip", o.Clip, 1, math.MaxFloat32},
		{"scale", o.Scale, 1e-6, 1e6},
		{"batch", float64(o.Batch), 1, 1 << 20},
		{"passes", float64(o.Passes), 1, 1000},
		{"regret_rate", o.RegretRate, 0, 1},
		{"policy_rate", o.PolicyRate, 0, 1},
		{"critic_rate", o.CriticRate, 0, 1},
		{"strategy_rate", o.StrategyRate, 0, 1},
		{"anneal", o.Anneal, 0, 1},
		{"weight_decay", o.WeightDecay, 0, 1},
		{"clip_norm", o.ClipNorm, 0, math.MaxFloat32},
	} {
		if !(k.value >= k.lo && k.value <= k.hi) {
			return fmt.Errorf("learner.%s is %s, expected %s", k.key, number(k.value), span(k.lo, k.hi))
		}
	}
	return nil
}

// Weight returns what an iteration counts in the average policy, t^γ.
func (o Options) Weight(iteration int) float64 { return math.Pow(float64(iteration), o.Averaging) }

// alternatives writes names as a, b or c.
func alternatives(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func span(lo, hi float64) string {
	if hi >= math.MaxFloat32 {
		return number(lo) + " or more"
	}
	return number(lo) + " to " + number(hi)
}

// number writes counts as people do, without an exponent.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// A Fallback is the policy of an information state without positive regret.
type Fallback uint8

const (
	// Argmax plays the action of the largest regret, the lowest index on ties;
	// it is the choice of Deep CFR (Brown et al. 2019).
	Argmax Fallback = iota
	// Uniform plays every legal action alike, as tabular regret matching does.
	Uniform
)

var fallbackNames = []string{"argmax", "uniform"}

// ParseFallback returns the fallback of a name.
func ParseFallback(name string) (Fallback, error) {
	for i, n := range fallbackNames {
		if n == name {
			return Fallback(i), nil
		}
	}
	return 0, fmt.Errorf("learner.fallback is %q, expected %s", name, alternatives(fallbackNames))
}
