package tabular

import "math"

// A Discount says how much the past counts: before iteration t adds to them,
// positive cumulative regrets are multiplied by x^α/(x^α+1) and negative ones by
// x^β/(x^β+1), where x = t-1, and the cumulative policy by (x/t)^γ (Brown and
// Sandholm 2019). An infinite exponent keeps everything, a negative infinite one
// nothing.
type Discount struct{ Alpha, Beta, Gamma float64 }

// The usual variants of CFR.
var (
	Plain      = Discount{math.Inf(1), math.Inf(1), 0}  // Zinkevich et al. 2007
	Plus       = Discount{math.Inf(1), math.Inf(-1), 1} // CFR+, Tammelin 2014
	Linear     = Discount{1, 1, 1}                      // iteration t weighs t
	Discounted = Discount{1.5, 0, 2}                    // what Brown and Sandholm recommend
)

// regrets returns the factors of positive and negative regrets at iteration t.
func (d Discount) regrets(t int) (positive, negative float64) {
	return kept(t, d.Alpha), kept(t, d.Beta)
}

func kept(t int, exponent float64) float64 {
	switch {
	case math.IsInf(exponent, 1):
		return 1
	case math.IsInf(exponent, -1):
		return 0
	}
	return 1 / (1 + math.Pow(float64(t-1), -exponent)) // also where a power is infinite
}

// policy returns the factor of the cumulative policy at iteration t.
func (d Discount) policy(t int) float64 { return math.Pow(float64(t-1)/float64(t), d.Gamma) }

// An Exact runs CFR over the whole tree, updating the players in turn: player 1
// already sees what player 0 has become.
//
// In sequence form an update is two passes: over all ends, to see what each of
// the player's sequences wins against the other's reach; then from the last of
// his information sets to the first. Histories between are never visited.
type Exact struct {
	tables
	discount Discount
	current  []float64 // [Q] policy
	reach    []float64 // [Q]
	value    []float64 // [Q] counterfactual values
}

// NewExact returns a solver that has done nothing yet.
func NewExact(t *Tree, d Discount) *Exact {
	q := t.Sequences()
	return &Exact{tables: newTables(t), discount: d, current: t.Uniform(), reach: make([]float64, q), value: make([]float64, q)}
}

// Iterate implements Solver. It touches every history once for each player.
func (s *Exact) Iterate() error {
	s.iteration++
	for player := range 2 {
		s.update(player)
		s.nodes += int64(s.t.Histories())
	}
	return nil
}

func (s *Exact) update(player int) {
	t := s.t
	t.reach(s.reach, s.current, 0)
	t.reach(s.reach, s.current, 1)
	t.payoffs(s.value, s.reach, player)
	positive, negative := s.discount.regrets(s.iteration)
	old := s.discount.policy(s.iteration)
	for k := len(t.owned[player]) - 1; k >= 0; k-- {
		i := t.owned[player][k]
		lo, hi := t.first[i], t.first[i+1]
		expected := dot(s.current[lo:hi], s.value[lo:hi])
		s.value[t.before[i]] += expected
		for q := lo; q < hi; q++ {
			s.average[q] = old*s.average[q] + s.reach[q]
			s.regret[q] = discounted(s.regret[q], positive, negative) + s.value[q] - expected
		}
		match(s.current[lo:hi], s.regret[lo:hi])
	}
}

func discounted(r, positive, negative float64) float64 {
	if r > 0 {
		return r * positive
	}
	return r * negative
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
