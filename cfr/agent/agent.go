package agent

import (
	"fmt"
	"io"

	"vtrain/cfr"
	"vtrain/cfr/arena"
	"vtrain/cfr/champion"
	"vtrain/cfr/run"
	"vtrain/cfr/search"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/rules/bots"
	"vtrain/vec"
)

// Rules returns the rules that a match of these agents is played by: those
// that the first trained one was trained on, or else the given ones. All
// trained ones must agree, the turn limit aside.
func Rules(given rules.Config, names ...run.AgentName) (rules.Config, error) {
	first := ""
	for _, n := range names {
		if n.Bot != "" {
			continue
		}
		head, err := load(n, run.LoadHead)
		if err != nil {
			return given, n.Explain(err)
		}
		own := head.Config.Rules.Config
		if first == "" {
			first, given = n.Text, own
		}
		if err := mustMatch(n, own, first, given); err != nil {
			return given, err
		}
	}
	return given, nil
}

// Load reads the networks of a trained agent, whose layout must be the given one.
func Load(n run.AgentName, layout encode.Layout) (*run.Checkpoint, error) {
	saved, err := load(n, run.LoadWeights)
	if err != nil {
		return nil, n.Explain(err)
	}
	if own := saved.Config.Encoding.Layout; own != layout.Name() {
		return nil, fmt.Errorf("%s sees %s, expected %s", n.Text, own, layout.Name())
	}
	return saved, mustMatch(n, saved.Config.Rules.Config, "the run is", layout.Config())
}

// load reads the checkpoint of a trained agent; a folder's as from says.
func load(n run.AgentName, from func(dir string) (*run.Checkpoint, error)) (*run.Checkpoint, error) {
	if n.BuiltIn() {
		return champion.Load()
	}
	return from(n.Dir)
}

// mustMatch compares the rules that an agent was trained on with those of
// somebody else.
func mustMatch(n run.AgentName, own rules.Config, other string, want rules.Config) error {
	if err := run.SameRules(own, want); err != nil {
		return fmt.Errorf("%s was trained on %s rules, %s on %s: %w", n.Text, own.Name(), other, want.Name(), err)
	}
	return nil
}

// Open returns a player for games of that configuration, which the caller
// closes. Rows is the largest batch it should move in at once, seed is for what
// it draws.
func Open(n run.AgentName, cfg rules.Config, rows int, seed uint64, pool *vec.Pool) (arena.Agent, error) {
	if n.Bot == "" {
		return openTrained(n, cfg, rows, seed, pool)
	}
	b, err := bots.New(n.Bot, cfg, seed)
	if err != nil {
		return nil, err
	}
	return b.On(pool), nil
}

// Close frees what an agent holds, if it holds anything.
func Close(a arena.Agent) error {
	if c, ok := a.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func openTrained(n run.AgentName, cfg rules.Config, rows int, seed uint64, pool *vec.Pool) (arena.Agent, error) {
	saved, err := load(n, run.LoadWeights)
	if err != nil {
		return nil, n.Explain(err)
	}
	own := saved.Config
	if err := mustMatch(n, own.Rules.Config, "the match is played", cfg); err != nil {
		return nil, err
	}
	layout, err := encode.New(own.Encoding.Layout, own.Rules.Config)
	if err != nil {
		return nil, err
	}
	o := search.DefaultOptions()
	o.Seed = seed
	if n.Search {
		rows = max(rows, o.Rows)
	}
	policy, err := openPolicy(n, saved, layout, rows, seed, pool)
	if err != nil {
		return nil, err
	}
	policy.Greedy = n.Greedy
	if n.Search {
		return openSearch(n, policy, saved, layout, o, pool)
	}
	return NewPolicyAgent(n.Text, policy, layout), nil
}

// openSearch returns a player by search on top of the policy, which it owns. If
// there is a critic that values states, it ends the playouts.
func openSearch(n run.AgentName, policy *cfr.Policy, saved *run.Checkpoint, layout encode.Layout, o search.Options, pool *vec.Pool) (arena.Agent, error) {
	a, err := search.New(n.Text, policy, layout, o)
	if err != nil {
		policy.Close()
		return nil, err
	}
	params, ok := saved.Network(cfr.CriticNet)
	if !ok || saved.Config.Learner.Algorithm != cfr.PPO { // others value actions
		return a, nil
	}
	game := encode.NewBatch(layout, pool)
	shape := saved.Config.Learner.Shape(game, saved.Config.Nets.Hidden, vec.History)
	precision := saved.Config.Nets.Networks().Precision
	calibration := cfr.Calibration(game, vec.History, precision, saved.Config.Run.Seed)
	critic, err := cfr.NewValuer(shape, params, precision, calibration, saved.Config.Learner.Scale, o.Rows, pool)
	if err != nil {
		a.Close()
		return nil, err
	}
	a.Truncate(critic)
	return a, nil
}

func openPolicy(n run.AgentName, saved *run.Checkpoint, layout encode.Layout, rows int, seed uint64, pool *vec.Pool) (*cfr.Policy, error) {
	fallback, err := cfr.ParseFallback(saved.Config.Learner.Fallback)
	if err != nil {
		return nil, err
	}
	net, head := cfr.StrategyNet, cfr.Logits
	if n.Policy == run.Current {
		net, head = saved.Config.Learner.CurrentNet(), saved.Config.Learner.CurrentHead()
	}
	params, ok := saved.Network(net)
	if !ok {
		return nil, fmt.Errorf("%s: has no %s network", saved.Dir, net)
	}
	game := encode.NewBatch(layout, pool)
	shape := cfr.Shape(game, saved.Config.Nets.Hidden, vec.Information)
	precision := saved.Config.Nets.Networks().Precision
	calibration := cfr.Calibration(game, vec.Information, precision, saved.Config.Run.Seed)
	return cfr.NewPolicy(shape, params, precision, calibration, head, fallback, rows, seed, pool)
}

// AsActor makes an agent play against a learner, in games observed by a layout.
// If it searches, it advises, too.
func AsActor(a arena.Agent, layout encode.Layout) cfr.Actor {
	if s, ok := a.(*search.Agent); ok {
		return &adviser{actor: actor{a, layout}, search: s}
	}
	return actor{a, layout}
}

type actor struct {
	arena.Agent
	layout encode.Layout
}

// An adviser gives advice in the layout's actions.
type adviser struct {
	actor
	search        *search.Agent
	games         *rules.Games // of the last Act
	asked         []int32      // rows of it
	rows, actions []int32
}

// Act implements cfr.Actor.
func (a *adviser) Act(dst []int32, state vec.Batch, rows []int32) {
	a.games, a.asked = state.(*encode.Batch).Games(), append(a.asked[:0], rows...)
	a.actor.Act(dst, state, rows)
}

// Advice implements cfr.Adviser.
func (a *adviser) Advice(i int) (actions []int32, probabilities []float32) {
	actions, probabilities = a.search.Advice(i)
	a.rows, a.actions = vec.Grow(a.rows, len(actions)), vec.Grow(a.actions, len(actions))
	for k := range a.rows {
		a.rows[k] = a.asked[i]
	}
	a.layout.LayoutActions(a.actions, a.games, a.rows, actions)
	return a.actions, probabilities
}

// Act implements cfr.Actor.
func (a actor) Act(dst []int32, state vec.Batch, rows []int32) {
	games := state.(*encode.Batch).Games()
	a.Agent.Act(dst, games, rows)
	a.layout.LayoutActions(dst, games, rows, dst)
}
