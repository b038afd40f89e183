package encode

import (
	"cmp"
	"slices"

	"vtrain/rules"
)

// ObserveGame implements Layout. It is the oracle of ObserveAs: it reads the
// game's lists of cards, never a set, a table or a string of bits.
func (c *Cards) ObserveGame(dst []float32, g *rules.Game, player int) {
	mustBePlayer(player)
	c.encodeGame(dst, g, player, g.Known(1-player))
}

func (c *Cards) openGame(dst []float32, g *rules.Game, player int) {
	c.encodeGame(dst, g, player, g.Hand(1-player))
}

func (c *Cards) encodeGame(dst []float32, g *rules.Game, player int, theirs []rules.Card) {
	mustMatch(g.Config(), c.cfg)
	if len(dst) != c.width {
		panic(badLength)
	}
	clear(dst)
	for place, color := range c.orderGame(g, player) {
		c.encodeColor(dst[place*c.block:(place+1)*c.block], g, player, color, theirs)
	}
	common := dst[c.cfg.Colors*c.block:]
	if g.Phase() == rules.DrawPhase {
		common[c.view.phase] = 1
		if g.Pending() == rules.NoColor {
			common[c.view.played] = 1
		}
	}
	common[c.view.deck] = float32(g.Deck()) / float32(c.deckMax)
	common[c.view.margin] = float32(g.Score(player)-g.Score(1-player)) / float32(c.margin)
	for i, step := range deckSteps {
		if g.Deck() >= step {
			common[c.view.depth+i] = 1
		}
	}
}

// orderGame returns the colours in the order of their blocks.
func (c *Cards) orderGame(g *rules.Game, player int) []int {
	order := make([]int, c.cfg.Colors)
	for k := range order {
		order[k] = k
	}
	if !c.sorted {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int {
		for _, cards := range []func(color int) []rules.Card{
			func(color int) []rules.Card { return g.Expedition(player, color) },
			func(color int) []rules.Card { return g.Hand(player) },
			func(color int) []rules.Card { return g.Expedition(1-player, color) },
		} {
			if d := c.compare(a, cards(a), b, cards(b)); d != 0 {
				return -d
			}
		}
		return 0
	})
	return order
}

// compare compares the cards that have one colour with those that have another:
// the highest card that only one of them holds decides, and many wagers are more
// than few.
func (c *Cards) compare(a int, as []rules.Card, b int, bs []rules.Card) int {
	count := func(color int, cards []rules.Card, rank int) (n int) {
		for _, x := range cards {
			if c.cfg.Color(x) == color && c.cfg.Rank(x) == rank {
				n++
			}
		}
		return n
	}
	for rank := c.cfg.Ranks; rank >= 0; rank-- {
		if d := cmp.Compare(count(a, as, rank), count(b, bs, rank)); d != 0 {
			return d
		}
	}
	return 0
}

func (c *Cards) encodeColor(dst []float32, g *rules.Game, player, color int, theirs []rules.Card) {
	own, their := g.Expedition(player, color), g.Expedition(1-player, color)
	pile := g.Pile(color)
	c.mark(dst[c.view.hand:], color, g.Hand(player))
	c.mark(dst[c.view.exp:], color, own)
	c.mark(dst[c.view.theirExp:], color, their)
	c.mark(dst[c.view.theirHand:], color, theirs)
	c.mark(dst[c.view.pile:], color, pile)
	if len(pile) > 0 {
		dst[c.view.top+c.cfg.Rank(pile[len(pile)-1])] = 1
	}
	if g.Pending() == color {
		dst[c.view.pending] = 1
	}
	dst[c.view.score] = float32(g.ExpeditionScore(player, color)) / float32(c.points)
	dst[c.view.theirScore] = float32(g.ExpeditionScore(1-player, color)) / float32(c.points)
	if len(own) > 0 {
		dst[c.view.started] = 1
	}
	if len(their) > 0 {
		dst[c.view.theirStarted] = 1
	}
	playable, inHand := 0, 0
	for _, x := range g.Hand(player) {
		if c.cfg.Color(x) != color {
			continue
		}
		inHand += c.cfg.Face(c.cfg.Rank(x))
		if g.Fits(player, x) {
			playable += c.cfg.Face(c.cfg.Rank(x))
		}
	}
	dst[c.view.playable] = float32(playable) / float32(c.faces)
	dst[c.view.inHand] = float32(inHand) / float32(c.faces)
}

// mark sets the features of those cards that have the colour: the k-th wager
// seen sets feature k-1, a number the feature of its rank.
func (c *Cards) mark(dst []float32, color int, cards []rules.Card) {
	wagers := 0
	for _, x := range cards {
		switch rank := c.cfg.Rank(x); {
		case c.cfg.Color(x) != color:
		case rank == 0:
			dst[wagers] = 1
			wagers++
		default:
			dst[c.cfg.Wagers+rank-1] = 1
		}
	}
}
