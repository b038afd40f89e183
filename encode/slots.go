package encode

import (
	"fmt"

	"vtrain/rules"
)

// SlotsVersion is the version of the slots layouts.
const SlotsVersion = 1

// SlotOptions selects the blocks of a slots layout beyond its base.
type SlotOptions struct {
	Derived   bool // playability of each colour: sums, counts, dead cards
	SlotAware bool // what playing each hand slot would commit to
}

// Slots is the layout of earlier work: floats for hand slots, expeditions and
// piles, and actions that name slots of the hand. Slot s is the s-th card of
// the mover's hand, ascending by type. A = 2H+1+C: play slot s is 2s, discard
// it 2s+1, draw from the deck 2H, from the pile of colour k 2H+1+k. Slots that
// hold identical wagers are each legal, unlike in the rules' actions.
//
// The base block ends with the legal actions of the player to move. Observing
// the other player thus tells him which slots of the mover's hand can be
// played: the recorded reference does so, and this layout keeps to it. Cards
// has no such input.
type Slots struct {
	cfg    rules.Config
	opt    SlotOptions
	view   slotsFields
	fields []Field
	width  int
	hidden *openView

	points  int // divisor of scores
	faceSum int // divisor of sums of faces: all faces of a colour
	slotTables
	observe, legal, toRules, toLayout kernel
}

// slotsFields are the indices of the first feature of each field.
type slotsFields struct {
	phase, mover, observer, deck, hand, exp, pile, public, scores, turn, pending, legal int
	derived, progress, aware, theirHand                                                 int
}

// Features of one repetition of a field.
const (
	perSlot    = 3
	perExp     = 4
	perPile    = 4
	perDerived = 15
	perAware   = 6
)

// maxHand is the largest hand of any configuration: half of 8 colours of 16.
const maxHand = 64

// NewSlots returns a slots layout; it panics on an invalid configuration.
func NewSlots(cfg rules.Config, opt SlotOptions) *Slots {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	s := &Slots{
		cfg:     cfg,
		opt:     opt,
		points:  max(1, cfg.Bonus+cfg.Ranks*(cfg.Ranks+1)*(cfg.Wagers+1)),
		faceSum: max(1, cfg.Ranks*(cfg.MinRank+cfg.TopFace())/2),
	}
	s.setTables()
	s.hidden = &openView{fields: s.plan(true), rows: s.openRows, oneGame: s.openGame}
	s.fields = s.plan(false)
	s.width = width(s.fields)
	s.observe.bind(s.observeRange)
	s.legal.bind(s.legalRange)
	s.toRules.bind(s.toRulesRange)
	s.toLayout.bind(s.toLayoutRange)
	return s
}

func (s *Slots) plan(open bool) []Field {
	p := &plan{color: Common}
	s.planState(p)
	s.planCounts(p)
	if s.opt.Derived {
		s.planDerived(p)
	}
	if s.opt.SlotAware {
		s.view.aware = p.add(Field{Name: "slot", Unit: "0/1",
			Meaning: "what playing the card of an own hand slot would do, whoever is to move; a card fits if the rules let it be played",
			Per:     "hand slot", Parts: []string{"fits a colour without numbers", "number that does so", "wager that opens the colour",
				"fits a colour with numbers", "number that does not fit", "wager that fits"}}, s.cfg.Hand)
	}
	if open {
		s.view.theirHand = p.add(handField("their hand", "the opponent's hand, ascending by type"), s.cfg.Hand)
	}
	return p.fields
}

func handField(name, meaning string) Field {
	return Field{Name: name, Unit: "as given", Meaning: meaning, Per: "hand slot",
		Parts: []string{"present", "(colour+1) / colours", "rank / ranks"}}
}

func (s *Slots) planState(p *plan) {
	v, cfg := &s.view, s.cfg
	v.phase = p.add(Field{Name: "phase", Unit: "0/1", Meaning: "one-hot", Parts: []string{"card", "draw"}}, 1)
	v.mover = p.add(Field{Name: "player to move", Unit: "0/1", Meaning: "his number"}, 1)
	v.observer = p.add(Field{Name: "observing player", Unit: "0/1", Meaning: "his number"}, 1)
	v.deck = p.add(Field{Name: "deck", Unit: fmt.Sprintf("cards / %d", cfg.Cards()), Meaning: "cards left to draw"}, 1)
	v.hand = p.add(handField("hand", "the own hand, ascending by type"), cfg.Hand)
	v.exp = p.add(Field{Name: "expedition", Unit: "as given", Meaning: "player 0's expeditions, then player 1's",
		Per: "player and colour", Parts: []string{s.cards("cards"), s.ranks("highest rank"), s.wagers("wagers"), s.score("points")}}, 2*cfg.Colors)
	v.pile = p.add(Field{Name: "pile", Unit: "as given", Meaning: "the piles; all 0 if empty",
		Per: "colour", Parts: []string{s.cards("cards"), "not empty", "(colour+1) / colours", s.ranks("top rank")}}, cfg.Colors)
}

func (s *Slots) planCounts(p *plan) {
	v, cfg := &s.view, s.cfg
	v.public = p.add(Field{Name: "public cards", Unit: "count", Meaning: "cards of a type in expeditions and piles",
		Per: "colour", Parts: typeParts(cfg)}, cfg.Colors)
	v.scores = p.add(Field{Name: "score", Unit: s.score("points"), Meaning: "totals", Parts: []string{"own", "theirs", "own - theirs"}}, 1)
	v.turn = p.add(Field{Name: "turn", Unit: s.turns(), Meaning: "turns completed, without bound"}, 1)
	v.pending = p.add(Field{Name: "discarded to", Unit: "0/1", Meaning: "pile that got this turn's card, one-hot; none once the game has ended",
		Parts: append(colorParts(cfg), "none")}, 1)
	v.legal = p.add(Field{Name: "legal", Unit: "0/1", Meaning: "actions of the player to move, whoever observes", Parts: s.actionParts()}, 1)
}

func (s *Slots) planDerived(p *plan) {
	s.view.derived = p.add(Field{Name: "derived", Unit: "as given", Meaning: "the own expedition and hand; playable numbers are those in hand that fit, dead ones the others; unseen cards are neither in the own hand nor public",
		Per: "colour", Parts: []string{"unopened", "only wagers played", s.faces("faces played"), s.wagers("wagers played"), s.cards("cards played"),
			s.faces("highest rank played"), s.cards("hand cards"), s.wagers("hand wagers"), s.faces("playable faces"), s.cards("playable numbers"),
			s.cards("dead numbers"), s.faces("dead faces"), "pile top is a number that fits", s.faces("its face"), s.cards("unseen cards")}}, s.cfg.Colors)
	deck := fmt.Sprintf("deck / %d", 2*s.cfg.Cards())
	s.view.progress = p.add(Field{Name: "progress", Unit: "as given", Meaning: "how far the game is",
		Parts: []string{fmt.Sprintf("deck / %d", s.cfg.Cards()), s.turns(), deck}}, 1)
}

// The divisors, as the descriptions name them.

func (s *Slots) cards(of string) string  { return fmt.Sprintf("%s / %d", of, s.cfg.PerColor()) }
func (s *Slots) ranks(of string) string  { return fmt.Sprintf("%s / %d", of, s.cfg.Ranks) }
func (s *Slots) wagers(of string) string { return fmt.Sprintf("%s / %d", of, max(1, s.cfg.Wagers)) }
func (s *Slots) faces(of string) string  { return fmt.Sprintf("%s / %d", of, s.faceSum) }
func (s *Slots) score(of string) string  { return fmt.Sprintf("%s / %d", of, s.points) }
func (s *Slots) turns() string           { return fmt.Sprintf("turns / %d", 2*s.cfg.Cards()) }

// Name returns slots-dXsY: X for the derived block, Y for the slot-aware one.
func (s *Slots) Name() string {
	return fmt.Sprintf("slots-d%ds%d", flag(s.opt.Derived), flag(s.opt.SlotAware))
}

// Version returns SlotsVersion.
func (s *Slots) Version() int { return SlotsVersion }

// Config returns the variant of the game.
func (s *Slots) Config() rules.Config { return s.cfg }

// Width returns D; for the classic game 171, 219 (slot-aware), 249 (derived)
// or 297 (both).
func (s *Slots) Width() int { return s.width }

// Fields implements Layout.
func (s *Slots) Fields() []Field { return cloneFields(s.fields) }

// Observe implements Layout.
func (s *Slots) Observe(dst []float32, g *rules.Games, rows []int32) {
	s.run(dst, g, toMove, rows, false)
}

// ObserveAs implements Layout; see Slots on what it tells a player who is not
// to move.
func (s *Slots) ObserveAs(dst []float32, g *rules.Games, player int, rows []int32) {
	mustBePlayer(player)
	s.run(dst, g, player, rows, false)
}

func (s *Slots) open() *openView { return s.hidden }

func (s *Slots) openRows(dst []float32, g *rules.Games, player int, rows []int32) {
	s.run(dst, g, player, rows, true)
}

func (s *Slots) run(dst []float32, g *rules.Games, player int, rows []int32, open bool) {
	mustMatch(g.Config, s.cfg)
	if len(dst) != len(rows)*s.rowWidth(open) {
		panic(badLength)
	}
	s.observe.do(call{g: g, rows: rows, player: player, open: open, dst: dst})
}

func (s *Slots) rowWidth(open bool) int {
	if open {
		return s.width + s.cfg.Hand*perSlot
	}
	return s.width
}
