package cpu

import (
	"vtrain/nets"
	"vtrain/nets/kernel"
)

// layer is the packed parameters of one layer.
type layer struct {
	weight *kernel.Panels
	bias   []float32 // [out]
}

// newLayers makes room for the layers of a shape.
func newLayers(set *kernel.Set, shape nets.MLP) []layer {
	layers := make([]layer, shape.Layers())
	for l := range layers {
		layers[l] = layer{set.NewPanels(shape[l], shape[l+1]), make([]float32, shape[l+1])}
	}
	return layers
}

// pack takes the panels [lo,hi) of the weights.
func (l *layer) pack(weight []float32, lo, hi int) {
	l.weight.Pack(weight, len(l.bias), lo, hi)
}

// A matrix is rows of floats at equal distances.
type matrix struct {
	data []float32
	row  int
}

// from returns the matrix from a row on.
func (m matrix) from(r int) matrix { return matrix{m.data[r*m.row:], m.row} }

// of returns the matrix for the kernels.
func (m matrix) of(rows, columns int) kernel.Matrix { return kernel.Rows(m.data, m.row, rows, columns) }

// affine computes y = x·W + b for rows of x, with ReLU if the layer is hidden.
func (l *layer) affine(set *kernel.Set, y, x kernel.Matrix, rows int, hidden bool) {
	p := kernel.Product{M: rows, A: x, B: l.weight, C: y, Bias: l.bias, ReLU: hidden}
	set.Multiply(&p, 0, l.weight.Count())
}

// sparseShare is the part of the inputs, 1 of so many, up to which adding
// weights beats multiplying.
const sparseShare = 4

// widest is the most inputs that are listed.
const widest = 1 << 20

// sparse is the inputs that are set in a block of rows.
type sparse struct{ lists *kernel.Lists } // nil if there are too many inputs

func newSparse(set *kernel.Set, rows, in int) sparse {
	if in > widest {
		return sparse{}
	}
	return sparse{set.NewLists(rows, rows*in/sparseShare+in)}
}

// listable reports whether leaving out zeros gives the same bits, which takes
// finite weights: the sum of their squares overflows nothing.
func listable(set *kernel.Set, weight []float32) bool {
	sum := set.SumSquares(weight)
	return sum-sum == 0
}

// list lists the rows of x. It reports false, having stopped early, if so many
// inputs are set that multiplying is better.
func (s *sparse) list(x matrix, rows, in int) bool {
	if s.lists == nil {
		return false
	}
	s.lists.Reset(in)
	for r := range rows {
		s.lists.AppendRow(x.data[r*x.row : r*x.row+in])
		// The first rows may have a few more than their share.
		if n := s.lists.Len(); n > (r+1)*in/sparseShare+in/(2*sparseShare) || n > rows*in/sparseShare {
			return false
		}
	}
	return true
}

// affine is that of the layer, of the listed rows.
func (s *sparse) affine(set *kernel.Set, l *layer, y kernel.Matrix, hidden bool) {
	p := kernel.Product{B: l.weight, C: y, Bias: l.bias, ReLU: hidden}
	set.Gather(s.lists, &p, 0, l.weight.Count())
}
