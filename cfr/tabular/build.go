package tabular

import (
	"fmt"
	"slices"

	"vtrain/vec"
)

// A TooLargeError says that a game has more histories, nodes of its tree, than
// it may have.
type TooLargeError struct {
	Nodes float64 // of up to Plies plies, or fewer than those, counted before they are made
	Plies int
	Limit int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("at least %s nodes of up to %d plies, expected at most %d in the whole game", count(e.Nodes), e.Plies, e.Limit)
}

// count writes whole numbers that people can still read as such.
func count(n float64) string {
	if n < 1e15 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.2g", n)
}

// MaxHistories is the largest limit of a tree: histories are numbered by int32.
const MaxHistories = 1 << 30

// grain is the histories that are made at a time: enough for the batch's
// kernels, few enough that the states of a ply are never there all at once.
const grain = 4096

// Build returns the tree of a game. A game with more histories than limit is a
// *TooLargeError, found before the memory is taken.
func Build(game vec.Enumerable, limit int) (*Tree, error) {
	b := newBuilder(game, min(limit, MaxHistories))
	if err := b.deal(); err != nil {
		return nil, err
	}
	for ply := 1; len(b.level.nodes) > 0; ply++ {
		if err := b.expand(ply); err != nil {
			return nil, err
		}
	}
	b.t.slot = append(b.t.slot, b.slots)
	b.t.child = append(b.t.child, int32(len(b.t.info)))
	return b.t, nil
}

// A builder makes a tree, ply by ply.
type builder struct {
	t           *Tree
	limit       int
	slots       int32
	level, next frontier
	moves       moves
	views       [2]map[seen]int32 // of the ply being made
	infos       [2][]int32        // [views] their information sets, -1 for none yet
	block       block
	legal       []int32 // scratch
}

// A frontier is the decisions of one ply.
type frontier struct {
	state vec.Enumerable
	nodes []node
}

// A node is what the builder knows of a history besides its state.
type node struct {
	view     [2]int32 // by player, a number for all that he has seen
	sequence [2]int32 // by player, his last
	reach    float64  // probability of all chance so far
	info     int32    // information set, if it is a decision
}

// seen is what a player sees from one ply to the next.
type seen struct {
	view   int32 // before
	action int32
	chance uint32
}

// moves are all that can be done at a frontier: a move for each row and legal
// action, in their order.
type moves struct {
	row, action, sequence []int32
	ways                  []int32 // that chance can go afterwards
}

// A block is histories on their way into the tree.
type block struct {
	state    vec.Enumerable
	nodes    []node        // [n]
	outcomes []vec.Outcome // [n]
	utility  []float32     // [n]
	rows     []int32       // [n]
	live     []int32       // rows that are decisions
	mover    []uint8       // [live]
	mask     []uint64      // [live,W]
	at       []int32       // [live] their place in the frontier
	fresh    []int32       // rows that are the first of their information sets
	info     []int32       // [fresh]

	from, action, way []int32 // [n] how they are made
}

func newBuilder(game vec.Enumerable, limit int) *builder {
	empty := func() vec.Enumerable { return game.New().(vec.Enumerable) }
	return &builder{
		t:     &Tree{first: []int32{2}, action: []int32{-1, -1}, state: game.New()},
		limit: limit,
		level: frontier{state: empty()},
		next:  frontier{state: empty()},
		block: block{state: empty()},
	}
}

// deal makes the histories of ply 0.
func (b *builder) deal() error {
	n := b.level.state.Deals()
	if n > float64(b.limit) {
		return &TooLargeError{Nodes: n, Limit: b.limit}
	}
	b.turn()
	k := &b.block
	k.resize(int(n))
	k.state.DealEach(k.outcomes)
	sum := 0.0
	for i, o := range k.outcomes {
		k.nodes[i] = node{sequence: [2]int32{0, 1}, reach: 1}
		k.action[i] = -1
		sum += o.P
		b.t.deals = append(b.t.deals, sum)
	}
	b.admit()
	b.level, b.next = b.next, b.level
	return nil
}

// turn begins a ply: views are numbered from 0 again.
func (b *builder) turn() {
	for p := range b.views {
		b.views[p], b.infos[p] = map[seen]int32{}, b.infos[p][:0]
	}
	b.next.nodes = b.next.nodes[:0]
}

// expand makes the histories of a ply from the decisions of the one before.
func (b *builder) expand(ply int) error {
	have := len(b.t.info)
	total := b.choices() // each leads to one history or more
	if have+total <= b.limit {
		total = b.list()
	}
	if have+total > b.limit {
		return &TooLargeError{Nodes: float64(have + total), Plies: ply, Limit: b.limit}
	}
	b.turn()
	b.reserve(total)
	for next := 0; next < len(b.moves.row); {
		b.block.clear()
		for ; next < len(b.moves.row) && len(b.block.from) < grain; next++ {
			b.queue(next)
		}
		b.make()
		b.admit()
	}
	b.level, b.next = b.next, b.level
	return nil
}

// reserve makes room for so many more histories, whether they are decisions or
// ends: growing by and by would copy them several times.
func (b *builder) reserve(histories int) {
	t := b.t
	t.info, t.chance = slices.Grow(t.info, histories), slices.Grow(t.chance, histories)
	t.slot, t.child = slices.Grow(t.slot, histories+1), slices.Grow(t.child, len(b.moves.row)+1)
	t.ends = slices.Grow(t.ends, histories)
}

// choices returns the number of the level's moves.
func (b *builder) choices() int {
	n := 0
	for i := range b.level.nodes {
		info := b.level.nodes[i].info
		n += int(b.t.first[info+1] - b.t.first[info])
	}
	return n
}

// list lists the moves of the level, and returns the histories they lead to.
func (b *builder) list() (total int) {
	m := &b.moves
	m.row, m.action, m.sequence = m.row[:0], m.action[:0], m.sequence[:0]
	for row, n := range b.level.nodes {
		for q := b.t.first[n.info]; q < b.t.first[n.info+1]; q++ {
			m.row = append(m.row, int32(row))
			m.action = append(m.action, b.t.action[q])
			m.sequence = append(m.sequence, q)
		}
	}
	m.ways = vec.Grow(m.ways, len(m.row))
	b.level.state.Outcomes(m.ways, m.row, m.action)
	for _, n := range m.ways {
		total += int(n)
	}
	return total
}

// queue puts a move into the block, once for each way of chance.
func (b *builder) queue(move int) {
	m, k := &b.moves, &b.block
	b.t.child = append(b.t.child, int32(len(b.t.info)+len(k.from)))
	n := b.level.nodes[m.row[move]]
	n.sequence[b.t.mover[n.info]] = m.sequence[move]
	for way := range m.ways[move] {
		k.nodes = append(k.nodes, n)
		k.from = append(k.from, m.row[move])
		k.action = append(k.action, m.action[move])
		k.way = append(k.way, way)
	}
}

func (k *block) clear() {
	k.nodes, k.from, k.action, k.way = k.nodes[:0], k.from[:0], k.action[:0], k.way[:0]
}

func (k *block) resize(n int) {
	k.nodes, k.action, k.outcomes = vec.Grow(k.nodes, n), vec.Grow(k.action, n), vec.Grow(k.outcomes, n)
}

// make makes the moves of the block.
func (b *builder) make() {
	k := &b.block
	k.resize(len(k.from))
	k.rows = vec.AllRows(k.rows, len(k.from))
	k.state.Gather(b.level.state, k.from)
	k.state.StepTo(k.outcomes, k.rows, k.action, k.way)
}

// admit takes the block's histories into the tree, and its decisions into the
// next frontier.
func (b *builder) admit() {
	k := &b.block
	k.look()
	live := 0
	for i := range k.nodes {
		k.nodes[i].reach *= k.outcomes[i].P
		b.t.chance = append(b.t.chance, k.outcomes[i].P)
		b.t.slot = append(b.t.slot, b.slots)
		if live == len(k.live) || k.live[live] != int32(i) {
			b.end(i)
			continue
		}
		b.decision(live)
		live++
	}
	b.keepStates()
}

// look asks the game what the block's histories are.
func (k *block) look() {
	n := len(k.nodes)
	k.rows = vec.AllRows(k.rows, n)
	k.live = vec.Keep(k.live, k.rows, k.state.Finished(), 0)
	k.utility = vec.Grow(k.utility, n)
	k.state.Utility(k.utility, k.rows)
	k.mover = vec.Grow(k.mover, len(k.live))
	k.state.ToMove(k.mover, k.live)
	k.mask = vec.Grow(k.mask, len(k.live)*vec.MaskWords(k.state.Actions()))
	k.state.Legal(k.mask, k.live)
	k.at, k.fresh, k.info = k.at[:0], k.fresh[:0], k.info[:0]
}

// end takes row i of the block into the tree as an end.
func (b *builder) end(i int) {
	n, utility := b.block.nodes[i], float64(b.block.utility[i])
	b.t.info = append(b.t.info, ^int32(len(b.t.ends)))
	b.t.ends = append(b.t.ends, end{n.sequence, n.reach * utility, utility})
}

// decision takes row live[i] of the block into the tree as a decision.
func (b *builder) decision(i int) {
	k, row, words := &b.block, b.block.live[i], vec.MaskWords(b.block.state.Actions())
	b.legal = vec.MaskAppend(b.legal[:0], k.mask[i*words:(i+1)*words])
	n := &k.nodes[row]
	b.see(n, k.action[row], k.outcomes[row].Seen)
	n.info = b.information(n, k.mover[i])
	if int(n.info) == len(b.t.mover) {
		k.fresh, k.info = append(k.fresh, row), append(k.info, n.info)
		b.addInformation(n, k.mover[i])
	}
	if !slices.Equal(b.legal, b.t.action[b.t.first[n.info]:b.t.first[n.info+1]]) {
		panic(badGame)
	}
	b.t.info = append(b.t.info, n.info)
	b.slots += int32(len(b.legal))
	k.at = append(k.at, int32(len(b.next.nodes)))
	b.next.nodes = append(b.next.nodes, *n)
}

// see numbers what each player has seen after an action and chance's turn.
func (b *builder) see(n *node, action int32, chance [2]uint32) {
	for p := range n.view {
		key := seen{n.view[p], action, chance[p]}
		view, known := b.views[p][key]
		if !known {
			view = int32(len(b.infos[p]))
			b.views[p][key], b.infos[p] = view, append(b.infos[p], -1)
		}
		n.view[p] = view
	}
}

// information returns the information set of a decision: I for one that is new.
func (b *builder) information(n *node, mover uint8) int32 {
	info := &b.infos[mover][n.view[mover]]
	if *info < 0 {
		*info = int32(len(b.t.mover))
	}
	return *info
}

// addInformation takes the information set of a decision into the tree, with
// the legal actions b.legal.
func (b *builder) addInformation(n *node, mover uint8) {
	if len(b.legal) == 0 {
		panic(badGame)
	}
	t := b.t
	t.mover = append(t.mover, mover)
	t.before = append(t.before, n.sequence[mover])
	t.owned[mover] = append(t.owned[mover], n.info)
	t.action = append(t.action, b.legal...)
	t.first = append(t.first, int32(len(t.action)))
}

// keepStates copies states out of the block: those of decisions into the
// frontier, those of new information sets into the tree.
func (b *builder) keepStates() {
	k := &b.block
	b.next.state.Resize(len(b.next.nodes))
	b.next.state.Scatter(k.at, k.state, k.live)
	b.t.state.Resize(len(b.t.mover))
	b.t.state.Scatter(k.info, k.state, k.fresh)
}
