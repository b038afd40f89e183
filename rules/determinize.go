package rules

import (
	"math/bits"
	"slices"

	"vtrain/vec"
)

// Determinize deals anew, in each of the rows, what the player to move cannot
// see: the cards of the opponent's hand that he does not know, and the deck in
// its order. All arrangements of the unseen cards are equally likely, wagers
// told apart, and nothing of the true one has any influence.
//
// Row rows[i] becomes a game of key keys[i]: the arrangement comes from the
// stream of that game's deal, and later draws from those of its plies. So copies
// of a position that are given the same key are the same game, whatever is then
// played in each. A finished game stays as it is.
func (g *Games) Determinize(rows []int32, keys []uint64) {
	if len(rows) != len(keys) {
		panic("rules: one key for each row")
	}
	g.args = kernelArgs{rows: rows, keys: keys}
	g.pool.Run(len(rows), grain, g.kernels.determinize)
}

func (g *Games) determinizeRange(lo, hi int) {
	for i := lo; i < hi; i++ {
		if b := g.args.rows[i]; g.Finish.Data[b] == 0 {
			g.determinizeRow(b, g.args.keys[i])
		}
	}
}

func (g *Games) determinizeRow(b int32, key uint64) {
	g.Keys.Data[b] = key
	stream := vec.At(key, 0)
	opponent := 1 - g.Player(b)
	left := int(g.DeckLen.Data[b])
	for hidden := g.hide(b, opponent); hidden > 0; hidden-- {
		g.drawRandom(b, opponent, stream.Intn(left+hidden))
	}
	if g.ordered {
		g.shuffle(b, left, &stream)
	}
}

// hide puts the cards of a player's hand that the opponent does not know back
// into the deck's set, and returns their number.
func (g *Games) hide(b int32, player int) int {
	deck, hand, known := g.Deck.Row(b), g.colors(&g.Hand, b, player), g.colors(&g.Known, b, player)
	hidden := 0
	for c, k := range known {
		unseen := hand[c] &^ k
		deck[c] = g.join(deck[c], unseen)
		hand[c] = k
		hidden += bits.OnesCount16(unseen)
	}
	return hidden
}

// join returns a set with the cards of another, of which it holds none. Any
// wager bits of the other count.
func (t *Tables) join(set, other uint16) uint16 {
	wagers := t.WagerCount(set) + t.WagerCount(other)
	return (set|other)&^t.wagerSet | (1<<wagers - 1)
}

// shuffle gives the cards of the deck's set, so many, a random order.
func (g *Games) shuffle(b int32, left int, stream *vec.Stream) {
	order, i := g.Order.Row(b)[:left], 0
	for color, set := range g.Deck.Row(b) {
		for ; set != 0; set &= set - 1 {
			rank := max(0, bits.TrailingZeros16(set)-g.Wagers+1)
			order[i] = uint8(g.Card(color, rank))
			i++
		}
	}
	stream.Shuffle(left, func(i, j int) { order[i], order[j] = order[j], order[i] })
}

// Determinized returns a copy of the game in which what the player to move
// cannot see is dealt anew: the oracle of Games.Determinize.
func (g *Game) Determinized(key uint64) *Game {
	d := g.clone()
	if d.done {
		return d
	}
	d.key = key
	stream := vec.At(key, 0)
	opponent := 1 - d.Player()
	unseen := slices.Clone(d.hand[opponent])
	for _, x := range d.known[opponent] {
		unseen, _ = remove(unseen, x)
	}
	d.deck = slices.Sorted(slices.Values(slices.Concat(d.deck, unseen)))
	d.hand[opponent] = slices.Clone(d.known[opponent])
	for range unseen {
		d.hand[opponent] = insert(d.hand[opponent], d.takeAt(stream.Intn(len(d.deck))))
	}
	if d.shuffled {
		stream.Shuffle(len(d.deck), func(i, j int) { d.deck[i], d.deck[j] = d.deck[j], d.deck[i] })
	}
	return d
}

// clone returns a copy that shares nothing that changes.
func (g *Game) clone() *Game {
	c := *g
	c.piles = cloneEach(g.piles)
	c.deck = slices.Clone(g.deck)
	for p := range 2 {
		c.hand[p], c.known[p] = slices.Clone(g.hand[p]), slices.Clone(g.known[p])
		c.exp[p] = cloneEach(g.exp[p])
	}
	return &c
}

func cloneEach(lists [][]Card) [][]Card {
	all := make([][]Card, len(lists))
	for i, cards := range lists {
		all[i] = slices.Clone(cards)
	}
	return all
}
