package encode

import (
	"fmt"
	"math/bits"

	"vtrain/rules"
	"vtrain/vec"
)

// CardsVersion is the version of the cards layout: it changes whenever the
// meaning of any feature does.
const CardsVersion = 1

// Cards is the default layout: a block of features for each colour, mostly
// the bits of its card sets, then a block of common ones. Its actions are the
// rules' own, which name card types.
//
// docs/lost-cities.md lists it index by index for the classic game. Other
// configurations differ in the size of the sets and in the scales.
type Cards struct {
	cfg    rules.Config
	width  int
	block  int // features of a colour
	view   cardsFields
	fields []Field
	hidden *openView

	points  int // divisor of scores
	margin  int // divisor of the score difference
	faces   int // divisor of sums of faces
	deckMax int // divisor of the deck

	numbers uint16           // the numbers of a colour
	sets    []cardSet        // [2^K] of one colour
	deckOf  []float32        // [cards+1] scaled size of the deck
	depths  []uint32         // [cards+1] the deck thermometer's bits
	eight   *[256][8]float32 // the features that a byte stands for
	observe kernel
	sorted  bool // blocks are in the order of Sorted
}

// A cardSet is what is looked up of a set of cards of one colour, side by side
// because most of it is asked at once.
type cardSet struct {
	score   float32 // scaled points of the expedition
	faces   float32 // scaled sum of faces
	points  int32   // of the expedition
	fits    uint16  // the cards that the expedition can take
	started uint16  // 1 if there are any cards
}

// cardsFields are the indices that the encoder writes to: those of a colour
// count from the start of its block, the common ones from the start of theirs.
type cardsFields struct {
	hand, exp, theirExp, theirHand, pile, top, pending int
	score, theirScore, started, theirStarted           int
	playable, inHand                                   int

	phase, deck, margin, depth, played int
}

// deckSteps are the thresholds of the deck thermometer: finer towards the end
// of the game, where one more draw decides whether an expedition pays.
var deckSteps = [...]int{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30, 35, 40}

const (
	colorAlign  = 8  // a block is a whole number of table entries
	commonWidth = 40 // features of the common block, spare ones included
)

// NewCards returns the layout of a configuration; it panics on an invalid one.
func NewCards(cfg rules.Config) *Cards {
	t := rules.NewTables(cfg)
	c := &Cards{cfg: cfg}
	c.setScales()
	c.fields = c.plan(false)
	c.width = width(c.fields)
	c.setTables(t)
	c.observe.bind(c.observeRange)
	c.hidden = &openView{fields: c.plan(true), rows: c.openRows, oneGame: c.openGame}
	return c
}

// setScales derives the divisors from the configuration. An expedition's cost
// is the natural unit of points, as faces up to it only pay it back.
func (c *Cards) setScales() {
	unit := -c.cfg.Penalty
	if unit == 0 {
		unit = max(1, c.cfg.Ranks*(c.cfg.MinRank+c.cfg.TopFace())/4) // half the faces of a colour
	}
	c.faces, c.points, c.margin = unit, 2*unit, 3*unit
	c.deckMax = max(1, c.cfg.DeckSize())
}

func (c *Cards) plan(open bool) []Field {
	p := new(plan)
	for p.color = range c.cfg.Colors {
		start := p.width
		c.planColor(p, open)
		if p.color == 0 {
			c.block = (p.width + colorAlign - 1) / colorAlign * colorAlign
		}
		p.spare(start + c.block)
	}
	p.color = Common
	c.planCommon(p)
	return p.fields
}

func (c *Cards) planColor(p *plan, open bool) {
	start := p.width
	set := func(name, meaning string) int {
		return p.add(Field{Name: name, Unit: "0/1", Meaning: meaning, Parts: c.setParts()}, 1) - start
	}
	one := func(name, unit, meaning string) int {
		return p.add(Field{Name: name, Unit: unit, Meaning: meaning}, 1) - start
	}
	points := fmt.Sprintf("points / %d", c.points)
	faces := fmt.Sprintf("faces / %d", c.faces)
	v := &c.view
	v.hand = set("own hand", "cards in the own hand, wagers as a thermometer")
	v.exp = set("own expedition", "cards of the own expedition")
	v.theirExp = set("their expedition", "cards of the opponent's expedition")
	if open {
		v.theirHand = set("their hand", "cards in the opponent's hand, hidden ones too")
	} else {
		v.theirHand = set("their known hand", "cards in the opponent's hand that were taken from a pile")
	}
	v.pile = set("pile", "cards of the pile, whatever their order")
	v.top = p.add(Field{Name: "pile top", Unit: "0/1", Meaning: "type of the pile's top card, one-hot; none if it is empty", Parts: typeParts(c.cfg)}, 1) - start
	v.pending = one("discarded here", "0/1", "this turn's card went to this pile, so it can't be drawn from")
	v.score = one("own score", points, "points of the own expedition")
	v.theirScore = one("their score", points, "points of the opponent's expedition")
	v.started = one("own started", "0/1", "the own expedition has a card")
	v.theirStarted = one("their started", "0/1", "the opponent's expedition has a card")
	v.playable = one("playable faces", faces, "sum of the faces in hand that the own expedition can take")
	v.inHand = one("faces in hand", faces, "sum of the faces in hand")
}

func (c *Cards) planCommon(p *plan) {
	start := p.width
	steps := make([]string, len(deckSteps))
	for i, s := range deckSteps {
		steps[i] = fmt.Sprintf("≥ %d", s)
	}
	v := &c.view
	v.phase = p.add(Field{Name: "phase", Unit: "0/1", Meaning: "0 card, 1 draw"}, 1) - start
	v.deck = p.add(Field{Name: "deck", Unit: fmt.Sprintf("cards / %d", c.deckMax), Meaning: "cards left to draw"}, 1) - start
	v.margin = p.add(Field{Name: "score difference", Unit: fmt.Sprintf("points / %d", c.margin), Meaning: "own total minus the opponent's"}, 1) - start
	v.depth = p.add(Field{Name: "deck thermometer", Unit: "0/1", Meaning: "at least so many cards left to draw", Parts: steps}, 1) - start
	v.played = p.add(Field{Name: "played a card", Unit: "0/1", Meaning: "this turn's card went to an expedition"}, 1) - start
	p.spare(start + commonWidth)
}

// setParts names the cards of a colour's set.
func (c *Cards) setParts() []string {
	var parts []string
	for i := range c.cfg.Wagers {
		parts = append(parts, fmt.Sprintf("wager %d", i+1))
	}
	return append(parts, typeParts(c.cfg)[1:]...)
}

func (c *Cards) setTables(t *rules.Tables) {
	c.numbers = uint16(1<<c.cfg.PerColor() - 1<<c.cfg.Wagers)
	c.sets = make([]cardSet, 1<<c.cfg.PerColor())
	for i := range c.sets {
		set := uint16(i)
		c.sets[i] = cardSet{
			score:   float32(t.SetScore(set)) / float32(c.points),
			faces:   float32(t.FaceSum(set)) / float32(c.faces),
			points:  t.SetScore(set),
			fits:    t.Fits(^uint16(0), set),
			started: uint16(flag(set != 0)),
		}
	}
	c.deckOf = make([]float32, c.cfg.Cards()+1)
	c.depths = make([]uint32, c.cfg.Cards()+1)
	for n := range c.deckOf {
		c.deckOf[n] = float32(n) / float32(c.deckMax)
		for i, step := range deckSteps {
			c.depths[n] |= uint32(flag(n >= step)) << i
		}
	}
	c.eight = newEight()
}

// Name returns "cards".
func (c *Cards) Name() string { return "cards" }

// Version returns CardsVersion.
func (c *Cards) Version() int { return CardsVersion }

// Config returns the variant of the game.
func (c *Cards) Config() rules.Config { return c.cfg }

// Width returns D; 440 for the classic game.
func (c *Cards) Width() int { return c.width }

// ColorWidth returns the features of a colour's block; colour k's begins at
// feature k·ColorWidth, and the common block follows the last.
func (c *Cards) ColorWidth() int { return c.block }

// Fields implements Layout.
func (c *Cards) Fields() []Field { return cloneFields(c.fields) }

// Actions returns the rules' number of actions.
func (c *Cards) Actions() int { return c.cfg.Actions() }

// MaskWords implements Layout.
func (c *Cards) MaskWords() int { return vec.MaskWords(c.cfg.Actions()) }

// MaxLegal implements Layout.
func (c *Cards) MaxLegal() int { return c.cfg.MaxLegal() }

// ActionName implements Layout.
func (c *Cards) ActionName(a int32) string { return c.cfg.ActionName(rules.Action(a)) }

// Observe implements Layout.
func (c *Cards) Observe(dst []float32, g *rules.Games, rows []int32) {
	c.run(dst, g, toMove, rows, false)
}

// ObserveAs implements Layout. The features do not say who is to move, nor
// what he may do.
func (c *Cards) ObserveAs(dst []float32, g *rules.Games, player int, rows []int32) {
	mustBePlayer(player)
	c.run(dst, g, player, rows, false)
}

func (c *Cards) open() *openView { return c.hidden }

func (c *Cards) openRows(dst []float32, g *rules.Games, player int, rows []int32) {
	c.run(dst, g, player, rows, true)
}

func (c *Cards) run(dst []float32, g *rules.Games, player int, rows []int32, open bool) {
	mustMatch(g.Config, c.cfg)
	if len(dst) != len(rows)*c.width {
		panic(badLength)
	}
	c.observe.do(call{g: g, rows: rows, player: player, open: open, dst: dst})
}

func (c *Cards) observeRange(k *call, lo, hi int) {
	theirs := &k.g.Known
	if k.open {
		theirs = &k.g.Hand
	}
	for i := lo; i < hi; i++ {
		b := k.rows[i]
		c.encode(k.dst[i*c.width:(i+1)*c.width], k.g, b, k.playerOf(b), theirs)
	}
}

// encode writes one row: for each colour the bits of its block as one string,
// then its few numbers over zeros left for them.
func (c *Cards) encode(dst []float32, g *rules.Games, b int32, player int, theirs *vec.Column[uint16]) {
	v, colors := &c.view, c.cfg.Colors
	own, other := (int(b)*2+player)*colors, (int(b)*2+1-player)*colors
	hand, exp := g.Hand.Data[own:own+colors], g.Exp.Data[own:own+colors]
	theirExp, shown := g.Exp.Data[other:other+colors], theirs.Data[other:other+colors]
	var piles [rules.MaxColors]uint64
	c.pileBits(piles[:colors], g, b)
	order := asTheyAre
	if c.sorted {
		order = sortColors(exp, hand, theirExp)
	}
	size, started := uint(c.cfg.PerColor())&31, uint(v.started-v.pile)&63
	var margin int32
	rest := dst
	for _, k := range order[:colors] {
		h, e, f := hand[k], exp[k], theirExp[k]
		mine, yours := &c.sets[e], &c.sets[f]
		tail := piles[k%rules.MaxColors] | uint64(mine.started|yours.started<<1)<<started
		low := tail<<size | uint64(shown[k])
		low = low<<size | uint64(f)
		low = low<<size | uint64(e)
		low = low<<size | uint64(h)
		c.expand(rest[:c.block], low, tail>>(64-v.pile))
		numbers := (*[6]float32)(rest[v.score:]) // two of them are bits
		numbers[0], numbers[1] = mine.score, yours.score
		numbers[4], numbers[5] = c.sets[h&mine.fits].faces, c.sets[h].faces
		margin += mine.points - yours.points
		rest = rest[c.block:]
	}
	if pending := g.Pending.Data[b]; pending != rules.NoPending {
		places := order.places(colors)
		dst[int(places[pending])*c.block+v.pending] = 1
	}
	c.encodeCommon(rest, g, b, margin)
}

// pileBits sets dst, [C], to the bits of the fields of each colour's pile: its
// numbers are those that are nowhere else, and the rest of it are wagers.
func (c *Cards) pileBits(dst []uint64, g *rules.Games, b int32) {
	n := len(dst)
	hands, exps := g.Hand.Row(b), g.Exp.Row(b)
	top := uint(c.view.top-c.view.pile) & 63
	for k, deck := range g.Deck.Row(b)[:n] {
		numbers := c.numbers &^ (hands[k] | hands[k+n] | exps[k] | exps[k+n] | deck)
		cards, topType := g.PileTopType(b, k)
		wagers := cards - uint8(bits.OnesCount16(numbers))
		dst[k] = uint64(numbers) | (1<<(wagers&31) - 1) | topType<<top
	}
}

func (c *Cards) encodeCommon(dst []float32, g *rules.Games, b int32, margin int32) {
	phase := uint64(g.Phase(b))
	left := g.DeckLen.Data[b]
	c.expand(dst, phase<<c.view.phase|
		uint64(c.depths[left])<<c.view.depth|
		phase&flag(g.Pending.Data[b] == rules.NoPending)<<c.view.played, 0)
	dst[c.view.deck] = c.deckOf[left]
	dst[c.view.margin] = float32(margin) / float32(c.margin)
}

// expand writes the bits of a string of up to 128 as features, lowest first: a
// word at a time, written out because a loop would check each length.
func (c *Cards) expand(dst []float32, low, high uint64) {
	eight := c.eight
	for ; len(dst) >= 64; dst, low = dst[64:], high {
		word := (*[64]float32)(dst)
		*(*[8]float32)(word[0:]) = eight[low&255]
		*(*[8]float32)(word[8:]) = eight[low>>8&255]
		*(*[8]float32)(word[16:]) = eight[low>>16&255]
		*(*[8]float32)(word[24:]) = eight[low>>24&255]
		*(*[8]float32)(word[32:]) = eight[low>>32&255]
		*(*[8]float32)(word[40:]) = eight[low>>40&255]
		*(*[8]float32)(word[48:]) = eight[low>>48&255]
		*(*[8]float32)(word[56:]) = eight[low>>56]
	}
	for ; len(dst) >= 8; dst, low = dst[8:], low>>8 {
		*(*[8]float32)(dst) = eight[low&255]
	}
}

// Legal implements Layout.
func (c *Cards) Legal(dst []uint64, g *rules.Games, rows []int32) {
	mustMatch(g.Config, c.cfg)
	g.Legal(dst, rows)
}

// LegalGame implements Layout.
func (c *Cards) LegalGame(g *rules.Game) []int32 {
	mustMatch(g.Config(), c.cfg)
	var legal []int32
	for _, a := range g.Legal() {
		legal = append(legal, int32(a))
	}
	return legal
}

// RulesActions copies: the actions are the rules' own.
func (c *Cards) RulesActions(dst []int32, g *rules.Games, rows, actions []int32) {
	mustMatch(g.Config, c.cfg)
	if len(dst) != len(rows) || len(actions) != len(rows) {
		panic(badLength)
	}
	for i, b := range rows {
		dst[i] = actions[i]
		if g.Done(b) {
			dst[i] = 0
		}
	}
}

// LayoutActions copies: the actions are the rules' own.
func (c *Cards) LayoutActions(dst []int32, g *rules.Games, rows, actions []int32) {
	c.RulesActions(dst, g, rows, actions)
}

// RulesAction returns the same action.
func (c *Cards) RulesAction(g *rules.Game, a int32) rules.Action {
	mustMatch(g.Config(), c.cfg)
	return rules.Action(a)
}

// LayoutAction returns the same action.
func (c *Cards) LayoutAction(g *rules.Game, a rules.Action) int32 {
	mustMatch(g.Config(), c.cfg)
	return int32(a)
}
