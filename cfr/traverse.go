package cfr

import (
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
	stages   Stages
	plies    int // plies made, of all games

	mask        []uint64  // [rows,W]
	x           []float32 // [rows,D] observations, of either view
	regret, q   []float32 // [rows,A] outputs
	actions     []int32   // [rows] actions to make
	slots       []int32   // [rows] sample rows, for Scatter
	above, here []int32   // [rows of a level] sample row of each node, or NoRow

	level *vec.Level // the level that decide works on
	first int        // its first sample row
	seed  uint64     // of the actions
	run   func(lo, hi int)
}

func newTraversal(game vec.Batch, o Options, fallback Fallback, pool *vec.Pool) *traversal {
	t := &traversal{o: o, fallback: fallback, pool: pool, tree: vec.NewTree(game)}
	t.samples.State = game.New()
	t.run = t.decideRange
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

// traverse records the decisions of o.Games games dealt from the seed.
func (t *traversal) traverse(regret, critic nets.Engine, seed uint64) {
	t.stages = Stages{}
	t.plies = 0
	t.samples.reset()
	t.seed = vec.Derive(seed, "actions", 0)
	clk := clock{time.Now()}
	level := t.tree.Deal(t.o.Games, vec.Derive(seed, "deals", 0), 0)
	t.above = t.above[:0]
	clk.add(&t.stages.Step)
	for {
		t.observeLegal(level, &clk)
		t.record(level, &clk)
		if len(level.Live) == 0 {
			break
		}
		t.forward(regret, &t.regret, vec.Information, &clk)
		t.forward(critic, &t.q, vec.History, &clk)
		t.actions = vec.Grow(t.actions, len(level.Live))
		t.pool.Run(len(level.Live), 256, t.run)
		clk.add(&t.stages.Match)
		level = t.tree.Expand(level.Live, t.actions)
		t.plies += len(t.actions)
		clk.add(&t.stages.Step)
	}
	t.backup()
	clk.add(&t.stages.Backup)
}

func (t *traversal) observeLegal(level *vec.Level, clk *clock) {
	words := vec.MaskWords(level.State.Actions())
	t.mask = vec.Grow(t.mask, len(level.Live)*words)
	level.State.Legal(t.mask, level.Live)
	clk.add(&t.stages.Legal)
}

// record appends the live nodes of a level to the samples, links their parents
// to them, and gives the finished ones' outcome to their parents.
func (t *traversal) record(level *vec.Level, clk *clock) {
	t.level = level
	t.first = t.samples.append(level, t.mask)
	t.here = vec.Grow(t.here, level.Rows())
	for i := range t.here {
		t.here[i] = NoRow
	}
	t.slots = t.slots[:0]
	for i, r := range level.Live {
		t.here[r] = int32(t.first + i)
		t.slots = append(t.slots, int32(t.first+i))
	}
	t.samples.State.Scatter(t.slots, level.State, level.Live)
	level.State.ToMove(t.samples.Mover[t.first:], level.Live)
	t.link(level)
	t.above, t.here = t.here, t.above
	clk.add(&t.stages.Record)
}

func (t *traversal) link(level *vec.Level) {
	finished := level.State.Finished()
	for i, parent := range level.Parent {
		if parent == vec.NoParent {
			continue
		}
		row := t.above[parent]
		t.samples.Next[row] = t.here[i]
		if finished[i] != 0 {
			var u [1]float32
			level.State.Utility(u[:], []int32{int32(i)})
			t.samples.Outcome[row] = u[0] / float32(t.o.Scale)
		}
	}
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

// decideRange chooses the actions of some live rows of the level.
func (t *traversal) decideRange(lo, hi int) {
	for i := lo; i < hi; i++ {
		t.actions[i] = t.decide(i)
	}
}

func (t *traversal) decide(i int) int32 {
	s, row := &t.samples, int32(t.first+i)
	lo, hi := s.Legal(row)
	actions := t.level.State.Actions()
	gather(s.Regret[lo:hi], t.regret[i*actions:], s.Act[lo:hi])
	gather(s.Q[lo:hi], t.q[i*actions:], s.Act[lo:hi])
	sigma := s.Sigma[lo:hi]
	MatchRegrets(sigma, s.Regret[lo:hi], 0, t.fallback)

	b := t.level.Live[i]
	key := t.level.State.GameKeys()[b]
	stream := vec.At(vec.Key(t.seed, key), t.level.State.Plies()[b])
	learns := uint8(key&1) == s.Mover[row]
	s.Learns[row] = 0
	k := -1
	epsilon := float32(0)
	if learns {
		s.Learns[row] = 1
		epsilon = float32(t.o.Epsilon)
		if stream.Float32() < epsilon {
			k = stream.Intn(len(sigma))
		}
	}
	if k < 0 {
		k = sample(sigma, &stream)
	}
	s.Taken[row] = lo + int32(k)
	s.Weight[row] = 1 / Explore(sigma[k], epsilon, len(sigma))
	return s.Act[s.Taken[row]]
}

// gather sets dst to the outputs of the legal actions.
func gather(dst, outputs []float32, legal []int32) {
	for i, a := range legal {
		dst[i] = outputs[a]
	}
}

// sign turns a value of the mover's frame into player 0's and back.
func sign(mover uint8) float32 { return 1 - 2*float32(mover) }

// backup computes the targets of all rows, last plies first. With Q the
// critic, â the action taken and v the return that followed it,
//
//	v̂(h,a) = Q(h,a) + 1[a=â]·(v - Q(h,â))/ξ(â)
//	v̂(h)   = Σσ(a)·v̂(h,a)
//	return to the row above: (1-λ)·Σσ(a)Q(h,a) + λ·v̂(h)
//
// as in VR-DeepDCFR+; regrets use Q alone unless Correction is set, which is
// ESCHER's choice.
func (t *traversal) backup() {
	s := &t.samples
	for row := int32(s.Rows() - 1); row >= 0; row-- {
		lo, hi := s.Legal(row)
		expected := dot(s.Sigma[lo:hi], s.Q[lo:hi])
		s.Expected[row] = expected
		s.Return[row] = t.returnAfter(row)
		t.regretTargets(row, expected)
	}
}

// returnAfter returns the λ-return of the action taken, in the mover's frame.
func (t *traversal) returnAfter(row int32) float32 {
	s := &t.samples
	frame := sign(s.Mover[row])
	next := s.Next[row]
	if next == NoRow {
		return frame * s.Outcome[row]
	}
	taken := s.Taken[next]
	correction := s.Sigma[taken] * s.Weight[next] * (s.Return[next] - s.Q[taken])
	return frame * sign(s.Mover[next]) * (s.Expected[next] + float32(t.o.Lambda)*correction)
}

// regretTargets sets the advantages r̄(a) = v̂(h,a) - v̂(h) of a row; the
// learner makes regrets of them.
func (t *traversal) regretTargets(row int32, expected float32) {
	s := &t.samples
	lo, hi := s.Legal(row)
	value := expected
	var correction float32
	taken := s.Taken[row]
	if t.o.Correction {
		weight := min(s.Weight[row], float32(t.o.Clip))
		correction = weight * (s.Return[row] - s.Q[taken])
		value += s.Sigma[taken] * correction
	}
	for k := lo; k < hi; k++ {
		s.Target[k] = s.Q[k] - value
	}
	s.Target[taken] += correction
}

func dot(a, b []float32) float32 {
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
