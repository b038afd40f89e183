package leduc

import "vtrain/vec"

var _ vec.Enumerable = (*Batch)(nil)

// Deals implements vec.Enumerable.
func (b *Batch) Deals() float64 { return ranks * ranks }

// DealEach implements vec.Enumerable: a player sees his rank.
func (b *Batch) DealEach(dst []vec.Outcome) {
	b.Resize(len(dst))
	const pairs = ranks * suits * (ranks*suits - 1) // of cards
	for r := range dst {
		one, two := uint8(r/ranks), uint8(r%ranks)
		hand := b.hand.Row(int32(r))
		hand[0], hand[1] = one, none
		ways := suits * b.copies(int32(r), two)
		hand[1] = two
		b.begin(int32(r), uint64(r))
		dst[r] = vec.Outcome{P: float64(ways) / pairs, Seen: [2]uint32{uint32(one), uint32(two)}}
	}
}

// Outcomes implements vec.Enumerable: between the rounds, the ranks of which
// somebody doesn't hold a card.
func (b *Batch) Outcomes(dst, rows, acts []int32) {
	for i, r := range rows {
		dst[i] = 1
		if b.deals(r, acts[i]) {
			dst[i] = int32(len(b.boards(r)))
		}
	}
}

// boards returns the ranks that the card for both can have.
func (b *Batch) boards(r int32) []uint8 {
	var all []uint8
	for rank := range uint8(ranks) {
		if b.copies(r, rank) > 0 {
			all = append(all, rank)
		}
	}
	return all
}

// StepTo implements vec.Enumerable: both see the card.
func (b *Batch) StepTo(dst []vec.Outcome, rows, acts, ways []int32) {
	for i, r := range rows {
		dst[i] = vec.Outcome{P: 1}
		board := uint8(none)
		if b.deals(r, acts[i]) {
			board = b.boards(r)[ways[i]]
			p := float64(b.copies(r, board)) / (ranks*suits - 2)
			dst[i] = vec.Outcome{P: p, Seen: [2]uint32{uint32(board), uint32(board)}}
		}
		if b.finished.Data[r] == 0 {
			b.step(r, acts[i], board)
		}
	}
}
