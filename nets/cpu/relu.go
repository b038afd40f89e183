package cpu

import "math"

// relu sets negative elements to zero and lets NaN through, so that a broken
// number shows in the outputs. Signs of activations are random, which a
// branch would pay for: the mask is arithmetic. As integers, the negative
// numbers from -0 to -Inf are those up to 0xff800000, and above lie NaNs.
func relu(v []float32) {
	const nan = 0x7fffff // adding it leaves exactly -0 … -Inf below zero
	for i, f := range v {
		b := math.Float32bits(f)
		negative := (int64(int32(b)) + nan) >> 63
		v[i] = math.Float32frombits(b &^ uint32(negative))
	}
}

// gate clears the elements of d whose activation, a result of relu, is zero:
// the derivative of ReLU, which is taken to be 0 at 0. No bit is set in the
// zeros that relu returns.
func gate(d, activation []float32) {
	activation = activation[:len(d)]
	for i, a := range activation {
		on := -int64(math.Float32bits(a)) >> 63
		d[i] = math.Float32frombits(math.Float32bits(d[i]) & uint32(on))
	}
}
