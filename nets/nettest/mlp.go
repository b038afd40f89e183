package nettest

import (
	"fmt"

	"vtrain/nets"
)

type mlp struct{}

func (mlp) name() string { return "MLP" }

// shapes has depths from none.
func (mlp) shapes() []nets.Shape {
	return []nets.Shape{
		nets.MLP{1, 1},
		nets.MLP{7, 3},
		nets.MLP{5, 1, 2},
		nets.MLP{33, 65, 17},
		nets.MLP{70, 193, 31, 5},
		nets.MLP{440, 256, 256, 106},
		nets.MLP{3, 9, 8, 7, 6, 130},
	}
}

func (mlp) tiny() nets.Shape  { return nets.MLP{7, 3} }
func (mlp) small() nets.Shape { return nets.MLP{33, 65, 17} }
func (mlp) deep() nets.Shape  { return nets.MLP{40, 193, 31, 5} }
func (mlp) wide() nets.Shape  { return nets.MLP{33, 250, 17} }

func (mlp) sloped() []nets.Shape {
	return []nets.Shape{nets.MLP{7, 3}, nets.MLP{5, 4, 2}, nets.MLP{9, 8, 7, 6}}
}

func (mlp) invalid() []nets.Shape {
	return []nets.Shape{
		nets.MLP(nil), nets.MLP{}, nets.MLP{3}, nets.MLP{3, 0}, nets.MLP{0, 3}, nets.MLP{3, -1, 2}, nets.MLP{1 << 20, 1 << 20},
	}
}

func (mlp) spoil(s nets.Shape) { s.(nets.MLP)[0] = 1 }

func (mlp) work(s nets.Shape) int { return s.NewParams().Len() }

func (mlp) forward(t *tape, s nets.Shape, x []float32) matrix {
	all := make([]int32, s.In())
	for i := range all {
		all[i] = int32(i)
	}
	last := s.(nets.MLP).Layers() - 1
	y := t.hidden("layers", last, kind{"weight", t.columns(x, s.In(), all)})
	return t.affine(fmt.Sprintf("layers.%d", last), kind{"weight", y})
}

func (mlp) fed(_ nets.Shape, input int) []place { return []place{{"layers.0.weight", input}} }

func (mlp) groups(nets.Shape) *nets.Groups { return nil }

func (mlp) column(s nets.Shape, output int) (string, int, []int) {
	return fmt.Sprintf("layers.%d", s.(nets.MLP).Layers()-1), output, []int{output}
}
