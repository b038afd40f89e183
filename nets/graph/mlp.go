package graph

import (
	"fmt"

	"vtrain/nets"
)

type mlp struct{ nets.MLP }

func (a mlp) build(n *network) {
	y := n.input(upTo(a.In()))
	for l := range a.Layers() {
		y = n.affine(fmt.Sprintf("layers.%d", l), kind{"weight", y})
		if l < a.Layers()-1 {
			y = relu(y)
		}
	}
	n.output(y, upTo(a.Out()))
}

// upTo returns the columns below n.
func upTo(n int) []int32 {
	columns := make([]int32, n)
	for i := range columns {
		columns[i] = int32(i)
	}
	return columns
}
