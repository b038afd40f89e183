package nets

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"vtrain/vec"
)

// MLP is the shape of a multilayer perceptron: the number of inputs, the
// widths of the hidden layers, which end in ReLU, and the number of outputs,
// which are linear. MLP{440, 256, 256, 106} has two hidden layers; MLP{3, 2}
// has none and is an affine map.
//
// Layer l maps widths[l] values to widths[l+1] and has two tensors:
//
//	layers.l.weight  [in,out] row-major: element i*out+j joins input i to output j
//	layers.l.bias    [out]
//
// so that a batch of rows is multiplied from the left, X·W + b, and the
// weights of one input are contiguous.
type MLP []int

// maxParams bounds the parameters of a network, 4 GiB of them: a larger shape
// is a slip of the pen in a configuration.
const maxParams = 1 << 30

// Validate returns an error unless the shape describes a network.
func (m MLP) Validate() error {
	if len(m) < 2 {
		return fmt.Errorf("nets: layers %v: want at least the number of inputs and of outputs", []int(m))
	}
	total := 0
	for l, w := range m {
		if w < 1 || w > maxParams {
			return fmt.Errorf("nets: layers %v: width %d at position %d, want 1 to %d", []int(m), w, l, maxParams)
		}
		if l > 0 {
			total += (m[l-1] + 1) * w
		}
		if total > maxParams {
			return fmt.Errorf("nets: layers %v: more than %d parameters", []int(m), maxParams)
		}
	}
	return nil
}

// In returns the number of inputs.
func (m MLP) In() int { return m[0] }

// Out returns the number of outputs.
func (m MLP) Out() int { return m[len(m)-1] }

// Layers returns the number of weight matrices.
func (m MLP) Layers() int { return len(m) - 1 }

// Widest returns the largest width after the input, 0 for none: the room a
// row needs between layers.
func (m MLP) Widest() int { return slices.Max(m[1:]) }

// String returns the widths as in 440-256-256-106.
func (m MLP) String() string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint([]int(m)), "[]"), " ", "-")
}

// NewParams returns parameters of this shape, all zero.
func (m MLP) NewParams() Params {
	specs := make([]Spec, 0, 2*m.Layers())
	for l := range m.Layers() {
		specs = append(specs,
			Spec{fmt.Sprintf("layers.%d.weight", l), []int{m[l], m[l+1]}},
			Spec{fmt.Sprintf("layers.%d.bias", l), []int{m[l+1]}})
	}
	return NewParams(specs...)
}

// Layer returns the weight [in,out] and bias [out] of layer l.
func (m MLP) Layer(p Params, l int) (weight, bias []float32) {
	return p.tensors[2*l].Data, p.tensors[2*l+1].Data
}

// Fits reports whether p is of this shape. It allocates nothing.
func (m MLP) Fits(p Params) bool {
	if len(p.tensors) != 2*m.Layers() {
		return false
	}
	for l := range m.Layers() {
		w, b := p.tensors[2*l].Shape, p.tensors[2*l+1].Shape
		if len(w) != 2 || w[0] != m[l] || w[1] != m[l+1] || len(b) != 1 || b[0] != m[l+1] {
			return false
		}
	}
	return true
}

// lastLayer scales the initial weights of the output layer, so that a fresh
// network predicts close to nothing instead of a random strategy.
const lastLayer = 0.1

// Init draws the parameters afresh: weights normal with variance 2/in (He et
// al. 2015, "Delving deep into rectifiers"), those of the last layer times
// 0.1, biases zero. The same seed gives the same bits; tensor l draws from a
// stream of its own.
func (m MLP) Init(p Params, seed uint64) {
	if !m.Fits(p) {
		panic(badShape)
	}
	key := vec.Key(seed, 0)
	for l := range m.Layers() {
		weight, bias := m.Layer(p, l)
		scale := math.Sqrt(2 / float64(m[l]))
		if l == m.Layers()-1 {
			scale *= lastLayer
		}
		s := vec.At(key, uint32(l))
		fillNormal(weight, &s, scale)
		clear(bias)
	}
}

// fillNormal sets dst to independent normal numbers of that standard
// deviation (Box and Muller 1958).
func fillNormal(dst []float32, s *vec.Stream, deviation float64) {
	for i := range dst {
		// 1-u is in (0,1], whose logarithm is finite.
		radius := math.Sqrt(-2 * math.Log(1-s.Float64()))
		dst[i] = float32(deviation * radius * math.Cos(2*math.Pi*s.Float64()))
	}
}
