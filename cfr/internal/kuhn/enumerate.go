package kuhn

import "vtrain/vec"

var _ vec.Enumerable = (*Batch)(nil)

// Deals implements vec.Enumerable.
func (b *Batch) Deals() float64 { return float64(len(deals)) }

// DealEach implements vec.Enumerable: a player sees his card.
func (b *Batch) DealEach(dst []vec.Outcome) {
	b.Resize(len(deals))
	for r, hand := range deals {
		copy(b.hand.Row(int32(r)), hand[:])
		b.keys.Data[r] = uint64(r)
		b.history.Data[r], b.finished.Data[r], b.plies.Data[r] = 0, 0, 0
		dst[r] = vec.Outcome{P: 1 / b.Deals(), Seen: [2]uint32{uint32(hand[0]), uint32(hand[1])}}
	}
}

// Outcomes implements vec.Enumerable: chance has no turn after the deal.
func (b *Batch) Outcomes(dst, rows, _ []int32) {
	for i := range rows {
		dst[i] = 1
	}
}

// StepTo implements vec.Enumerable.
func (b *Batch) StepTo(dst []vec.Outcome, rows, acts, _ []int32) {
	for i := range rows {
		dst[i] = vec.Outcome{P: 1}
	}
	b.Step(rows, acts)
}
