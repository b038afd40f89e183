package encode

import (
	"slices"

	"vtrain/rules"
)

// ObserveGame implements Layout. It is the oracle of ObserveAs: it reads the
// game's lists of cards and computes each value where it is written.
func (s *Slots) ObserveGame(dst []float32, g *rules.Game, player int) {
	mustBePlayer(player)
	mustMatch(g.Config(), s.cfg)
	if len(dst) != s.width {
		panic(badLength)
	}
	clear(dst)
	s.observeGame(dst, g, player)
}

func (s *Slots) openGame(dst []float32, g *rules.Game, player int) {
	mustMatch(g.Config(), s.cfg)
	if len(dst) != s.rowWidth(true) {
		panic(badLength)
	}
	clear(dst)
	s.observeGame(dst, g, player)
	s.gameHand(dst[s.view.theirHand:], g, 1-player)
}

func (s *Slots) observeGame(dst []float32, g *rules.Game, player int) {
	s.gameState(dst, g, player)
	s.gamePublic(dst, g)
	if s.opt.Derived {
		for color := range s.cfg.Colors {
			s.gameDerived(dst[s.view.derived+color*perDerived:], g, player, color)
		}
		progress := dst[s.view.progress:]
		progress[0] = float32(g.Deck()) / float32(s.cfg.Cards())
		progress[1] = float32(g.Turns()) / float32(2*s.cfg.Cards())
		progress[2] = float32(g.Deck()) / float32(2*s.cfg.Cards())
	}
	if s.opt.SlotAware {
		for slot, x := range g.Hand(player) {
			s.gameAware(dst[s.view.aware+slot*perAware:], g, player, x)
		}
	}
}

func (s *Slots) gameState(dst []float32, g *rules.Game, player int) {
	dst[s.view.phase+int(g.Phase())] = 1
	dst[s.view.mover] = float32(g.Player())
	dst[s.view.observer] = float32(player)
	dst[s.view.deck] = float32(g.Deck()) / float32(s.cfg.Cards())
	s.gameHand(dst[s.view.hand:], g, player)
	own, theirs := g.Score(player), g.Score(1-player)
	for i, points := range []int{own, theirs, own - theirs} {
		dst[s.view.scores+i] = float32(points) / float32(s.points)
	}
	dst[s.view.turn] = float32(g.Turns()) / float32(2*s.cfg.Cards())
	pending := g.Pending()
	if pending == rules.NoColor || g.Done() {
		pending = s.cfg.Colors
	}
	dst[s.view.pending+pending] = 1
	for _, a := range s.LegalGame(g) {
		dst[s.view.legal+int(a)] = 1
	}
}

func (s *Slots) gameHand(dst []float32, g *rules.Game, player int) {
	for slot, x := range g.Hand(player) {
		dst[3*slot] = 1
		dst[3*slot+1] = float32(s.cfg.Color(x)+1) / float32(s.cfg.Colors)
		dst[3*slot+2] = float32(s.cfg.Rank(x)) / float32(s.cfg.Ranks)
	}
}

func (s *Slots) gamePublic(dst []float32, g *rules.Game) {
	for color := range s.cfg.Colors {
		pile := g.Pile(color)
		if n := len(pile); n > 0 {
			d := dst[s.view.pile+perPile*color:]
			d[0] = float32(n) / float32(s.cfg.PerColor())
			d[1] = 1
			d[2] = float32(color+1) / float32(s.cfg.Colors)
			d[3] = float32(s.cfg.Rank(pile[n-1])) / float32(s.cfg.Ranks)
		}
		public := pile
		for player := range 2 {
			cards := g.Expedition(player, color)
			public = append(public, cards...)
			d := dst[s.view.exp+perExp*(player*s.cfg.Colors+color):]
			d[0] = float32(len(cards)) / float32(s.cfg.PerColor())
			d[1] = float32(s.topRank(cards)) / float32(s.cfg.Ranks)
			d[2] = float32(s.countWagers(cards)) / float32(max(1, s.cfg.Wagers))
			d[3] = float32(g.ExpeditionScore(player, color)) / float32(s.points)
		}
		for _, x := range public {
			dst[s.view.public+int(x)]++
		}
	}
}

func (s *Slots) gameDerived(d []float32, g *rules.Game, player, color int) {
	exp := g.Expedition(player, color)
	hand := slices.DeleteFunc(g.Hand(player), func(x rules.Card) bool { return s.cfg.Color(x) != color })
	var playable, dead []rules.Card
	for _, x := range hand {
		switch {
		case s.cfg.Rank(x) == 0:
		case g.Fits(player, x):
			playable = append(playable, x)
		default:
			dead = append(dead, x)
		}
	}
	pile := g.Pile(color)
	var top []rules.Card // the pile's top card if it is a number that fits
	if n := len(pile); n > 0 && s.cfg.Rank(pile[n-1]) > 0 && g.Fits(player, pile[n-1]) {
		top = pile[n-1:]
	}
	cards, faces, wagers := float32(s.cfg.PerColor()), float32(s.faceSum), float32(max(1, s.cfg.Wagers))
	if len(exp) == 0 {
		d[0] = 1
	}
	if len(exp) > 0 && s.countWagers(exp) == len(exp) {
		d[1] = 1
	}
	d[2] = float32(s.sumFaces(exp)) / faces
	d[3] = float32(s.countWagers(exp)) / wagers
	d[4] = float32(len(exp)) / cards
	d[5] = float32(s.topRank(exp)) / faces
	d[6] = float32(len(hand)) / cards
	d[7] = float32(s.countWagers(hand)) / wagers
	d[8] = float32(s.sumFaces(playable)) / faces
	d[9] = float32(len(playable)) / cards
	d[10] = float32(len(dead)) / cards
	d[11] = float32(s.sumFaces(dead)) / faces
	d[12] = float32(len(top))
	d[13] = float32(s.sumFaces(top)) / faces
	seen := len(exp) + len(g.Expedition(1-player, color)) + len(pile) + len(hand)
	d[14] = float32(s.cfg.PerColor()-seen) / cards
}

func (s *Slots) gameAware(d []float32, g *rules.Game, player int, x rules.Card) {
	exp := g.Expedition(player, s.cfg.Color(x))
	opened := s.topRank(exp) > 0 // it has a number
	wager := s.cfg.Rank(x) == 0
	fits := g.Fits(player, x)
	for i, set := range []bool{
		fits && !opened,
		fits && !opened && !wager,
		fits && len(exp) == 0 && wager,
		fits && opened,
		!fits && !wager,
		fits && wager,
	} {
		if set {
			d[i] = 1
		}
	}
}

func (s *Slots) topRank(cards []rules.Card) int {
	top := 0
	for _, x := range cards {
		top = max(top, s.cfg.Rank(x))
	}
	return top
}

func (s *Slots) countWagers(cards []rules.Card) int {
	n := 0
	for _, x := range cards {
		if s.cfg.Rank(x) == 0 {
			n++
		}
	}
	return n
}

func (s *Slots) sumFaces(cards []rules.Card) int {
	sum := 0
	for _, x := range cards {
		sum += s.cfg.Face(s.cfg.Rank(x))
	}
	return sum
}

// LegalGame implements Layout.
func (s *Slots) LegalGame(g *rules.Game) []int32 {
	mustMatch(g.Config(), s.cfg)
	var legal []int32
	allowed := g.Legal()
	for slot, x := range g.Hand(g.Player()) {
		if slices.Contains(allowed, s.cfg.Play(x)) {
			legal = append(legal, s.Play(slot))
		}
		if slices.Contains(allowed, s.cfg.Discard(x)) {
			legal = append(legal, s.Discard(slot))
		}
	}
	for _, a := range allowed {
		if a >= s.cfg.DrawDeck() {
			legal = append(legal, s.LayoutAction(g, a))
		}
	}
	return legal
}

// RulesAction implements Layout.
func (s *Slots) RulesAction(g *rules.Game, a int32) rules.Action {
	mustMatch(g.Config(), s.cfg)
	s.mustBeAction(a)
	return slotAction(s.cfg, g.Hand(g.Player()), a)
}

// slotAction translates an action that names a slot of the given hand.
func slotAction(cfg rules.Config, hand []rules.Card, a int32) rules.Action {
	deck := int32(2 * cfg.Hand)
	switch slot := int(a) / 2; {
	case a == deck:
		return cfg.DrawDeck()
	case a > deck:
		return cfg.DrawPile(int(a - deck - 1))
	case slot >= len(hand):
		panic(badSlot)
	case a%2 == 0:
		return cfg.Play(hand[slot])
	default:
		return cfg.Discard(hand[slot])
	}
}

// LayoutAction implements Layout.
func (s *Slots) LayoutAction(g *rules.Game, a rules.Action) int32 {
	mustMatch(g.Config(), s.cfg)
	verb, card, color := s.cfg.Split(a)
	switch verb {
	case rules.DrawDeck:
		return s.DrawDeck()
	case rules.DrawPile:
		return s.DrawPile(color)
	}
	slot := slices.Index(g.Hand(g.Player()), card)
	if slot < 0 {
		panic(badCard)
	}
	if verb == rules.Play {
		return s.Play(slot)
	}
	return s.Discard(slot)
}
