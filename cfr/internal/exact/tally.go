package exact

import (
	"fmt"
	"math"

	"vtrain/vec"
)

// A Tally is the errors of estimates, estimate - exact, by group of rows. A group
// may be any function of the state, since estimates that are unbiased have a mean
// error of zero in each. Rows of a game share its random numbers, so that games are
// what is independent: errors of one are added up before they are squared.
type Tally map[string]*evidence

// evidence is that of one group.
type evidence struct {
	rows, games float64
	first       uint64 // key of one of the games
	game        uint64 // the one being added up, if it is open
	open        bool
	actions     []errors // [A]
}

// errors are those of one action.
type errors struct {
	game         float64        // of the one being added up
	sum, squares float64        // over games
	flipped      [flips]float64 // sums where the sign of each game is drawn
}

const (
	flips    = 16   // sums with drawn signs
	fewest   = 400  // games of a group that is judged
	rounding = 1e-6 // what float32 may be off by
)

// Add adds the errors of a row's actions. Rows of one game come one after the
// other.
func (t Tally) Add(group []byte, game uint64, actions []int32, off []float64) {
	e := t[string(group)]
	if e == nil {
		e = &evidence{first: game}
		t[string(group)] = e
	}
	if !e.open || e.game != game {
		e.settle()
		e.game, e.open = game, true
	}
	e.rows++
	for k, a := range actions {
		for int(a) >= len(e.actions) {
			e.actions = append(e.actions, errors{})
		}
		e.actions[a].game += off[k]
	}
}

// settle ends the game that is being added up.
func (e *evidence) settle() {
	if !e.open {
		return
	}
	signs := vec.Derive(e.game, "signs", 0)
	for a := range e.actions {
		e.actions[a].settle(signs)
	}
	e.games++
	e.open = false
}

func (a *errors) settle(signs uint64) {
	a.sum += a.game
	a.squares += a.game * a.game
	for i := range a.flipped {
		a.flipped[i] += a.game * float64(1-2*int(signs>>i&1))
	}
	a.game = 0
}

// score returns by how many standard errors a sum is off zero, apart from
// rounding. The variance is that about zero, the mean that is being tested.
func (a *errors) score(sum, rows float64) float64 {
	if excess := math.Abs(sum) - rounding*rows; excess > 0 {
		return excess / math.Sqrt(a.squares)
	}
	return 0
}

// A Verdict is what a tally says of estimates that should be right on average.
type Verdict struct {
	Tests               int     // groups and actions with enough games, and any error
	Worst               float64 // largest score: standard errors that a mean is off
	Where               string  // that was
	Squares             float64 // sum of squared scores
	Expected, Deviation float64 // mean and standard deviation of that by chance
}

// Judge scores all groups that have enough games. What the sum of squared scores is
// by chance is found by drawing the signs of games, since groups that have games
// in common depend on each other.
func (t Tally) Judge() Verdict {
	var v Verdict
	var chance [flips]float64
	for _, e := range t {
		e.settle()
		if e.games < fewest {
			continue
		}
		for a := range e.actions {
			if e.actions[a].squares > 0 { // legal, and not exact in every game
				v.judge(e, a, &chance)
			}
		}
	}
	v.Expected, v.Deviation = moments(chance[:])
	return v
}

func (v *Verdict) judge(e *evidence, action int, chance *[flips]float64) {
	a := &e.actions[action]
	score := a.score(a.sum, e.rows)
	v.Tests++
	v.Squares += score * score
	if score > v.Worst {
		v.Worst = score
		v.Where = fmt.Sprintf("action %d in a state of game %#x: error %.6f ± %.6f in %.0f games", action, e.first, a.sum/e.rows, math.Sqrt(a.squares)/e.rows, e.games)
	}
	for i, sum := range a.flipped {
		score := a.score(sum, e.rows)
		chance[i] += score * score
	}
}

// moments returns the mean and the standard deviation.
func moments(x []float64) (mean, deviation float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, math.Sqrt(deviation)
}

// Bonferroni returns the score that the worst of so many tests exceeds by chance
// once in ten thousand times at most, however they depend on each other.
func Bonferroni(tests int) float64 {
	return math.Sqrt2 * math.Erfinv(1-1e-4/float64(max(tests, 1)))
}

// Variance returns the mean squared error of an estimate, on average over the
// actions of a group, and whether it has enough games to tell.
func (t Tally) Variance(group string) (variance float64, enough bool) {
	e := t[group]
	if e == nil {
		return 0, false
	}
	e.settle()
	legal := 0.0
	for _, a := range e.actions {
		if a.squares > 0 {
			legal++
			variance += a.squares / e.rows
		}
	}
	return variance / max(legal, 1), e.games >= fewest
}
