package nettest

import (
	"fmt"
	"slices"

	"vtrain/nets"
)

type shared struct{}

func (shared) name() string { return "Shared" }

// dealt returns groups whose columns are dealt out in turns, the common ones
// in between, and every other list reversed, so that no list can be mistaken
// for a range.
func dealt(groups, in, commonIn, out, commonOut int) nets.Groups {
	g := nets.Groups{In: groups*in + commonIn, Out: groups*out + commonOut}
	g.Inputs = deal(groups, in, commonIn)
	g.Outputs = deal(groups, out, commonOut)
	return g
}

func deal(groups, each, skip int) [][]int32 {
	lists := make([][]int32, groups)
	next := int32(skip / 2)
	for i := range each {
		if i == each/2 {
			next += int32(skip - skip/2)
		}
		for k := range lists {
			lists[k] = append(lists[k], next)
			next++
		}
	}
	slices.Reverse(lists)
	for _, list := range lists {
		slices.Reverse(list[:each/2])
	}
	return lists
}

func (shared) shapes() []nets.Shape {
	return []nets.Shape{
		nets.Shared{Groups: dealt(1, 1, 0, 1, 0), Encoder: []int{1}, Trunk: []int{1}},
		nets.Shared{Groups: dealt(2, 3, 1, 1, 1), Encoder: []int{5}, Trunk: []int{1}, Head: []int{2}},
		nets.Shared{Groups: dealt(3, 7, 12, 4, 5), Encoder: []int{17, 9}, Trunk: []int{20}, Head: []int{12}},
		nets.Shared{Groups: dealt(4, 2, 0, 3, 2), Encoder: []int{6, 5, 4}, Trunk: []int{7, 8}, Head: []int{9, 10}},
		nets.Shared{Groups: dealt(7, 1, 3, 2, 0), Encoder: []int{65}, Trunk: []int{9, 17}},
		nets.Shared{Groups: dealt(5, 80, 40, 21, 1), Encoder: []int{40, 33}, Trunk: []int{65}, Head: []int{34}},
	}
}

func (shared) tiny() nets.Shape {
	return nets.Shared{Groups: dealt(2, 3, 1, 1, 1), Encoder: []int{2}, Trunk: []int{2}}
}

func (shared) small() nets.Shape { return shared{}.shapes()[2] }

func (shared) deep() nets.Shape {
	return nets.Shared{Groups: dealt(3, 9, 4, 4, 5), Encoder: []int{70, 10}, Trunk: []int{33}, Head: []int{7}}
}

func (shared) wide() nets.Shape {
	return nets.Shared{Groups: dealt(3, 9, 4, 4, 5), Encoder: []int{250}, Trunk: []int{250}}
}

func (shared) sloped() []nets.Shape {
	return []nets.Shape{
		shared{}.tiny(),
		nets.Shared{Groups: dealt(3, 2, 0, 1, 0), Encoder: []int{4, 3}, Trunk: []int{4}},
		nets.Shared{Groups: dealt(3, 3, 2, 2, 2), Encoder: []int{4}, Trunk: []int{5, 4}, Head: []int{5}},
	}
}

func (shared) invalid() []nets.Shape {
	groups := dealt(2, 2, 1, 1, 0)
	twice := dealt(2, 2, 1, 1, 0)
	twice.Inputs[1][1] = twice.Inputs[0][0]
	return []nets.Shape{
		nets.Shared{},
		nets.Shared{Groups: groups, Trunk: []int{2}},
		nets.Shared{Groups: groups, Encoder: []int{2}},
		nets.Shared{Groups: groups, Encoder: []int{2, 0}, Trunk: []int{2}},
		nets.Shared{Groups: twice, Encoder: []int{2}, Trunk: []int{2}},
	}
}

func (shared) spoil(shape nets.Shape) {
	s := shape.(nets.Shared)
	s.Encoder[0]++
	s.Groups.Inputs[0], s.Groups.Inputs[1] = s.Groups.Inputs[1], s.Groups.Inputs[0]
	s.Groups.Outputs[0][0] = s.Groups.Outputs[1][0]
}

func (shared) work(s nets.Shape) int { return s.NewParams().Len() * len(s.(nets.Shared).Groups.Inputs) }

func (shared) forward(t *tape, shape nets.Shape, x []float32) matrix {
	s := shape.(nets.Shared)
	common := t.columns(x, s.In(), s.Groups.CommonInputs())
	var embeddings []matrix
	for _, list := range s.Groups.Inputs {
		group := t.columns(x, s.In(), list)
		embeddings = append(embeddings, t.hidden("encoder", len(s.Encoder), kind{"group", group}, kind{"common", common}))
	}
	trunk := t.hidden("trunk", len(s.Trunk),
		kind{"mean", t.mean(embeddings)}, kind{"max", t.maximum(embeddings)}, kind{"common", common})
	var outputs []matrix
	for _, e := range embeddings {
		outputs = append(outputs, t.head(s, e, trunk))
	}
	lists := slices.Clone(s.Groups.Outputs)
	if rest := s.Groups.CommonOutputs(); len(rest) > 0 {
		lists, outputs = append(lists, rest), append(outputs, t.affine("common.0", kind{"trunk", trunk}))
	}
	return t.join(s.Out(), lists, outputs)
}

// head returns the outputs of a group.
func (t *tape) head(s nets.Shared, e, trunk matrix) matrix {
	kinds := []kind{{"embedding", e}, {"trunk", trunk}}
	if len(s.Head) > 0 {
		kinds = []kind{{"weight", t.hidden("head", len(s.Head), kinds...)}}
	}
	return t.affine(fmt.Sprintf("head.%d", len(s.Head)), kinds...)
}

func (shared) fed(s nets.Shape, input int) []place {
	g := s.(nets.Shared).Groups
	for _, list := range g.Inputs {
		if i := slices.Index(list, int32(input)); i >= 0 {
			return []place{{"encoder.0.group", i}}
		}
	}
	i := slices.Index(g.CommonInputs(), int32(input))
	return []place{{"encoder.0.common", i}, {"trunk.0.common", i}}
}

func (shared) groups(s nets.Shape) *nets.Groups {
	g := s.(nets.Shared).Groups
	return &g
}

func (shared) column(shape nets.Shape, output int) (string, int, []int) {
	s := shape.(nets.Shared)
	for _, list := range s.Groups.Outputs {
		if i := slices.Index(list, int32(output)); i >= 0 {
			var mates []int
			for _, other := range s.Groups.Outputs {
				mates = append(mates, int(other[i]))
			}
			return fmt.Sprintf("head.%d", len(s.Head)), i, mates
		}
	}
	return "common.0", slices.Index(s.Groups.CommonOutputs(), int32(output)), []int{output}
}
