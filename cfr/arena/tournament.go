package arena

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"vtrain/rules"
)

// A Tournament is a match of every pair of agents, all on the same deals.
type Tournament struct {
	Rows []Result `json:"rows"` // pairs in the order of the agents: 0-1, 0-2, …, 1-2, …
	Elo  []Rating `json:"elo"`  // in the order of the agents
}

// A Rating is an agent's strength among those of its tournament. Two agents
// that differ by 400 are expected to score 10 to 1.
type Rating struct {
	Agent string  `json:"agent"`
	Elo   float64 `json:"elo"` // those of a tournament sum to 0
	SE    float64 `json:"se"`  // standard error of Elo, under that constraint
}

// PlayAll plays every pair of agents, o.Games games each, and rates the agents.
// Progress hears of the games of all pairs together. Names must differ.
func PlayAll(cfg rules.Config, agents []Agent, o Options) (Tournament, error) {
	if err := distinct(agents); err != nil {
		return Tournament{}, err
	}
	var t Tournament
	var pairs []pair
	for i := range agents {
		for j := i + 1; j < len(agents); j++ {
			m, err := play(cfg, agents[i], agents[j], o.after(len(t.Rows)*o.Games))
			if err != nil {
				return Tournament{}, err
			}
			r := m.result()
			t.Rows, pairs = append(t.Rows, r), append(pairs, newPair(i, j, r, m.deals))
		}
	}
	ratings, se := rate(len(agents), pairs)
	for i, a := range agents {
		t.Elo = append(t.Elo, Rating{a.Name(), EloScale * ratings[i], EloScale * se[i]})
	}
	return t, nil
}

// Pairs returns the number of matches among that many agents.
func Pairs(agents int) int { return agents * (agents - 1) / 2 }

// distinct refuses what has no ratings.
func distinct(agents []Agent) error {
	if len(agents) < 2 {
		return fmt.Errorf("arena: a tournament of %d, expected at least two agents", len(agents))
	}
	var names []string
	for _, a := range agents {
		if a.Name() == "" {
			return errors.New("arena: an agent has no name")
		}
		if slices.Contains(names, a.Name()) {
			return fmt.Errorf("arena: two agents are called %s, expected different names", a.Name())
		}
		names = append(names, a.Name())
	}
	return nil
}

// after returns options whose progress goes on from games played before.
func (o Options) after(before int) Options {
	if progress := o.Progress; progress != nil {
		o.Progress = func(games int) { progress(before + games) }
	}
	return o
}

// EloScale is the Elo of a rating of 1: ratings in this file are the natural
// logarithms of odds until they are reported.
const EloScale = 400 / math.Ln10

// A pair is what a match says of two ratings: agent i scores a share of n
// independent games against agent j.
type pair struct {
	i, j     int
	score, n float64
	deals    []uint8 // i's score of each deal, in quarters; nil if all are the same
}

// newPair takes a match for as many independent games, each won or lost, as
// would leave the score with the error that it has: n = p(1-p)/se². That may be
// more than were played, since a draw varies less than a win or a loss, and so
// do both seats of a deal together.
//
// Where no deal differs from another, there is no error to learn from, and n is
// the games played. If moreover all are won or all lost, the likeliest rating
// is infinite, and half a drawn game is added: the quarter of a point that it
// takes from the winner leaves an error of about 350 Elo to the difference.
func newPair(i, j int, r Result, deals []uint8) pair {
	p, games := r.Score(), float64(r.Games)
	switch {
	case p <= 0 || p >= 1:
		const drawn = 0.5
		return pair{i, j, (p*games + drawn/2) / (games + drawn), games + drawn, nil}
	case r.SEScore == 0:
		return pair{i, j, p, games, nil}
	}
	return pair{i, j, p, p * (1 - p) / (r.SEScore * r.SEScore), deals}
}

// rate returns the ratings of greatest likelihood in the model of Bradley and
// Terry (Biometrika 39, 1952): i scores σ(r[i]-r[j]) against j, with σ the
// logistic function. They sum to 0. Every agent must be in a pair with
// every other.
//
// It takes Newton steps v, each shortened as a whole to log(1+β)/β of its
// length, where β is the largest difference in v. The log-likelihood's third
// derivative is at most β times its second, so that every such step gains (Sun
// and Tran-Dinh, Math. Program. 178, 2019), and near the end they are whole.
// Single components may not be cut: the sum would leave 0.
func rate(agents int, pairs []pair) (ratings, se []float64) {
	ratings = make([]float64, agents)
	const most, small = 200, 1e-10
	for range most {
		gradient, information := likelihood(ratings, pairs)
		step := newFactor(information).solve(gradient)
		beta := slices.Max(step) - slices.Min(step)
		if beta < small {
			break
		}
		for i := range ratings {
			ratings[i] += math.Log1p(beta) / beta * step[i]
		}
	}
	return ratings, standardErrors(ratings, pairs)
}

// likelihood returns the gradient of the log-likelihood and its information
// matrix. The information is 0 along a common shift of all ratings, of which
// games say nothing; there it is given its mean eigenvalue instead, which
// leaves steps alone, because no gradient has that direction.
func likelihood(ratings []float64, pairs []pair) (gradient []float64, information [][]float64) {
	agents := len(ratings)
	gradient, information = make([]float64, agents), square(agents)
	for _, p := range pairs {
		expected := 1 / (1 + math.Exp(ratings[p.j]-ratings[p.i]))
		g, w := p.n*(p.score-expected), p.n*expected*(1-expected)
		gradient[p.i] += g
		gradient[p.j] -= g
		information[p.i][p.i] += w
		information[p.j][p.j] += w
		information[p.i][p.j] -= w
		information[p.j][p.i] -= w
	}
	shift := trace(information) / float64(agents*agents)
	for _, row := range information {
		for j := range row {
			row[j] += shift
		}
	}
	return gradient, information
}

// standardErrors returns those of ratings of greatest likelihood.
//
// Were the pairs independent, and their scores as the ratings expect, these
// were the roots of the diagonal of the inverse information. But a deal that
// suits an agent suits it against everybody, which makes errors of real
// tournaments a quarter to a half larger. So a deal's part in all scores is
// carried through to the ratings, and errors are those of a mean over deals.
func standardErrors(ratings []float64, pairs []pair) []float64 {
	responses := effects(ratings, pairs)
	se := make([]float64, len(ratings))
	for i, effect := range responses {
		variance := overDeals(effect, pairs)
		for k, p := range pairs {
			if p.deals == nil {
				variance += effect[k] * effect[k] * p.score * (1 - p.score) / p.n
			}
		}
		se[i] = math.Sqrt(variance)
	}
	return se
}

// effects returns the derivative of each rating by the score of each pair
// [agents,pairs], which the implicit function theorem gives: the inverse
// information times the gradient's derivative.
func effects(ratings []float64, pairs []pair) [][]float64 {
	_, information := likelihood(ratings, pairs)
	inverse := newFactor(information)
	effects := make([][]float64, len(ratings))
	for i := range effects {
		effects[i] = make([]float64, len(pairs))
	}
	for k, p := range pairs {
		gradient := make([]float64, len(ratings))
		gradient[p.i], gradient[p.j] = p.n, -p.n
		for i, x := range inverse.solve(gradient) {
			effects[i][k] = x
		}
	}
	return effects
}

// overDeals returns the variance of the mean over deals of the pairs' scores,
// each times its effect. All pairs that have deals have the same ones.
func overDeals(effect []float64, pairs []pair) float64 {
	var total []float64 // by deal
	for k, p := range pairs {
		if total == nil && p.deals != nil {
			total = make([]float64, len(p.deals))
		}
		for d, quarters := range p.deals {
			total[d] += effect[k] * (float64(quarters)/4 - p.score)
		}
	}
	if total == nil {
		return 0
	}
	var m moments
	for _, x := range total {
		m.add(x)
	}
	se := m.standardError()
	return se * se
}

func square(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}

func trace(m [][]float64) float64 {
	sum := 0.0
	for i := range m {
		sum += m[i][i]
	}
	return sum
}

// A factor is the lower triangle L of Cholesky's decomposition L·Lᵀ.
type factor [][]float64

// newFactor decomposes a symmetric positive definite matrix.
func newFactor(m [][]float64) factor {
	l := factor(square(len(m)))
	for i := range m {
		for j := 0; j <= i; j++ {
			rest := m[i][j]
			for k := range j {
				rest -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(rest)
			} else {
				l[i][j] = rest / l[j][j]
			}
		}
	}
	return l
}

// solve returns the x of L·Lᵀ·x = b.
func (l factor) solve(b []float64) []float64 {
	x := slices.Clone(b)
	for i := range x {
		for k := range i {
			x[i] -= l[i][k] * x[k]
		}
		x[i] /= l[i][i]
	}
	for i := len(x) - 1; i >= 0; i-- {
		for k := i + 1; k < len(x); k++ {
			x[i] -= l[k][i] * x[k]
		}
		x[i] /= l[i][i]
	}
	return x
}
