package cfr

import (
	"context"
	"fmt"
	"math"
	"slices"
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

// estimators are options of each, and of variants of them.
func estimators() map[string]Options {
	with := func(change func(*Options)) Options {
		o := kuhnOptions()
		o.Games, o.Lambda, o.Clip, o.BranchPlies = 500, .6, 1.7, 2
		change(&o)
		return o
	}
	return map[string]Options{
		"critic":           with(func(o *Options) {}),
		"corrected critic": with(func(o *Options) { o.Correction = true }),
		"outcome":          with(func(o *Options) { o.Estimator = Outcome }),
		"external":         with(func(o *Options) { o.Estimator, o.BranchPlies = External, 0 }),
		"first plies":      with(func(o *Options) { o.Estimator = External }),
		"once":             with(func(o *Options) { o.Estimator, o.BranchOnce = External, true }),
		"robust":           with(func(o *Options) { o.Estimator, o.Branch, o.BranchPlies = Robust, 1, 0 }),
		"average":          with(func(o *Options) { o.Opponents = []string{"average=.6", "current"} }),
		"league":           with(func(o *Options) { o.Estimator, o.Opponents = Outcome, []string{"league"} }),
		"crowd": with(func(o *Options) {
			o.Estimator, o.BranchPlies, o.Opponents = External, 0, []string{"league", "lazy=.5", "current"}
		}),
		"no budget": with(func(o *Options) { o.Estimator, o.Nodes = External, 4*o.Games }),
	}
}

// TestBackupAgainstDefinition computes returns and advantages again, from the
// definition and by recursion, over the recorded decisions of every game.
func TestBackupAgainstDefinition(t *testing.T) {
	for name, o := range estimators() {
		t.Run(name, func(t *testing.T) { againstDefinition(t, o) })
	}
}

func againstDefinition(t *testing.T, o Options) {
	l := newKuhn(t, o, nil)
	for _, name := range l.Missing() {
		l.Enter(name, lazy{})
	}
	mustTraverse(t, l, 11)
	mustTraverse(t, l, 12)
	s := &l.traversal.samples
	state := s.State.(*kuhn.Batch)
	rows := map[node]int32{}
	for r := range int32(s.Rows()) {
		h, _ := state.Node(r)
		rows[node{state.GameKeys()[r], h}] = r
	}
	lambda, clip, weighs := 1., math.Inf(1), true
	switch o.Estimator {
	case Critic:
		lambda, clip, weighs = o.Lambda, o.Clip, o.Correction
	case Outcome:
		clip = o.Clip
	}
	// value is (1-λ)ΣσQ + λv̂ of a node, for player 0.
	var value func(key uint64, history int, hand [2]uint8) float64
	after := func(r int32, k int32) float64 { // for the mover, of the node that an action led to
		h, hand := state.Node(r)
		return float64(1-2*kuhn.Mover(h)) * value(state.GameKeys()[r], kuhn.After(h, int(s.Act[k])), hand)
	}
	estimate := func(r, k int32, clip float64) float64 { // v̂(h,a)
		q := float64(s.Q[k])
		if s.Xi[k] == 0 {
			return q
		}
		return q + min(1/float64(s.Xi[k]), clip)*(after(r, k)-q)
	}
	mean := func(r int32, of func(k int32) float64) float64 {
		sum := 0.
		for k, hi := s.Legal(r); k < hi; k++ {
			sum += float64(s.Sigma[k]) * of(k)
		}
		return sum
	}
	q := func(k int32) float64 { return float64(s.Q[k]) }
	value = func(key uint64, history int, hand [2]uint8) float64 {
		if u, over := kuhn.Utility(history, hand); over {
			return float64(u)
		}
		r, found := rows[node{key, history}]
		if !found {
			t.Fatalf("history %d was visited, but isn't recorded", history)
		}
		frame := float64(1 - 2*kuhn.Mover(history))
		return frame * ((1-lambda)*mean(r, q) + lambda*mean(r, func(k int32) float64 { return estimate(r, k, math.Inf(1)) }))
	}
	for r := range int32(s.Rows()) {
		h, _ := state.Node(r)
		target := func(k int32) float64 { return estimate(r, k, clip) }
		if !weighs {
			target = q
		}
		tried := 0
		for k, hi := s.Legal(r); k < hi; k++ {
			if s.Xi[k] > 0 {
				tried++
				compare(t, "return", r, s.Return[k], after(r, k))
			}
			compare(t, "advantage", r, s.Target[k], target(k)-mean(r, target))
		}
		traverses := uint8(state.GameKeys()[r]&1) == s.Mover[r]
		if want := wanted(o, traverses, state.Plies()[r]); tried != want && want > 0 {
			t.Fatalf("history %d: %d actions tried, expected %d", h, tried, want)
		}
		if opposes := s.Role[r] == Opposes || s.Role[r] == Replaces; opposes == traverses {
			t.Fatalf("history %d: role %d of a player who traverses: %v", h, s.Role[r], traverses)
		}
	}
}

// lazy is an opponent who never bets.
type lazy struct{}

func (lazy) Act(dst []int32, _ vec.Batch, _ []int32) { clear(dst) }

// TestOpponents: each plays against the traverser in its share of the games, from
// their beginning to their end.
func TestOpponents(t *testing.T) {
	o := kuhnOptions()
	o.Games, o.Opponents = 4000, []string{"lazy=.3", "average=.2", "league=.25", "current"}
	l := newKuhn(t, o, nil)
	if _, err := l.Iterate(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "lazy") {
		t.Fatalf("error %v, expected one that names who is missing", err)
	}
	l.Enter("lazy", lazy{})
	iterate(t, l, 2)
	s := &l.traversal.samples
	games := map[uint64]Role{}
	counts := map[string]int{}
	for r := range int32(s.Rows()) {
		key, role := s.State.GameKeys()[r], s.Role[r]
		if role == Teaches {
			continue
		}
		if before, seen := games[key]; seen && before != role {
			t.Fatalf("the opponent of game %d has roles %d and %d", key, before, role)
		} else if seen {
			continue
		}
		games[key] = role
		lo, hi := s.Legal(r)
		switch {
		case role == Opposes:
			counts["current"]++
		case slices.Max(s.Regret[lo:hi]) == 0 && slices.Min(s.Regret[lo:hi]) == 0: // no network's outputs
			counts["lazy"]++
		default:
			counts["networks"]++
		}
	}
	n := float64(len(games))
	for name, share := range map[string]float64{"current": .25, "lazy": .3, "networks": .45} {
		if got := float64(counts[name]) / n; math.Abs(got-share) > 4*math.Sqrt(share/n) {
			t.Errorf("%s played %.3f of %g games, expected %g", name, got, n, share)
		}
	}
}

func TestShares(t *testing.T) {
	for text, want := range map[string]string{
		"current":        "[{current 1}]",
		"current a=.25":  "[{current 0.75} {a 0.25}]",
		"a b c=.5 d":     "[{a 0.16666666666666666} {b 0.16666666666666666} {c 0.5} {d 0.16666666666666666}]",
		"a=.1 b=.2 c=.7": "[{a 0.1} {b 0.2} {c 0.7}]",
		"a=.5":           "have 0.5 of all games",
		"a=.75 b=.5 c":   "have 1.25 of all games",
		"a=2":            "opponents[0]",
		"a b=many":       "opponents[1]",
		"":               "opponents is empty",
	} {
		o := OptionsOf(DeepCFR)
		o.Opponents = strings.Fields(text)
		all, err := o.shares()
		got := fmt.Sprint(all)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q gives %s, expected %s", text, got, want)
		}
	}
}

// wanted returns the actions tried at a decision of Kuhn poker, 0 if that is a
// matter of chance.
func wanted(o Options, traverses bool, ply uint32) int {
	switch {
	case !traverses || o.Estimator == Critic || o.Estimator == Outcome || o.Nodes > 0 && o.Nodes < 10*o.Games:
		return 1
	case o.BranchOnce && ply < uint32(o.BranchPlies):
		return 0
	case o.Estimator == Robust:
		return o.Branch
	case o.BranchPlies > 0 && ply >= uint32(o.BranchPlies):
		return 1
	}
	return 2
}

func compare(t *testing.T, what string, row int32, got float32, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 1e-4*max(1, math.Abs(want)) {
		t.Fatalf("row %d: %s is %v, expected %v", row, what, got, want)
	}
}

func mustTraverse(t *testing.T, l *Learner, seed uint64) {
	t.Helper()
	if err := l.traversal.traverse(context.Background(), l.current.engine, l.criticEngine(), seed); err != nil {
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
		if _, err := l.Iterate(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "iteration 1: ply 0") {
			t.Errorf("a bias of %v: error %v", bad, err)
		}
	}
}

func tinyLearner(t *testing.T, games int) *Learner {
	t.Helper()
	cfg := rules.MustPreset("tiny")
	cfg.MaxTurns = 20
	o := OptionsOf(DeepCFR)
	o.Games = games
	l, err := NewLearner(encode.NewBatch(encode.NewCards(cfg), nil), Nets{Hidden: []int{16}}, DefaultMemory(), o, 1, nil)
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
	p, err := NewPlan(game(400), []int{256, 256}, DefaultMemory(), OptionsOf(DeepCFR))
	if err != nil {
		t.Fatal(err)
	}
	if want := 384 * (1 + 800); p.Nodes != want {
		t.Errorf("%d nodes, expected %d", p.Nodes, want)
	}
	if want := 2*(441*256+257*256+257*106) + 441*256 + 257*256 + 257*106; p.Parameters != want {
		t.Errorf("%d parameters, expected %d", p.Parameters, want)
	}
	o := OptionsOf(DeepCFR)
	o.Games = 1 << 20
	for name, refused := range map[string]func() (Plan, error){
		"turn limit": func() (Plan, error) { return NewPlan(game(0), []int{8}, DefaultMemory(), OptionsOf(DeepCFR)) },
		"games":      func() (Plan, error) { return NewPlan(game(400), []int{8}, DefaultMemory(), o) },
		"memory":     func() (Plan, error) { return NewPlan(game(400), []int{8}, Memory{}, OptionsOf(DeepCFR)) },
		"layers":     func() (Plan, error) { return NewPlan(game(400), []int{0}, DefaultMemory(), OptionsOf(DeepCFR)) },
	} {
		if _, err := refused(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v does not name it", name, err)
		}
	}
}
