package cfr

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"vtrain/nets"
	"vtrain/vec"
)

// A traversal plays games from the deal to the end, all in lockstep, and
// records every decision. Each depth is one forward of the regret network and
// one of the critic over all games still going on.
//
// This is the critic estimator: the traverser explores, its opponent plays the
// current policy, nothing branches. Which player of a game traverses is a bit
// of the game's key, so half of all decisions teach regrets and the other half
// the average strategy.
type traversal struct {
	o        Options
	fallback Fallback
	pool     *vec.Pool
	tree     *vec.Tree
	samples  Samples
	first    []int // [depth] sample row of the level's first live node
	stages   Stages
	plies    int // plies made, of all games

	mask      []uint64  // [rows,W]
	x         []float32 // [rows,D] observations, of either view
	regret, q []float32 // [rows,A] outputs
	actions   []int32   // [rows] actions to make
	slots     []int32   // [rows] sample rows of the live nodes
	ended     []int32   // [rows] nodes whose game has ended
	utility   []float32 // [rows] theirs

	level    *vec.Level   // the level that decide works on
	seed     uint64       // of the actions
	bad      atomic.Int64 // lowest sample row with an output that isn't finite
	decideIn func(lo, hi int)
	backupIn func(depth int, level, below *vec.Level)
}

func newTraversal(game vec.Batch, o Options, fallback Fallback, pool *vec.Pool) *traversal {
	t := &traversal{o: o, fallback: fallback, pool: pool, tree: vec.NewTree(game)}
	t.samples.State = game.New()
	// Bound once, because a method value made for each ply would be garbage.
	t.decideIn, t.backupIn = t.decideRange, t.backup
	return t
}

// Stages are the seconds of an iteration by what they were spent on.
type Stages struct {
	Legal, Encode, Forward, Match, Step, Record, Backup float64 // of the traversal
	Critic, Regret, Strategy                            float64 // of training, batch assembly included
}

// clock adds the time since it was last asked to a stage.
type clock struct{ last time.Time }

func (c *clock) add(stage *float64) {
	now := time.Now()
	*stage += now.Sub(c.last).Seconds()
	c.last = now
}

// traverse records the decisions of o.Games games dealt from the seed. The
// error names a decision where a network gave a number that isn't finite.
func (t *traversal) traverse(regret, critic nets.Engine, seed uint64) error {
	t.stages, t.plies, t.first = Stages{}, 0, t.first[:0]
	t.samples.reset()
	t.seed = vec.Derive(seed, "actions", 0)
	clk := clock{time.Now()}
	t.level = t.tree.Deal(t.o.Games, vec.Derive(seed, "deals", 0), 0)
	clk.add(&t.stages.Step)
	for t.record(&clk); len(t.level.Live) > 0; t.record(&clk) {
		t.forward(regret, &t.regret, vec.Information, &clk)
		t.forward(critic, &t.q, vec.History, &clk)
		if err := t.decideAll(); err != nil {
			return err
		}
		clk.add(&t.stages.Match)
		t.level = t.tree.Expand(t.level.Live, t.actions)
		t.plies += len(t.actions)
		clk.add(&t.stages.Step)
	}
	t.tree.Backup(t.backupIn)
	clk.add(&t.stages.Backup)
	return nil
}

// record appends the live nodes of the level to the samples.
func (t *traversal) record(clk *clock) {
	state, live := t.level.State, t.level.Live
	t.mask = vec.Grow(t.mask, len(live)*vec.MaskWords(state.Actions()))
	state.Legal(t.mask, live)
	clk.add(&t.stages.Legal)
	first := t.samples.append(t.level, t.mask)
	t.first = append(t.first, first)
	t.slots = t.slots[:0]
	for i := range live {
		t.slots = append(t.slots, int32(first+i))
	}
	t.samples.State.Scatter(t.slots, state, live)
	state.ToMove(t.samples.Mover[first:], live)
	clk.add(&t.stages.Record)
}

func (t *traversal) forward(engine nets.Engine, dst *[]float32, view vec.View, clk *clock) {
	n := len(t.level.Live)
	t.x = vec.Grow(t.x, n*engine.In())
	t.level.State.Observe(t.x, view, t.level.Live)
	clk.add(&t.stages.Encode)
	*dst = vec.Grow(*dst, n*engine.Out())
	engine.Forward(*dst, t.x, n)
	clk.add(&t.stages.Forward)
}

// decideAll chooses an action for every live node of the level.
func (t *traversal) decideAll() error {
	t.actions = vec.Grow(t.actions, len(t.level.Live))
	t.bad.Store(math.MaxInt64)
	t.pool.Run(len(t.level.Live), 256, t.decideIn)
	row := t.bad.Load()
	if row == math.MaxInt64 {
		return nil
	}
	lo, hi := t.samples.Legal(int32(row))
	return fmt.Errorf("ply %d, game key %#x: regrets %v and values %v of actions %v, expected finite numbers",
		t.tree.Depth()-1, t.samples.State.GameKeys()[row], t.samples.Regret[lo:hi], t.samples.Q[lo:hi], t.samples.Act[lo:hi])
}

func (t *traversal) decideRange(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.decide(i)
	}
}

// decide chooses the action of live node i and records it.
func (t *traversal) decide(i int) {
	s, row := &t.samples, t.slots[i]
	lo, hi := s.Legal(row)
	regrets, q, sigma := s.Regret[lo:hi], s.Q[lo:hi], s.Sigma[lo:hi]
	actions := t.level.State.Actions()
	gather(regrets, t.regret[i*actions:], s.Act[lo:hi])
	gather(q, t.q[i*actions:], s.Act[lo:hi])
	if !finite(regrets) || !finite(q) {
		lower(&t.bad, int64(row))
	}
	MatchRegrets(sigma, regrets, 0, t.fallback)

	b := t.level.Live[i]
	key := t.level.State.GameKeys()[b]
	stream := vec.At(vec.Key(t.seed, key), t.level.State.Plies()[b])
	s.Learns[row] = 0
	epsilon := float32(0)
	if uint8(key&1) == s.Mover[row] {
		s.Learns[row] = 1
		epsilon = float32(t.o.Epsilon)
	}
	k := choose(sigma, epsilon, &stream)
	s.Taken[row] = lo + int32(k)
	s.Xi[row] = Explore(sigma[k], epsilon, len(sigma))
	t.actions[i] = s.Act[s.Taken[row]]
}

// choose draws from the policy mixed with a share epsilon of the uniform one.
func choose(sigma []float32, epsilon float32, s *vec.Stream) int {
	if epsilon > 0 && s.Float32() < epsilon {
		return s.Intn(len(sigma))
	}
	return sample(sigma, s)
}

// finite reports whether no value is infinite or NaN.
func finite(v []float32) bool {
	var zero float32
	for _, x := range v {
		zero += x * 0
	}
	return zero == 0
}

// lower sets a to the smaller of itself and value.
func lower(a *atomic.Int64, value int64) {
	for old := a.Load(); value < old; old = a.Load() {
		if a.CompareAndSwap(old, value) {
			return
		}
	}
}

// gather sets dst to the outputs of the legal actions.
func gather(dst, outputs []float32, legal []int32) {
	for i, a := range legal {
		dst[i] = outputs[a]
	}
}

// sign turns a value of the mover's frame into player 0's and back.
func sign(mover uint8) float32 { return 1 - 2*float32(mover) }

// backup computes the targets of a level's decisions and its nodes' values, in
// the frame of player 0. With Q the critic, â the action taken, v the value of
// the node it led to, and everything in the mover's frame,
//
//	v̂(h,a) = Q(h,a) + 1[a=â]·(v - Q(h,â))/ξ(â)
//	v̂(h)   = Σσ(a)·v̂(h,a)
//	value  = (1-λ)·Σσ(a)Q(h,a) + λ·v̂(h)
//
// as in VR-DeepDCFR+.
func (t *traversal) backup(depth int, level, below *vec.Level) {
	t.settle(level)
	s := &t.samples
	for i, b := range level.Live {
		row := int32(t.first[depth] + i)
		frame := sign(s.Mover[row])
		s.Return[row] = frame * below.Value[i] // the one child of the i-th live node
		level.Value[b] = frame * t.evaluate(row)
	}
}

// settle sets the values of nodes whose game has ended.
func (t *traversal) settle(level *vec.Level) {
	t.ended = vec.AllRows(t.ended, level.Rows())
	t.ended = vec.Keep(t.ended, t.ended, level.State.Finished(), 1)
	t.utility = vec.Grow(t.utility, len(t.ended))
	level.State.Utility(t.utility, t.ended)
	for i, b := range t.ended {
		level.Value[b] = t.utility[i] / float32(t.o.Scale)
	}
}

// evaluate returns the value of a decision, and sets its advantages: v̂(h,a) -
// v̂(h) if Correction is set, with 1/ξ clipped, otherwise Q(h,a) - ΣσQ, which is
// ESCHER's choice.
func (t *traversal) evaluate(row int32) float32 {
	s := &t.samples
	lo, hi := s.Legal(row)
	taken := s.Taken[row]
	expected := dot(s.Sigma[lo:hi], s.Q[lo:hi])
	s.Expected[row] = expected
	surprise := s.Return[row] - s.Q[taken]

	baseline, correction := expected, float32(0)
	if t.o.Correction {
		correction = min(1/s.Xi[row], float32(t.o.Clip)) * surprise
		baseline += s.Sigma[taken] * correction
	}
	for k := lo; k < hi; k++ {
		s.Target[k] = s.Q[k] - baseline
	}
	s.Target[taken] += correction
	return expected + float32(t.o.Lambda)*s.Sigma[taken]/s.Xi[row]*surprise
}

func dot(a, b []float32) float32 {
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
