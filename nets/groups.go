package nets

import (
	"fmt"
	"slices"
)

// Groups divides the inputs and the outputs of a network into G groups that
// are interchangeable, and the rest, common to all: exchanging two groups of
// inputs must exchange the same two groups of outputs and mean the same.
//
// Each group is a list of columns. Lists are in matching order: entry i is the
// same feature, or the same output, of every group.
type Groups struct {
	In, Out int       // columns of a row of x, of y
	Inputs  [][]int32 // [G][features]
	Outputs [][]int32 // [G][outputs]
}

// CommonInputs returns the columns of x that are in no group, ascending.
func (g Groups) CommonInputs() []int32 { return common(g.In, g.Inputs) }

// CommonOutputs returns the columns of y that are in no group, ascending.
func (g Groups) CommonOutputs() []int32 { return common(g.Out, g.Outputs) }

func common(columns int, groups [][]int32) []int32 {
	grouped := make([]bool, columns)
	for _, list := range groups {
		for _, c := range list {
			grouped[c] = true
		}
	}
	var rest []int32
	for c, taken := range grouped {
		if !taken {
			rest = append(rest, int32(c))
		}
	}
	return rest
}

// Validate returns an error unless the lists are groups of those columns.
func (g Groups) Validate() error {
	if len(g.Inputs) < 1 || len(g.Inputs) != len(g.Outputs) {
		return fmt.Errorf("nets: %d groups of inputs and %d of outputs, want as many of both, at least one", len(g.Inputs), len(g.Outputs))
	}
	if err := validateGroups("input", g.In, g.Inputs); err != nil {
		return err
	}
	return validateGroups("output", g.Out, g.Outputs)
}

func validateGroups(kind string, columns int, groups [][]int32) error {
	if columns < 1 || columns > maxParams {
		return fmt.Errorf("nets: %d %ss, want 1 to %d", columns, kind, maxParams)
	}
	groupOf := map[int32]int{}
	for k, list := range groups {
		if len(list) < 1 || len(list) != len(groups[0]) {
			return fmt.Errorf("nets: group %d has %d %ss, want as many as the first, at least one", k, len(list), kind)
		}
		for _, c := range list {
			if c < 0 || int(c) >= columns {
				return fmt.Errorf("nets: group %d: %s %d, want 0 to %d", k, kind, c, columns-1)
			}
			if other, taken := groupOf[c]; taken {
				return fmt.Errorf("nets: group %d: %s %d is in group %d already", k, kind, c, other)
			}
			groupOf[c] = k
		}
	}
	return nil
}

// Clone returns a copy that shares nothing with g.
func (g Groups) Clone() Groups {
	return Groups{g.In, g.Out, cloneLists(g.Inputs), cloneLists(g.Outputs)}
}

func cloneLists(lists [][]int32) [][]int32 {
	lists = slices.Clone(lists)
	for i := range lists {
		lists[i] = slices.Clone(lists[i])
	}
	return lists
}
