package kernel

import "math"

// whole returns the part of n elements that the assembly of elementwise loops
// takes, none if the set is portable; Go does the rest.
func (s *Set) whole(n int) int {
	if s.code == portable {
		return 0
	}
	return n &^ 7
}

// gateRow clears the elements of d whose activation, a result of ReLU, is
// zero: the derivative of ReLU, which is taken to be 0 at 0.
func (s *Set) gateRow(d, activation []float32) {
	if len(activation) != len(d) {
		panic(badLength)
	}
	n := s.whole(len(d))
	if n > 0 {
		gate(&d[0], &activation[0], n)
	}
	for i := n; i < len(d); i++ {
		// A mask instead of a branch, which random signs would mislead.
		on := -int64(math.Float32bits(activation[i])<<1) >> 63
		d[i] = math.Float32frombits(math.Float32bits(d[i]) & uint32(on))
	}
}

// AdamW is the numbers of one step of AdamW that all parameters share:
//
//	m = m·KeepM + g·AddM,  v = v·KeepV + g²·AddV   with g = Scale·gradient
//	w = w - (w·Decay + Rate·m / (Root·√v + Epsilon))
type AdamW struct {
	Scale, KeepM, AddM, KeepV, AddV, Decay, Rate, Root, Epsilon float32
}

// Update takes one step. All sets give the same bits: conversions keep the
// compiler from fusing products and sums.
func (s *Set) Update(c *AdamW, w, m, v, gradient []float32) {
	if len(m) != len(w) || len(v) != len(w) || len(gradient) != len(w) {
		panic(badLength)
	}
	n := s.whole(len(w))
	if n > 0 {
		adamW(&c.Scale, &w[0], &m[0], &v[0], &gradient[0], n)
	}
	c.update(w[n:], m[n:], v[n:], gradient[n:])
}

func (c *AdamW) update(w, m, v, gradient []float32) {
	m, v, gradient = m[:len(w)], v[:len(w)], gradient[:len(w)]
	for i := range w {
		g := float32(gradient[i] * c.Scale)
		mi := float32(m[i]*c.KeepM) + float32(g*c.AddM)
		vi := float32(v[i]*c.KeepV) + float32(float32(g*g)*c.AddV)
		m[i], v[i] = mi, vi
		root := float32(c.Root * float32(math.Sqrt(float64(vi))))
		w[i] -= float32(w[i]*c.Decay) + float32(c.Rate*mi)/(root+c.Epsilon)
	}
}

// SumSquares returns the sum of squares of a vector, in 16 partial sums that
// are added up in pairs.
func (s *Set) SumSquares(v []float32) float64 {
	var sums [16]float64
	n := s.whole(len(v)) &^ 15
	if n > 0 {
		squares(&sums, &v[0], n)
	}
	for i, f := range v[n:] {
		sums[i%16] += float64(f) * float64(f)
	}
	for half := 8; half > 0; half /= 2 {
		for i := range half {
			sums[i] += sums[i+half]
		}
	}
	return sums[0]
}
