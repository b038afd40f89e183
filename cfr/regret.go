package cfr

import (
	"math"

	"vtrain/vec"
)

// MatchRegrets sets dst to the policy of regret matching (Hart and Mas-Colell
// 2000) for the regrets of the legal actions of one information state:
// σ(a) = R⁺(a)/ΣR⁺. A sum of positive regrets up to epsilon counts as none;
// then the fallback decides. dst sums to 1.
func MatchRegrets(dst, regrets []float32, epsilon float32, fallback Fallback) {
	if len(dst) != len(regrets) {
		panic(badLength)
	}
	if len(dst) == 0 {
		return
	}
	sum := positive(dst, regrets, 1)
	if !(sum > epsilon) {
		fallback.policy(dst, regrets)
		return
	}
	if sum > math.MaxFloat32 { // each is finite, their sum is not
		sum = positive(dst, regrets, 1/regrets[argmax(regrets)])
	}
	for i := range dst {
		dst[i] /= sum
	}
}

// positive sets dst to the positive parts of regrets times scale, and returns
// their sum.
func positive(dst, regrets []float32, scale float32) float32 {
	var sum float32
	for i, r := range regrets {
		dst[i] = max(r, 0) * scale
		sum += dst[i]
	}
	return sum
}

func (f Fallback) policy(dst, regrets []float32) {
	if f == Uniform {
		for i := range dst {
			dst[i] = 1 / float32(len(dst))
		}
		return
	}
	clear(dst)
	dst[argmax(regrets)] = 1
}

// argmax returns the index of the largest value, the lowest on ties.
func argmax(v []float32) int {
	best := 0
	for i, x := range v {
		if x > v[best] {
			best = i
		}
	}
	return best
}

// Softmax sets dst to the softmax of the logits of the legal actions.
func Softmax(dst, logits []float32) {
	if len(dst) != len(logits) {
		panic(badLength)
	}
	if len(dst) == 0 {
		return
	}
	top := logits[argmax(logits)]
	var sum float32
	for i, z := range logits {
		dst[i] = float32(math.Exp(float64(z - top)))
		sum += dst[i]
	}
	for i := range dst {
		dst[i] /= sum
	}
}

// Explore mixes a policy with the uniform one: ξ(a) = ε/|A| + (1-ε)σ(a).
func Explore(sigma, epsilon float32, legal int) float32 {
	return epsilon/float32(legal) + (1-epsilon)*sigma
}

// sample draws an index by a policy that sums to about 1.
func sample(policy []float32, s *vec.Stream) int {
	u := s.Float32()
	last := 0
	for i, p := range policy {
		if p <= 0 {
			continue
		}
		last = i
		if u -= p; u < 0 {
			return i
		}
	}
	return last // the sum fell short of 1 by rounding
}
