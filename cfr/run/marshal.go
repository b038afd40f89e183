package run

import (
	"fmt"
	"strings"
)

// notes say what each key means, and in which unit.
var notes = map[string]string{
	"run.name":       "folder under runs/",
	"run.init":       "agent whose current policy and critic to start from, not for deepcfr: champion, run:DIR or ckpt:DIR; empty for new networks",
	"run.seed":       "of everything random: the same seed gives the same run",
	"run.minutes":    fmt.Sprintf("budget in minutes, 0 if it is in iterations; both 0: %d minutes", DefaultMinutes),
	"run.iterations": fmt.Sprintf("budget in iterations, 0 if it is in minutes; both 0: %d minutes", DefaultMinutes),
	"run.workers":    "worker threads, 0 for all cores granted",

	"rules.preset":    "the variant that the values below are, or custom; alone it sets them",
	"rules.colors":    "expeditions",
	"rules.ranks":     "number cards of a colour",
	"rules.min_rank":  "face value of the lowest number card",
	"rules.wagers":    "wager cards of a colour",
	"rules.hand":      "cards in a hand",
	"rules.penalty":   "points for starting an expedition",
	"rules.bonus_at":  "cards in an expedition that earn the bonus",
	"rules.bonus":     "points of the bonus",
	"rules.max_turns": "turns after which a game is cut",

	"encoding.layout": "what networks see and how actions are numbered",
	"nets.hidden":     "widths of the hidden layers of every network",
	"nets.precision":  "numbers of traversal and play: float32, or int8, coarser, and faster where there is AVX2; training is in float32",

	"learner.algorithm":      "ppo, deepcfr, or distill: what opponents play; alone it sets the values below to its own",
	"learner.surrogate":      "ε of PPO's clipped surrogate objective",
	"learner.entropy":        "weight of the policy's entropy in PPO's objective",
	"learner.policy_rate":    "learning rate of the policy network of PPO and distillation",
	"learner.estimator":      "how counterfactual values are estimated: critic, outcome, external or robust",
	"learner.games":          "games traversed in an iteration",
	"learner.nodes":          "most nodes of an iteration, 0 for 8 times those of games without branches; before, external and robust cease to branch",
	"learner.branch":         "actions that robust tries at a decision, at most",
	"learner.branch_plies":   "plies before which external and robust branch, 0 for all",
	"learner.branch_once":    "they branch at one decision of a game, the first from a ply drawn below branch_plies",
	"learner.opponents":      "of the traverser: current, average, league, bots, trained agents; as NAME or NAME=SHARE of the games",
	"learner.accumulate":     "regrets of all iterations: window bootstraps them, reservoir remembers samples",
	"learner.refit":          "how regrets are learned from a reservoir: from scratch, or continued",
	"learner.epsilon":        "share of uniform exploration at the traverser's nodes",
	"learner.lambda":         "λ of the return that the critic learns from",
	"learner.window":         "iterations that bootstrapped regrets remember",
	"learner.regret_gain":    "regrets in the network's units per unit of utility",
	"learner.averaging":      "γ: iteration t weighs t^γ in the average policy; ppo and distill average parameters",
	"learner.correction":     "correct the critic's value of the action taken by what happened",
	"learner.clip":           "largest importance weight of that correction",
	"learner.fallback":       "policy where no regret is positive: argmax or uniform",
	"learner.scale":          "game points in one unit of utility",
	"learner.batch":          "rows of a training step",
	"learner.passes":         "passes over the rows of an iteration",
	"learner.regret_steps":   "training steps on remembered regrets, 0 for as many as the passes over new rows take",
	"learner.strategy_steps": "the same on remembered policies",
	"learner.decay":          "learning rates on what is remembered fall to 0 within each iteration",
	"learner.alternate":      "players traverse in turn, one in each iteration; otherwise each in half of the games",
	"learner.regret_rate":    "learning rate of the regret network",
	"learner.critic_rate":    "learning rate of the critic",
	"learner.strategy_rate":  "learning rate of the strategy network",
	"learner.anneal":         "share of the learning rates left at the end of a run",
	"learner.weight_decay":   "decoupled weight decay of AdamW",
	"learner.clip_norm":      "largest norm of a gradient, 0 for no limit",

	"memory.strategy_rows": "decisions that the average strategy is learned from, at most",
	"memory.regret_rows":   "the same of regrets, if they are accumulated in a reservoir",
	"memory.snapshots":     "earlier regret or policy networks that are kept, at most",

	"evaluation.every":     "iterations between evaluations, a fifth of that before the first; 0 for none before the end",
	"evaluation.games":     "games of a match, an even number: deals are played twice; 0 for no matches",
	"evaluation.opponents": "bots, or agents as champion, run:DIR and ckpt:DIR",
	"evaluation.policies":  "of the learner: average, current",

	"checkpoint.every": "iterations between checkpoints, 0 for one at the end",
	"checkpoint.keep":  "newest checkpoints that stay",
}

// Marshal returns the configuration as YAML, every value written out and
// explained. LoadConfig reads it back to an equal one.
func (c Config) Marshal() []byte {
	c.Rules.Preset = c.Rules.Name()
	keys := keysOf(&c)
	widest := 0
	for _, k := range keys {
		widest = max(widest, len(leaf(k.name))+len(format(k.value)))
	}
	widest = min(widest, 28) // a long list pushes its own comment only
	var b strings.Builder
	section := ""
	for _, k := range keys {
		head, name, _ := strings.Cut(k.name, ".")
		if head != section {
			section = head
			fmt.Fprintf(&b, "%s:\n", section)
		}
		value := format(k.value)
		fmt.Fprintf(&b, "  %s: %s", name, value)
		if note := notes[k.name]; note != "" {
			fmt.Fprintf(&b, "%*s  # %s", max(0, widest-len(name)-len(value)), "", note)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}
