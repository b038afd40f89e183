package search

import "math"

// advice is what search makes of the positions of one Act: actions and the
// probabilities that a policy improved by it would give them.
type advice struct {
	actions       []int32
	probabilities []float32
	off           []int32 // [N+1] where each position's begin
	first         int     // position that the candidates at work begin with
}

func (v *advice) clear() {
	v.actions, v.probabilities, v.off, v.first = v.actions[:0], v.probabilities[:0], append(v.off[:0], 0), 0
}

// extend adds the positions of some candidates.
func (v *advice) extend(c *candidates) {
	v.first = len(v.off) - 1
	base := v.off[v.first]
	for _, tried := range c.all {
		v.actions, v.probabilities = append(v.actions, tried.action), append(v.probabilities, 0)
	}
	for _, end := range c.off[1:] {
		v.off = append(v.off, base+end)
	}
}

// chunk returns the probabilities of the i-th of the positions last added.
func (v *advice) chunk(i int, c *candidates) []float32 {
	base := v.off[v.first]
	return v.probabilities[base+c.off[i] : base+c.off[i+1]]
}

// soften sets dst to the softmax of scores in units of softness, or to the best
// one alone if that is 0. With the prior in the scores it is the policy tilted by
// what playouts say, as mirror descent would.
func soften(dst []float32, scores []float64, softness float64) {
	best := highest(scores)
	if softness == 0 {
		clear(dst)
		dst[best] = 1
		return
	}
	total := 0.0
	for i, s := range scores {
		p := math.Exp((s - scores[best]) / softness)
		dst[i] = float32(p)
		total += p
	}
	for i := range dst {
		dst[i] /= float32(total)
	}
}

// Advice returns the candidates of position i of the last Act, the likeliest of
// the policy first, and how probable they are after search; see Options.Softness.
// Both are valid until the next Act.
func (a *Agent) Advice(i int) (actions []int32, probabilities []float32) {
	lo, hi := a.advice.off[i], a.advice.off[i+1]
	return a.advice.actions[lo:hi], a.advice.probabilities[lo:hi]
}
