package tabular

// A Solver improves a policy, an iteration at a time.
type Solver interface {
	// Iterate does one more iteration.
	Iterate() error
	// Nodes returns the histories touched so far, ends included.
	Nodes() int64
	// Average sets dst, [Q], to the average policy: the one that converges.
	Average(dst []float64) error
}

// An Algorithm is a way to solve a tree.
type Algorithm struct {
	Name string
	New  func(t *Tree, seed uint64) Solver
}

// Algorithms returns those of this package. Only sampling ones use the seed.
func Algorithms() []Algorithm {
	exact := func(name string, d Discount) Algorithm {
		return Algorithm{name, func(t *Tree, _ uint64) Solver { return NewExact(t, d) }}
	}
	return []Algorithm{
		exact("cfr", Plain),
		exact("cfr+", Plus),
		exact("lcfr", Linear),
		exact("dcfr", Discounted),
		{"external", func(t *Tree, seed uint64) Solver { return NewExternal(t, seed) }},
		{"outcome", func(t *Tree, seed uint64) Solver { return NewOutcome(t, DefaultEpsilon, seed) }},
	}
}

// tables are what all solvers here learn.
type tables struct {
	t         *Tree
	iteration int
	nodes     int64
	regret    []float64 // [Q] cumulative
	average   []float64 // [Q] cumulative policy
}

func newTables(t *Tree) tables {
	return tables{t: t, regret: make([]float64, t.Sequences()), average: make([]float64, t.Sequences())}
}

// Nodes implements Solver.
func (s *tables) Nodes() int64 { return s.nodes }

// Average implements Solver.
func (s *tables) Average(dst []float64) error {
	s.t.check(dst)
	copy(dst, s.average)
	s.t.Normalise(dst)
	return nil
}

// match sets dst to the policy of regret matching: σ(a) = R⁺(a)/ΣR⁺, uniform
// without a positive regret.
func match(dst, regret []float64) {
	for k, r := range regret {
		dst[k] = max(r, 0)
	}
	normalise(dst)
}
