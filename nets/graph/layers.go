package graph

import "gorgonia.org/gorgonia"

// zero is what ReLU compares with.
var zero = gorgonia.NewConstant(float32(0))

// A kind is one kind of inputs of a layer: x [rows,in] and the name of its
// matrix. Kinds without x are left out.
type kind struct {
	tensor string
	x      *gorgonia.Node
}

// affine returns Σ x·W + 1·b of a layer, where 1 is the column of ones. Equal
// products in a graph are one node, so what is common to all groups is
// computed once.
func (n *network) affine(layer string, kinds ...kind) *gorgonia.Node {
	sum := must(gorgonia.Mul(n.ones, n.named[layer+".bias"]))
	for _, k := range kinds {
		if k.x != nil {
			sum = must(gorgonia.Add(must(gorgonia.Mul(k.x, n.named[layer+"."+k.tensor])), sum))
		}
	}
	return sum
}

// relu is gorgonia's, except for its derivative of 1 at 0. NaN times either
// mask is NaN.
func relu(x *gorgonia.Node) *gorgonia.Node {
	return must(gorgonia.HadamardProd(x, must(gorgonia.Gt(x, zero, true))))
}

// sum returns the sum of nodes of one shape.
func sum(nodes []*gorgonia.Node) *gorgonia.Node {
	total := nodes[0]
	for _, v := range nodes[1:] {
		total = must(gorgonia.Add(total, v))
	}
	return total
}

// maximum returns the largest of nodes of one shape, element by element. Where
// two tie, gorgonia's maximum of two gives the first the derivative; that
// along an axis gives all of it to each, which is wrong.
func maximum(nodes []*gorgonia.Node) *gorgonia.Node {
	most := nodes[0]
	for _, v := range nodes[1:] {
		most = must(gorgonia.MaxBetween(most, v))
	}
	return most
}
