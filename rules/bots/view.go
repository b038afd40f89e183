package bots

import (
	"vtrain/rules"
	"vtrain/vec"
)

// noTop is the top of an empty pile.
const noTop = -1

// A view is what the player to move may see, as far as any bot looks at it.
type view struct {
	hand  [rules.MaxColors]uint16 // [C] own cards
	own   [rules.MaxColors]uint16 // [C] own expeditions
	other [rules.MaxColors]uint16 // [C] the opponent's expeditions
	top   [rules.MaxColors]int8   // [C] rank of the pile's top card, or noTop
	deck  int                     // cards left to draw
	diff  int                     // own points minus the opponent's; draw ply only

	drawing bool   // draw ply, else card ply
	pending int    // colour discarded to in this turn, or anything that is none
	key     uint64 // the game's key
	ply     uint32 // plies made
}

// fromRow fills v from a row of a batch.
func (v *view) fromRow(g *rules.Games, b int32) {
	c := g.Colors
	p := g.Player(b)
	base := int(b) * 2 * c
	mine, theirs := base+p*c, base+(1-p)*c
	copy(v.hand[:c], g.Hand.Data[mine:mine+c])
	copy(v.own[:c], g.Exp.Data[mine:mine+c])
	copy(v.other[:c], g.Exp.Data[theirs:theirs+c])
	for k := range c {
		v.top[k] = int8(g.PileTop(b, k))
	}
	v.deck = int(g.DeckLen.Data[b])
	v.drawing = g.Phase(b) == rules.DrawPhase
	if v.drawing {
		v.diff = int(g.PlayerScore(b, p) - g.PlayerScore(b, 1-p))
	}
	v.pending = int(g.Pending.Data[b])
	v.key, v.ply = g.Keys.Data[b], g.Made.Data[b]
}

// fromGame fills v from a scalar game.
func (v *view) fromGame(g *rules.Game, t *rules.Tables) {
	p := g.Player()
	v.hand = [rules.MaxColors]uint16{}
	for _, x := range g.Hand(p) {
		c := t.Color(x)
		v.hand[c] = t.With(v.hand[c], t.Rank(x))
	}
	for c := range t.Colors {
		v.own[c] = setOf(t, g.Expedition(p, c))
		v.other[c] = setOf(t, g.Expedition(1-p, c))
		v.top[c] = noTop
		if pile := g.Pile(c); len(pile) > 0 {
			v.top[c] = int8(t.Rank(pile[len(pile)-1]))
		}
	}
	v.deck = g.Deck()
	v.drawing = g.Phase() == rules.DrawPhase
	if v.drawing {
		v.diff = g.Score(p) - g.Score(1-p)
	}
	v.pending = g.Pending()
	v.key, v.ply = g.Key(), uint32(g.Plies())
}

// setOf returns the set of cards of one colour.
func setOf(t *rules.Tables, cards []rules.Card) uint16 {
	var set uint16
	for _, x := range cards {
		set = t.With(set, t.Rank(x))
	}
	return set
}

// canDraw reports whether the top card of a pile may be drawn.
func (v *view) canDraw(c int) bool { return v.top[c] != noTop && c != v.pending }

// legal writes the legal actions to mask, which must be clear.
func (v *view) legal(mask []uint64, t *rules.Tables) {
	if !v.drawing {
		t.LegalCards(mask, v.hand[:t.Colors], v.own[:t.Colors])
		return
	}
	var piles uint64
	for c := range t.Colors {
		if v.canDraw(c) {
			piles |= 1 << c
		}
	}
	t.LegalDraws(mask, piles, v.deck)
}

// random returns a uniform legal action.
func (v *view) random(t *rules.Tables, s *vec.Stream) rules.Action {
	var buf [rules.MaxMaskWords]uint64
	mask := buf[:t.MaskWords]
	v.legal(mask, t)
	return rules.Action(vec.MaskSelect(mask, s.Intn(vec.MaskCount(mask))))
}
