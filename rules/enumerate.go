package rules

import (
	"math/bits"
	"slices"

	"vtrain/vec"
)

// Deals returns the number of different deals: pairs of hands, by card types.
func (c Config) Deals() float64 {
	// pairs[i][j] counts the hands of i and j cards of the types so far.
	pairs := make([][]float64, c.Hand+1)
	for i := range pairs {
		pairs[i] = make([]float64, c.Hand+1)
	}
	pairs[0][0] = 1
	for _, copies := range c.copies() {
		for i := c.Hand; i >= 0; i-- {
			for j := c.Hand; j >= 0; j-- {
				pairs[i][j] = sumBelow(pairs, i, j, copies)
			}
		}
	}
	return pairs[c.Hand][c.Hand]
}

// sumBelow adds up what leads to (i,j) by one more type of so many copies.
func sumBelow(pairs [][]float64, i, j, copies int) float64 {
	sum := 0.0
	for a := 0; a <= min(i, copies); a++ {
		for b := 0; b <= min(j, copies-a); b++ {
			sum += pairs[i-a][j-b]
		}
	}
	return sum
}

// copies returns the number of cards of each type, [T].
func (c Config) copies() []int {
	n := make([]int, c.Types())
	for _, x := range c.Pack() {
		n[x]++
	}
	return n
}

// hands returns every hand, as card types in ascending order.
func (c Config) hands() [][]Card {
	var all [][]Card
	var add func(hand, pack []Card)
	add = func(hand, pack []Card) {
		if len(hand) == c.Hand {
			all = append(all, slices.Clone(hand))
			return
		}
		for i, x := range pack {
			if i == 0 || pack[i-1] != x { // the first copy left stands for all
				add(append(hand, x), pack[i+1:])
			}
		}
	}
	add(nil, c.Pack())
	return all
}

// DealEach replaces the batch by one game for each deal, and writes to dst what
// chance did; see vec.Enumerable. A player sees his hand.
func (g *Games) DealEach(dst []vec.Outcome) {
	if g.ordered {
		panic("rules: DealEach of a batch with given decks")
	}
	g.Resize(len(dst))
	hands, left, total, row := g.Config.hands(), g.copies(), g.waysToDeal(), 0
	for i, first := range hands {
		ways := waysToTake(left, first) / total
		for _, x := range first {
			left[x]--
		}
		for j, second := range hands {
			if p := ways * waysToTake(left, second); p > 0 {
				g.dealHands(int32(row), first, second)
				dst[row] = vec.Outcome{P: p, Seen: [2]uint32{uint32(i), uint32(j)}}
				row++
			}
		}
		for _, x := range first {
			left[x]++
		}
	}
	if row != len(dst) {
		panic("rules: DealEach needs room for every deal")
	}
}

// dealHands deals given hands.
func (g *Games) dealHands(b int32, hands ...[]Card) {
	g.clear(b)
	g.Keys.Data[b] = vec.Key(0, uint64(b))
	for p, hand := range hands {
		for _, x := range hand {
			g.drawCard(b, p, x)
		}
	}
	g.DeckLen.Data[b] = uint8(g.DeckSize())
}

// waysToTake returns in how many ways a hand can be taken from so many copies
// of each type, if they are told apart; 0 if there are too few.
func waysToTake(copies []int, hand []Card) float64 {
	ways, same := 1.0, 0 // same counts the cards before that are like this one
	for i, x := range hand {
		if same++; i == 0 || hand[i-1] != x {
			same = 0
		}
		ways *= float64(max(0, copies[x]-same)) / float64(1+same)
	}
	return ways
}

// waysToDeal adds them up over all pairs of hands.
func (c Config) waysToDeal() float64 {
	ways := 1.0
	for i := range 2 * c.Hand {
		ways *= float64(c.Cards()-i) / float64(1+i%c.Hand)
	}
	return ways
}

// Outcomes writes in how many ways chance can go after action actions[i] in row
// rows[i]: the card types left to a draw from the deck, unless it ends the game
// and nobody will look at the card.
func (g *Games) Outcomes(dst, rows, actions []int32) {
	if len(dst) != len(rows) || len(actions) != len(rows) {
		panic("rules: one action and one number for each row")
	}
	for i, b := range rows {
		dst[i] = 1
		if g.drawMatters(b, actions[i]) {
			dst[i] = int32(g.typesLeft(b))
		}
	}
}

// drawMatters reports whether an action draws from the deck in a game that goes
// on after it.
func (g *Games) drawMatters(b, a int32) bool {
	return !g.Done(b) && a == int32(g.DrawDeck()) && g.DeckLen.Data[b] > 1 && !g.cutBy(g.Made.Data[b])
}

// cutBy reports whether the turn that ply number made belongs to is the last.
func (g *Games) cutBy(made uint32) bool { return g.MaxTurns > 0 && int(made+1)>>1 >= g.MaxTurns }

// typesLeft returns the number of card types in the deck.
func (g *Games) typesLeft(b int32) int {
	n := 0
	for _, set := range g.Deck.Row(b) {
		n += bits.OnesCount64(g.TypeBits(set))
	}
	return n
}

// typeLeft returns the k-th card type in the deck, and its copies there.
func (g *Games) typeLeft(b int32, k int) (x Card, copies int) {
	for color, set := range g.Deck.Row(b) {
		types := []uint64{g.TypeBits(set)}
		rank := vec.MaskSelect(types, k)
		switch {
		case rank < 0:
			k -= vec.MaskCount(types)
		case rank == 0:
			return g.Card(color, rank), g.WagerCount(set)
		default:
			return g.Card(color, rank), 1
		}
	}
	panic("rules: chance has no such outcome")
}

// StepTo is Step where chance goes way ways[i], below Outcomes: the draw takes
// that card type. It writes to dst what chance did; only the player who draws
// sees the card.
func (g *Games) StepTo(dst []vec.Outcome, rows, actions, ways []int32) {
	if len(dst) != len(rows) || len(ways) != len(rows) {
		panic("rules: one outcome for each row")
	}
	cards := make([]Card, len(rows))
	for i, b := range rows {
		dst[i] = vec.Outcome{P: 1}
		if g.Done(b) || actions[i] != int32(g.DrawDeck()) {
			continue
		}
		x, copies := g.typeLeft(b, int(ways[i]))
		cards[i] = x
		if g.drawMatters(b, actions[i]) {
			dst[i].P = float64(copies) / float64(g.DeckLen.Data[b])
			dst[i].Seen[g.Player(b)] = 1 + uint32(x)
		}
	}
	g.step(rows, actions, cards)
}
