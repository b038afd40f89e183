package encode

import (
	"cmp"
	"slices"

	"vtrain/rules"
)

// The recorded vectors come from an implementation that keeps hands in arrival
// order: removing a card shifts later ones left, a drawn card goes last. Its
// slots are a permutation of ours.

// SlotOrder returns the permutation between a hand in arrival order and ours:
// entry i is the slot of the ascending hand that holds card i of the given
// one. Identical wagers keep their order.
func SlotOrder(hand []rules.Card) []int {
	arrival := make([]int, len(hand)) // by slot
	for i := range arrival {
		arrival[i] = i
	}
	slices.SortStableFunc(arrival, func(i, j int) int { return cmp.Compare(hand[i], hand[j]) })
	order := make([]int, len(hand))
	for slot, i := range arrival {
		order[i] = slot
	}
	return order
}

// RecordedIndex returns where our observation, [D], holds what a recorded one
// has at each index. own and mover are the SlotOrder of the observing player
// and of the player to move.
func (s *Slots) RecordedIndex(own, mover []int) []int {
	index := make([]int, s.width)
	for i := range index {
		index[i] = i
	}
	permuteSlots(index, s.view.hand, perSlot, own)
	permuteSlots(index, s.view.legal, 2, mover)
	if s.opt.SlotAware {
		permuteSlots(index, s.view.aware, perAware, own)
	}
	return index
}

// permuteSlots reorders a field that has w features for each slot.
func permuteSlots(index []int, first, w int, order []int) {
	for i, slot := range order {
		for k := range w {
			index[first+i*w+k] = first + slot*w + k
		}
	}
}

// CompareRecorded returns the index of the first recorded feature that ours
// differ from, or -1 if they are the same float32 values throughout. A
// recorded observation of another length differs where the shorter one ends.
// See RecordedIndex for own and mover.
func (s *Slots) CompareRecorded(ours, recorded []float32, own, mover []int) int {
	if len(ours) != s.width {
		panic(badLength)
	}
	for i, at := range s.RecordedIndex(own, mover) {
		if i == len(recorded) || recorded[i] != ours[at] {
			return i
		}
	}
	if len(recorded) > s.width {
		return s.width
	}
	return -1
}
