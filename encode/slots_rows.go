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

func (s *Slots) observeRange(k *call, lo, hi int) {
	w := s.rowWidth(k.open)
	for i := lo; i < hi; i++ {
		r := newSlotRow(k.g, k.rows[i], k.playerOf(k.rows[i]))
		row := k.dst[i*w : (i+1)*w]
		clear(row)
		s.encodeState(row, &r)
		s.encodeExpeditions(row[s.view.exp:], &r)
		s.encodePiles(row, &r)
		if s.opt.Derived {
			s.encodeDerived(row, &r)
		}
		if s.opt.SlotAware {
			s.encodeAware(row[s.view.aware:], &r)
		}
		if k.open {
			s.encodeHand(row[s.view.theirHand:], r.theirs)
		}
	}
}

// ratio is a feature of the form x out of most.
func ratio(x, most int) float32 { return float32(x) / float32(most) }

func (s *Slots) encodeState(row []float32, r *slotRow) {
	g, v := r.g, &s.view
	row[v.phase+int(g.Phase(r.b))] = 1
	row[v.mover] = float32(g.Player(r.b))
	row[v.observer] = float32(r.player)
	row[v.deck] = ratio(int(g.DeckLen.Data[r.b]), s.cfg.Cards())
	s.encodeHand(row[v.hand:], r.hand)
	own, theirs := int(g.PlayerScore(r.b, r.player)), int(g.PlayerScore(r.b, 1-r.player))
	row[v.scores] = ratio(own, s.points)
	row[v.scores+1] = ratio(theirs, s.points)
	row[v.scores+2] = ratio(own-theirs, s.points)
	row[v.turn] = ratio(g.Turns(r.b), 2*s.cfg.Cards())
	pending := s.cfg.Colors
	if p := g.Pending.Data[r.b]; p != rules.NoPending && !g.Done(r.b) {
		pending = int(p)
	}
	row[v.pending+pending] = 1
	var mask [maskWords]uint64
	s.legalRow(mask[:], g, r.b)
	for i, word := range mask {
		for ; word != 0; word &= word - 1 {
			row[v.legal+i*64+bits.TrailingZeros64(word)] = 1
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

func (s *Slots) encodeHand(dst []float32, hand []uint16) {
	i := 0
	for color, set := range hand {
		for ; set != 0; set &= set - 1 {
			rank := max(0, bits.TrailingZeros16(set)-s.cfg.Wagers+1)
			dst[i] = 1
			dst[i+1] = ratio(color+1, s.cfg.Colors)
			dst[i+2] = ratio(rank, s.cfg.Ranks)
			i += perSlot
		}
	}
}

func (s *Slots) encodeExpeditions(dst []float32, r *slotRow) {
	sets := r.g.Exp.Row(r.b)
	for i, set := range sets {
		if set == 0 {
			continue
		}
		d := dst[i*perExp : (i+1)*perExp]
		d[0] = ratio(bits.OnesCount16(set), s.cfg.PerColor())
		d[1] = ratio(r.g.TopRank(set), s.cfg.Ranks)
		d[2] = ratio(r.g.WagerCount(set), max(1, s.cfg.Wagers))
		d[3] = ratio(int(r.g.SetScore(set)), s.points)
	}
}

func (s *Slots) encodePiles(row []float32, r *slotRow) {
	for color := range s.cfg.Colors {
		pile := r.g.PileSet(r.b, color)
		if pile != 0 {
			d := row[s.view.pile+color*perPile:]
			d[0] = ratio(bits.OnesCount16(pile), s.cfg.PerColor())
			d[1] = 1
			d[2] = ratio(color+1, s.cfg.Colors)
			d[3] = ratio(r.g.PileTop(r.b, color), s.cfg.Ranks)
		}
		e, f := r.exp[color], r.theirX[color]
		public := row[s.view.public+color*(s.cfg.Ranks+1):]
		public[0] = float32(r.g.WagerCount(pile) + r.g.WagerCount(e) + r.g.WagerCount(f))
		for numbers := r.g.Numbers(pile | e | f); numbers != 0; numbers &= numbers - 1 {
			public[1+bits.TrailingZeros16(numbers)] = 1
		}
	}
}

func (s *Slots) encodeDerived(row []float32, r *slotRow) {
	for color := range s.cfg.Colors {
		s.encodeDerivedColor(row[s.view.derived+color*perDerived:], r, color)
	}
	d := row[s.view.progress:]
	left := int(r.g.DeckLen.Data[r.b])
	d[0] = ratio(left, s.cfg.Cards())
	d[1] = ratio(r.g.Turns(r.b), 2*s.cfg.Cards())
	d[2] = ratio(left, 2*s.cfg.Cards())
}

func (s *Slots) encodeDerivedColor(d []float32, r *slotRow, color int) {
	g, hand, exp := r.g, r.hand[color], r.exp[color]
	cards, faces, wagers := s.cfg.PerColor(), s.faceSum, max(1, s.cfg.Wagers)
	fits := g.Fits(hand, exp)
	inHand := bits.OnesCount16(g.Numbers(hand))
	playable := bits.OnesCount16(g.Numbers(fits))
	played := bits.OnesCount16(exp)
	d[0] = float32(flag(exp == 0))
	d[1] = float32(flag(exp != 0 && g.Numbers(exp) == 0))
	d[2] = ratio(g.FaceSum(exp), faces)
	d[3] = ratio(g.WagerCount(exp), wagers)
	d[4] = ratio(played, cards)
	d[5] = ratio(g.TopRank(exp), faces)
	d[6] = ratio(bits.OnesCount16(hand), cards)
	d[7] = ratio(g.WagerCount(hand), wagers)
	d[8] = ratio(g.FaceSum(fits), faces)
	d[9] = ratio(playable, cards)
	d[10] = ratio(inHand-playable, cards)
	d[11] = ratio(g.FaceSum(hand)-g.FaceSum(fits), faces)
	if top := g.PileTop(r.b, color); top > g.TopRank(exp) {
		d[12] = 1
		d[13] = ratio(g.Face(top), faces)
	}
	public := played + bits.OnesCount16(r.theirX[color]) + int(g.PileLen.Data[int(r.b)*g.Colors+color])
	d[14] = ratio(cards-public-bits.OnesCount16(hand), cards)
}

func (s *Slots) encodeAware(dst []float32, r *slotRow) {
	i := 0
	for color, set := range r.hand {
		exp := r.exp[color]
		numbers := r.g.Numbers(exp) != 0
		for ; set != 0; set &= set - 1 {
			card := set & -set
			wager := r.g.WagerCount(card) > 0
			fits := r.g.Fits(card, exp) != 0
			d := dst[i*perAware : (i+1)*perAware]
			d[0] = float32(flag(fits && !numbers))
			d[1] = float32(flag(fits && !numbers && !wager))
			d[2] = float32(flag(wager && exp == 0))
			d[3] = float32(flag(fits && numbers))
			d[4] = float32(flag(!wager && !fits))
			d[5] = float32(flag(wager && fits))
			i++
		}
	}
}
