package cfr

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vtrain/nets"
	"vtrain/nets/cpu"
	"vtrain/vec"
)

// A Learner runs the iterations of Deep CFR, PPO or distillation: traverse, fit the critic
// to what happened if there is one, fit what the current policy is made of, fit
// the average strategy.
// What it computes depends on game, options and seed alone.
type Learner struct {
	o         Options
	seed      uint64
	frontier  int // most nodes of a level
	pool      *vec.Pool
	traversal *traversal
	builder   builder
	memory    *Reservoir // of the average strategy
	regrets   *Reservoir // nil if regrets are accumulated otherwise
	snapshots snapshots
	league    []*leaguePlayer
	missing   []string    // opponents that Enter hasn't brought
	rows      []int32     // scratch: the rows that a network is fitted to
	gradient  nets.Params // scratch: of held-out rows, whose loss alone is wanted

	current  *network // regrets, or the policy itself
	strategy *network
	critic   *network // nil without

	iteration int
	progress  float64 // share of the run that was done before it
	decisions int64
}

// A network is one function that the learner fits.
type network struct {
	name    string
	view    vec.View
	rate    float64
	plays   bool // traversals use it
	shape   nets.MLP
	engine  nets.Engine // nil for one that doesn't play
	trainer nets.Trainer

	precision   nets.Precision // of engines
	calibration []float32      // of those in int8
}

// The names of a Learner's networks.
const (
	CriticNet   = "critic"
	RegretNet   = "regret" // of Deep CFR
	PolicyNet   = "policy" // of PPO and distillation
	StrategyNet = "strategy"
)

// A State is all that a checkpoint of a Learner holds.
type State struct {
	Iteration int   // iterations done
	Decisions int64 // decisions seen
	Networks  []NetworkState
	Memory    MemoryState  // of the average strategy
	Regrets   *MemoryState // nil unless regrets are accumulated in a reservoir
	Snapshots []Snapshot
}

// A NetworkState is one network and its optimiser.
type NetworkState struct {
	Name   string
	Params nets.Params
	State  nets.State
}

// A MemoryState is a reservoir.
type MemoryState struct {
	Rows   int
	Seen   uint64
	Fields []vec.Field // columns of Rows rows
}

// Nets says what all networks of a Learner are like.
type Nets struct {
	Hidden    []int          // widths of the hidden layers
	Precision nets.Precision // of traversals and policies; training is in float32
}

// NewLearner returns a learner that has done nothing yet. A nil pool means the
// caller alone. Errors are those of NewPlan.
func NewLearner(game vec.Batch, n Nets, memory Memory, o Options, seed uint64, pool *vec.Pool) (*Learner, error) {
	plan, err := NewPlan(game, n.Hidden, memory, o)
	if err != nil {
		return nil, err
	}
	fallback, err := ParseFallback(o.Fallback)
	if err != nil {
		return nil, err
	}
	l := &Learner{
		o: o, seed: seed, pool: pool, traversal: newTraversal(game, o, fallback, pool), memory: NewReservoir(game, memory.StrategyRows),
		frontier: plan.Frontier, snapshots: newSnapshots(memory.Snapshots),
		current:  &network{name: o.CurrentNet(), view: vec.Information, rate: o.currentRate(), plays: true},
		strategy: &network{name: StrategyNet, view: vec.Information, rate: o.StrategyRate, plays: o.meets(AverageOpponent)},
	}
	if l.traversal.sampling.hasCritic() {
		l.critic = &network{name: CriticNet, view: vec.History, rate: o.CriticRate, plays: true}
	}
	if o.remembersRegrets() {
		l.regrets = NewReservoir(game, memory.RegretRows)
	}
	l.builder.bind(pool)
	for _, net := range l.all() {
		net.shape = o.Shape(game, n.Hidden, net.view)
		net.precision, net.calibration = n.Precision, Calibration(game, net.view, n.Precision, seed)
		if err := l.build(net); err != nil {
			l.Close()
			return nil, err
		}
	}
	if err := l.meet(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Shape returns the shape of a network from a view of a game to its actions.
func Shape(game vec.Batch, hidden []int, view vec.View) nets.MLP {
	return slices.Concat(nets.MLP{game.Width(view)}, hidden, nets.MLP{game.Actions()})
}

// hasPolicy reports whether the current policy is a network itself.
func (o Options) hasPolicy() bool { return o.Algorithm != DeepCFR }

// CurrentNet returns the name of the network that the current policy is made of.
func (o Options) CurrentNet() string {
	if o.hasPolicy() {
		return PolicyNet
	}
	return RegretNet
}

// CurrentHead returns how its outputs are read.
func (o Options) CurrentHead() Head {
	if o.hasPolicy() {
		return Logits
	}
	return Matching
}

func (o Options) currentRate() float64 {
	if o.hasPolicy() {
		return o.PolicyRate
	}
	return o.RegretRate
}

// Shape returns the shape of a network from a view of the game: what sees open
// hands is a critic, and that of PPO values a state instead of its actions.
func (o Options) Shape(game vec.Batch, hidden []int, view vec.View) nets.MLP {
	shape := Shape(game, hidden, view)
	if o.Algorithm == PPO && view == vec.History {
		shape[len(shape)-1] = 1
	}
	return shape
}

// build makes the trainer of a network with fresh parameters, and its engine
// if traversals use it.
func (l *Learner) build(n *network) error {
	params := n.shape.NewParams()
	n.shape.Init(params, vec.Derive(l.seed, "init "+n.name, 0))
	var err error
	o := nets.TrainerOptions{Rate: n.rate, ClipNorm: l.o.ClipNorm, WeightDecay: l.o.WeightDecay, Workers: l.pool.Workers(), Pool: l.pool}
	if n.trainer, err = cpu.NewTrainer(n.shape, params, o); err != nil || !n.plays {
		return err
	}
	n.engine, err = newEngine(n.shape, params, n.precision, n.calibration, l.frontier, l.pool)
	return err
}

// newEngine returns a sealed engine for batches of up to that many rows.
func newEngine(shape nets.MLP, params nets.Params, precision nets.Precision, calibration []float32, rows int, pool *vec.Pool) (nets.Engine, error) {
	o := nets.EngineOptions{Buckets: bucketsUpTo(rows), Workers: pool.Workers(), Pool: pool, Precision: precision, Calibration: calibration}
	engine, err := cpu.NewEngine(shape, o)
	if err != nil {
		return nil, err
	}
	engine.Load(params)
	engine.Seal()
	return engine, nil
}

// bucketsUpTo returns the default grid without the buckets that no batch of at
// most rows would use.
func bucketsUpTo(rows int) []int {
	grid := nets.DefaultBuckets()
	for i, b := range grid {
		if b >= rows {
			return grid[:i+1]
		}
	}
	return grid
}

// all lists the networks in the order in which they are fitted.
func (l *Learner) all() []*network {
	if l.critic == nil {
		return []*network{l.current, l.strategy}
	}
	return []*network{l.critic, l.current, l.strategy}
}

// State returns the learner's state. Parameters and columns are the learner's
// own memory: they change with the next Iterate.
func (l *Learner) State() State {
	state := State{
		Iteration: l.iteration,
		Decisions: l.decisions,
		Memory:    l.memory.snapshot(),
		Snapshots: l.Snapshots(),
	}
	if l.regrets != nil {
		regrets := l.regrets.snapshot()
		state.Regrets = &regrets
	}
	for _, n := range l.all() {
		state.Networks = append(state.Networks, NetworkState{n.name, n.trainer.Params(), n.trainer.State()})
	}
	return state
}

// Restore continues from a state: of the same game, options, shapes and seed,
// or the result is neither run. After an error the learner must not be used.
func (l *Learner) Restore(s State) error {
	if len(s.Networks) != len(l.all()) {
		return fmt.Errorf("cfr: the state has %d networks, expected %d", len(s.Networks), len(l.all()))
	}
	for i, n := range l.all() {
		if err := n.restore(s.Networks[i]); err != nil {
			return err
		}
	}
	if err := l.memory.Restore(s.Memory.Fields, s.Memory.Rows, s.Memory.Seen); err != nil {
		return err
	}
	if (s.Regrets == nil) != (l.regrets == nil) {
		return fmt.Errorf("cfr: the state has a reservoir of regrets: %v, expected %v", s.Regrets != nil, l.regrets != nil)
	}
	if r := s.Regrets; r != nil {
		if err := l.regrets.Restore(r.Fields, r.Rows, r.Seen); err != nil {
			return err
		}
	}
	if err := l.snapshots.restore(s.Snapshots, l.current.trainer.Params()); err != nil {
		return err
	}
	l.iteration, l.decisions = s.Iteration, s.Decisions
	return nil
}

// Start makes a new learner begin with the parameters of another's networks,
// which from returns by name, instead of fresh ones. Where there is no policy that
// of its average is as good.
func (l *Learner) Start(from func(name string) (nets.Params, bool)) error {
	for _, n := range l.all() {
		p, ok := from(n.name)
		if !ok && n.name == PolicyNet {
			p, ok = from(StrategyNet)
		}
		switch {
		case !ok:
			return fmt.Errorf("there is no %s network to start from", n.name)
		case !p.Same(n.trainer.Params()):
			return fmt.Errorf("the %s network to start from is of another shape, expected %v", n.name, []int(n.shape))
		}
		n.trainer.Params().CopyFrom(p)
		n.publish()
	}
	return nil
}

func (n *network) restore(s NetworkState) error {
	if s.Name != n.name || !s.Params.Same(n.trainer.Params()) {
		return fmt.Errorf("cfr: network %q of the state is not a %s of shape %v", s.Name, n.name, []int(n.shape))
	}
	n.trainer.Params().CopyFrom(s.Params)
	if err := n.trainer.SetState(s.State); err != nil {
		return fmt.Errorf("cfr: %s: %w", n.name, err)
	}
	n.publish()
	return nil
}

// Decisions returns the decisions seen.
func (l *Learner) Decisions() int64 { return l.decisions }

// Iteration returns the iterations done.
func (l *Learner) Iteration() int { return l.iteration }

// Memory returns the reservoir of the average strategy.
func (l *Learner) Memory() *Reservoir { return l.memory }

// Close frees what the learner holds.
func (l *Learner) Close() {
	for _, n := range l.all() {
		if n.trainer != nil {
			n.trainer.Close()
		}
		if n.engine != nil {
			n.engine.Close()
		}
	}
	for _, p := range l.league {
		p.engine.Close()
	}
}

// Iterate does one iteration. Progress, in [0,1], is how much of the run is
// done; learning rates fall with it. An error that is ctx's own leaves the learner
// as it was; after any other it must not be used or saved.
func (l *Learner) Iterate(ctx context.Context, progress float64) (Metrics, error) {
	if len(l.missing) > 0 {
		return Metrics{}, fmt.Errorf("cfr: nobody has entered as opponent %q", l.missing[0])
	}
	begin := time.Now()
	l.iteration++
	seed := vec.Derive(l.seed, "iteration", uint64(l.iteration))
	l.progress = min(max(progress, 0), 1)
	for _, n := range l.all() {
		n.trainer.SetRate(l.rate(n))
	}
	t := l.traversal
	l.drawLeague(seed)
	t.traverser = uint8(l.iteration-1) % 2
	if err := t.traverse(ctx, l.current.engine, l.criticEngine(), seed); err != nil {
		err = fmt.Errorf("cfr: iteration %d: %w", l.iteration, err)
		l.iteration--
		return Metrics{}, err
	}
	l.accumulate()
	l.decisions += int64(t.samples.Rows())

	m := l.describe()
	for _, step := range []struct {
		fit    func(seed uint64) (Fit, error)
		net    *network
		stage  *float64
		result *Fit
	}{
		{l.fitCritic, l.critic, &t.stages.Critic, &m.Critic},
		{l.fitCurrent, l.current, &t.stages.Current, &m.Current},
		{l.fitStrategy, l.strategy, &t.stages.Strategy, &m.Strategy},
	} {
		if step.net == nil {
			continue
		}
		clk := clock{time.Now()}
		var err error
		if *step.result, err = step.fit(seed); err != nil {
			return m, fmt.Errorf("cfr: iteration %d, %s network: %w", l.iteration, step.net.name, err)
		}
		clk.add(step.stage)
	}
	l.snapshots.add(l.iteration, l.current.trainer.Params())
	m.Memory = l.memory.Rows()
	m.Stages = t.stages
	m.Seconds = time.Since(begin).Seconds()
	m.StatesPerSecond = float64(m.IterationStates) / m.Seconds
	return m, nil
}

// Traversed describes a traversal: decisions, the tree, and what time was spent
// on.
type Traversed struct {
	States int
	Tree   TraversalStats
	Stages Stages
}

// Traverse does the traversal of an iteration, from a seed of its own, and learns
// nothing from it: what benchmarks time.
func (l *Learner) Traverse(ctx context.Context, seed uint64) (Traversed, error) {
	t := l.traversal
	err := t.traverse(ctx, l.current.engine, l.criticEngine(), seed)
	return Traversed{t.samples.Rows(), t.stats, t.stages}, err
}

// rate returns the learning rate of a network at this point of the run.
func (l *Learner) rate(n *network) float64 { return n.rate * (1 - (1-l.o.Anneal)*l.progress) }

// criticEngine returns the critic as traversals use it, nil without one.
func (l *Learner) criticEngine() nets.Engine {
	if l.critic == nil {
		return nil
	}
	return l.critic.engine
}

// accumulate turns advantages into what the regret network learns, unless a
// reservoir remembers them as they are. Regrets are bootstrapped from the network itself, as in Deep DCFR+, over a window:
//
//	R_t = (1 - 1/T)·max(R_{t-1},0) + g/T·r̄  with T = min(t, window)
//
// Up to the window that is g times a mean over iterations, floored at each step
// as in CFR+; beyond it the past fades. Regret matching doesn't see the gain g,
// but a network does: its steps are of one size, and regrets must stand out
// from them.
func (l *Learner) accumulate() {
	if l.o.Algorithm != DeepCFR || l.o.Accumulate != Window {
		return
	}
	s := &l.traversal.samples
	window := float32(min(l.iteration, l.o.Window))
	keep, share := 1-1/window, float32(l.o.RegretGain)/window
	for k, advantage := range s.Target {
		s.Target[k] = keep*max(s.Regret[k], 0) + share*advantage
	}
}
