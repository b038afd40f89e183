package kuhn

import (
	"math"
	"testing"

	"vtrain/vec/vectest"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("%s is %v, expected %v", what, got, want)
	}
}

// TestPublishedValues holds the game to the literature.
func TestPublishedValues(t *testing.T) {
	near(t, "value of uniform play", Value(Uniform()), 1.0/8)
	near(t, "NashConv of uniform play", NashConv(Uniform()), 11.0/12)
	near(t, "NashConv of never betting or calling", NashConv(Strategy{}), 2)
	for _, alpha := range []float64{0, 0.2, 1.0 / 3} { // Kuhn's family of equilibria
		s := Strategy{
			{alpha, 0, 3 * alpha},
			{1.0 / 3, 0, 1},
			{0, 1.0 / 3, 1},
			{0, alpha + 1.0/3, 1},
		}
		near(t, "value of an equilibrium", Value(s), -1.0/18)
		near(t, "NashConv of an equilibrium", NashConv(s), 0)
	}
}

func TestEnumerable(t *testing.T) { vectest.Enumerable(t, NewBatch()) }
