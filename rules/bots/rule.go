package bots

import (
	"math"
	"math/bits"

	"vtrain/rules"
)

// The rule bot: the yardstick that the strongest published Lost Cities agent
// was measured against. It plays small steps on started expeditions, starts
// one when the hand carries it, and otherwise throws away what is worth least
// to both players.
const (
	ruleDrawGap  = 1  // widest gap worth drawing for
	rulePlayGap  = 2  // widest gap worth playing while there is time
	ruleOpen     = 18 // faces in hand that start an expedition
	ruleOpenLate = 24 // the same once the deck is short
	ruleWager    = 6  // faces beyond the threshold that start it with a wager
	ruleShort    = 20 // a deck of fewer cards is short
)

func ruleAct(v *view, t *rules.Tables) rules.Action {
	if v.drawing {
		return ruleDraw(v, t)
	}
	turns := (v.deck + 1) / 2
	if x, ok := ruleContinue(v, t, turns); ok {
		return t.Play(x)
	}
	if x, ok := ruleStart(v, t, turns); ok {
		return t.Play(x)
	}
	return t.Discard(ruleWaste(v, t))
}

// ruleGap returns the faces that playing a number would skip. An expedition
// without a number counts as one at face 1.
func ruleGap(t *rules.Tables, exp uint16, rank int) int {
	last := 1
	if top := t.TopRank(exp); top > 0 {
		last = t.Face(top)
	}
	return t.Face(rank) - last - 1
}

func ruleDraw(v *view, t *rules.Tables) rules.Action {
	best, smallest := -1, ruleDrawGap+1
	for c := range t.Colors {
		exp, rank := v.own[c], int(v.top[c])
		if exp == 0 || !v.canDraw(c) || !t.FitsRank(exp, rank) {
			continue
		}
		gap := 0
		if rank > 0 {
			gap = ruleGap(t, exp, rank)
		}
		if gap < smallest {
			best, smallest = c, gap
		}
	}
	if best < 0 {
		return t.DrawDeck()
	}
	return t.DrawPile(best)
}

// ruleContinue returns the number that goes on with a started expedition.
func ruleContinue(v *view, t *rules.Tables, turns int) (rules.Card, bool) {
	best, smallest := rules.Card(0), math.MaxInt
	for c := range t.Colors {
		exp := v.own[c]
		live := t.Numbers(t.Fits(v.hand[c], exp))
		if exp == 0 || live == 0 {
			continue
		}
		rank := lowest(live)
		gap := ruleGap(t, exp, rank)
		hurry := bits.OnesCount16(v.hand[c]) >= turns
		if gap < smallest && (gap <= rulePlayGap || hurry) {
			best, smallest = t.Card(c, rank), gap
		}
	}
	return best, smallest < math.MaxInt
}

// ruleStart returns the card that starts the colour with the most faces in
// hand.
func ruleStart(v *view, t *rules.Tables, turns int) (rules.Card, bool) {
	threshold := ruleOpen
	if v.deck < ruleShort {
		threshold = ruleOpenLate
	}
	best, most := -1, threshold-1
	for c := range t.Colors {
		hand := v.hand[c]
		if v.own[c] != 0 || hand == 0 || bits.OnesCount16(hand) > turns {
			continue
		}
		if total := t.FaceSum(hand); total > most {
			best, most = c, total
		}
	}
	switch {
	case best < 0:
		return 0, false
	case t.WagerCount(v.hand[best]) > 0 && most >= threshold+ruleWager && v.deck > ruleShort:
		return t.Card(best, 0), true
	}
	return t.Card(best, lowest(t.Numbers(v.hand[best]))), true
}

// ruleWaste returns the card to discard. Its worth is in twelfths of a point,
// so that quarters and thirds stay whole.
func ruleWaste(v *view, t *rules.Tables) rules.Card {
	best, least := rules.Card(0), math.MaxInt
	for c := range t.Colors {
		quarter := 3 * t.FaceSum(v.hand[c])
		for m := t.TypeBits(v.hand[c]); m != 0; m &= m - 1 {
			rank := bits.TrailingZeros64(m)
			worth := ruleMine(t, v.own[c], rank, quarter) + ruleTheirs(t, v.other[c], rank)
			if worth < least {
				best, least = t.Card(c, rank), worth
			}
		}
	}
	return best
}

// ruleMine is what a card is worth to its holder; quarter is that of the faces
// of its colour in his hand.
func ruleMine(t *rules.Tables, exp uint16, rank, quarter int) int {
	switch {
	case exp == 0 && rank == 0:
		return quarter + 3*12
	case exp == 0:
		return quarter
	case t.FitsRank(exp, rank):
		return (6 + t.Face(rank)) * 12
	}
	return 0
}

// ruleTheirs is what a card would be worth to the opponent.
func ruleTheirs(t *rules.Tables, exp uint16, rank int) int {
	switch {
	case exp == 0:
		return 4 * t.Face(rank)
	case t.FitsRank(exp, rank):
		return (5 + t.Face(rank)) * 12
	}
	return 0
}

// lowest returns the lowest rank of a set of numbers.
func lowest(numbers uint16) int { return bits.TrailingZeros16(numbers) + 1 }
