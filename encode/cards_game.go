package encode

import "vtrain/rules"

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
	for color := range c.cfg.Colors {
		c.encodeColor(dst[color*c.block:(color+1)*c.block], g, player, color, theirs)
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
