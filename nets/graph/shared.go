package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"vtrain/nets"
)

type shared struct{ nets.Shared }

// build gives each group nodes of its own, on the same weights, whose
// derivatives add up in the gradient.
func (a shared) build(n *network) {
	groups := len(a.Groups.Inputs)
	var common *gorgonia.Node
	if columns := a.Groups.CommonInputs(); len(columns) > 0 {
		common = n.input(columns)
	}
	var embeddings []*gorgonia.Node
	for _, columns := range a.Groups.Inputs {
		e := n.hidden("encoder", len(a.Encoder), kind{"group", n.input(columns)}, kind{"common", common})
		embeddings = append(embeddings, e)
	}
	share := n.constant("share", a.Encoder[len(a.Encoder)-1], 1/float32(groups))
	mean := must(gorgonia.HadamardProd(sum(embeddings), share))
	t := n.hidden("trunk", len(a.Trunk), kind{"mean", mean}, kind{"max", maximum(embeddings)}, kind{"common", common})
	for g, e := range embeddings {
		n.output(a.head(n, e, t), a.Groups.Outputs[g])
	}
	if columns := a.Groups.CommonOutputs(); len(columns) > 0 {
		n.output(n.affine("common.0", kind{"trunk", t}), columns)
	}
}

// head returns the outputs of the group of embedding e.
func (a shared) head(n *network, e, t *gorgonia.Node) *gorgonia.Node {
	kinds := []kind{{"embedding", e}, {"trunk", t}}
	if len(a.Head) > 0 {
		kinds = []kind{{"weight", n.hidden("head", len(a.Head), kinds...)}}
	}
	return n.affine(fmt.Sprintf("head.%d", len(a.Head)), kinds...)
}

// hidden returns the last of layers on top of each other, each with its ReLU.
func (n *network) hidden(name string, layers int, kinds ...kind) *gorgonia.Node {
	for l := range layers {
		kinds = []kind{{"weight", relu(n.affine(fmt.Sprintf("%s.%d", name, l), kinds...))}}
	}
	return kinds[0].x
}
