package tabular

import (
	"fmt"
	"math"
	"time"
)

// A Point says how good a solver's average policy is after some iterations.
type Point struct {
	Iteration int     `json:"iteration"`
	Nodes     int64   `json:"nodes"` // histories touched
	NashConv  float64 `json:"nashconv"`
	Seconds   float64 `json:"seconds"` // of the iterations alone
}

// A Curve is the points of a run. Policy is the average one of the last.
type Curve struct {
	Points []Point
	Policy []float64 // [Q]
}

// Run iterates a solver and measures it at 1, 2, … 9, 10, 20, … 90, 100, 200, …
// iterations and at the last. Progress, unless nil, is told of each iteration.
func (t *Tree) Run(s Solver, iterations int, progress func(iteration int)) (*Curve, error) {
	c := &Curve{Policy: make([]float64, t.Sequences())}
	var spent time.Duration
	for i := 1; i <= iterations; i++ {
		begin := time.Now()
		if err := s.Iterate(); err != nil {
			return nil, err
		}
		spent += time.Since(begin)
		if progress != nil {
			progress(i)
		}
		if i == iterations || isRound(i) {
			if err := c.measure(t, s, i, spent); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// isRound reports whether a number is one digit and zeros.
func isRound(n int) bool {
	for n%10 == 0 {
		n /= 10
	}
	return n < 10
}

func (c *Curve) measure(t *Tree, s Solver, iteration int, spent time.Duration) error {
	if err := s.Average(c.Policy); err != nil {
		return err
	}
	gap := t.NashConv(c.Policy)
	if math.IsNaN(gap) || math.IsInf(gap, 0) {
		return fmt.Errorf("iteration %d: NashConv is %v, expected a finite number", iteration, gap)
	}
	c.Points = append(c.Points, Point{iteration, s.Nodes(), gap, spent.Seconds()})
	return nil
}
