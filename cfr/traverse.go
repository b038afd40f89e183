package cfr

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"vtrain/nets"
	"vtrain/vec"
)

// A traversal plays games from the deal to the end, all in lockstep, and
// records every decision. Each depth is one forward of the current policy's network over
// all games still going on, and one of the critic if the estimator has one;
// frontiers larger than the engines' largest bucket are taken in parts.
//
// Estimators differ in what the traverser tries (decide.go) and in what is made
// of it (backup.go), and are settings of this one loop. Which player of a game
// traverses is a bit of the game's key, so half of all games teach either one,
// unless players take turns.
type traversal struct {
	o         Options
	sampling  sampling
	budget    int // most nodes
	fallback  Fallback
	pool      *vec.Pool
	tree      *vec.Tree
	opponents []opponent // who replaces the current policy in some games
	samples   Samples
	first     []int   // [depth] sample row of the level's first live node
	child     []int32 // [samples] first child of a decision, as a row of the level below
	stages    Stages
	stats     TraversalStats

	mask    []uint64  // [live,W]
	all     []int32   // places in Live
	some    []int32   // those that one of several deciders decides
	by      []uint8   // [live] who decides: current, or 1+ an opponent
	tried   []int32   // [live] the only action that is tried, by its index in the ragged columns; several if there were more
	rows    []int32   // of places, or the parents of the level below
	actions []int32   // made there
	ended   []int32   // nodes whose game has ended
	utility []float32 // theirs
	spent   []uint8   // [B] 1 at and below the decision that branches, if only one does
	above   []uint8   // the same of the level above

	traverser uint8 // of all games, if players take turns

	level    *vec.Level   // the one in progress
	below    *vec.Level   // the one below it, in backup
	depth    int          // of the level, in backup
	tight    bool         // the node budget forbids branching at this level
	seed     uint64       // of the actions
	bad      atomic.Int64 // lowest sample row with an output that isn't finite
	pass     pass         // of the network at work
	backupIn func(depth int, level, below *vec.Level)
	kernels  struct{ record, backup func(lo, hi int) }
}

// several stands for the only action that is tried, where there are more.
const several = -1

// grain is the nodes that a worker records or backs up at a time: some tens of
// microseconds.
const grain = 256

// TraversalStats describe the tree of a traversal.
type TraversalStats struct {
	Levels   []int // nodes of each level, ends included
	Plies    int   // nodes below the deals
	Forwards int   // of networks that choose actions
	Rows     int   // in those
	MaxRows  int   // in one
	Tight    int   // decisions that would have branched, but for the node budget
}

// Nodes returns the nodes of the tree, ends included.
func (s *TraversalStats) Nodes() int { return s.Plies + s.Levels[0] }

// MeanRows returns the rows of a forward, on average.
func (s *TraversalStats) MeanRows() float64 { return float64(s.Rows) / float64(max(s.Forwards, 1)) }

func newTraversal(game vec.Batch, o Options, fallback Fallback, pool *vec.Pool) *traversal {
	t := &traversal{o: o, sampling: o.sampling(), budget: int(o.budget(game)), fallback: fallback, pool: pool, tree: vec.NewTree(game)}
	t.samples.State = game.New()
	// Bound once, because a method value made for each iteration would be garbage.
	t.pass.t, t.backupIn = t, t.backup
	t.kernels.record, t.kernels.backup = t.recordRange, t.backupRange
	return t
}

// Stages are the seconds of an iteration by what they were spent on.
type Stages struct {
	Legal, Encode, Forward, Match, Step, Record, Backup float64 // of the traversal
	Critic, Current, Strategy                           float64 // of training, batch assembly included
}

// clock adds the time since it was last asked to a stage.
type clock struct{ last time.Time }

func (c *clock) add(stage *float64) {
	now := time.Now()
	*stage += now.Sub(c.last).Seconds()
	c.last = now
}

// traverse records the decisions of o.Games games dealt from the seed. The
// critic is nil if the estimator has none. The error names a decision where a
// network gave a number that isn't finite, or is that of ctx, which is asked at
// each level; then the samples mean nothing.
func (t *traversal) traverse(ctx context.Context, regret, critic nets.Engine, seed uint64) error {
	t.stages, t.first, t.child = Stages{}, t.first[:0], t.child[:0]
	t.stats = TraversalStats{Levels: t.stats.Levels[:0]}
	t.samples.reset()
	t.seed = vec.Derive(seed, "actions", 0)
	clk := clock{time.Now()}
	t.level = t.tree.Deal(t.o.Games, vec.Derive(seed, "deals", 0), 0)
	t.spent = vec.Grow(t.spent, t.o.Games)
	clear(t.spent)
	clk.add(&t.stages.Step)
	for t.record(&clk); len(t.level.Live) > 0; t.record(&clk) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.choose(regret, critic, &clk); err != nil {
			return err
		}
		t.expand()
		clk.add(&t.stages.Step)
	}
	t.tree.Backup(t.backupIn)
	clk.add(&t.stages.Backup)
	return nil
}

// record appends the live nodes of the level to the samples, and sets the values
// of the others.
func (t *traversal) record(clk *clock) {
	state, live := t.level.State, t.level.Live
	t.stats.Levels = append(t.stats.Levels, t.level.Rows())
	t.settle()
	clk.add(&t.stages.Backup)
	t.mask = vec.Grow(t.mask, len(live)*vec.MaskWords(state.Actions()))
	state.Legal(t.mask, live)
	clk.add(&t.stages.Legal)
	t.first = append(t.first, t.samples.Rows())
	t.samples.extend(len(live), t.mask)
	t.pool.Run(len(live), grain, t.kernels.record)
	clk.add(&t.stages.Record)
}

func (t *traversal) recordRange(lo, hi int) {
	words, s := vec.MaskWords(t.level.State.Actions()), &t.samples
	first, last := t.row(int32(lo)), t.row(int32(hi))
	s.set(first, t.level.State, t.level.Live[lo:hi], t.mask[lo*words:hi*words])
	if !t.sampling.critic { // which would write them
		clear(s.Q[s.Off[first]:s.Off[last]])
	}
}

// row returns the sample row of the level's live node at a place.
func (t *traversal) row(place int32) int32 { return int32(t.first[len(t.first)-1]) + place }

// choose decides what to do at all live nodes of the level.
func (t *traversal) choose(regret, critic nets.Engine, clk *clock) error {
	t.all = vec.AllRows(t.all, len(t.level.Live))
	t.tried = vec.Grow(t.tried, len(t.level.Live))
	t.assign()
	t.tight = t.sampling.branches && !t.affordable()
	clk.add(&t.stages.Match)
	if critic != nil {
		t.run(critic, reading{view: vec.History, places: t.all, dst: t.samples.Q, values: t.sampling.values}, clk)
	}
	t.bad.Store(math.MaxInt64)
	if places := t.decidedBy(current); len(places) > 0 {
		t.decideBy(regret, t.o.CurrentHead(), places, clk)
	}
	for i, o := range t.opponents {
		switch places := t.decidedBy(uint8(i + 1)); {
		case len(places) == 0:
		case o.policy != nil:
			t.decideBy(o.policy.engine, o.policy.head, places, clk)
		default:
			t.ask(o.actor, places)
			clk.add(&t.stages.Match)
		}
	}
	return t.finite()
}

// decideBy decides places of the level by a network.
func (t *traversal) decideBy(engine nets.Engine, head Head, places []int32, clk *clock) {
	t.stats.Forwards += (len(places) + largestBatch - 1) / largestBatch
	t.stats.Rows += len(places)
	t.stats.MaxRows = max(t.stats.MaxRows, min(len(places), largestBatch))
	t.run(engine, reading{view: vec.Information, places: places, dst: t.samples.Regret, decides: true, head: head}, clk)
}

// largestBatch is the rows that engines take at once.
var largestBatch = slices.Max(nets.DefaultBuckets())

// A pass takes places of the level through a network, block by block: observes
// them, gathers the outputs for their legal actions into a ragged column, and
// decides, all while they are in a worker's cache. It is a nets.Stream.
type pass struct {
	reading
	t    *traversal
	rows []int32 // [places] of the level

	encoding, matching atomic.Int64 // nanoseconds of all workers
}

// A reading is what a network is asked, and what becomes of its outputs.
type reading struct {
	view    vec.View
	places  []int32
	dst     []float32 // ragged column
	decides bool
	head    Head // of a network that does
	values  bool // the network values the rows, not their actions
}

// run runs a pass, whose time it divides among the stages.
func (t *traversal) run(engine nets.Engine, r reading, clk *clock) {
	p := &t.pass
	p.reading = r
	p.rows = vec.Grow(p.rows, len(p.places))
	for i, place := range p.places {
		p.rows[i] = t.level.Live[place]
	}
	p.encoding.Store(0)
	p.matching.Store(0)
	clk.add(&t.stages.Match)
	engine.Stream(p, len(p.places))
	var wall float64
	clk.add(&wall)
	busy := 1e9 * float64(min(t.pool.Workers(), (len(p.places)+nets.MaxBlock-1)/nets.MaxBlock))
	encoding, matching := float64(p.encoding.Load())/busy, float64(p.matching.Load())/busy
	t.stages.Encode += encoding
	t.stages.Match += matching
	t.stages.Forward += wall - encoding - matching
}

// Fill implements nets.Stream.
func (p *pass) Fill(x []float32, lo, hi int) {
	begin := time.Now()
	p.t.level.State.Observe(x, p.view, p.rows[lo:hi])
	p.encoding.Add(int64(time.Since(begin)))
}

// Drain implements nets.Stream.
func (p *pass) Drain(y []float32, lo, hi int) {
	begin, t := time.Now(), p.t
	if p.values {
		for i, place := range p.places[lo:hi] {
			t.samples.Expected[t.row(place)] = y[i]
		}
		p.matching.Add(int64(time.Since(begin)))
		return
	}
	actions := t.level.State.Actions()
	for i, place := range p.places[lo:hi] {
		from, to := t.samples.Legal(t.row(place))
		gather(p.dst[from:to], y[i*actions:], t.samples.Act[from:to])
		if p.decides {
			t.decide(place, p.head)
		}
	}
	p.matching.Add(int64(time.Since(begin)))
}

// gather sets dst to the outputs of the legal actions.
func gather(dst, outputs []float32, legal []int32) {
	for i, a := range legal {
		dst[i] = outputs[a]
	}
}

// expand adds the level below: a child for each action that has been chosen.
func (t *traversal) expand() {
	s := &t.samples
	t.rows, t.actions = t.rows[:0], t.actions[:0]
	for i, b := range t.level.Live {
		t.child = append(t.child, int32(len(t.rows)))
		if k := t.tried[i]; k != several {
			t.rows, t.actions = append(t.rows, b), append(t.actions, s.Act[k])
			continue
		}
		lo, hi := s.Legal(t.row(int32(i)))
		for k := lo; k < hi; k++ {
			if s.Xi[k] > 0 {
				t.rows, t.actions = append(t.rows, b), append(t.actions, s.Act[k])
			}
		}
	}
	t.stats.Plies += len(t.rows)
	t.level = t.tree.Expand(t.rows, t.actions)
	if t.sampling.once {
		t.above, t.spent = t.spent, vec.Grow(t.above, len(t.rows))
		for i, b := range t.rows {
			t.spent[i] = t.above[b]
		}
	}
}

// finite returns an error if an output of the level isn't.
func (t *traversal) finite() error {
	row := t.bad.Load()
	if row == math.MaxInt64 {
		return nil
	}
	lo, hi := t.samples.Legal(int32(row))
	return fmt.Errorf("ply %d, game key %#x: outputs %v and values %v of actions %v, value %v of the state, expected finite numbers",
		t.tree.Depth()-1, t.samples.State.GameKeys()[row], t.samples.Regret[lo:hi], t.samples.Q[lo:hi], t.samples.Act[lo:hi], t.samples.Expected[row])
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
