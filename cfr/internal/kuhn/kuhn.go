// Package kuhn is Kuhn poker as a lockstep batch, and the exact worth of its
// strategies: a game small enough that what a learner claims can be checked.
//
// Three cards, one each, an ante each. A player may pass (check or fold) or
// bet (bet or call) one more unit. Value of the game for player 0: -1/18.
package kuhn

import (
	"math"

	"vtrain/vec"
)

// Actions of every decision.
const (
	Pass = iota
	Bet
	actions
)

const cards = 3

// A history is a node of the betting tree.
type history struct {
	mover    int
	children [actions]int // by action
	// For ends: whose fold it was, or showdown, and the stake won.
	end      bool
	winner   int // player who wins without showdown, or showdown
	stake    float32
	notation string
}

const showdown = -1

// The betting tree. Histories 0..3 are decisions, the others ends.
var tree = [...]history{
	{mover: 0, children: [2]int{1, 2}, notation: ""},
	{mover: 1, children: [2]int{4, 3}, notation: "p"},
	{mover: 1, children: [2]int{5, 6}, notation: "b"},
	{mover: 0, children: [2]int{7, 8}, notation: "pb"},
	{end: true, winner: showdown, stake: 1, notation: "pp"},
	{end: true, winner: 0, stake: 1, notation: "bp"},
	{end: true, winner: showdown, stake: 2, notation: "bb"},
	{end: true, winner: 1, stake: 1, notation: "pbp"},
	{end: true, winner: showdown, stake: 2, notation: "pbb"},
}

const decisions = 4 // histories where somebody acts

// utility returns what player 0 wins at an end.
func utility(h int, hand [2]uint8) float32 {
	winner := tree[h].winner
	if winner == showdown {
		winner = 0
		if hand[1] > hand[0] {
			winner = 1
		}
	}
	return tree[h].stake * (1 - 2*float32(winner))
}

// Batch implements vec.Batch.
type Batch struct {
	vec.Arena
	hand     vec.Column[uint8]  // [B,2]
	history  vec.Column[uint8]  // [B]
	finished vec.Column[uint8]  // [B]
	plies    vec.Column[uint32] // [B]
	keys     vec.Column[uint64] // [B]
}

var _ vec.Batch = (*Batch)(nil)

// NewBatch returns an empty batch.
func NewBatch() *Batch {
	b := &Batch{}
	vec.Attach(&b.Arena, "hand", &b.hand, 2)
	vec.Attach(&b.Arena, "history", &b.history, 1)
	vec.Attach(&b.Arena, "finished", &b.finished, 1)
	vec.Attach(&b.Arena, "plies", &b.plies, 1)
	vec.Attach(&b.Arena, "keys", &b.keys, 1)
	return b
}

func (b *Batch) New() vec.Batch       { return NewBatch() }
func (b *Batch) Actions() int         { return actions }
func (b *Batch) MaxLegal() int        { return actions }
func (b *Batch) Horizon() int         { return 3 }
func (b *Batch) Finished() []uint8    { return b.finished.Data }
func (b *Batch) Plies() []uint32      { return b.plies.Data }
func (b *Batch) GameKeys() []uint64   { return b.keys.Data }
func (b *Batch) Width(v vec.View) int { return decisions + cards + int(v)*cards }

func (b *Batch) Gather(src vec.Batch, rows []int32) { b.Arena.Gather(&src.(*Batch).Arena, rows) }

func (b *Batch) Scatter(at []int32, src vec.Batch, rows []int32) {
	b.Arena.Scatter(at, &src.(*Batch).Arena, rows)
}

func (b *Batch) Deal(n int, seed, first uint64) {
	b.Resize(n)
	for r := range n {
		key := vec.Key(seed, first+uint64(r))
		stream := vec.At(key, 0)
		pack := []uint8{0, 1, 2}
		stream.Shuffle(cards, func(i, j int) { pack[i], pack[j] = pack[j], pack[i] })
		copy(b.hand.Row(int32(r)), pack)
		b.keys.Data[r] = key
		b.history.Data[r], b.finished.Data[r], b.plies.Data[r] = 0, 0, 0
	}
}

// DealAll replaces the batch by the six deals, each at every decision: all
// that can be seen in the game. Row 6·h+d is deal d at history h.
func (b *Batch) DealAll() {
	b.Resize(decisions * len(deals))
	for h := range decisions {
		for d, hand := range deals {
			r := int32(h*len(deals) + d)
			copy(b.hand.Row(r), hand[:])
			b.history.Data[r], b.finished.Data[r] = uint8(h), 0
			b.plies.Data[r] = uint32(len(tree[h].notation))
			b.keys.Data[r] = uint64(r)
		}
	}
}

func (b *Batch) ToMove(dst []uint8, rows []int32) {
	for i, r := range rows {
		dst[i] = uint8(tree[b.history.Data[r]].mover)
	}
}

func (b *Batch) Legal(dst []uint64, rows []int32) {
	for i, r := range rows {
		dst[i] = 1<<actions - 1
		if b.finished.Data[r] != 0 {
			dst[i] = 0
		}
	}
}

func (b *Batch) Observe(dst []float32, v vec.View, rows []int32) {
	w := b.Width(v)
	clear(dst[:len(rows)*w])
	for i, r := range rows {
		x, h := dst[i*w:(i+1)*w], b.history.Data[r]
		hand, mover := b.hand.Row(r), tree[h].mover
		x[h] = 1
		x[decisions+hand[mover]] = 1
		if v == vec.History {
			x[decisions+cards+hand[1-mover]] = 1
		}
	}
}

func (b *Batch) Step(rows, acts []int32) {
	for i, r := range rows {
		if b.finished.Data[r] != 0 {
			continue
		}
		h := tree[b.history.Data[r]].children[acts[i]]
		b.history.Data[r] = uint8(h)
		b.plies.Data[r]++
		if tree[h].end {
			b.finished.Data[r] = 1
		}
	}
}

func (b *Batch) Utility(dst []float32, rows []int32) {
	for i, r := range rows {
		dst[i] = 0
		if h := int(b.history.Data[r]); tree[h].end {
			dst[i] = utility(h, [2]uint8(b.hand.Row(r)))
		}
	}
}

// A Strategy is the probability of betting at each information state: by
// history, then by the mover's card.
type Strategy [decisions][cards]float64

// Uniform returns the strategy that bets half the time.
func Uniform() Strategy {
	var s Strategy
	for h := range s {
		for c := range s[h] {
			s[h][c] = 0.5
		}
	}
	return s
}

var deals = [...][2]uint8{{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}}

// Value returns what player 0 wins on average when both play s.
func Value(s Strategy) float64 {
	sum := 0.0
	for _, hand := range deals {
		sum += walk(0, hand, &s)
	}
	return sum / float64(len(deals))
}

// Advantages returns, for the mover at a history, what each action wins beyond
// what s wins there: exact counterfactual values with both hands known.
func Advantages(s Strategy, h int, hand [2]uint8) [actions]float64 {
	frame := float64(1 - 2*tree[h].mover)
	value := walk(h, hand, &s)
	var adv [actions]float64
	for a, child := range tree[h].children {
		adv[a] = frame * (walk(child, hand, &s) - value)
	}
	return adv
}

func walk(h int, hand [2]uint8, s *Strategy) float64 {
	node := tree[h]
	if node.end {
		return float64(utility(h, hand))
	}
	bet := s[h][hand[node.mover]]
	return (1-bet)*walk(node.children[Pass], hand, s) + bet*walk(node.children[Bet], hand, s)
}

// NashConv returns what both players together could gain by best responses
// to s. A best response is found by trying all pure strategies of a player.
func NashConv(s Strategy) float64 {
	return bestResponse(s, 0) + bestResponse(s, 1)
}

// bestResponse returns the player's largest winnings against s.
func bestResponse(s Strategy, player int) float64 {
	var own []int // the player's decisions
	for h := range decisions {
		if tree[h].mover == player {
			own = append(own, h)
		}
	}
	best := math.Inf(-1)
	for pure := range 1 << (len(own) * cards) {
		for i, h := range own {
			for c := range cards {
				s[h][c] = float64(pure >> (i*cards + c) & 1)
			}
		}
		best = max(best, Value(s)*float64(1-2*player))
	}
	return best
}

// Node returns where row r stands: its history and both hands.
func (b *Batch) Node(r int32) (history int, hand [2]uint8) {
	return int(b.history.Data[r]), [2]uint8(b.hand.Row(r))
}

// After returns the history that an action at a decision leads to.
func After(history, action int) int { return tree[history].children[action] }

// Utility returns what player 0 has won at a history, and whether it is an end.
func Utility(history int, hand [2]uint8) (u float32, over bool) {
	if !tree[history].end {
		return 0, false
	}
	return utility(history, hand), true
}

// Mover returns the player to act at a decision.
func Mover(history int) int { return tree[history].mover }
