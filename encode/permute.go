package encode

import (
	"math/bits"
	"slices"

	"vtrain/vec"
)

// A Permutation is what renaming the colours does to a layout: feature i of a
// game is feature Features[i] of the renamed one, and likewise for actions.
// Colours are interchangeable, so a position and its renaming are one training
// sample for two.
type Permutation struct {
	Features []int32 // [D]
	Actions  []int32 // [A]
}

// Permutation returns the effect of renaming colour k to perm[k]. It holds for
// the layout and for its Critic. It panics unless perm is a permutation of the
// colours.
//
// Slots has none: there a colour is a feature's value, and decides the order of
// the hand.
func (c *Cards) Permutation(perm []int) Permutation {
	mustPermute(perm, c.cfg.Colors)
	p := Permutation{Features: make([]int32, c.width), Actions: make([]int32, c.Actions())}
	for i := range p.Features {
		p.Features[i] = int32(i)
		if k := i / c.block; k < c.cfg.Colors {
			p.Features[i] = int32(perm[k]*c.block + i%c.block)
		}
	}
	types, width := c.cfg.Types(), c.cfg.Ranks+1
	for a := range p.Actions {
		switch {
		case a < 2*types: // play or discard a card
			color := a % types / width
			p.Actions[a] = int32(a + (perm[color]-color)*width)
		case a == 2*types: // the deck
			p.Actions[a] = int32(a)
		default:
			p.Actions[a] = int32(2*types + 1 + perm[a-2*types-1])
		}
	}
	return p
}

func mustPermute(perm []int, n int) {
	seen := slices.Sorted(slices.Values(perm))
	if len(seen) != n {
		panic(badPerm)
	}
	for i, k := range seen {
		if i != k {
			panic(badPerm)
		}
	}
}

// Inverse returns the permutation that undoes p.
func (p Permutation) Inverse() Permutation {
	return Permutation{Features: inverse(p.Features), Actions: inverse(p.Actions)}
}

func inverse(index []int32) []int32 {
	inv := make([]int32, len(index))
	for i, to := range index {
		inv[to] = int32(i)
	}
	return inv
}

// Observation writes the observation [D] of the renamed game; dst and src may
// not overlap.
func (p Permutation) Observation(dst, src []float32) { scatter(dst, src, p.Features) }

// Values writes values of the actions [A] of the renamed game; dst and src may
// not overlap.
func (p Permutation) Values(dst, src []float32) { scatter(dst, src, p.Actions) }

func scatter(dst, src []float32, index []int32) {
	if len(dst) != len(index) || len(src) != len(index) {
		panic(badLength)
	}
	for i, to := range index {
		dst[to] = src[i]
	}
}

// Mask writes the mask row of the renamed game's actions; dst and src may not
// overlap.
func (p Permutation) Mask(dst, src []uint64) {
	if n := vec.MaskWords(len(p.Actions)); len(dst) != n || len(src) != n {
		panic(badLength)
	}
	clear(dst)
	for i, word := range src {
		for ; word != 0; word &= word - 1 {
			vec.MaskSet(dst, int(p.Actions[i<<6+bits.TrailingZeros64(word)]))
		}
	}
}
