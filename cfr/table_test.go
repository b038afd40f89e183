package cfr

import (
	"math"
	"testing"
	"time"

	"vtrain/cfr/internal/leduc"
	"vtrain/cfr/tabular"
	"vtrain/nets"
	"vtrain/vec"
)

// A table takes the place of a network: for each observation it remembers the
// regrets that a perfect fit would have. What is left is the traversal's part in
// how fast policies converge.
type table struct {
	nets.Engine // nil: a traversal asks for widths and forwards only
	in, out     int
	regret      map[string]*weighted
	strategy    map[string]*weighted // the same of policies
	key         []byte
}

// weighted is a weighted mean of rows [A].
type weighted struct {
	sum    []float64
	weight float64
}

func newTable(game vec.Batch) *table {
	return &table{in: game.Width(vec.Information), out: game.Actions(), regret: map[string]*weighted{}, strategy: map[string]*weighted{}}
}

func (e *table) In() int  { return e.in }
func (e *table) Out() int { return e.out }

// Forward implements nets.Engine: regrets are 0 where nothing is known.
func (e *table) Stream(s nets.Stream, rows int) {
	for lo := 0; lo < rows; lo += nets.MaxBlock {
		hi := min(lo+nets.MaxBlock, rows)
		x, y := make([]float32, (hi-lo)*e.In()), make([]float32, (hi-lo)*e.Out())
		s.Fill(x, lo, hi)
		e.Forward(y, x, hi-lo)
		s.Drain(y, lo, hi)
	}
}

func (e *table) Forward(dst, x []float32, rows int) {
	for r := range rows {
		y := dst[r*e.out : (r+1)*e.out]
		clear(y)
		if w := e.regret[e.observed(x[r*e.in:(r+1)*e.in])]; w != nil {
			for a := range y {
				y[a] = float32(w.sum[a] / w.weight)
			}
		}
	}
}

// observed returns an observation as a key.
func (e *table) observed(x []float32) string {
	e.key = e.key[:0]
	for _, v := range x {
		bits := math.Float32bits(v)
		e.key = append(e.key, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
	}
	return string(e.key)
}

// learn takes iteration t into the means, with weight t as in linear CFR.
func (e *table) learn(s *Samples, t int) {
	x := make([]float32, e.in)
	for r := range int32(s.Rows()) {
		into, values := e.regret, s.Target
		if s.Role[r] == Opposes {
			into, values = e.strategy, s.Sigma
		}
		s.State.Observe(x, vec.Information, []int32{r})
		key := e.observed(x)
		if into[key] == nil {
			into[key] = &weighted{sum: make([]float64, e.out)}
		}
		w := into[key]
		w.weight += float64(t)
		for k, hi := s.Legal(r); k < hi; k++ {
			w.sum[s.Act[k]] += float64(t) * float64(values[k])
		}
	}
}

// average returns the average strategy as a policy of the tree.
func (e *table) average(tree *tabular.Tree) []float64 {
	policy, x := make([]float64, tree.Sequences()), make([]float32, e.in)
	for i := range tree.InformationSets() {
		tree.States().Observe(x, vec.Information, []int32{int32(i)})
		if w := e.strategy[e.observed(x)]; w != nil {
			for q, hi := tree.Span(i); q < hi; q++ {
				policy[q] = w.sum[tree.Action(q)]
			}
		}
	}
	tree.Normalise(policy)
	return policy
}

// TestTableOnLeduc: 100 iterations of external sampling with a table, of 836
// thousand nodes in all, are exploitable by about .21.
func TestTableOnLeduc(t *testing.T) {
	const iterations, most, limit = 100, 836_000, .25
	o := OptionsOf(DeepCFR)
	o.Estimator, o.Scale, o.Games = External, 1, 445
	game := leduc.NewBatch()
	traversal, e := newTraversal(game, o, Uniform, nil), newTable(game)
	nodes, begin := 0, time.Now()
	for i := 1; i <= iterations; i++ {
		if err := traversal.traverse(t.Context(), e, nil, uint64(i)); err != nil {
			t.Fatal(err)
		}
		nodes += traversal.stats.Nodes()
		e.learn(&traversal.samples, i)
	}
	took := time.Since(begin)
	tree, err := tabular.Build(game, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	exploitability := tree.NashConv(e.average(tree)) / 2
	t.Logf("exploitability %.4f after %d iterations of %d games, %d nodes, %v", exploitability, iterations, o.Games, nodes, took.Round(time.Millisecond))
	if nodes > most {
		t.Errorf("%d nodes, expected at most %d", nodes, most)
	}
	if !(exploitability <= limit) {
		t.Errorf("exploitability %.4f, expected at most %.2f", exploitability, limit)
	}
}
