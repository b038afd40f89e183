package cfr

import (
	"vtrain/nets"
	"vtrain/vec"
)

// calibrationRows is the rows that engines in bytes are calibrated by.
const calibrationRows = 1024

// Calibration returns what an engine of that precision is calibrated by:
// observations [rows,D] from games that the seed stands for, nothing for
// float32. It depends on game, view and seed alone, so that a resumed run, and
// whoever plays its agents, computes the same.
//
// A trained player's games are unlike random ones, in which he would wake other
// units of his network. So games here are of many styles: each player ranks all
// actions, at random, and takes his favourite among the legal ones half of the
// time, any of them otherwise. Each game gives one of its decisions, all of
// them alike.
func Calibration(game vec.Batch, view vec.View, precision nets.Precision, seed uint64) []float32 {
	if precision == nets.Float32 {
		return nil
	}
	of := func(purpose string) uint64 { return vec.Derive(seed, "calibration "+purpose, 0) }
	c := &calibration{
		state: game.New(), view: view, decisions: of("decisions"), choices: of("choices"), tastes: of("tastes"),
		x: make([]float32, calibrationRows*game.Width(view)),
	}
	c.state.Deal(calibrationRows, of("deals"), 0)
	for c.ply() {
	}
	return c.x
}

// calibration is games on their way.
type calibration struct {
	state vec.Batch
	view  vec.View
	x     []float32 // [rows,D]: a decision of each game

	decisions, choices, tastes uint64 // seeds

	live    []int32
	chosen  []int32
	seen    []float32 // [chosen,D]
	mask    []uint64  // [live,W]
	legal   []int32
	movers  []uint8 // [live]
	actions []int32 // [live]
}

// ply makes one action in each game, and reports whether any went on.
func (c *calibration) ply() bool {
	rows := vec.AllRows(c.live, c.state.Rows())
	c.live = vec.Keep(rows, rows, c.state.Finished(), 0)
	if len(c.live) == 0 {
		return false
	}
	c.observe()
	words := vec.MaskWords(c.state.Actions())
	c.mask = vec.Grow(c.mask, len(c.live)*words)
	c.state.Legal(c.mask, c.live)
	c.movers = vec.Grow(c.movers, len(c.live))
	c.state.ToMove(c.movers, c.live)
	c.actions = c.actions[:0]
	for i := range c.live {
		c.legal = vec.MaskAppend(c.legal[:0], c.mask[i*words:(i+1)*words])
		c.actions = append(c.actions, c.choose(i))
	}
	c.state.Step(c.live, c.actions)
	return true
}

// observe replaces the decision of some games: at decision t of a game with
// probability 1/t, which leaves each with the same chance in the end.
func (c *calibration) observe() {
	c.chosen = c.chosen[:0]
	for _, b := range c.live {
		s := vec.At(vec.Key(c.decisions, c.state.GameKeys()[b]), c.state.Plies()[b])
		if s.Intn(int(c.state.Plies()[b])+1) == 0 {
			c.chosen = append(c.chosen, b)
		}
	}
	d := c.state.Width(c.view)
	c.seen = vec.Grow(c.seen, len(c.chosen)*d)
	c.state.Observe(c.seen, c.view, c.chosen)
	for i, b := range c.chosen {
		copy(c.x[int(b)*d:(int(b)+1)*d], c.seen[i*d:(i+1)*d])
	}
}

// choose returns an action of live game i.
func (c *calibration) choose(i int) int32 {
	b := c.live[i]
	key := c.state.GameKeys()[b]
	s := vec.At(vec.Key(c.choices, key), c.state.Plies()[b])
	if s.Intn(2) == 0 {
		return c.legal[s.Intn(len(c.legal))]
	}
	favourite, best := c.legal[0], uint64(0)
	for _, a := range c.legal {
		taste := vec.At(vec.Key(c.tastes, key), 2*uint32(a)+uint32(c.movers[i]))
		if rank := taste.Uint64(); rank > best {
			favourite, best = a, rank
		}
	}
	return favourite
}
