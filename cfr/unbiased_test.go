package cfr

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"vtrain/cfr/internal/exact"
	"vtrain/cfr/internal/kuhn"
	"vtrain/cfr/internal/leduc"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// A smallGame is one whose exact advantages are known in every state.
type smallGame struct {
	name    string
	new     func() vec.Enumerable
	scale   float64 // makes utilities about 1
	seed    uint64  // of networks whose policy is mixed in many places, and close to pure in few: rare actions would take more games
	by      grouping
	largest float64 // score that an error of a group may have, 0 for Bonferroni's
}

// A grouping says which rows are averaged. Errors are taken in each row from its
// own state's advantages, so that any function of the state will do.
type grouping bool

const (
	byState       grouping = false
	byInformation grouping = true // what the mover observes, where states are too many
)

var smallGames = []smallGame{
	{"Kuhn", func() vec.Enumerable { return kuhn.NewBatch() }, 1, 8, byState, 4},
	{"Leduc", func() vec.Enumerable { return leduc.NewBatch() }, 4, 3, byState, 0},
	{"tiny", func() vec.Enumerable {
		cfg := rules.MustPreset("tiny")
		cfg.MaxTurns = 2
		return encode.NewBatch(encode.NewCards(cfg), nil)
	}, 40, 5, byInformation, 0},
}

// judged are the games that trials look at: with -short the poker games.
func judged() []smallGame {
	if testing.Short() {
		return smallGames[:2]
	}
	return smallGames
}

// A variant is an estimator with settings of its own.
type variant struct {
	name string
	set  func(*Options)
}

// unbiasedVariants are those that promise it, on top of a game's options.
var unbiasedVariants = []variant{
	{"critic", func(o *Options) { o.Estimator = Critic }},
	{"outcome", func(o *Options) { o.Estimator = Outcome }},
	{"external", func(o *Options) { o.Estimator = External }},
	{"external, first plies", func(o *Options) { o.Estimator, o.BranchPlies = External, 2 }},
	{"external, once", func(o *Options) { o.Estimator, o.BranchPlies, o.BranchOnce = External, 3, true }},
	{"robust 1", func(o *Options) { o.Estimator, o.Branch = Robust, 1 }},
	{"robust 2", func(o *Options) { o.Estimator, o.Branch = Robust, 2 }},
	{"robust 2, once", func(o *Options) { o.Estimator, o.Branch, o.BranchPlies, o.BranchOnce = Robust, 2, 3, true }},
}

// options leave nothing to the critic's opinion: nothing is clipped, and
// what happened is carried upwards as it is.
func (g smallGame) options() Options {
	o := kuhnOptions()
	o.Games, o.Nodes, o.Scale = enough()/10, 1<<28, g.scale
	o.Epsilon, o.Lambda, o.Correction, o.Clip = .3, 1, true, math.MaxFloat32
	return o
}

// learner returns one that has learned nothing yet, with a critic.
func (g smallGame) learner(t *testing.T, o Options) *Learner {
	t.Helper()
	l, err := NewLearner(g.new(), Nets{Hidden: []int{32}}, Memory{StrategyRows: 1 << 16, RegretRows: 1}, o, g.seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// exactly returns the advantages of the learner's current policy.
func (g smallGame) exactly(t *testing.T, l *Learner) map[string][]float64 {
	t.Helper()
	p, err := l.Current(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	return exact.Advantages(g.new(), p, g.scale)
}

// A trial compares samples of a learner's networks, by any estimator, with what
// is exact.
type trial struct {
	game      smallGame
	traversal *traversal
	l         *Learner
	right     map[string][]float64        // advantages
	mistake   func(s *Samples, row int32) // spoils targets first, unless nil
	groups    exact.Tally
	whole     exact.Tally // the same of a single group
	seed      uint64      // of the last traversal
	rows      int
	nodes     int
}

func newTrial(g smallGame, l *Learner, right map[string][]float64, v variant) *trial {
	o := g.options()
	v.set(&o)
	return &trial{game: g, traversal: newTraversal(g.new(), o, l.traversal.fallback, nil), l: l, right: right, groups: exact.Tally{}, whole: exact.Tally{}}
}

// run traverses until there are that many rows that teach regrets.
func (x *trial) run(t *testing.T, rows int) {
	t.Helper()
	critic := x.l.criticEngine()
	if x.traversal.o.Estimator != Critic {
		critic = nil
	}
	for x.rows < rows {
		x.seed++
		if err := x.traversal.traverse(t.Context(), x.l.current.engine, critic, x.seed); err != nil {
			t.Fatal(err)
		}
		x.nodes += x.traversal.stats.Nodes()
		x.compare(t)
	}
}

// compare adds the errors of a traversal's samples, game by game.
func (x *trial) compare(t *testing.T) {
	t.Helper()
	s := &x.traversal.samples
	rows, keys, states := s.of(nil, Teaches), s.State.GameKeys(), exact.States(s.State)
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(keys[a], keys[b]) })
	var group []byte
	var errors []float64
	for _, r := range rows {
		group = states.Append(group[:0], r)
		advantages, found := x.right[string(group)]
		if !found {
			t.Fatalf("row %d is a state that the game doesn't have", r)
		}
		if x.mistake != nil {
			x.mistake(s, r)
		}
		lo, hi := s.Legal(r)
		errors = errors[:0]
		for k, a := range advantages {
			errors = append(errors, float64(s.Target[lo+int32(k)])-a)
		}
		if x.game.by == byInformation {
			group = observation(group[:0], s.State, r)
		}
		x.groups.Add(group, keys[r], s.Act[lo:hi], errors)
		x.whole.Add(nil, keys[r], s.Act[lo:hi], errors)
	}
	x.rows += len(rows)
}

// observation appends what the mover observes.
func observation(dst []byte, state vec.Batch, row int32) []byte {
	features := make([]float32, state.Width(vec.Information))
	state.Observe(features, vec.Information, []int32{row})
	dst, _ = binary.Append(dst, binary.LittleEndian, features)
	return dst
}

// objections are what speaks against the estimates being unbiased.
func (x *trial) objections() []string {
	var all []string
	object := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	whole, groups := x.whole.Judge(), x.groups.Judge()
	limit := x.game.largest
	if limit == 0 {
		limit = exact.Bonferroni(groups.Tests)
	}
	object(whole.Worst > 4, "over the game, %.1f standard errors: %s", whole.Worst, whole.Where)
	object(groups.Worst > limit, "%.1f standard errors, expected at most %.1f: %s", groups.Worst, limit, groups.Where)
	object(groups.Squares > groups.Expected+5*groups.Deviation, "squared scores sum to %.0f, expected %.0f ± %.0f", groups.Squares, groups.Expected, groups.Deviation)
	return all
}

// describe logs the figures behind the objections.
func (x *trial) describe(t *testing.T, name string) {
	whole, groups := x.whole.Judge(), x.groups.Judge()
	t.Logf("%-22s %d rows: over the game worst of %2d scores %.2f; in groups worst of %3d %.2f, squares %.0f of %.0f ± %.0f", name,
		x.rows, whole.Tests, whole.Worst, groups.Tests, groups.Worst, groups.Squares, groups.Expected, groups.Deviation)
}

// enough is the rows of a trial; fewer with -short, as the race detector runs it.
func enough() int {
	if testing.Short() {
		return 20_000
	}
	return 200_000
}

// TestEstimatorsAreUnbiased holds the mean of each estimator's targets to exact
// advantages of the current policy, with an untrained critic.
func TestEstimatorsAreUnbiased(t *testing.T) {
	for _, g := range judged() {
		t.Run(g.name, func(t *testing.T) {
			l := g.learner(t, g.options())
			advantages := g.exactly(t, l)
			for _, v := range unbiasedVariants {
				x := newTrial(g, l, advantages, v)
				x.run(t, enough())
				x.describe(t, v.name)
				for _, objection := range x.objections() {
					t.Errorf("%s: %s", v.name, objection)
				}
			}
		})
	}
}

// zeroUntried is the mistake of earlier work: actions that weren't tried are
// left at 0 instead of -v̂(h).
func zeroUntried(s *Samples, row int32) {
	for k, hi := s.Legal(row); k < hi; k++ {
		if s.Xi[k] == 0 {
			s.Target[k] = 0
		}
	}
}

// TestBiasIsFound: the same trial objects to a mistake.
func TestBiasIsFound(t *testing.T) {
	for _, g := range judged() {
		l := g.learner(t, g.options())
		advantages := g.exactly(t, l)
		for _, v := range unbiasedVariants {
			if v.name != "critic" && v.name != "outcome" && v.name != "robust 1" {
				continue
			}
			x := newTrial(g, l, advantages, v)
			x.mistake = zeroUntried
			x.run(t, enough()/4)
			objections := x.objections()
			if len(objections) == 0 {
				t.Errorf("%s, %s: a bias went unnoticed", g.name, v.name)
			}
			t.Logf("%s, %s: %s", g.name, v.name, strings.Join(objections, "; "))
		}
	}
}

// comparedVariants are the unbiased ones whose variances TestVariances compares.
var comparedVariants = []string{"critic", "outcome", "external", "robust 1", "robust 2"}

// TestVariances compares estimators of the same policy once a critic has learned
// it. Of those that try one action, the critic divides by its probability only
// what it hasn't foreseen, the others all that happened. External sampling
// divides by nothing, but leaves in what the opponent happens to do: it is worse on
// Kuhn, and better on Leduc before the card for both, which no critic foresees.
func TestVariances(t *testing.T) {
	if testing.Short() {
		t.Skip("trains critics")
	}
	for _, g := range judged() {
		l := g.trained(t)
		advantages := g.exactly(t, l)
		trials := map[string]*trial{}
		for _, v := range unbiasedVariants {
			if slices.Contains(comparedVariants, v.name) {
				trials[v.name] = newTrial(g, l, advantages, v)
				trials[v.name].run(t, enough())
			}
		}
		variance := variances(trials)
		for _, name := range comparedVariants {
			x := trials[name]
			nodes := float64(x.nodes) / float64(x.rows)
			t.Logf("%-5s %-8s variance %8.5f a sample, %4.2f nodes a sample, variance times nodes %8.5f", g.name, name, variance[name], nodes, variance[name]*nodes)
		}
		for _, name := range []string{"outcome", "robust 1", "external"} {
			if name == "external" && g.name != "Kuhn" {
				continue
			}
			if !(variance["critic"] < variance[name]) {
				t.Errorf("%s: the variance with a critic is %.4f, expected less than %.4f of %s", g.name, variance["critic"], variance[name], name)
			}
		}
	}
}

// trained returns a learner whose policy is no longer random, and stays as it
// is while the critic goes on learning it.
func (g smallGame) trained(t *testing.T) *Learner {
	t.Helper()
	o := g.options()
	o.Games = 2000
	l := g.learner(t, o)
	iterate(t, l, 10)
	l.current.rate = 0
	iterate(t, l, 50)
	return l
}

// variances returns the mean variance of a target, over the groups that all
// trials have enough games of.
func variances(trials map[string]*trial) map[string]float64 {
	sums, n := map[string]float64{}, 0.0
	for group := range trials["critic"].groups {
		of, common := map[string]float64{}, true
		for name, x := range trials {
			variance, enough := x.groups.Variance(group)
			of[name], common = variance, common && enough
		}
		if !common {
			continue
		}
		n++
		for name, variance := range of {
			sums[name] += variance
		}
	}
	for name := range sums {
		sums[name] /= n
	}
	return sums
}
