package encode

import "vtrain/vec"

var _ vec.Enumerable = (*Batch)(nil)

// Deals implements vec.Enumerable. It panics for layouts whose actions depend on
// the mover's hand, as places in it or an order of colours do: the opponent sees
// the card that is played, not what the layout calls it.
func (b *Batch) Deals() float64 {
	if b.translates {
		panic("encode: chance is enumerated for layouts whose actions both players see")
	}
	return b.games.Deals()
}

// DealEach implements vec.Enumerable: a player sees his hand.
func (b *Batch) DealEach(dst []vec.Outcome) { b.games.DealEach(dst) }

// Outcomes implements vec.Enumerable: what a draw from the deck may take.
func (b *Batch) Outcomes(dst, rows, actions []int32) { b.games.Outcomes(dst, rows, actions) }

// StepTo implements vec.Enumerable: the player who draws sees the card.
func (b *Batch) StepTo(dst []vec.Outcome, rows, actions, ways []int32) {
	b.games.StepTo(dst, rows, actions, ways)
}
