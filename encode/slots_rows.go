package encode

import (
	"math/bits"

	"vtrain/rules"
)

// slotRow is one row of the games as a player sees it.
type slotRow struct {
	g              *rules.Games
	b              int32
	player         int
	hand, exp      []uint16 // [C] the own cards
	theirs, theirX []uint16 // [C] the opponent's hand and expeditions
}

func newSlotRow(g *rules.Games, b int32, player int) slotRow {
	own := (int(b)*2 + player) * g.Colors
	other := (int(b)*2 + 1 - player) * g.Colors
	return slotRow{
		g: g, b: b, player: player,
		hand: g.Hand.Data[own : own+g.Colors], exp: g.Exp.Data[own : own+g.Colors],
		theirs: g.Hand.Data[other : other+g.Colors], theirX: g.Exp.Data[other : other+g.Colors],
	}
}

// observeRange writes rows field by field, in their order: the features of
// public cards run over into what is written next.
func (s *Slots) observeRange(k *call, lo, hi int) {
	w, v := s.rowWidth(k.open), &s.view
	for i := lo; i < hi; i++ {
		r := newSlotRow(k.g, k.rows[i], k.playerOf(k.rows[i]))
		row := k.dst[i*w : (i+1)*w]
		s.encodeHand(row[v.hand:v.exp], r.hand)
		s.encodePiles(row[v.pile:v.public], &r)
		s.encodePublic(row[v.public:], &r)
		s.encodeState(row, &r)
		if s.opt.Derived {
			s.encodeDerived(row[v.derived:], &r)
		}
		if s.opt.SlotAware {
			s.encodeAware(row[v.aware:v.aware+s.cfg.Hand*perAware], &r)
		}
		if k.open {
			s.encodeHand(row[v.theirHand:], r.theirs)
		}
	}
}

// encodeState writes the features that are of no colour, and the expeditions,
// whose points they need.
func (s *Slots) encodeState(row []float32, r *slotRow) {
	g, v := r.g, &s.view
	phase, deck := g.Phase(r.b), s.deckOf[g.DeckLen.Data[r.b]]
	turn := ratio(g.Turns(r.b), 2*s.cfg.Cards())
	row[v.phase], row[v.phase+1] = float32(1-phase), float32(phase)
	row[v.mover] = float32(g.Player(r.b))
	row[v.observer] = float32(r.player)
	row[v.deck] = deck.whole
	s.encodeScores(row, r)
	row[v.turn] = turn
	clear(row[v.pending:v.legal])
	pending := s.cfg.Colors
	if p := g.Pending.Data[r.b]; p != rules.NoPending && !g.Done(r.b) {
		pending = int(p)
	}
	row[v.pending+pending] = 1
	s.encodeLegal(row[v.legal:v.legal+s.Actions()], r)
	if s.opt.Derived {
		progress := (*[3]float32)(row[v.progress:])
		progress[0], progress[1], progress[2] = deck.whole, turn, deck.half
	}
}

func (s *Slots) encodeScores(row []float32, r *slotRow) {
	var points [2]int
	half := s.cfg.Colors * perExp
	points[0] = s.encodeExpeditions(row[s.view.exp:][:half], r.g.Exp.Row(r.b)[:s.cfg.Colors])
	points[1] = s.encodeExpeditions(row[s.view.exp+half:][:half], r.g.Exp.Row(r.b)[s.cfg.Colors:])
	own, theirs := points[r.player&1], points[1-r.player&1]
	d := (*[3]float32)(row[s.view.scores:])
	d[0], d[1], d[2] = ratio(own, s.points), ratio(theirs, s.points), ratio(own-theirs, s.points)
}

// encodeExpeditions writes those of a player and returns his points.
func (s *Slots) encodeExpeditions(dst []float32, exp []uint16) int {
	points := 0
	for _, set := range exp {
		x := &s.sets[set]
		*(*[perExp]float32)(dst) = x.exp
		points += int(x.points)
		dst = dst[perExp:]
	}
	return points
}

// encodeLegal writes the legal actions, [A], a byte of the mask at a time.
func (s *Slots) encodeLegal(dst []float32, r *slotRow) {
	var mask [maskWords]uint64
	s.legalRow(mask[:], r.g, r.b)
	for i := 0; ; i++ {
		word := mask[i]
		for range 8 {
			if len(dst) < 8 {
				copy(dst, s.eight[word&255][:])
				return
			}
			*(*[8]float32)(dst) = s.eight[word&255]
			dst, word = dst[8:], word>>8
		}
	}
}

// list writes a hand's card types, ascending, and returns their number.
func (s *Slots) list(dst *[maxHand]uint8, g *rules.Tables, hand []uint16) int {
	n := 0
	for color, set := range hand {
		first := uint8(color * (s.cfg.Ranks + 1))
		for range g.WagerCount(set) {
			dst[n] = first
			n++
		}
		for numbers := g.Numbers(set); numbers != 0; numbers &= numbers - 1 {
			dst[n] = first + 1 + uint8(bits.TrailingZeros16(numbers))
			n++
		}
	}
	return n
}

// word joins the sets of colours, from one on, as many as a word holds.
func (s *Slots) word(sets []uint16, first int) uint64 {
	var word uint64
	size := s.size & 63
	for k := min(first+s.inWord, len(sets)) - 1; k >= first; k-- {
		word = word<<size | uint64(sets[k])
	}
	return word
}

// fits joins what the expeditions of colours can take.
func (s *Slots) fits(exp []uint16, first int) uint64 {
	var word uint64
	size := s.size & 63
	for k := min(first+s.inWord, len(exp)) - 1; k >= first; k-- {
		word = word<<size | uint64(s.sets[exp[k]].fits)
	}
	return word
}

func (s *Slots) encodeHand(dst []float32, hand []uint16) {
	for first := 0; first < len(hand); first += s.inWord {
		cards := s.slotCards[first*s.size:]
		for word := s.word(hand, first); word != 0; word &= word - 1 {
			*(*[perSlot]float32)(dst) = cards[bits.TrailingZeros64(word)].features
			dst = dst[perSlot:]
		}
	}
	clear(dst)
}

func (s *Slots) encodePiles(dst []float32, r *slotRow) {
	for color := range s.tops {
		n, top := r.g.PileTopType(r.b, color)
		d := (*[perPile]float32)(dst)
		*d = s.tops[color][bits.Len32(uint32(top))]
		d[0] = s.cardsOf[n]
		dst = dst[perPile:]
	}
}

// encodePublic writes the cards of each colour that are in no hand nor in the
// deck. It writes numbers by eights, into what follows them.
func (s *Slots) encodePublic(dst []float32, r *slotRow) {
	decks := r.g.Deck.Row(r.b)
	for color, deck := range decks {
		own, theirs := r.hand[color], r.theirs[color]
		hidden := uint64(own&s.wagerSet) | uint64(theirs&s.wagerSet)<<16 | uint64(deck&s.wagerSet)<<32
		numbers := s.numberSet &^ (own | theirs | deck) >> (s.cfg.Wagers & 15)
		dst[0] = float32(s.cfg.Wagers - bits.OnesCount64(hidden))
		*(*[8]float32)(dst[1:]) = s.eight[numbers&255]
		if s.cfg.Ranks > 8 {
			*(*[8]float32)(dst[9:]) = s.eight[numbers>>8]
		}
		dst = dst[1+s.cfg.Ranks:]
	}
}

func (s *Slots) encodeDerived(dst []float32, r *slotRow) {
	decks := r.g.Deck.Row(r.b)
	for color, hand := range r.hand {
		exp := &s.sets[r.exp[color]]
		playable, dead := &s.sets[hand&exp.fits], &s.sets[hand&^exp.fits]
		_, top := r.g.PileTopType(r.b, color)
		numbers := uint16(top>>1) & (exp.fits >> (s.cfg.Wagers & 15)) // the top, if it is one that fits
		unseen := bits.OnesCount32(uint32(r.theirs[color]) | uint32(decks[color])<<16)
		d := (*[perDerived]float32)(dst)
		*(*[6]float32)(d[0:]) = exp.played
		*(*[2]float32)(d[6:]) = s.sets[hand].held
		d[8], d[9] = playable.faces, playable.numbers
		d[10], d[11] = dead.numbers, dead.faces
		*(*[2]float32)(d[12:]) = s.fitting[bits.Len16(numbers)]
		d[14] = s.cardsOf[unseen]
		dst = dst[perDerived:]
	}
}

func (s *Slots) encodeAware(dst []float32, r *slotRow) {
	for first := 0; first < len(r.hand); first += s.inWord {
		fits, cards := s.fits(r.exp, first), s.slotCards[first*s.size:]
		for word := s.word(r.hand, first); word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			x := &cards[i]
			state := s.sets[r.exp[x.color]].state
			*(*awareness)(dst) = s.aware[(state|x.wager|uint8(fits>>i&1))&15]
			dst = dst[perAware:]
		}
	}
	clear(dst)
}
