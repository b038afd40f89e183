package cfr

import (
	"math"
	"strings"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// node is a decision of one game of Kuhn poker, which never comes back to one.
type node struct {
	key     uint64
	history int
}

// TestBackupAgainstDefinition computes returns and advantages again, from the
// definition and by recursion, over the recorded decisions of every game.
func TestBackupAgainstDefinition(t *testing.T) {
	for _, correction := range []bool{false, true} {
		o := kuhnOptions()
		o.Games, o.Lambda, o.Correction, o.Clip = 500, .6, correction, 1.7
		l := newKuhn(t, o, nil)
		mustTraverse(t, l, 12)
		s := &l.traversal.samples
		state := s.State.(*kuhn.Batch)
		rows := map[node]int32{}
		for r := range int32(s.Rows()) {
			h, _ := state.Node(r)
			rows[node{state.GameKeys()[r], h}] = r
		}
		// value is (1-λ)ΣσQ + λv̂ of a node, for player 0.
		var value func(key uint64, history int, hand [2]uint8) float64
		after := func(r int32) float64 { // of the node that the row's action led to
			h, hand := state.Node(r)
			return value(state.GameKeys()[r], kuhn.After(h, int(s.Act[s.Taken[r]])), hand)
		}
		estimate := func(r int32, a int32, v, weight float64) float64 {
			q := float64(s.Q[a])
			if a == s.Taken[r] {
				return q + weight*(v-q)
			}
			return q
		}
		value = func(key uint64, history int, hand [2]uint8) float64 {
			if u, over := kuhn.Utility(history, hand); over {
				return float64(u)
			}
			r := rows[node{key, history}]
			frame := float64(1 - 2*kuhn.Mover(history))
			v, plain, corrected := frame*after(r), 0., 0.
			for a, hi := s.Legal(r); a < hi; a++ {
				plain += float64(s.Sigma[a]) * float64(s.Q[a])
				corrected += float64(s.Sigma[a]) * estimate(r, a, v, 1/float64(s.Xi[r]))
			}
			return frame * ((1-o.Lambda)*plain + o.Lambda*corrected)
		}
		for r := range int32(s.Rows()) {
			h, _ := state.Node(r)
			v := float64(1-2*kuhn.Mover(h)) * after(r)
			compare(t, "return", r, s.Return[r], v)
			weight := 0.
			if correction {
				weight = min(1/float64(s.Xi[r]), o.Clip)
			}
			mean := 0.
			for a, hi := s.Legal(r); a < hi; a++ {
				mean += float64(s.Sigma[a]) * estimate(r, a, v, weight)
			}
			for a, hi := s.Legal(r); a < hi; a++ {
				compare(t, "advantage", r, s.Target[a], estimate(r, a, v, weight)-mean)
			}
		}
	}
}

func compare(t *testing.T, what string, row int32, got float32, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 1e-4*max(1, math.Abs(want)) {
		t.Fatalf("row %d: %s is %v, expected %v", row, what, got, want)
	}
}

func mustTraverse(t *testing.T, l *Learner, seed uint64) {
	t.Helper()
	if err := l.traversal.traverse(l.regret.engine, l.critic.engine, seed); err != nil {
		t.Fatal(err)
	}
}

// TestNotANumberStopsTheRun: a network that gives NaN or Inf is found at the
// first decision that it spoils.
func TestNotANumberStopsTheRun(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		l := newKuhn(t, kuhnOptions(), nil)
		params := l.critic.trainer.Params()
		params.Flat()[params.Len()-1] = float32(bad) // the bias of one action
		l.critic.publish()
		if _, err := l.Iterate(0); err == nil || !strings.Contains(err.Error(), "iteration 1: ply 0") {
			t.Errorf("a bias of %v: error %v", bad, err)
		}
	}
}

func tinyLearner(t *testing.T, games int) *Learner {
	t.Helper()
	cfg := rules.MustPreset("tiny")
	cfg.MaxTurns = 20
	o := DefaultOptions()
	o.Games = games
	l, err := NewLearner(encode.NewBatch(encode.NewCards(cfg), nil), Nets{Hidden: []int{16}}, 1000, o, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func TestTraversalAllocatesNothing(t *testing.T) {
	l := tinyLearner(t, 64)
	mustTraverse(t, l, 1)
	if got := testing.AllocsPerRun(3, func() { mustTraverse(t, l, 1) }); got != 0 {
		t.Errorf("%v allocations a traversal, expected none", got)
	}
}

func TestPolicyAllocatesNothing(t *testing.T) {
	l := tinyLearner(t, 8)
	p, err := l.Average(8, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	state := l.traversal.samples.State.New()
	state.Deal(8, 1, 0)
	rows, actions := vec.AllRows(nil, 8), make([]int32, 8)
	p.Act(actions, state, rows)
	if got := testing.AllocsPerRun(10, func() { p.Act(actions, state, rows) }); got != 0 {
		t.Errorf("%v allocations a move, expected none", got)
	}
}

func TestPlan(t *testing.T) {
	cfg := rules.MustPreset("classic")
	game := func(turns int) vec.Batch {
		cfg.MaxTurns = turns
		return encode.NewBatch(encode.NewCards(cfg), nil)
	}
	p, err := NewPlan(game(400), []int{256, 256}, 1_000_000, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if want := 384 * 800; p.Nodes != want {
		t.Errorf("%d nodes, expected %d", p.Nodes, want)
	}
	if want := 2*(441*256+257*256+257*106) + 441*256 + 257*256 + 257*106; p.Parameters != want {
		t.Errorf("%d parameters, expected %d", p.Parameters, want)
	}
	o := DefaultOptions()
	o.Games = 1 << 20
	for name, refused := range map[string]func() (Plan, error){
		"turn limit": func() (Plan, error) { return NewPlan(game(0), []int{8}, 10, DefaultOptions()) },
		"games":      func() (Plan, error) { return NewPlan(game(400), []int{8}, 10, o) },
		"memory":     func() (Plan, error) { return NewPlan(game(400), []int{8}, 0, DefaultOptions()) },
		"layers":     func() (Plan, error) { return NewPlan(game(400), []int{0}, 10, DefaultOptions()) },
	} {
		if _, err := refused(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v does not name it", name, err)
		}
	}
}
