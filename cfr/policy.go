package cfr

import (
	"fmt"

	"vtrain/nets"
	"vtrain/vec"
)

// A Head says how a network's outputs are read.
type Head uint8

const (
	// Matching reads outputs as regrets: the current policy.
	Matching Head = iota
	// Logits reads outputs as logits of a softmax: the average policy.
	Logits
)

// A Policy is a network as a player. It sees information states only. It is
// not safe for concurrent use.
type Policy struct {
	Greedy   bool // play the likeliest action instead of drawing one
	head     Head
	fallback Fallback
	engine   nets.Engine
	seed     uint64

	mask []uint64  // [rows,W]
	x, y []float32 // [rows,D], [rows,A]

	// The row that row has read last.
	legal                  []int32
	outputs, probabilities []float32 // of the legal actions
}

// NewPolicy returns a policy that owns a copy of the parameters. It computes in
// that precision, of which int8 needs a Calibration. Rows is the largest batch
// it should take in one forward; larger ones are cut. Seed is for the actions
// it draws.
func NewPolicy(shape nets.MLP, params nets.Params, precision nets.Precision, calibration []float32, head Head, fallback Fallback, rows int, seed uint64, pool *vec.Pool) (*Policy, error) {
	engine, err := newEngine(shape, params, precision, calibration, rows, pool)
	if err != nil {
		return nil, err
	}
	return &Policy{head: head, fallback: fallback, engine: engine, seed: seed}, nil
}

// Load makes the policy that of other parameters of the same shape.
func (p *Policy) Load(params nets.Params) { p.engine.Load(params) }

// Close frees the engine.
func (p *Policy) Close() { p.engine.Close() }

// Probabilities sets dst [len(rows),A] to the policy at each row, which must
// be a live game.
func (p *Policy) Probabilities(dst []float32, state vec.Batch, rows []int32) {
	a := state.Actions()
	if len(dst) != len(rows)*a {
		panic(badLength)
	}
	p.forward(state, rows)
	clear(dst)
	for i := range rows {
		p.row(i, a)
		for k, act := range p.legal {
			dst[i*a+int(act)] = p.probabilities[k]
		}
	}
}

// Act sets dst to an action for each row, which must be a live game. The
// action depends on the policy, its seed, the game's key and the ply.
func (p *Policy) Act(dst []int32, state vec.Batch, rows []int32) {
	if len(dst) != len(rows) {
		panic(badLength)
	}
	p.forward(state, rows)
	for i, b := range rows {
		p.row(i, state.Actions())
		k := argmax(p.probabilities)
		if !p.Greedy {
			stream := vec.At(vec.Key(p.seed, state.GameKeys()[b]), state.Plies()[b])
			k = sample(p.probabilities, &stream)
		}
		dst[i] = p.legal[k]
	}
}

// forward computes the legal actions and outputs of the rows.
func (p *Policy) forward(state vec.Batch, rows []int32) {
	if state.Width(vec.Information) != p.engine.In() || state.Actions() != p.engine.Out() {
		panic(fmt.Sprintf("cfr: policy of %d features and %d actions on a game of %d and %d",
			p.engine.In(), p.engine.Out(), state.Width(vec.Information), state.Actions()))
	}
	p.mask = vec.Grow(p.mask, len(rows)*vec.MaskWords(state.Actions()))
	state.Legal(p.mask, rows)
	p.x = vec.Grow(p.x, len(rows)*p.engine.In())
	state.Observe(p.x, vec.Information, rows)
	p.y = vec.Grow(p.y, len(rows)*p.engine.Out())
	p.engine.Forward(p.y, p.x, len(rows))
}

// row reads row i of the last forward: its legal actions and their
// probabilities.
func (p *Policy) row(i, actions int) {
	words := vec.MaskWords(actions)
	p.legal = vec.MaskAppend(p.legal[:0], p.mask[i*words:(i+1)*words])
	p.outputs = vec.Grow(p.outputs, len(p.legal))
	p.probabilities = vec.Grow(p.probabilities, len(p.legal))
	gather(p.outputs, p.y[i*actions:], p.legal)
	p.head.policy(p.probabilities, p.outputs, p.fallback)
}

// policy sets dst to the policy that outputs for the legal actions stand for.
func (h Head) policy(dst, outputs []float32, fallback Fallback) {
	if h == Logits {
		Softmax(dst, outputs)
	} else {
		MatchRegrets(dst, outputs, 0, fallback)
	}
}

// Average returns the average policy as the strategy network has it now.
func (l *Learner) Average(rows int, seed uint64) (*Policy, error) {
	return l.policy(l.strategy, Logits, rows, seed)
}

// Current returns the current policy: what regret matching makes of the regret
// network, or the policy network itself.
func (l *Learner) Current(rows int, seed uint64) (*Policy, error) {
	return l.policy(l.current, l.o.CurrentHead(), rows, seed)
}

func (l *Learner) policy(n *network, head Head, rows int, seed uint64) (*Policy, error) {
	return NewPolicy(n.shape, n.trainer.Params(), n.precision, n.calibration, head, l.traversal.fallback, rows, seed, l.pool)
}
