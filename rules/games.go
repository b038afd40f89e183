package rules

import (
	"math/bits"

	"vtrain/vec"
)

// Games is a batch of games as columns, in a compact form of about 130 bytes
// a game:
//
//   - A set of cards of one colour is a uint16: the low `wagers` bits are its
//     wagers as a thermometer (k wagers set the k lowest bits), the bits above
//     its numbers, lowest rank first. Equal sets have equal bits.
//   - A pile is a stack of 4-bit cards in a uint64, the bottom in the lowest
//     bits; see pileCode.
//   - Phase, player and turn follow from the plies made.
//   - A randomly dealt deck has no order: a draw takes a uniform card of the
//     set that is left, from the game's own stream at that ply.
//
// The exported columns are for reading, by encoders and bots; only the kernels
// write them. Kernels take the rows to work on as an ascending index vector,
// run on the pool given to NewGames, and allocate nothing once the batch has
// reached its largest size. The games are not safe for concurrent use.
type Games struct {
	*Tables
	vec.Arena

	Hand    vec.Column[uint16] // [B,P,C] cards in hand
	Exp     vec.Column[uint16] // [B,P,C] expeditions
	Known   vec.Column[uint16] // [B,P,C] the part of Hand that the opponent knows
	Deck    vec.Column[uint16] // [B,C] cards left to draw, whatever their order
	Pile    vec.Column[uint64] // [B,C] piles, 4 bits a card
	PileLen vec.Column[uint8]  // [B,C] cards in a pile
	DeckLen vec.Column[uint8]  // [B] cards left to draw
	Pending vec.Column[uint8]  // [B] colour discarded to in this turn, or NoPending
	Finish  vec.Column[uint8]  // [B] 1 once the game has ended
	Made    vec.Column[uint32] // [B] plies made
	Keys    vec.Column[uint64] // [B] key of the game's random streams
	Order   vec.Column[uint8]  // [B,N] card types, top last; only in batches with given decks

	ordered bool // decks are given, not drawn at random
	pool    *vec.Pool
	args    kernelArgs
	kernels struct{ deal, legal, step, score, determinize func(lo, hi int) }
}

// NoPending is Pending's value while nothing was discarded in this turn.
const NoPending = 255

// kernelArgs are the arguments of the kernel that is running. They stay in
// the struct so that handing ranges to the pool allocates no closure.
type kernelArgs struct {
	rows    []int32
	actions []int32
	mask    []uint64
	scores  []int32
	decks   [][]Card
	cards   []Card // what draws from the deck take, nil to leave it to chance
	keys    []uint64
	first   uint64
	seed    uint64
}

// grain is the rows that a worker takes at a time: some tens of microseconds.
const grain = 512

// NewGames returns an empty batch of randomly dealt games. It panics on an
// invalid configuration. A nil pool means the calling goroutine only.
func NewGames(cfg Config, pool *vec.Pool) *Games { return newGames(NewTables(cfg), pool, false) }

// NewOrderedGames returns an empty batch of games with given decks.
func NewOrderedGames(cfg Config, pool *vec.Pool) *Games {
	return newGames(NewTables(cfg), pool, true)
}

// New returns an empty batch of the same kind on the same pool.
func (g *Games) New() *Games { return newGames(g.Tables, g.pool, g.ordered) }

// SameKind reports whether New of either makes the same: their rules, their
// workers, and whether decks are given.
func (g *Games) SameKind(other *Games) bool {
	return g.Config == other.Config && g.pool == other.pool && g.ordered == other.ordered
}

func newGames(t *Tables, pool *vec.Pool, ordered bool) *Games {
	g := &Games{Tables: t, pool: pool, ordered: ordered}
	g.Share(pool)
	c := t.Colors
	vec.Attach(&g.Arena, "hand", &g.Hand, 2*c)
	vec.Attach(&g.Arena, "exp", &g.Exp, 2*c)
	vec.Attach(&g.Arena, "known", &g.Known, 2*c)
	vec.Attach(&g.Arena, "deck", &g.Deck, c)
	vec.Attach(&g.Arena, "pile", &g.Pile, c)
	vec.Attach(&g.Arena, "pile_len", &g.PileLen, c)
	vec.Attach(&g.Arena, "deck_len", &g.DeckLen, 1)
	vec.Attach(&g.Arena, "pending", &g.Pending, 1)
	vec.Attach(&g.Arena, "finish", &g.Finish, 1)
	vec.Attach(&g.Arena, "made", &g.Made, 1)
	vec.Attach(&g.Arena, "keys", &g.Keys, 1)
	if ordered {
		vec.Attach(&g.Arena, "order", &g.Order, t.DeckSize())
	}
	g.kernels.deal = g.dealRange
	g.kernels.legal = g.legalRange
	g.kernels.step = g.stepRange
	g.kernels.score = g.scoreRange
	g.kernels.determinize = g.determinizeRange
	return g
}

// Pool returns the pool that the batch's kernels run on, nil for the calling
// goroutine only.
func (g *Games) Pool() *vec.Pool { return g.pool }

// Gather makes the batch hold copies of src's rows, in the order given.
func (g *Games) Gather(src *Games, rows []int32) { g.Arena.Gather(&src.Arena, rows) }

// Scatter overwrites row at[i] with row rows[i] of src, for every i.
func (g *Games) Scatter(at []int32, src *Games, rows []int32) {
	g.Arena.Scatter(at, &src.Arena, rows)
}

// Phase returns the phase of row b, as Game.Phase does.
func (g *Games) Phase(b int32) Phase { return Phase(g.lastPly(b) & 1) }

// Player returns the player to move in row b, as Game.Player does.
func (g *Games) Player(b int32) int { return int(g.lastPly(b) >> 1 & 1) }

// lastPly is Game.lastPly.
func (g *Games) lastPly(b int32) uint32 {
	made := g.Made.Data[b]
	return made - uint32(g.Finish.Data[b])&^made&1
}

// Turns returns the turns completed in row b.
func (g *Games) Turns(b int32) int { return int(g.Made.Data[b] >> 1) }

// Done reports whether the game of row b has ended.
func (g *Games) Done(b int32) bool { return g.Finish.Data[b] != 0 }

// Capped reports whether the game of row b was cut by the turn limit.
func (g *Games) Capped(b int32) bool {
	return g.Done(b) && g.DeckLen.Data[b] > 0 && g.MaxTurns > 0 && g.Turns(b) >= g.MaxTurns
}

// PileTop returns the rank of a pile's top card, or -1 if the pile is empty.
func (g *Games) PileTop(b int32, color int) int {
	i := int(b)*g.Colors + color
	n := g.PileLen.Data[i]
	if n == 0 {
		return -1
	}
	return g.pileRank(g.Pile.Data[i] >> (4 * (n - 1)) & 15)
}

// PileTopType returns the cards of a pile and the type of the top one as a bit:
// 1<<rank, 0 if the pile is empty.
func (g *Games) PileTopType(b int32, color int) (cards uint8, top uint64) {
	i := int(b)*g.Colors + color
	n := g.PileLen.Data[i]
	code := g.Pile.Data[i] >> (4 * (n - 1) & 63) & 15 // 0 if n is
	return n, holds(n) << (g.pileRank(code) & 63)
}

// holds is 1 if a pile of n cards holds one, without a branch: it has at most 16.
func holds(n uint8) uint64 { return (uint64(n) + 15) >> 4 }

// PileSet returns the cards of a pile as a set of its colour.
func (g *Games) PileSet(b int32, color int) uint16 {
	i := int(b)*g.Colors + color
	var set uint16
	for pile, n := g.Pile.Data[i], g.PileLen.Data[i]; n > 0; n-- {
		set = g.With(set, g.pileRank(pile&15))
		pile >>= 4
	}
	return set
}

// Deal replaces the batch by n random games: numbers first, first+1, … of
// those that seed stands for. Game number k is NewGame(cfg, seed, k).
func (g *Games) Deal(n int, seed, first uint64) {
	if g.ordered {
		panic("rules: Deal of a batch with given decks")
	}
	g.Resize(n)
	g.args = kernelArgs{seed: seed, first: first}
	g.pool.Run(n, grain, g.kernels.deal)
}

// DealFrom replaces the batch by one game for each deck, numbers first,
// first+1, …: game k is NewGameFrom(cfg, decks[k-first], seed, k). Decks must
// pass Config.CheckDeck.
func (g *Games) DealFrom(decks [][]Card, seed, first uint64) {
	if !g.ordered {
		panic("rules: DealFrom of a batch without given decks")
	}
	for _, deck := range decks {
		if len(deck) != g.Cards() {
			panic("rules: deck of the wrong length")
		}
	}
	g.Resize(len(decks))
	g.args = kernelArgs{decks: decks, seed: seed, first: first}
	g.pool.Run(len(decks), grain, g.kernels.deal)
}

func (g *Games) dealRange(lo, hi int) {
	for b := lo; b < hi; b++ {
		g.clear(int32(b))
		g.Keys.Data[b] = vec.Key(g.args.seed, g.args.first+uint64(b))
		if g.ordered {
			g.dealOrdered(int32(b), g.args.decks[b])
		} else {
			g.dealRandom(int32(b))
		}
	}
}

func (g *Games) clear(b int32) {
	clear(g.Hand.Row(b))
	clear(g.Exp.Row(b))
	clear(g.Known.Row(b))
	clear(g.Pile.Row(b))
	clear(g.PileLen.Row(b))
	for c := range g.Deck.Row(b) {
		g.Deck.Row(b)[c] = g.fullSet
	}
	g.DeckLen.Data[b] = uint8(g.Cards())
	g.Pending.Data[b] = NoPending
	g.Finish.Data[b] = 0
	g.Made.Data[b] = 0
}

func (g *Games) dealRandom(b int32) {
	stream := vec.At(g.Keys.Data[b], 0)
	left := g.Cards()
	for range g.Config.Hand {
		for p := range 2 {
			g.drawRandom(b, p, stream.Intn(left))
			left--
		}
	}
	g.DeckLen.Data[b] = uint8(left)
}

func (g *Games) dealOrdered(b int32, deck []Card) {
	left := len(deck)
	for range g.Config.Hand {
		for p := range 2 {
			left--
			g.drawCard(b, p, deck[left])
		}
	}
	g.DeckLen.Data[b] = uint8(left)
	for i, x := range deck[:left] {
		g.Order.Row(b)[i] = uint8(x)
	}
}

// drawRandom moves the k-th card of the deck's set, in the order of types, to
// the player's hand.
func (g *Games) drawRandom(b int32, player, k int) {
	deck := g.Deck.Row(b)
	for color, set := range deck {
		n := bits.OnesCount16(set)
		if k >= n {
			k -= n
			continue
		}
		for ; k > 0; k-- {
			set &= set - 1
		}
		bit := set & -set
		g.moveFromDeck(b, player, color, bit)
		return
	}
}

// drawCard moves a given card from the deck's set to the player's hand.
func (g *Games) drawCard(b int32, player int, x Card) {
	color, rank := int(g.colorOf[x]), int(g.rankOf[x])
	g.moveFromDeck(b, player, color, g.topBit(g.Deck.Row(b)[color], rank))
}

// moveFromDeck moves the card at a bit of the deck's set. Any wager bit stands
// for a wager: both sets stay thermometers.
func (g *Games) moveFromDeck(b int32, player, color int, bit uint16) {
	deck := &g.Deck.Data[int(b)*g.Colors+color]
	hand := &g.Hand.Data[(int(b)*2+player)*g.Colors+color]
	if bit&g.wagerSet != 0 {
		*deck &^= g.topBit(*deck, 0)
		*hand = g.With(*hand, 0)
		return
	}
	*deck &^= bit
	*hand |= bit
}

// Legal writes the legal actions of rows[i] to mask row i, [len(rows),W] with
// W = MaskWords; a finished game has none.
func (g *Games) Legal(mask []uint64, rows []int32) {
	if len(mask) != len(rows)*g.MaskWords {
		panic("rules: mask of the wrong length")
	}
	if len(rows) <= vec.Inline {
		g.legalRows(mask, rows)
		return
	}
	g.args = kernelArgs{rows: rows, mask: mask}
	g.pool.Run(len(rows), grain, g.kernels.legal)
}

func (g *Games) legalRange(lo, hi int) {
	words := g.MaskWords
	g.legalRows(g.args.mask[lo*words:hi*words], g.args.rows[lo:hi])
}

func (g *Games) legalRows(mask []uint64, rows []int32) {
	words := g.MaskWords
	for i, b := range rows {
		row := mask[i*words : (i+1)*words]
		clear(row)
		if g.Finish.Data[b] == 0 {
			g.legalRow(row, b)
		}
	}
}

// legalRow is Legal for a game that goes on.
func (g *Games) legalRow(mask []uint64, b int32) {
	made := g.Made.Data[b]
	if made&1 != 0 {
		g.legalDraws(mask, b)
		return
	}
	player := int(made >> 1 & 1)
	g.LegalCards(mask, g.colors(&g.Hand, b, player), g.colors(&g.Exp, b, player))
}

// colors returns a player's sets, [C], of a [B,P,C] column.
func (g *Games) colors(column *vec.Column[uint16], b int32, player int) []uint16 {
	base := (int(b)*2 + player) * g.Colors
	return column.Data[base : base+g.Colors]
}

func (g *Games) legalDraws(mask []uint64, b int32) {
	var piles uint64 // [C] bits of piles that hold a card
	for c, n := range g.PileLen.Row(b) {
		piles |= holds(n) << c
	}
	if pending := g.Pending.Data[b]; pending != NoPending {
		piles &^= 1 << pending
	}
	g.LegalDraws(mask, piles, int(g.DeckLen.Data[b]))
}

// Step makes action actions[i] in row rows[i]. A finished game stays as it is.
// Actions must be legal: builds with vec.Invariants panic on others.
func (g *Games) Step(rows, actions []int32) { g.step(rows, actions, nil) }

// step is Step with the cards given that draws from the deck take, unless nil.
func (g *Games) step(rows, actions []int32, cards []Card) {
	if len(rows) != len(actions) {
		panic("rules: one action for each row")
	}
	g.args = kernelArgs{rows: rows, actions: actions, cards: cards}
	g.pool.Run(len(rows), grain, g.kernels.step)
}

func (g *Games) stepRange(lo, hi int) {
	for i := lo; i < hi; i++ {
		b, a := g.args.rows[i], g.args.actions[i]
		if g.Finish.Data[b] != 0 {
			continue
		}
		if vec.Invariants {
			g.mustBeLegal(b, a)
		}
		made := g.Made.Data[b]
		if made&1 == 0 {
			g.stepCard(b, int(made>>1&1), a)
		} else {
			g.stepDraw(i, b, int(made>>1&1), a, made)
		}
		g.Made.Data[b] = made + 1
	}
}

func (g *Games) stepCard(b int32, player int, a int32) {
	types := int32(g.types)
	x := a
	if a >= types {
		x -= types
	}
	color, rank := int(g.colorOf[x]), int(g.rankOf[x])
	own := (int(b)*2+player)*g.Colors + color
	hand, known := &g.Hand.Data[own], &g.Known.Data[own]
	*hand &^= g.topBit(*hand, rank)
	*known &^= g.topBit(*known, rank)
	if a < types {
		exp := &g.Exp.Data[own]
		*exp = g.With(*exp, rank)
	} else {
		g.push(int(b)*g.Colors+color, rank)
		g.Pending.Data[b] = uint8(color)
	}
	if g.DeckLen.Data[b] == 0 {
		g.finishWithoutDraw(b)
	}
}

// finishWithoutDraw ends a game whose draw ply has no legal action: possible
// only where the deal takes the whole deck.
func (g *Games) finishWithoutDraw(b int32) {
	for c, n := range g.PileLen.Row(b) {
		if n > 0 && c != int(g.Pending.Data[b]) {
			return
		}
	}
	g.Finish.Data[b] = 1
}

func (g *Games) push(pile, rank int) {
	n := g.PileLen.Data[pile]
	g.Pile.Data[pile] |= g.pileCode(rank) << (4 * n)
	g.PileLen.Data[pile] = n + 1
}

// pop removes the top card of a pile and returns its rank.
func (g *Games) pop(pile int) int {
	n := g.PileLen.Data[pile] - 1
	code := g.Pile.Data[pile] >> (4 * n) & 15
	g.Pile.Data[pile] &^= 15 << (4 * n)
	g.PileLen.Data[pile] = n
	return g.pileRank(code)
}

// stepDraw makes the i-th action of a step, a draw.
func (g *Games) stepDraw(i int, b int32, player int, a int32, made uint32) {
	over := g.cutBy(made)
	if deck := int32(2 * g.types); a == deck {
		left := int(g.DeckLen.Data[b])
		g.drawDeck(i, b, player, left, made)
		g.DeckLen.Data[b] = uint8(left - 1)
		over = over || left == 1
	} else {
		color := int(a - deck - 1)
		rank := g.pop(int(b)*g.Colors + color)
		own := (int(b)*2+player)*g.Colors + color
		g.Hand.Data[own] = g.With(g.Hand.Data[own], rank)
		g.Known.Data[own] = g.With(g.Known.Data[own], rank)
	}
	if over {
		g.Finish.Data[b] = 1
		return
	}
	g.Pending.Data[b] = NoPending
}

func (g *Games) drawDeck(i int, b int32, player, left int, made uint32) {
	if g.args.cards != nil {
		g.drawCard(b, player, g.args.cards[i])
		return
	}
	if g.ordered {
		g.drawCard(b, player, Card(g.Order.Row(b)[left-1]))
		return
	}
	stream := vec.At(g.Keys.Data[b], made)
	g.drawRandom(b, player, stream.Intn(left))
}

func (g *Games) mustBeLegal(b, a int32) {
	var buf [MaxMaskWords]uint64
	mask := buf[:g.MaskWords]
	g.legalRow(mask, b)
	if a < 0 || int(a) >= g.Actions() || !vec.MaskHas(mask, int(a)) {
		panic("rules: illegal action in a lockstep batch")
	}
}

// Score writes the totals of both players of rows[i] to dst[2i] and dst[2i+1],
// in points, as the game stands.
func (g *Games) Score(dst []int32, rows []int32) {
	if len(dst) != 2*len(rows) {
		panic("rules: two scores for each row")
	}
	g.args = kernelArgs{rows: rows, scores: dst}
	g.pool.Run(len(rows), grain, g.kernels.score)
}

func (g *Games) scoreRange(lo, hi int) {
	for i := lo; i < hi; i++ {
		b := g.args.rows[i]
		g.args.scores[2*i] = g.PlayerScore(b, 0)
		g.args.scores[2*i+1] = g.PlayerScore(b, 1)
	}
}

// PlayerScore returns a player's total in row b, in points, as it stands.
func (g *Games) PlayerScore(b int32, player int) int32 {
	var total int32
	for _, set := range g.colors(&g.Exp, b, player) {
		total += g.scoreOf[set]
	}
	return total
}
