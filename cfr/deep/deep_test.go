package deep

import (
	"slices"
	"testing"

	"vtrain/cfr/tabular"
	"vtrain/cfr/tabular/games"
)

// TestCriticOnKuhn holds both averages of one run to their exact worth, where
// uniform play has .917. Without the correction by what happened they end at .12.
func TestCriticOnKuhn(t *testing.T) {
	const iterations, limit = 50, .1
	all := Algorithms()
	a := all[slices.IndexFunc(all, func(a Algorithm) bool { return a.Name == "critic" })]
	a.Options.RegretSteps, a.Options.StrategySteps = 300, 300
	game := games.Open("kuhn")
	tree, err := tabular.Build(game, 100)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSolver(tree, game, a, iterations, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range iterations {
		if err := s.Iterate(); err != nil {
			t.Fatal(err)
		}
	}
	policy := make([]float64, tree.Sequences())
	for _, snapshots := range []bool{false, true} {
		s.algorithm.Snapshots = snapshots
		if err := s.Average(policy); err != nil {
			t.Fatal(err)
		}
		if got := tree.NashConv(policy); !(got <= limit) {
			t.Errorf("NashConv %.3f, by snapshots: %v, expected at most %v", got, snapshots, limit)
		}
	}
}
