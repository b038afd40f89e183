package nets

import (
	"math"
	"math/bits"
)

// lowest returns the index of the lowest bit of a set that isn't empty.
func lowest(set uint64) int { return bits.TrailingZeros64(set) }

// finite reports whether no element is NaN or infinite. It compares the
// largest exponent instead of branching on each element.
func finite(v []float32) bool {
	const infinity = 0xff << 24 // without its sign
	top := uint32(0)
	for _, f := range v {
		top = max(top, math.Float32bits(f)<<1)
	}
	return top < infinity
}

// isFinite reports whether v is neither NaN nor infinite.
func isFinite(v float64) bool { return v-v == 0 }

// Score evaluates the loss on the rows [lo,hi), given their outputs y, and
// sets dy to its gradient; both are [hi-lo,outputs]. It returns their part of
// the loss and the first row whose output, gradient or loss isn't finite, -1
// if there is none. Trainers call it instead of Eval.
func Score(loss Loss, dy, y []float32, lo, hi int) (sum float64, bad int) {
	sum = loss.Eval(dy, y, lo, hi)
	if isFinite(sum) && finite(y) && finite(dy) {
		return sum, -1
	}
	out := len(y) / (hi - lo)
	for r := range hi - lo {
		d, v := dy[r*out:(r+1)*out], y[r*out:(r+1)*out]
		if !isFinite(loss.Eval(d, v, lo+r, lo+r+1)) || !finite(v) || !finite(d) {
			return sum, lo + r
		}
	}
	return sum, lo // each row is finite, their sum overflows
}
