package rules

import (
	"math/bits"

	"vtrain/vec"
)

// Tables are a configuration's derived constants: all that a kernel looks up
// instead of computing. They are shared and never change.
type Tables struct {
	Config
	MaskWords int // uint64 words of a row of legal actions, at most MaxMaskWords

	types           int     // T
	colorOf, rankOf []uint8 // [T]
	scoreOf         []int32 // [2^(wagers+ranks)] points of an expedition, by its set
	fullSet         uint16  // all cards of a colour
	wagerSet        uint16  // all wagers of a colour
	firstRank       int     // the rank that pile code 0 stands for
}

// MaxMaskWords is the most words of a row of legal actions.
const MaxMaskWords = (MaxActions + 63) / 64

// NewTables derives the tables of a configuration; it panics on an invalid one.
func NewTables(cfg Config) *Tables {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	t := &Tables{
		Config:    cfg,
		MaskWords: vec.MaskWords(cfg.Actions()),
		types:     cfg.Types(),
		colorOf:   make([]uint8, cfg.Types()),
		rankOf:    make([]uint8, cfg.Types()),
		scoreOf:   make([]int32, 1<<cfg.PerColor()),
		fullSet:   uint16(1<<cfg.PerColor() - 1),
		wagerSet:  uint16(1<<cfg.Wagers - 1),
	}
	if cfg.Wagers == 0 {
		t.firstRank = 1
	}
	for x := range cfg.Types() {
		t.colorOf[x] = uint8(cfg.Color(Card(x)))
		t.rankOf[x] = uint8(cfg.Rank(Card(x)))
	}
	for set := range t.scoreOf {
		s := uint16(set)
		t.scoreOf[set] = int32(cfg.Score(t.WagerCount(s), t.FaceSum(s), bits.OnesCount16(s)))
	}
	return t
}

// Has reports whether a set holds a card of a rank; any wager for rank 0.
func (t *Tables) Has(set uint16, rank int) bool { return t.TypeBits(set)>>rank&1 != 0 }

// WagerCount returns the wagers of a set.
func (t *Tables) WagerCount(set uint16) int { return bits.OnesCount16(set & t.wagerSet) }

// Numbers returns a set's number cards: bit r-1 is rank r.
func (t *Tables) Numbers(set uint16) uint16 { return set >> t.Wagers }

// TopRank returns the highest number's rank in a set, 0 if it has none.
func (t *Tables) TopRank(set uint16) int { return bits.Len16(set >> t.Wagers) }

// FaceSum returns the sum of a set's faces.
func (t *Tables) FaceSum(set uint16) int {
	sum := 0
	for n := t.Numbers(set); n != 0; n &= n - 1 {
		sum += t.Face(bits.TrailingZeros16(n) + 1)
	}
	return sum
}

// SetScore returns the points of an expedition with these cards.
func (t *Tables) SetScore(set uint16) int32 { return t.scoreOf[set] }

// Fits returns the cards of a hand of one colour that an expedition can take.
func (t *Tables) Fits(hand, exp uint16) uint16 { return hand & t.fits(exp) }

// FitsRank reports whether an expedition can take a card of a rank.
func (t *Tables) FitsRank(exp uint16, rank int) bool {
	top := t.TopRank(exp)
	return top == 0 || rank > top
}

// fits returns all cards above an expedition's highest number: every card,
// wagers too, while it has none.
func (t *Tables) fits(exp uint16) uint16 {
	return ^uint16(0) << bits.Len16(exp&^t.wagerSet)
}

// TypeBits returns the card types of a set: bit r for rank r, wagers once. Of
// wagers the lowest bit says whether there are any.
func (t *Tables) TypeBits(set uint16) uint64 {
	return uint64(set>>(t.Wagers&15))<<1 | uint64(set&t.wagerSet&1)
}

// With returns a set with one more card of a rank, which it must have room
// for: a wager sets the next bit of the thermometer.
func (t *Tables) With(set uint16, rank int) uint16 {
	if rank == 0 {
		return set | (set&t.wagerSet + 1)
	}
	return set | 1<<(t.Wagers+rank-1)
}

// topBit returns the bit that removing a card of a rank clears: the highest
// one of the thermometer for a wager, none where there is no wager.
func (t *Tables) topBit(set uint16, rank int) uint16 {
	if rank == 0 {
		return (set&t.wagerSet + 1) >> 1
	}
	return 1 << (t.Wagers + rank - 1)
}

// pileCode returns the 4 bits that stand for a rank in a pile. Ranks 0..15 fit
// as they are; without wagers there may be ranks 1..16, which start at 0.
func (t *Tables) pileCode(rank int) uint64 { return uint64(rank - t.firstRank) }

func (t *Tables) pileRank(code uint64) int { return int(code) + t.firstRank }

// LegalCards sets the legal actions of a card ply in mask, which must be
// clear: hand and exp, [C], are the mover's.
func (t *Tables) LegalCards(mask []uint64, hand, exp []uint16) {
	if t.types > 64 {
		t.legalCardsWide(mask, hand, exp)
		return
	}
	var plays, discards uint64 // [T] bits
	shift := 0
	for c, h := range hand {
		plays |= t.TypeBits(h&t.fits(exp[c])) << shift
		discards |= t.TypeBits(h) << shift
		shift += t.Ranks + 1
	}
	mask[0] = plays | discards<<t.types
	if high := discards >> (64 - t.types); high != 0 {
		mask[1] = high
	}
}

// legalCardsWide is LegalCards for more card types than a word has bits.
func (t *Tables) legalCardsWide(mask []uint64, hand, exp []uint16) {
	for c, h := range hand {
		first := c * (t.Ranks + 1)
		putBits(mask, first, t.TypeBits(h&t.fits(exp[c])))
		putBits(mask, t.types+first, t.TypeBits(h))
	}
}

// LegalDraws sets the legal actions of a draw ply in mask, which must be clear:
// piles has bit c where the pile of colour c may be drawn from, deck is the
// cards left.
func (t *Tables) LegalDraws(mask []uint64, piles uint64, deck int) {
	putBits(mask, 2*t.types, piles<<1|min(uint64(deck), 1))
}

// putBits sets the bits of v, at most 17 of them, from bit i of the row on.
func putBits(row []uint64, i int, v uint64) {
	w, s := i>>6, i&63
	row[w] |= v << s
	if high := v >> (64 - s); high != 0 {
		row[w+1] |= high
	}
}
