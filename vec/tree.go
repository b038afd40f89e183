package vec

// NoParent is the parent of a root row.
const NoParent int32 = -1

// A Level is the nodes of a tree at one depth.
type Level struct {
	State  Batch     // nil but in the last two levels
	Parent []int32   // [B] row in the level above
	Action []int32   // [B] the action that led here from the parent
	Live   []int32   // rows whose game goes on
	Value  []float32 // [B] left to the caller: what Backup carries upwards
}

// Rows returns B, the nodes of the level.
func (l *Level) Rows() int { return len(l.Parent) }

// A Tree is a traversal, level by level: level d holds every node at ply d of
// all games dealt, as one batch. Children of a row are contiguous, in the
// order of their parents. Levels keep their memory from one traversal to the
// next, but take turns in that of two states: games that move between those
// stay in a cache.
type Tree struct {
	levels []*Level
	depth  int // levels in use
	states [2]Batch
}

// NewTree returns an empty tree whose levels are batches of game's kind.
func NewTree(game Batch) *Tree { return &Tree{states: [2]Batch{game.New(), game.New()}} }

// Deal starts a new traversal from n new games; see Batch.Deal.
func (t *Tree) Deal(n int, seed, first uint64) *Level {
	t.depth = 0
	l := t.next()
	l.State.Deal(n, seed, first)
	for range n {
		l.Parent = append(l.Parent, NoParent)
		l.Action = append(l.Action, -1)
	}
	return l.ready()
}

// Expand adds the level below: one child of row rows[i] by action actions[i]
// for each i. Rows ascend; a row that repeats gets several children.
func (t *Tree) Expand(rows, actions []int32) *Level {
	if len(rows) != len(actions) {
		panic(badLength)
	}
	if t.depth == 0 {
		panic("vec: Expand before Deal")
	}
	above := t.levels[t.depth-1]
	l := t.next()
	l.State.Gather(above.State, rows)
	l.Parent = append(l.Parent, rows...)
	l.Action = append(l.Action, actions...)
	l.Live = AllRows(l.Live, len(rows))
	l.State.Step(l.Live, actions)
	return l.ready()
}

// next takes the first unused level, emptied.
func (t *Tree) next() *Level {
	if t.depth == len(t.levels) {
		t.levels = append(t.levels, new(Level))
	}
	l := t.levels[t.depth]
	l.State = t.states[t.depth&1]
	if t.depth > 1 {
		t.levels[t.depth-2].State = nil
	}
	t.depth++
	l.Parent, l.Action = l.Parent[:0], l.Action[:0]
	return l
}

// ready finds the live rows of a level whose state has been set.
func (l *Level) ready() *Level {
	rows := l.State.Rows()
	l.Live = AllRows(l.Live, rows)
	l.Live = Keep(l.Live, l.Live, l.State.Finished(), 0)
	l.Value = Grow(l.Value, rows)
	return l
}

// Depth returns the number of levels.
func (t *Tree) Depth() int { return t.depth }

// Level returns the level at a depth, 0 for the root.
func (t *Tree) Level(depth int) *Level { return t.levels[:t.depth][depth] }

// Nodes returns the number of nodes of all levels.
func (t *Tree) Nodes() int {
	n := 0
	for _, l := range t.levels[:t.depth] {
		n += l.Rows()
	}
	return n
}

// Backup visits the levels bottom-up. For each, f sees the level and the one
// below it (nil at the bottom), whose values are final by then.
func (t *Tree) Backup(f func(depth int, level, below *Level)) {
	var below *Level
	for d := t.depth - 1; d >= 0; d-- {
		level := t.levels[d]
		f(d, level, below)
		below = level
	}
}
