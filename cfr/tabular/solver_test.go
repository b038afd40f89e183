package tabular

import (
	"errors"
	"math"
	"slices"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/cfr/internal/leduc"
	"vtrain/vec"
)

func newSolver(t testing.TB, tree *Tree, name string, seed uint64) Solver {
	t.Helper()
	for _, a := range Algorithms() {
		if a.Name == name {
			return a.New(tree, seed)
		}
	}
	t.Fatalf("no algorithm %s", name)
	return nil
}

func iterate(t testing.TB, s Solver, n int) {
	t.Helper()
	for range n {
		if err := s.Iterate(); err != nil {
			t.Fatal(err)
		}
	}
}

func average(t testing.TB, tree *Tree, s Solver) []float64 {
	t.Helper()
	policy := make([]float64, tree.Sequences())
	if err := s.Average(policy); err != nil {
		t.Fatal(err)
	}
	return policy
}

// TestCurves holds NashConv to published curves, to about half a unit of their
// last digit: CFR+ ends at .0001747. Leduc's are of exploitability, and those
// after 100 and 500 iterations count from 0.
func TestCurves(t *testing.T) {
	games := map[string]*Tree{"kuhn": mustBuild(t, kuhn.NewBatch()), "leduc": mustBuild(t, leduc.NewBatch())}
	for _, c := range []struct {
		game, algorithm string
		unit            float64
		curve           map[int]float64 // NashConv by iterations
	}{
		{"kuhn", "cfr", 1e-5, map[int]float64{1: .91667, 10: .13740, 100: .01645, 1000: .00188}},
		{"kuhn", "lcfr", 1e-5, map[int]float64{1: .91667, 10: .04250, 100: .00218, 1000: .00019}},
		{"kuhn", "cfr+", 1e-5, map[int]float64{1: .91667, 10: .06537, 100: .00239, 1000: .00018}},
		{"leduc", "cfr", 2e-4, map[int]float64{101: 2 * .0939, 501: 2 * .0214, 1000: 2 * .0118}},
	} {
		tree := games[c.game]
		s := newSolver(t, tree, c.algorithm, 1)
		for i := 1; i <= 1000; i++ {
			iterate(t, s, 1)
			if want, ok := c.curve[i]; ok {
				near(t, c.game+" by "+c.algorithm, tree.NashConv(average(t, tree, s)), want, 0.55*c.unit)
			}
		}
		if got, want := s.Nodes(), 1000*2*int64(tree.Histories()); got != want {
			t.Errorf("%d nodes touched, expected %d", got, want)
		}
	}
}

// TestValuesOfGames: best responses to a good policy bracket the value of the
// game, and its own value is closer still.
func TestValuesOfGames(t *testing.T) {
	for name, c := range map[string]struct {
		tree             *Tree
		value, tolerance float64
	}{
		"kuhn":  {mustBuild(t, kuhn.NewBatch()), -1. / 18, 1e-8},
		"leduc": {mustBuild(t, leduc.NewBatch()), -0.085606424078, 5e-9},
	} {
		s := newSolver(t, c.tree, "dcfr", 1)
		iterate(t, s, 10_000)
		policy := average(t, c.tree, s)
		near(t, name, c.tree.Value(policy), c.value, c.tolerance)
		high, low := c.tree.BestResponse(nil, policy, 0), -c.tree.BestResponse(nil, policy, 1)
		if low > c.value || high < c.value || high-low > 1e-4 {
			t.Errorf("%s: between %.9f and %.9f, expected both close to %.9f", name, low, high, c.value)
		}
	}
}

// TestAllConverge: every algorithm on every game, Lost Cities among them.
func TestAllConverge(t *testing.T) {
	for name, game := range small() {
		tree := mustBuild(t, game)
		uniform := tree.NashConv(tree.Uniform())
		for _, a := range Algorithms() {
			limit, iterations := 0.03, 200
			if a.Name == "external" {
				limit, iterations = 0.15, 20_000
			}
			if a.Name == "outcome" {
				limit, iterations = 0.4, 60_000
			}
			s := a.New(tree, 1)
			iterate(t, s, iterations)
			if got := tree.NashConv(average(t, tree, s)); got > limit*uniform || got < -1e-9 {
				t.Errorf("%s by %s: NashConv %.5f after %d iterations, that of uniform play is %.5f", name, a.Name, got, iterations, uniform)
			}
		}
	}
}

// TestDiscounts: the factors by their definition, and the variants of CFR as
// members of one family.
func TestDiscounts(t *testing.T) {
	for _, c := range []struct {
		t               int
		d               Discount
		positive, other float64
		policy          float64
	}{
		{5, Plain, 1, 1, 1},
		{5, Plus, 1, 0, 4. / 5},
		{5, Linear, 4. / 5, 4. / 5, 4. / 5},
		{5, Discounted, 8. / 9, 1. / 2, 16. / 25},
		{2, Discounted, 1. / 2, 1. / 2, 1. / 4},
		{5, Discount{2, -2, 3}, 16. / 17, 1. / 17, 64. / 125},
		{1, Linear, 0, 0, 0}, // there is no past
	} {
		positive, negative := c.d.regrets(c.t)
		near(t, "factor of positive regrets", positive, c.positive, 1e-15)
		near(t, "factor of negative regrets", negative, c.other, 1e-15)
		near(t, "factor of the policy", c.d.policy(c.t), c.policy, 1e-15)
	}
	tree := mustBuild(t, leduc.NewBatch())
	for _, d := range []Discount{Plain, {2, -2, 3}, {3, -50, 1}} { // first iterations of odd exponents
		s := NewExact(tree, d)
		iterate(t, s, 3)
		if got := tree.NashConv(average(t, tree, s)); !(got < 4.75) {
			t.Errorf("%v: NashConv %v", d, got)
		}
	}
}

// TestExternalOnLeduc compares with MATH's row, the mean of some seeds within a
// quarter of it.
func TestExternalOnLeduc(t *testing.T) {
	tree, seeds := mustBuild(t, leduc.NewBatch()), uint64(5)
	rows := []struct {
		nodes          int64
		exploitability float64
	}{{100_000, .45}, {1_000_000, .10}, {4_100_000, .041}}
	if testing.Short() {
		rows = rows[:1]
	}
	sums := make([]float64, len(rows))
	for seed := range seeds {
		s := NewExternal(tree, seed)
		for i, row := range rows {
			for s.Nodes() < row.nodes {
				iterate(t, s, 1)
			}
			sums[i] += tree.NashConv(average(t, tree, s)) / 2
		}
	}
	for i, row := range rows {
		got := sums[i] / float64(seeds)
		t.Logf("%d nodes: exploitability %.3f, published %.3f", row.nodes, got, row.exploitability)
		near(t, "exploitability", got, row.exploitability, row.exploitability/4)
	}
}

// TestSampledRegretsAreUnbiased compares means of sampled regrets at every
// information set with the exact ones, for a policy that stays as it is.
func TestSampledRegretsAreUnbiased(t *testing.T) {
	for name, game := range small() {
		tree := mustBuild(t, game)
		if testing.Short() && tree.Histories() > 500 {
			continue
		}
		regret := random(tree, 8)
		for k := range regret {
			regret[k] += 0.3 // no action is so rare that its mean says nothing,
			if k%7 == 0 {
				regret[k] = -1 // unless it is never taken
			}
		}
		want := exactRegrets(tree, regret)
		external, outcome := NewExternal(tree, 1), NewOutcome(tree, 0.6, 1)
		checkMeans(t, name+", external", &external.sampler, external, 500, regret, want)
		checkMeans(t, name+", outcome", &outcome.sampler, outcome, 3000, regret, want)
	}
}

// exactRegrets returns counterfactual regrets of the policy that matches some.
func exactRegrets(tree *Tree, regret []float64) []float64 {
	s := NewExact(tree, Discount{math.Inf(-1), math.Inf(-1), 0}) // forgets
	for i := range tree.InformationSets() {
		lo, hi := tree.Span(i)
		match(s.current[lo:hi], regret[lo:hi])
	}
	policy := slices.Clone(s.current)
	s.update(0)
	copy(s.current, policy)
	s.update(1)
	return s.regret
}

// checkMeans compares means over groups of iterations with what is expected.
func checkMeans(t *testing.T, name string, s *sampler, solver Solver, iterations int, regret, want []float64) {
	t.Helper()
	const groups = 200
	copy(s.regret, regret)
	sum, squares := make([]float64, len(want)), make([]float64, len(want))
	for range groups {
		s.learned = make([]float64, len(want))
		iterate(t, solver, iterations)
		for q, x := range s.learned {
			x /= float64(iterations)
			sum[q] += x
			squares[q] += x * x
		}
	}
	for q := 2; q < len(want); q++ {
		mean := sum[q] / groups
		se := math.Sqrt(max(0, squares[q]/groups-mean*mean) / (groups - 1))
		if math.Abs(mean-want[q]) > 4*se+1e-12 {
			t.Errorf("%s: regret of sequence %d is %.6f ± %.6f on average, exactly %.6f", name, q, mean, se, want[q])
		}
	}
}

// TestSameBits: a seed decides everything, another decides otherwise.
func TestSameBits(t *testing.T) {
	tree := mustBuild(t, leduc.NewBatch())
	for _, name := range []string{"external", "outcome"} {
		var policies [3][]float64
		for i, seed := range []uint64{1, 1, 2} {
			s := newSolver(t, tree, name, seed)
			iterate(t, s, 500)
			policies[i] = average(t, tree, s)
		}
		if !slices.Equal(policies[0], policies[1]) || slices.Equal(policies[0], policies[2]) {
			t.Errorf("%s: the same seed gave other bits, or another seed the same", name)
		}
	}
}

func TestIterationsAllocateNothing(t *testing.T) {
	tree := mustBuild(t, leduc.NewBatch())
	for _, a := range Algorithms() {
		s := a.New(tree, 1)
		iterate(t, s, 100)
		if n := testing.AllocsPerRun(50, func() { iterate(t, s, 1) }); n != 0 {
			t.Errorf("%s allocates %.1f times an iteration", a.Name, n)
		}
	}
}

func TestRun(t *testing.T) {
	tree := mustBuild(t, kuhn.NewBatch())
	told := 0
	curve, err := tree.Run(newSolver(t, tree, "cfr", 1), 123, func(iteration int) { told += iteration })
	if err != nil {
		t.Fatal(err)
	}
	var at []int
	for _, p := range curve.Points {
		at = append(at, p.Iteration)
		if want := int64(p.Iteration) * 2 * 54; p.Nodes != want {
			t.Errorf("%d nodes after %d iterations, expected %d", p.Nodes, p.Iteration, want)
		}
	}
	if want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 123}; !slices.Equal(at, want) {
		t.Errorf("measured at %v, expected %v", at, want)
	}
	last := curve.Points[len(curve.Points)-1]
	near(t, "NashConv of the policy", tree.NashConv(curve.Policy), last.NashConv, 0)
	if told != 123*124/2 {
		t.Errorf("progress adds up to %d", told)
	}
}

// broken is a solver that goes wrong.
type broken struct {
	Solver
	err error
}

func (b broken) Iterate() error { return b.err }
func (b broken) Average(dst []float64) error {
	dst[2] = math.NaN()
	return nil
}

func TestRunStopsAtErrors(t *testing.T) {
	tree, failure := mustBuild(t, kuhn.NewBatch()), errors.New("failure")
	if _, err := tree.Run(broken{newSolver(t, tree, "cfr", 1), failure}, 3, nil); !errors.Is(err, failure) {
		t.Errorf("got %v, expected the solver's error", err)
	}
	if _, err := tree.Run(broken{newSolver(t, tree, "cfr", 1), nil}, 3, nil); err == nil {
		t.Error("a policy that is no number went unnoticed")
	}
}

func BenchmarkIterate(b *testing.B) {
	for name, game := range map[string]vec.Enumerable{"kuhn": kuhn.NewBatch(), "leduc": leduc.NewBatch(), "tiny-2-turns": tiny(2)} {
		tree := mustBuild(b, game)
		for _, a := range Algorithms() {
			b.Run(name+"/"+a.Name, func(b *testing.B) {
				s := a.New(tree, 1)
				for b.Loop() {
					iterate(b, s, 1)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(s.Nodes()), "ns/node")
			})
		}
	}
}
