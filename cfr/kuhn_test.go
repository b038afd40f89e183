package cfr

import (
	"math"
	"slices"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/vec"
)

// kuhnOptions are settings for a game of three plies and one unit.
func kuhnOptions() Options {
	o := OptionsOf(DeepCFR)
	o.Games, o.Batch, o.Passes, o.Scale, o.Fallback = 1000, 256, 2, 1, "uniform"
	o.Epsilon, o.RegretGain = 0.3, 1
	o.RegretRate, o.CriticRate, o.StrategyRate = 2e-3, 4e-3, 1e-3
	return o
}

func newKuhn(t *testing.T, o Options, pool *vec.Pool) *Learner {
	t.Helper()
	l, err := NewLearner(kuhn.NewBatch(), Nets{Hidden: []int{64, 64}}, Memory{StrategyRows: 1 << 17, RegretRows: 1 << 17, Snapshots: 4}, o, 1, pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	if slices.Contains(l.Missing(), "teacher") {
		l.Enter("teacher", &teacher{})
	}
	return l
}

func iterate(t *testing.T, l *Learner, n int) {
	t.Helper()
	for i := range n {
		if _, err := l.Iterate(t.Context(), float64(i)/float64(n)); err != nil {
			t.Fatal(err)
		}
	}
}

// strategyOf reads a policy as a table.
func strategyOf(t *testing.T, policy func(rows int, seed uint64) (*Policy, error)) kuhn.Strategy {
	t.Helper()
	p, err := policy(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	b := kuhn.NewBatch()
	b.DealAll()
	rows := vec.AllRows(nil, b.Rows())
	probabilities := make([]float32, b.Rows()*b.Actions())
	p.Probabilities(probabilities, b, rows)
	var s kuhn.Strategy
	for _, r := range rows {
		history, hand := b.Node(r)
		s[history][hand[kuhn.Mover(history)]] = float64(probabilities[int(r)*b.Actions()+kuhn.Bet])
	}
	return s
}

// TestKuhnConverges holds what is learned to the exact worth of it. Uniform
// play has a NashConv of .917, and solvers that run without converging stay
// above .5.
func TestKuhnConverges(t *testing.T) {
	l := newKuhn(t, kuhnOptions(), nil)
	iterate(t, l, 120)
	average := strategyOf(t, l.Average)
	if got := kuhn.NashConv(average); got > 0.12 {
		t.Errorf("NashConv of the average policy is %.3f, expected at most .12; policy %v", got, average)
	}
	if got := kuhn.Value(average); math.Abs(got+1.0/18) > 0.03 {
		t.Errorf("the average policy wins %.3f for player 0, expected about -1/18", got)
	}
}

// TestAdvantagesAreUnbiased compares the mean of the estimates at every
// history with exact advantages of the current policy, whatever the critic
// says: here it is untrained.
func TestAdvantagesAreUnbiased(t *testing.T) {
	o := kuhnOptions()
	o.Games, o.Lambda, o.Correction, o.Clip = 200_000, 1, true, math.MaxFloat32
	l := newKuhn(t, o, nil)
	current := strategyOf(t, l.Current)
	mustTraverse(t, l, 99)
	type estimate struct{ n, sum, squares float64 }
	estimates := map[[4]uint8]*estimate{} // history, hands, action
	s := &l.traversal.samples
	state := s.State.(*kuhn.Batch)
	for _, r := range s.of(nil, Teaches) { // others don't explore, and teach no regrets
		h, hand := state.Node(r)
		for k, hi := s.Legal(r); k < hi; k++ {
			key := [4]uint8{uint8(h), hand[0], hand[1], uint8(s.Act[k])}
			if estimates[key] == nil {
				estimates[key] = &estimate{}
			}
			e, x := estimates[key], float64(s.Target[k])
			e.n++
			e.sum += x
			e.squares += x * x
		}
	}
	if len(estimates) != 4*6*2 {
		t.Fatalf("%d histories and actions visited, expected all %d", len(estimates), 4*6*2)
	}
	for key, e := range estimates {
		exact := kuhn.Advantages(current, int(key[0]), [2]uint8{key[1], key[2]})[key[3]]
		mean := e.sum / e.n
		se := math.Sqrt((e.squares/e.n - mean*mean) / e.n)
		if math.Abs(mean-exact) > 4*se+1e-6 {
			t.Errorf("history %v: mean advantage %.4f ± %.4f over %.0f visits, exact %.4f", key, mean, se, e.n, exact)
		}
	}
}

// TestSameBitsForAnyWorkers runs the same learner on different pools.
func TestSameBitsForAnyWorkers(t *testing.T) {
	for _, o := range []Options{kuhnOptions(), ppoOptions(), distillOptions()} {
		t.Run(o.Algorithm, func(t *testing.T) { testSameBitsForAnyWorkers(t, o) })
	}
}

func testSameBitsForAnyWorkers(t *testing.T, o Options) {
	var want []float32
	for _, workers := range []int{0, 2, 3} {
		var pool *vec.Pool
		if workers > 0 {
			pool = vec.NewPool(workers)
			defer pool.Close()
		}
		l := newKuhn(t, o, pool)
		iterate(t, l, 3)
		var got []float32
		for _, n := range l.State().Networks {
			got = slices.Concat(got, n.Params.Flat(), n.State.M, n.State.V)
		}
		got = append(got, l.memory.Value.Data...)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers computed other bits than the caller alone", workers)
		}
	}
}

// TestRestore continues from a state as if nothing had happened.
func TestRestore(t *testing.T) {
	for _, o := range []Options{kuhnOptions(), ppoOptions(), distillOptions()} {
		t.Run(o.Algorithm, func(t *testing.T) { testRestore(t, o) })
	}
}

func testRestore(t *testing.T, o Options) {
	straight, first, second := newKuhn(t, o, nil), newKuhn(t, o, nil), newKuhn(t, o, nil)
	iterate(t, straight, 3)
	iterate(t, first, 3)
	if err := second.Restore(first.State()); err != nil {
		t.Fatal(err)
	}
	iterate(t, straight, 2)
	iterate(t, second, 2)
	for i, n := range straight.State().Networks {
		if !slices.Equal(n.Params.Flat(), second.State().Networks[i].Params.Flat()) {
			t.Errorf("%s differs from that of an uninterrupted run", n.Name)
		}
	}
	wider, err := NewLearner(kuhn.NewBatch(), Nets{Hidden: []int{65}}, DefaultMemory(), o, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer wider.Close()
	if err := wider.Restore(first.State()); err == nil {
		t.Error("a learner of other shape took the state")
	}
}

// TestNextTraversalPlaysTheNewPolicy catches engines that are not reloaded.
func TestNextTraversalPlaysTheNewPolicy(t *testing.T) {
	l := newKuhn(t, kuhnOptions(), nil)
	untrained := strategyOf(t, l.Current)
	iterate(t, l, 1)
	current := strategyOf(t, l.Current)
	if current == untrained {
		t.Fatal("an iteration changed nothing")
	}
	mustTraverse(t, l, 5)
	s := &l.traversal.samples
	state := s.State.(*kuhn.Batch)
	for r := range int32(s.Rows()) {
		h, hand := state.Node(r)
		lo, _ := s.Legal(r)
		if got, want := float64(s.Sigma[lo+kuhn.Bet]), current[h][hand[kuhn.Mover(h)]]; math.Abs(got-want) > 1e-6 {
			t.Fatalf("row %d was played by %v, the trained policy is %v", r, got, want)
		}
	}
}
