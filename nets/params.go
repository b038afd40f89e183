package nets

import "slices"

// Params is an ordered list of named tensors that share one flat vector, so
// that optimisers, averages and checkpoints see a network as one point.
// Params is a header, like a slice: a copy of it shares the data, Clone does
// not. The zero Params has no tensors.
type Params struct {
	tensors []Tensor
	flat    []float32
}

// A Tensor is one part of a Params. Data is row-major and of len = product of
// Shape; writing to it changes the Params.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// A Spec names a tensor and gives its shape.
type Spec struct {
	Name  string
	Shape []int
}

// NewParams returns zero tensors of the given specs, which lie one behind the
// other in the flat vector.
func NewParams(specs ...Spec) Params {
	total := 0
	for i, s := range specs {
		if size(s.Shape) <= 0 || slices.ContainsFunc(specs[:i], func(t Spec) bool { return t.Name == s.Name }) {
			panic(badSpec)
		}
		total += size(s.Shape)
	}
	p := Params{flat: make([]float32, total)}
	rest := p.flat
	for _, s := range specs {
		n := size(s.Shape)
		p.tensors = append(p.tensors, Tensor{s.Name, slices.Clone(s.Shape), rest[:n:n]})
		rest = rest[n:]
	}
	return p
}

// size returns the elements of a tensor, 0 if any dimension isn't positive.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= max(d, 0)
	}
	return n
}

// Flat returns all elements as one vector, tensor after tensor. It is the
// storage itself.
func (p Params) Flat() []float32 { return p.flat }

// Len returns the number of elements.
func (p Params) Len() int { return len(p.flat) }

// Tensors returns the tensors in order. The list may not be changed; the data
// may.
func (p Params) Tensors() []Tensor { return p.tensors }

// Tensor returns the tensor of that name.
func (p Params) Tensor(name string) (Tensor, bool) {
	for _, t := range p.tensors {
		if t.Name == name {
			return t, true
		}
	}
	return Tensor{}, false
}

// Clone returns a copy that shares nothing with p.
func (p Params) Clone() Params {
	specs := make([]Spec, len(p.tensors))
	for i, t := range p.tensors {
		specs[i] = Spec{t.Name, t.Shape}
	}
	q := NewParams(specs...)
	copy(q.flat, p.flat)
	return q
}

// CopyFrom sets the elements of p to those of q, which must have the same
// shape.
func (p Params) CopyFrom(q Params) {
	if !p.Same(q) {
		panic(badShape)
	}
	copy(p.flat, q.flat)
}

// Same reports whether p and q hold tensors of the same names and shapes in
// the same order.
func (p Params) Same(q Params) bool {
	return slices.EqualFunc(p.tensors, q.tensors, func(a, b Tensor) bool {
		return a.Name == b.Name && slices.Equal(a.Shape, b.Shape)
	})
}

// at returns the name of the tensor that holds element i of the flat vector.
func (p Params) at(i int) string {
	for _, t := range p.tensors {
		if i < len(t.Data) {
			return t.Name
		}
		i -= len(t.Data)
	}
	panic(badLength)
}
