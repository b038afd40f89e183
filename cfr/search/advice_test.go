package search

import (
	"math"
	"testing"

	"vtrain/rules"
	"vtrain/vec"
)

// TestAdvice: it belongs to the rows of the last Act, in whatever parts they were
// searched, is a distribution, and likes the action that was chosen best.
func TestAdvice(t *testing.T) {
	cfg := limited("mid", 14)
	for _, softness := range []float64{0, 2} {
		for _, rows := range []int{1, 40, 16384} {
			o := few()
			o.Rows, o.Softness = rows, softness
			a := newAgent(t, someNetworks[0], cfg, o, nil)
			g := rules.NewGames(cfg, nil)
			g.Deal(30, 3, 0)
			for range 2 { // what was said before is forgotten
				actions := make([]int32, 30)
				a.Act(actions, g, vec.AllRows(nil, 30))
				for i, want := range actions {
					tried, p := a.Advice(i)
					sum, best := 0.0, 0
					for k := range p {
						sum += float64(p[k])
						if p[k] > p[best] {
							best = k
						}
					}
					if len(tried) != len(p) || math.Abs(sum-1) > 1e-5 || tried[best] != want || softness == 0 && p[best] != 1 {
						t.Fatalf("row %d of parts of %d: %v with %v, played %d", i, rows, tried, p, want)
					}
				}
				g.Step(vec.AllRows(nil, 30), actions)
			}
		}
	}
}

// TestSoften: scores 2 points apart differ by a nat where that is the softness.
func TestSoften(t *testing.T) {
	p := make([]float32, 3)
	soften(p, []float64{5, 3, math.Inf(-1)}, 2)
	if want := math.E / (math.E + 1); math.Abs(float64(p[0])-want) > 1e-6 || p[2] != 0 {
		t.Errorf("%v, expected %.4f first and 0 last", p, want)
	}
}
