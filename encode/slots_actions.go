package encode

import (
	"fmt"
	"math/bits"
	"slices"

	"vtrain/rules"
	"vtrain/vec"
)

// maskWords holds the actions of any configuration: two of each slot of the
// largest hand, the deck, and 8 piles.
const maskWords = (2*maxHand + 1 + 8 + 63) / 64

// Actions returns A = 2H+1+C.
func (s *Slots) Actions() int { return 2*s.cfg.Hand + 1 + s.cfg.Colors }

// MaskWords implements Layout.
func (s *Slots) MaskWords() int { return vec.MaskWords(s.Actions()) }

// MaxLegal implements Layout.
func (s *Slots) MaxLegal() int { return max(2*s.cfg.Hand, 1+s.cfg.Colors) }

// Play returns the action that plays a slot.
func (s *Slots) Play(slot int) int32 { return int32(2 * slot) }

// Discard returns the action that discards a slot.
func (s *Slots) Discard(slot int) int32 { return int32(2*slot + 1) }

// DrawDeck returns the action that draws from the deck.
func (s *Slots) DrawDeck() int32 { return int32(2 * s.cfg.Hand) }

// DrawPile returns the action that draws from a colour's pile.
func (s *Slots) DrawPile(color int) int32 { return int32(2*s.cfg.Hand + 1 + color) }

// ActionName returns an action as people write it: "play slot 3".
func (s *Slots) ActionName(a int32) string {
	s.mustBeAction(a)
	switch deck := s.DrawDeck(); {
	case a > deck:
		return "draw from the " + rules.ColorName(int(a-deck-1)) + " pile"
	case a == deck:
		return "draw from the deck"
	case a%2 == 0:
		return fmt.Sprintf("play slot %d", a/2)
	}
	return fmt.Sprintf("discard slot %d", a/2)
}

func (s *Slots) actionParts() []string {
	parts := make([]string, s.Actions())
	for a := range parts {
		parts[a] = s.ActionName(int32(a))
	}
	return parts
}

func (s *Slots) mustBeAction(a int32) {
	if a < 0 || int(a) >= s.Actions() {
		panic(badAction)
	}
}

// Legal implements Layout.
func (s *Slots) Legal(dst []uint64, g *rules.Games, rows []int32) {
	mustMatch(g.Config, s.cfg)
	if len(dst) != len(rows)*s.MaskWords() {
		panic(badLength)
	}
	s.legal.do(call{g: g, rows: rows, mask: dst})
}

func (s *Slots) legalRange(k *call, lo, hi int) {
	w := s.MaskWords()
	for i := lo; i < hi; i++ {
		row := k.mask[i*w : (i+1)*w]
		clear(row)
		s.legalRow(row, k.g, k.rows[i])
	}
}

// legalRow sets the legal actions in an empty mask row.
func (s *Slots) legalRow(row []uint64, g *rules.Games, b int32) {
	switch {
	case g.Done(b):
	case g.Phase(b) == rules.CardPhase:
		s.legalCards(row, g, b)
	default:
		s.legalDraws(row, g, b)
	}
}

// legalCards sets two actions of each slot at a time: they share a word.
func (s *Slots) legalCards(row []uint64, g *rules.Games, b int32) {
	r := newSlotRow(g, b, g.Player(b))
	a := 0
	for first := 0; first < len(r.hand); first += s.inWord {
		fits := s.fits(r.exp, first)
		for word := s.word(r.hand, first); word != 0; word &= word - 1 {
			play := fits >> bits.TrailingZeros64(word) & 1
			row[a>>6] |= (play | 2) << (a & 63)
			a += 2
		}
	}
}

func (s *Slots) legalDraws(row []uint64, g *rules.Games, b int32) {
	var piles uint64
	for color, n := range g.PileLen.Row(b) {
		piles |= flag(n > 0) << color
	}
	piles &^= 1 << g.Pending.Data[b] // of NoPending, nothing
	a, draws := s.DrawDeck(), flag(g.DeckLen.Data[b] > 0)|piles<<1
	row[a>>6] |= draws << (a & 63)
	if high := draws >> (64 - a&63); high != 0 {
		row[a>>6+1] |= high
	}
}

// RulesActions implements Layout.
func (s *Slots) RulesActions(dst []int32, g *rules.Games, rows, actions []int32) {
	s.translate(&s.toRules, dst, g, rows, actions)
}

// LayoutActions implements Layout.
func (s *Slots) LayoutActions(dst []int32, g *rules.Games, rows, actions []int32) {
	s.translate(&s.toLayout, dst, g, rows, actions)
}

func (s *Slots) translate(k *kernel, dst []int32, g *rules.Games, rows, actions []int32) {
	mustMatch(g.Config, s.cfg)
	if len(dst) != len(rows) || len(actions) != len(rows) {
		panic(badLength)
	}
	k.do(call{g: g, rows: rows, to: dst, actions: actions})
}

func (s *Slots) toRulesRange(k *call, lo, hi int) {
	var hand [maxHand]uint8
	for i := lo; i < hi; i++ {
		b, a := k.rows[i], k.actions[i]
		if k.g.Done(b) {
			k.to[i] = 0
			continue
		}
		s.mustBeAction(a)
		if a >= s.DrawDeck() {
			k.to[i] = a - s.DrawDeck() + int32(s.cfg.DrawDeck())
			continue
		}
		n := s.list(&hand, k.g.Tables, newSlotRow(k.g, b, k.g.Player(b)).hand)
		if int(a)/2 >= n {
			panic(badSlot)
		}
		k.to[i] = int32(hand[a/2]) + a%2*int32(s.cfg.Types())
	}
}

func (s *Slots) toLayoutRange(k *call, lo, hi int) {
	var hand [maxHand]uint8
	types := int32(s.cfg.Types())
	for i := lo; i < hi; i++ {
		b, a := k.rows[i], k.actions[i]
		if k.g.Done(b) {
			k.to[i] = 0
			continue
		}
		if a < 0 || int(a) >= s.cfg.Actions() {
			panic(badAction)
		}
		if a >= 2*types {
			k.to[i] = a - 2*types + s.DrawDeck()
			continue
		}
		n := s.list(&hand, k.g.Tables, newSlotRow(k.g, b, k.g.Player(b)).hand)
		slot := slices.Index(hand[:n], uint8(a%types))
		if slot < 0 {
			panic(badCard)
		}
		k.to[i] = int32(2*slot) + a/types
	}
}
