package arena

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestTwoAgents: the score of one pair gives the difference of its ratings in
// closed form, and the delta method gives the error.
func TestTwoAgents(t *testing.T) {
	for _, r := range []Result{
		{Games: 1000, WinRate: .6, DrawRate: .1, SEScore: .013},
		{Games: 1000, WinRate: .6, DrawRate: .1, SEScore: .0013}, // far more than 1000 games tell
		{Games: 8, WinRate: .5, SEScore: .18},
		{Games: 1e6, WinRate: .99999, SEScore: 1e-6},
		{Games: 100, WinRate: .01, DrawRate: .02, SEScore: .01},
	} {
		p := r.Score()
		elo := 400 * math.Log10(p/(1-p))
		se := 400 / math.Ln10 * r.SEScore / (p * (1 - p))
		ratings, errs := rate(2, []pair{newPair(0, 1, r, nil)})
		mustBeNear(t, "the difference of ratings", EloScale*(ratings[0]-ratings[1]), elo, 1e-6)
		mustBeNear(t, "the sum of ratings", ratings[0]+ratings[1], 0, 1e-12)
		for i := range errs { // each moves half as far as the difference
			mustBeNear(t, "the standard error", EloScale*errs[i], se/2, 1e-6*se)
		}
	}
}

func mustBeNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) { // NaN is never near
		t.Errorf("%s is %v, expected %v", what, got, want)
	}
}

// TestNoVariation: matches that leave no error to learn from are rated none the
// less.
func TestNoVariation(t *testing.T) {
	difference := func(r Result) (elo, se float64) {
		ratings, errs := rate(2, []pair{newPair(0, 1, r, nil)})
		return EloScale * (ratings[0] - ratings[1]), 2 * EloScale * errs[0]
	}
	even, se := difference(Result{Games: 400, DrawRate: 1})
	mustBeNear(t, "the difference after draws only", even, 0, 1e-9)
	mustBeNear(t, "its error", se, EloScale/math.Sqrt(400*.25), 1e-6)
	last := 0.0
	for _, games := range []int{4, 100, 1e4, 1e7} {
		won, se := difference(Result{Games: games, WinRate: 1})
		lost, _ := difference(Result{Games: games})
		mustBeNear(t, "the difference of a match lost", lost, -won, 1e-6)
		mustBeNear(t, "the difference of a match won", won, 400*math.Log10(4*float64(games)+1), 1e-3)
		if won <= last || se < 300 || se > 400 {
			t.Errorf("%d games won make %.0f ± %.0f Elo, fewer made %.0f", games, won, se, last)
		}
		last = won
	}
	one := 1 - .5/1e4 // all won but a draw
	if nearly, _ := difference(Result{Games: 1e4, WinRate: 1 - 1/1e4, DrawRate: 1 / 1e4, SEScore: math.Sqrt(one * (1 - one) / 1e4)}); nearly >= last {
		t.Errorf("a draw among the games won raises the difference to %.0f", nearly)
	}
}

// TestAllWon: ratings stay finite and in order where each agent wins all games
// against those behind it.
func TestAllWon(t *testing.T) {
	const agents = 9
	var pairs []pair
	for i := range agents {
		for j := i + 1; j < agents; j++ {
			pairs = append(pairs, newPair(i, j, Result{Games: 1e6, WinRate: 1}, nil))
		}
	}
	ratings, se := rate(agents, pairs)
	mustBeStationary(t, ratings, pairs)
	for i := range agents {
		if math.IsNaN(se[i]) || se[i] <= 0 || se[i] > 10 || i > 0 && ratings[i] >= ratings[i-1] {
			t.Errorf("ratings %v ± %v", ratings, se)
		}
	}
}

// mustBeStationary holds ratings to the equations of greatest likelihood: each
// agent scores what its ratings expect, and the sum is 0.
func mustBeStationary(t *testing.T, ratings []float64, pairs []pair) {
	t.Helper()
	excess, scale, sum := make([]float64, len(ratings)), 0.0, 0.0
	for _, p := range pairs {
		x := p.n * (p.score - 1/(1+math.Exp(ratings[p.j]-ratings[p.i])))
		excess[p.i] += x
		excess[p.j] -= x
		scale += p.n
	}
	for i, r := range ratings {
		sum += r
		mustBeNear(t, fmt.Sprintf("agent %d's score beyond expectation", i), excess[i], 0, 1e-9*scale)
	}
	mustBeNear(t, "the sum of ratings", sum, 0, 1e-10)
}

// TestEqualAgents: the inverse information of n equals has a closed form.
func TestEqualAgents(t *testing.T) {
	const agents, games = 6, 300
	var pairs []pair
	for i := range agents {
		for j := i + 1; j < agents; j++ {
			pairs = append(pairs, pair{i: i, j: j, score: .5, n: games})
		}
	}
	ratings, se := rate(agents, pairs)
	for i := range agents {
		mustBeNear(t, "the rating", ratings[i], 0, 1e-12)
		mustBeNear(t, "the standard error", se[i], math.Sqrt(4./(games*agents)*(1-1./agents)), 1e-9)
	}
}

// TestErrorsAgainstDifferences: random tables, whose ratings are computed again
// with each score moved a little.
func TestErrorsAgainstDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for range 100 {
		agents := 2 + rng.IntN(7)
		pairs := randomPairs(rng, agents)
		ratings, se := rate(agents, pairs)
		mustBeStationary(t, ratings, pairs)
		want := make([]float64, agents) // variances
		for k, p := range pairs {
			h := 1e-5 * p.score * (1 - p.score)
			for i, d := range derivative(agents, pairs, k, h) {
				want[i] += d * d * p.score * (1 - p.score) / p.n
			}
		}
		for i := range want {
			mustBeNear(t, "the standard error", se[i], math.Sqrt(want[i]), 1e-4*se[i])
		}
		again, seAgain := rate(agents, pairs)
		if !slices.Equal(again, ratings) || !slices.Equal(seAgain, se) {
			t.Fatal("the same pairs have other ratings")
		}
	}
}

// derivative returns that of all ratings by the score of pair k.
func derivative(agents int, pairs []pair, k int, h float64) []float64 {
	moved := slices.Clone(pairs)
	moved[k].score = pairs[k].score + h
	d, _ := rate(agents, moved)
	moved[k].score = pairs[k].score - h
	low, _ := rate(agents, moved)
	for i := range d {
		d[i] = (d[i] - low[i]) / (2 * h)
	}
	return d
}

// TestErrorsAgainstJackknife: a table rated again without each of its deals.
func TestErrorsAgainstJackknife(t *testing.T) {
	truth := []float64{.8, 0, -.2, -.6}
	const deals = 400
	w := world{draws: .3, kinship: .5, shared: true}
	pairs := w.table(rand.New(rand.NewPCG(3, 3)), truth, deals)
	_, se := rate(len(truth), pairs)
	sums, squares := make([]float64, len(truth)), make([]float64, len(truth))
	for d := range deals {
		fewer := slices.Clone(pairs)
		for k, p := range pairs {
			fewer[k].score = (p.score*deals - float64(p.deals[d])/4) / (deals - 1)
		}
		ratings, _ := rate(len(truth), fewer)
		for i, r := range ratings {
			sums[i] += r
			squares[i] += r * r
		}
	}
	for i := range se {
		variance := (deals - 1) * (squares[i]/deals - sums[i]*sums[i]/(deals*deals))
		mustBeNear(t, "the standard error", se[i], math.Sqrt(variance), .02*se[i])
	}
}

// randomPairs scores all pairs without regard to any strength, with weights
// over five orders of magnitude.
func randomPairs(rng *rand.Rand, agents int) []pair {
	var pairs []pair
	for i := range agents {
		for j := i + 1; j < agents; j++ {
			p := 1 / (1 + math.Exp(3*rng.NormFloat64()))
			pairs = append(pairs, pair{i: i, j: j, score: p, n: math.Pow(10, 5*rng.Float64())})
		}
	}
	return pairs
}

// A world plays matches whose agents' strengths are known.
type world struct {
	name    string
	draws   float64 // share of the games drawn in a pair of equals
	kinship float64 // how often both games of a deal have the same luck, or if negative, the opposite one
	shared  bool    // an agent's luck in a deal's first game is the same against all
	errors  float64 // of ratings, by those of coin tosses
}

// table simulates a tournament. Strengths are in log odds.
func (w world) table(rng *rand.Rand, truth []float64, deals int) []pair {
	lucks := make([][]float64, deals) // of each agent, normal
	for d := range lucks {
		lucks[d] = make([]float64, len(truth))
		for i := range truth {
			lucks[d][i] = rng.NormFloat64()
		}
	}
	var pairs []pair
	for i := range truth {
		for j := i + 1; j < len(truth); j++ {
			first := func(d int) float64 { return math.Erfc((lucks[d][i]-lucks[d][j])/2) / 2 }
			if !w.shared {
				first = func(int) float64 { return rng.Float64() }
			}
			r, scores := w.match(rng, truth[i]-truth[j], deals, first)
			pairs = append(pairs, newPair(i, j, r, scores))
		}
	}
	return pairs
}

// match simulates one against an agent that is d weaker.
func (w world) match(rng *rand.Rand, d float64, deals int, first func(deal int) float64) (Result, []uint8) {
	p := 1 / (1 + math.Exp(-d))
	drawn := w.draws * 2 * min(p, 1-p)
	m := &match{agents: [2]Agent{nameless{}, nameless{}}, played: 2 * deals}
	for deal := range deals {
		luck := first(deal) // uniform, and better if it is less
		scores := halves(luck, p-drawn/2, drawn) + halves(w.second(rng, luck), p-drawn/2, drawn)
		m.deals = append(m.deals, scores)
		m.wins.add(float64(scores) / 4) // what matters is the score
		m.draws.add(0)
		m.scores.add(float64(scores) / 4)
		m.points.add(0)
	}
	return m.result(), m.deals
}

// second returns the luck of a deal's second game.
func (w world) second(rng *rand.Rand, first float64) float64 {
	switch {
	case rng.Float64() >= math.Abs(w.kinship):
		return rng.Float64()
	case w.kinship < 0:
		return 1 - first
	}
	return first
}

// halves scores a game: 2 for a win.
func halves(luck, win, drawn float64) uint8 {
	switch {
	case luck < win:
		return 2
	case luck < win+drawn:
		return 1
	}
	return 0
}

type nameless struct{ Agent }

func (nameless) Name() string { return "" }

// TestSimulatedTables recovers known strengths from simulated tournaments. The
// mean square of (estimate - truth) / error must be 1 whatever the games are
// like, and the errors those of the world, not of so many coin tosses.
func TestSimulatedTables(t *testing.T) {
	truth := []float64{1.2, .5, .1, -.4, -1.4}
	const tables, deals = 200, 200
	binomial := 0.0
	for _, w := range []world{
		{"coins", 0, 0, false, 1}, {"draws", .8, 0, false, .65}, {"swapped seats cancel", 0, -.8, false, .83},
		{"deals decide", .1, .9, false, 1.33}, {"deals suit agents", .1, .4, true, 1.44},
	} {
		rng := rand.New(rand.NewPCG(9, 2))
		bias, squares, covered, mean := make([]float64, len(truth)), 0.0, 0.0, 0.0
		const cases = tables * 5 // agents
		for range tables {
			ratings, se := rate(len(truth), w.table(rng, truth, deals))
			for i, r := range ratings {
				z := (r - truth[i]) / se[i]
				bias[i] += (r - truth[i]) / tables
				squares += z * z / cases
				mean += se[i] / cases
				if math.Abs(z) < 1 {
					covered += 1. / cases
				}
			}
		}
		if w.name == "coins" {
			binomial = mean
		}
		t.Logf("%s: bias %.3f, mean square of z %.3f, within one error %.3f, mean error %.1f Elo, %.2f of coins'", w.name, bias, squares, covered, EloScale*mean, mean/binomial)
		for i := range bias {
			mustBeNear(t, w.name+": the mean estimate", truth[i]+bias[i], truth[i], .02)
		}
		mustBeNear(t, w.name+": the mean square of z", squares, 1, .15)
		mustBeNear(t, w.name+": the share within one error", covered, .683, .06)
		mustBeNear(t, w.name+": the errors by those of coins", mean/binomial, w.errors, .05)
	}
}

func opponents(t *testing.T, names ...string) []Agent {
	t.Helper()
	var agents []Agent
	for _, name := range names {
		agents = append(agents, bot(t, name))
	}
	return agents
}

func mustPlayAll(t *testing.T, agents []Agent, o Options) Tournament {
	t.Helper()
	all, err := PlayAll(matchConfig(), agents, o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPlayAll: each row is the match that Play plays, and progress counts the
// games of all.
func TestPlayAll(t *testing.T) {
	const games = 100
	names := []string{"random", "rule", "heuristic-balanced", "discard-only"}
	agents := opponents(t, names...)
	seen := 0
	o := Options{Games: games, Seed: 4, Batch: 32, Progress: func(n int) {
		if n <= seen {
			t.Errorf("%d games finished after %d", n, seen)
		}
		seen = n
	}}
	got := mustPlayAll(t, agents, o)
	if len(got.Rows) != Pairs(len(agents)) || seen != games*Pairs(len(agents)) {
		t.Fatalf("%d pairs, %d games", len(got.Rows), seen)
	}
	row, sum := 0, 0.0
	for i := range agents {
		for j := i + 1; j < len(agents); j++ {
			if want := mustPlay(t, agents[i], agents[j], Options{Games: games, Seed: 4}); got.Rows[row] != want {
				t.Errorf("row %d is %+v, expected %+v", row, got.Rows[row], want)
			}
			row++
		}
		sum += got.Elo[i].Elo
		if got.Elo[i].Agent != names[i] || !(got.Elo[i].SE > 0) {
			t.Errorf("rating %d is %+v", i, got.Elo[i])
		}
	}
	mustBeNear(t, "the sum of ratings", sum, 0, 1e-9)
	if best := slices.MaxFunc(got.Elo, func(a, b Rating) int { return int(a.Elo - b.Elo) }); best.Agent != "rule" {
		t.Errorf("%s is the best of %+v", best.Agent, got.Elo)
	}
	o.Progress = nil
	if again := mustPlayAll(t, agents, o); !reflect.DeepEqual(again, got) {
		t.Errorf("played again it is\n%+v\nexpected\n%+v", again, got)
	}
}

// TestTwoBots: what a deal does is in the error of the score already.
func TestTwoBots(t *testing.T) {
	all := mustPlayAll(t, opponents(t, "heuristic-balanced", "heuristic-noisy"), Options{Games: 200, Seed: 2})
	p := all.Rows[0].Score()
	mustBeNear(t, "the difference of ratings", all.Elo[0].Elo-all.Elo[1].Elo, 400*math.Log10(p/(1-p)), 1e-6)
	mustBeNear(t, "the standard error", all.Elo[0].SE, EloScale*all.Rows[0].SEScore/(p*(1-p))/2, 1e-6)
}

// TestOrderOfAgents: a pair the other way round is the same match seen from the
// other side, since these bots don't draw lots, and ratings stay the same.
func TestOrderOfAgents(t *testing.T) {
	o := Options{Games: 100, Seed: 6}
	agents := opponents(t, "rule", "heuristic-balanced", "heuristic-cautious")
	forth := mustPlayAll(t, agents, o)
	slices.Reverse(agents)
	back := mustPlayAll(t, agents, o)
	slices.Reverse(back.Rows)
	slices.Reverse(back.Elo)
	useless := 0.0
	for i, a := range forth.Rows {
		b := back.Rows[i]
		if a.Agent != b.Opponent || a.UselessDraws != b.OpponentUselessDraws || a.OpponentUselessDraws != b.UselessDraws || a.PliesPerGame != b.PliesPerGame || a.Capped != b.Capped {
			t.Errorf("%+v\nthe other way round is\n%+v", a, b)
		}
		mustBeNear(t, "the opponent's score", b.Score(), 1-a.Score(), 1e-12)
		mustBeNear(t, "the opponent's error", b.SEScore, a.SEScore, 1e-12)
		useless += a.UselessDraws + a.OpponentUselessDraws
	}
	if useless == 0 {
		t.Error("nobody ever drew a useless card")
	}
	for i, a := range forth.Elo {
		mustBeNear(t, a.Agent+"'s rating", back.Elo[i].Elo, a.Elo, 1e-6)
		mustBeNear(t, a.Agent+"'s error", back.Elo[i].SE, a.SE, 1e-6)
	}
}

func TestImpossibleTournaments(t *testing.T) {
	for says, agents := range map[string][]Agent{
		"a tournament of 0": nil,
		"a tournament of 1": opponents(t, "rule"),
		"called rule":       opponents(t, "rule", "random", "rule"),
		"no name":           {bot(t, "rule"), nameless{}},
	} {
		if _, err := PlayAll(matchConfig(), agents, Options{Games: 4}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("expected an error of %q, got %v", says, err)
		}
	}
	if _, err := PlayAll(matchConfig(), opponents(t, "rule", "random"), Options{Games: 5}); err == nil {
		t.Error("odd games were played")
	}
}
