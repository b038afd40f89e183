package vec

import (
	"slices"
	"testing"
)

// paths is the game of the tree's tests: a row is the decimal number of its
// actions behind the number of its game, 9 is the action that ends a game, and
// a game ends after three plies anyway. The nil Batch stands for the methods
// that a tree has no use for.
type paths struct {
	Batch
	arena Arena
	path  Column[int64]  // [B]
	end   Column[uint8]  // [B]
	made  Column[uint32] // [B]
	keys  Column[uint64] // [B]
}

func newPaths() *paths {
	p := new(paths)
	Attach(&p.arena, "path", &p.path, 1)
	Attach(&p.arena, "end", &p.end, 1)
	Attach(&p.arena, "made", &p.made, 1)
	Attach(&p.arena, "keys", &p.keys, 1)
	return p
}

func (p *paths) New() Batch         { return newPaths() }
func (p *paths) Rows() int          { return p.arena.Rows() }
func (p *paths) Finished() []uint8  { return p.end.Data }
func (p *paths) GameKeys() []uint64 { return p.keys.Data }

func (p *paths) Gather(src Batch, rows []int32) { p.arena.Gather(&src.(*paths).arena, rows) }

func (p *paths) Deal(n int, seed, first uint64) {
	p.arena.Resize(n)
	for b := range n {
		p.path.Data[b] = int64(first) + int64(b)
		p.end.Data[b], p.made.Data[b] = 0, 0
		p.keys.Data[b] = Key(seed, first+uint64(b))
	}
}

func (p *paths) Step(rows, actions []int32) {
	for i, b := range rows {
		p.path.Data[b] = p.path.Data[b]*10 + int64(actions[i])
		p.made.Data[b]++
		if actions[i] == 9 || p.made.Data[b] == 3 {
			p.end.Data[b] = 1
		}
	}
}

// pathsOf returns the numbers of a level's rows.
func pathsOf(l *Level) []int64 { return l.State.(*paths).path.Data }

// grow deals games 5 and 6 and expands them three times. It returns the numbers
// of the rows of each level.
func grow(tree *Tree) [][]int64 {
	var all [][]int64
	for _, l := range []func() *Level{
		func() *Level { return tree.Deal(2, 1, 5) },
		func() *Level { return tree.Expand([]int32{0, 0, 0, 1}, []int32{1, 2, 9, 3}) },
		func() *Level { return tree.Expand([]int32{0, 1, 1, 3}, []int32{4, 5, 9, 9}) },
		func() *Level { return tree.Expand([]int32{0, 1}, []int32{7, 8}) },
	} {
		all = append(all, slices.Clone(pathsOf(l())))
	}
	return all
}

func TestTree(t *testing.T) {
	tree := NewTree(newPaths())
	for range 3 { // the same in used memory
		got := grow(tree)
		for d, want := range []struct {
			parent, action, live []int32
			paths                []int64
		}{
			{[]int32{NoParent, NoParent}, []int32{-1, -1}, []int32{0, 1}, []int64{5, 6}},
			{[]int32{0, 0, 0, 1}, []int32{1, 2, 9, 3}, []int32{0, 1, 3}, []int64{51, 52, 59, 63}},
			{[]int32{0, 1, 1, 3}, []int32{4, 5, 9, 9}, []int32{0, 1}, []int64{514, 525, 529, 639}},
			{[]int32{0, 1}, []int32{7, 8}, []int32{}, []int64{5147, 5258}},
		} {
			l := tree.Level(d)
			if !slices.Equal(l.Parent, want.parent) || !slices.Equal(l.Action, want.action) ||
				!slices.Equal(l.Live, want.live) || !slices.Equal(got[d], want.paths) || len(l.Value) != l.Rows() {
				t.Fatalf("level %d: parents %v, actions %v, live %v, paths %v, %d values; expected %+v",
					d, l.Parent, l.Action, l.Live, got[d], len(l.Value), want)
			}
			if (l.State != nil) != (d >= 2) {
				t.Errorf("level %d of 4: state %v", d, l.State)
			}
		}
		if tree.Depth() != 4 || tree.Nodes() != 2+4+4+2 {
			t.Fatalf("%d levels, %d nodes", tree.Depth(), tree.Nodes())
		}
	}
	if keys := tree.Level(3).State.GameKeys(); keys[0] != Key(1, 5) || keys[1] != Key(1, 5) {
		t.Errorf("copies of game 5 have the keys %x", keys)
	}
}

// TestTreeDealStartsAnew: a shorter traversal does not see the longer one's
// levels.
func TestTreeDealStartsAnew(t *testing.T) {
	tree := NewTree(newPaths())
	grow(tree)
	l := tree.Deal(1, 1, 8)
	if tree.Depth() != 1 || tree.Nodes() != 1 || !slices.Equal(pathsOf(l), []int64{8}) || !slices.Equal(l.Live, []int32{0}) {
		t.Errorf("after a new deal: %d levels, paths %v, live %v", tree.Depth(), pathsOf(l), l.Live)
	}
	defer func() {
		if recover() == nil {
			t.Error("a level of the traversal before is still there")
		}
	}()
	tree.Level(1)
}

// TestBackup sums leaves upwards: each node's value is the number of leaves
// below it.
func TestBackup(t *testing.T) {
	tree := NewTree(newPaths())
	grow(tree)
	var depths []int
	tree.Backup(func(depth int, level, below *Level) {
		depths = append(depths, depth)
		if (below == nil) != (depth == 3) {
			t.Errorf("depth %d: the level below is %v", depth, below)
		}
		clear(level.Value)
		if below != nil {
			for i, parent := range below.Parent {
				level.Value[parent] += below.Value[i]
			}
		}
		for b := range level.Value {
			level.Value[b] = max(1, level.Value[b])
		}
	})
	if !slices.Equal(depths, []int{3, 2, 1, 0}) {
		t.Errorf("visited %v", depths)
	}
	if got := tree.Level(0).Value; !slices.Equal(got, []float32{4, 1}) {
		t.Errorf("leaves %v, expected 4 and 1", got)
	}
}

func TestTreeAllocatesNothing(t *testing.T) {
	tree := NewTree(newPaths())
	rows, actions := []int32{0, 0, 0, 1}, []int32{1, 2, 9, 3}
	run := func() {
		tree.Deal(2, 1, 5)
		tree.Expand(rows, actions)
		tree.Expand(rows[:1], actions[:1])
	}
	run()
	if got := testing.AllocsPerRun(20, run); got != 0 {
		t.Errorf("%v allocations a traversal, expected none", got)
	}
}

func TestTreePanics(t *testing.T) {
	tree := NewTree(newPaths())
	mustPanic(t, "no deal", "vec: Expand before Deal", func() { tree.Expand(nil, nil) })
	tree.Deal(1, 1, 1)
	mustPanic(t, "lengths", badLength, func() { tree.Expand([]int32{0}, nil) })
}
