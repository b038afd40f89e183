package encode

// Groups lists what belongs to each colour of a layout, C lists of features
// and C of actions. Lists are in matching order: entry i is the same feature,
// or the same action, of every colour, so that renaming colours, which is a
// Permutation, exchanges lists. What is in none of them belongs to no colour.
type Groups struct {
	Features [][]int32 // [C][features of a colour]
	Actions  [][]int32 // [C][actions of a colour]
}

// Groups returns the groups of the layout, which are those of its Critic too:
// a colour has its block of features, spare ones included, and the actions
// that play its cards, that discard them, and that draw from its pile. The
// common block and the draw from the deck are left.
func (c *Cards) Groups() Groups {
	types, width := c.cfg.Types(), c.cfg.Ranks+1
	var g Groups
	for k := range c.cfg.Colors {
		g.Features = append(g.Features, span(nil, k*c.block, c.block))
		actions := span(nil, k*width, width)          // play
		actions = span(actions, types+k*width, width) // discard
		actions = append(actions, int32(2*types+1+k)) // draw
		g.Actions = append(g.Actions, actions)
	}
	return g
}

// span appends n numbers from lo on.
func span(list []int32, lo, n int) []int32 {
	for i := range n {
		list = append(list, int32(lo+i))
	}
	return list
}
