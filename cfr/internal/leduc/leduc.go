// Package leduc is Leduc poker (Southey et al. 2005) as a lockstep batch, with
// the usual numbers: six cards, two suits of three ranks; an ante each; two
// rounds of betting, raises of 2 and then 4, at most two a round; between them a
// card for both. A pair with it wins, otherwise the higher rank; equal ranks
// share. Value of the game for player 0: -0.085606424078.
//
// Suits never matter, so cards are known by their ranks alone: that makes 288
// information sets instead of 936.
package leduc

import "vtrain/vec"

// Actions of a decision. Call is also to check, Raise also to bet.
const (
	Fold = iota
	Call
	Raise
	actions
)

const (
	ranks  = 3
	suits  = 2
	rounds = 2
	raises = 2 // most of a round
	bets   = 4 // most of a round that don't end the game: check, bet, raise, call
	none   = 255
)

// raise is how much one is, by round.
var raise = [rounds]uint8{2, 4}

// Batch implements vec.Batch and vec.Enumerable.
type Batch struct {
	vec.Arena
	hand     vec.Column[uint8]  // [B,2] ranks
	board    vec.Column[uint8]  // [B] rank of the card for both, or none
	stake    vec.Column[uint8]  // [B,2] what each has in the pot
	made     vec.Column[uint8]  // [B,rounds] bets of a round, checks and calls included
	raised   vec.Column[uint8]  // [B,rounds] set of those that were raises, by number
	folded   vec.Column[uint8]  // [B] player who has folded, or none
	finished vec.Column[uint8]  // [B]
	plies    vec.Column[uint32] // [B]
	keys     vec.Column[uint64] // [B]
}

var _ vec.Batch = (*Batch)(nil)

// NewBatch returns an empty batch.
func NewBatch() *Batch {
	b := &Batch{}
	vec.Attach(&b.Arena, "hand", &b.hand, 2)
	vec.Attach(&b.Arena, "board", &b.board, 1)
	vec.Attach(&b.Arena, "stake", &b.stake, 2)
	vec.Attach(&b.Arena, "made", &b.made, rounds)
	vec.Attach(&b.Arena, "raised", &b.raised, rounds)
	vec.Attach(&b.Arena, "folded", &b.folded, 1)
	vec.Attach(&b.Arena, "finished", &b.finished, 1)
	vec.Attach(&b.Arena, "plies", &b.plies, 1)
	vec.Attach(&b.Arena, "keys", &b.keys, 1)
	return b
}

func (b *Batch) New() vec.Batch       { return NewBatch() }
func (b *Batch) Actions() int         { return actions }
func (b *Batch) MaxLegal() int        { return actions }
func (b *Batch) Horizon() int         { return rounds * bets }
func (b *Batch) Finished() []uint8    { return b.finished.Data }
func (b *Batch) Plies() []uint32      { return b.plies.Data }
func (b *Batch) GameKeys() []uint64   { return b.keys.Data }
func (b *Batch) Width(v vec.View) int { return 2*ranks + 2*rounds*bets + int(v)*ranks }

func (b *Batch) Gather(src vec.Batch, rows []int32) { b.Arena.Gather(&src.(*Batch).Arena, rows) }

func (b *Batch) Scatter(at []int32, src vec.Batch, rows []int32) {
	b.Arena.Scatter(at, &src.(*Batch).Arena, rows)
}

func (b *Batch) Deal(n int, seed, first uint64) {
	b.Resize(n)
	for r := range int32(n) {
		key := vec.Key(seed, first+uint64(r))
		stream := vec.At(key, 0)
		hand := b.hand.Row(r)
		hand[0], hand[1] = none, none
		for p := range hand {
			hand[p] = b.left(r, stream.Intn(ranks*suits-p))
		}
		b.begin(r, key)
	}
}

// copies returns the cards of a rank that nobody holds.
func (b *Batch) copies(r int32, rank uint8) int {
	n := suits
	for _, x := range b.hand.Row(r) {
		if x == rank {
			n--
		}
	}
	return n
}

// left returns the rank of the k-th card that nobody holds.
func (b *Batch) left(r int32, k int) uint8 {
	rank := uint8(0)
	for ; k >= b.copies(r, rank); rank++ {
		k -= b.copies(r, rank)
	}
	return rank
}

// begin begins a game once hands are dealt.
func (b *Batch) begin(r int32, key uint64) {
	copy(b.stake.Row(r), []uint8{1, 1})
	clear(b.made.Row(r))
	clear(b.raised.Row(r))
	b.board.Data[r], b.folded.Data[r] = none, none
	b.finished.Data[r], b.plies.Data[r], b.keys.Data[r] = 0, 0, key
}

// round returns the round of betting, also of a game that ended there.
func (b *Batch) round(r int32) int {
	if b.board.Data[r] == none {
		return 0
	}
	return 1
}

// mover returns the player to move: player 0 begins both rounds.
func (b *Batch) mover(r int32) uint8 { return b.made.Row(r)[b.round(r)] % 2 }

func (b *Batch) ToMove(dst []uint8, rows []int32) {
	for i, r := range rows {
		dst[i] = b.mover(r)
	}
}

func (b *Batch) Legal(dst []uint64, rows []int32) {
	for i, r := range rows {
		dst[i] = 0
		if b.finished.Data[r] == 0 {
			dst[i] = b.legal(r)
		}
	}
}

func (b *Batch) legal(r int32) uint64 {
	mask := uint64(1 << Call)
	if stake := b.stake.Row(r); stake[0] != stake[1] {
		mask |= 1 << Fold
	}
	if count(b.raised.Row(r)[b.round(r)]) < raises {
		mask |= 1 << Raise
	}
	return mask
}

// count returns the size of a set.
func count(set uint8) int { return vec.MaskCount([]uint64{uint64(set)}) }

// Observe writes the own rank and that of the card for both, one-hot, then for each
// round and place of its betting whether it was a call, and whether a raise;
// with open hands also the other card.
func (b *Batch) Observe(dst []float32, v vec.View, rows []int32) {
	w := b.Width(v)
	clear(dst[:len(rows)*w])
	for i, r := range rows {
		x, hand, mover := dst[i*w:(i+1)*w], b.hand.Row(r), b.mover(r)
		x[hand[mover]] = 1
		if board := b.board.Data[r]; board != none {
			x[ranks+board] = 1
		}
		b.observeBets(x[2*ranks:], r)
		if v == vec.History {
			x[2*ranks+2*rounds*bets+int(hand[1-mover])] = 1
		}
	}
}

func (b *Batch) observeBets(dst []float32, r int32) {
	for round := range rounds {
		for k := range b.made.Row(r)[round] {
			dst[2*(bets*round+int(k))+int(b.raised.Row(r)[round]>>k&1)] = 1
		}
	}
}

func (b *Batch) Step(rows, acts []int32) {
	for i, r := range rows {
		if b.finished.Data[r] != 0 {
			continue
		}
		if b.deals(r, acts[i]) {
			stream := vec.At(b.keys.Data[r], b.plies.Data[r]+1)
			b.step(r, acts[i], b.left(r, stream.Intn(ranks*suits-2)))
		} else {
			b.step(r, acts[i], none)
		}
	}
}

// endsRound reports whether an action ends a round of betting, with the game to
// go on or to be shown down: a call, unless it is the first check.
func (b *Batch) endsRound(r, action int32) bool {
	return action == Call && b.made.Row(r)[b.round(r)] > 0
}

// deals reports whether the card for both follows an action.
func (b *Batch) deals(r, action int32) bool {
	return b.finished.Data[r] == 0 && b.round(r) == 0 && b.endsRound(r, action)
}

// step makes an action. If it ends the first round, the board is its card.
func (b *Batch) step(r, action int32, board uint8) {
	round, mover := b.round(r), b.mover(r)
	last, made, stake := b.endsRound(r, action), &b.made.Row(r)[round], b.stake.Row(r)
	switch action {
	case Fold:
		b.folded.Data[r] = mover
	case Call:
		stake[mover] = stake[1-mover]
		*made++
	case Raise:
		stake[mover] = stake[1-mover] + raise[round]
		b.raised.Row(r)[round] |= 1 << *made
		*made++
	}
	b.plies.Data[r]++
	switch {
	case action == Fold || last && round == 1:
		b.finished.Data[r] = 1
	case last:
		b.board.Data[r] = board
	}
}

func (b *Batch) Utility(dst []float32, rows []int32) {
	for i, r := range rows {
		dst[i] = 0
		if b.finished.Data[r] != 0 {
			dst[i] = b.utility(r)
		}
	}
}

// utility returns what player 0 has won at the end: the other's stake, or his
// own lost.
func (b *Batch) utility(r int32) float32 {
	stake := b.stake.Row(r)
	switch b.winner(r) {
	case 0:
		return float32(stake[1])
	case 1:
		return -float32(stake[0])
	}
	return 0
}

// winner returns the player who wins at the end, or none for equal ranks.
func (b *Batch) winner(r int32) uint8 {
	if folded := b.folded.Data[r]; folded != none {
		return 1 - folded
	}
	hand, board := b.hand.Row(r), b.board.Data[r]
	switch {
	case hand[0] == hand[1]:
		return none
	case hand[0] == board || hand[1] != board && hand[0] > hand[1]:
		return 0
	}
	return 1
}
