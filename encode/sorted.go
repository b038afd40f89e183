package encode

import (
	"fmt"
	"slices"

	"vtrain/rules"
	"vtrain/vec"
)

// SortedVersion is the version of the sorted layout: it changes whenever the
// meaning of any feature or action does, those of Cards included.
const SortedVersion = 1

// Sorted is the cards layout in a canonical form: the blocks of the colours are
// in the order of how far the player has come with each, and actions name
// colours by their place in it. Colours are interchangeable; so a network learns
// from one position what it would otherwise have to learn from each of its
// renamings, 120 in the classic game. Colours that differ in nothing but piles and
// known cards keep their order, so some renamings do look different.
type Sorted struct {
	cards  *Cards
	fields []Field

	legal, toRules, toLayout kernel
}

// NewSorted returns the layout of a configuration; it panics on an invalid one.
func NewSorted(cfg rules.Config) *Sorted {
	s := &Sorted{cards: NewCards(cfg)}
	s.cards.sorted = true
	s.fields = byPlace(s.cards.fields)
	s.cards.hidden.fields = byPlace(s.cards.hidden.fields)
	s.legal.bind(s.legalRange)
	s.toRules.bind(s.rulesRange)
	s.toLayout.bind(s.layoutRange)
	return s
}

// byPlace returns fields whose colours are places.
func byPlace(fields []Field) []Field {
	placed := cloneFields(fields)
	for i := range placed {
		placed[i].Place = placed[i].Color != Common
	}
	return placed
}

// Name returns "cards-sorted".
func (s *Sorted) Name() string { return "cards-sorted" }

// Version returns SortedVersion.
func (s *Sorted) Version() int { return SortedVersion }

// Config returns the variant of the game.
func (s *Sorted) Config() rules.Config { return s.cards.cfg }

// Width returns D; 440 for the classic game.
func (s *Sorted) Width() int { return s.cards.width }

// Fields implements Layout.
func (s *Sorted) Fields() []Field { return cloneFields(s.fields) }

// Actions returns the rules' number of actions.
func (s *Sorted) Actions() int { return s.cards.Actions() }

// MaskWords implements Layout.
func (s *Sorted) MaskWords() int { return s.cards.MaskWords() }

// MaxLegal implements Layout.
func (s *Sorted) MaxLegal() int { return s.cards.MaxLegal() }

// ActionName returns an action as people write it: "play colour 1's 7", colour
// 1 being the first in the player's order.
func (s *Sorted) ActionName(a int32) string {
	cfg := s.cards.cfg
	verb, card, place := cfg.Split(rules.Action(a))
	what := "wager"
	if rank := cfg.Rank(card); rank > 0 {
		what = fmt.Sprint(cfg.Face(rank))
	}
	switch verb {
	case rules.Play:
		return fmt.Sprintf("play colour %d's %s", place+1, what)
	case rules.Discard:
		return fmt.Sprintf("discard colour %d's %s", place+1, what)
	case rules.DrawPile:
		return fmt.Sprintf("draw from colour %d's pile", place+1)
	}
	return "draw from the deck"
}

// Observe implements Layout.
func (s *Sorted) Observe(dst []float32, g *rules.Games, rows []int32) { s.cards.Observe(dst, g, rows) }

// ObserveAs implements Layout. The order is that of the given player.
func (s *Sorted) ObserveAs(dst []float32, g *rules.Games, player int, rows []int32) {
	s.cards.ObserveAs(dst, g, player, rows)
}

// ObserveGame implements Layout.
func (s *Sorted) ObserveGame(dst []float32, g *rules.Game, player int) {
	s.cards.ObserveGame(dst, g, player)
}

func (s *Sorted) open() *openView { return s.cards.hidden }

// A colorOrder is a list of colours in the order of their blocks, or the places
// of colours in it. Entries beyond the colours of the game are 0.
type colorOrder [rules.MaxColors]int32

// asTheyAre is the order of Cards.
var asTheyAre = func() (o colorOrder) {
	for k := range o {
		o[k] = int32(k)
	}
	return o
}()

// sortColors orders colours by a player's expeditions, then his hand, then the
// opponent's expeditions: sets as numbers, the largest first, so that the highest
// card decides. Colours that tie keep their order.
func sortColors(exp, hand, theirExp []uint16) (o colorOrder) {
	var keys [rules.MaxColors]uint64
	for k := range exp {
		key, at := uint64(exp[k])<<32|uint64(hand[k])<<16|uint64(theirExp[k]), k
		for ; at > 0 && keys[at-1] < key; at-- {
			keys[at], o[at] = keys[at-1], o[at-1]
		}
		keys[at], o[at] = key, int32(k)
	}
	return o
}

// places returns the inverse of an order of n colours.
func (o *colorOrder) places(n int) (p colorOrder) {
	for place, k := range o[:n] {
		p[k] = int32(place)
	}
	return p
}

// order returns the order of the player to move in a row.
func (s *Sorted) order(g *rules.Games, b int32) colorOrder {
	n, player := s.cards.cfg.Colors, g.Player(b)
	own, other := (int(b)*2+player)*n, (int(b)*2+1-player)*n
	return sortColors(g.Exp.Data[own:own+n], g.Hand.Data[own:own+n], g.Exp.Data[other:other+n])
}

// places returns the places of the colours there.
func (s *Sorted) places(g *rules.Games, b int32) colorOrder {
	o := s.order(g, b)
	return o.places(s.cards.cfg.Colors)
}

// rename returns an action on colour k as that on colour to[k].
func (s *Sorted) rename(a int32, to *colorOrder) int32 {
	types, width := int32(s.cards.cfg.Types()), int32(s.cards.cfg.Ranks+1)
	switch {
	case a < 2*types:
		color := a % types / width
		return a + (to[color]-color)*width
	case a == 2*types:
		return a
	}
	return 2*types + 1 + to[a-2*types-1]
}

// Legal implements Layout.
func (s *Sorted) Legal(dst []uint64, g *rules.Games, rows []int32) {
	s.cards.Legal(dst, g, rows)
	s.legal.do(call{g: g, rows: rows, mask: dst})
}

// legalRange renames the legal actions of Cards.
func (s *Sorted) legalRange(k *call, lo, hi int) {
	words := s.MaskWords()
	var buffer [64]int32 // more legal actions than that allocate
	for i := lo; i < hi; i++ {
		row := k.mask[i*words : (i+1)*words]
		legal := vec.MaskAppend(buffer[:0], row)
		clear(row)
		places := s.places(k.g, k.rows[i])
		for _, a := range legal {
			vec.MaskSet(row, int(s.rename(a, &places)))
		}
	}
}

// RulesActions implements Layout.
func (s *Sorted) RulesActions(dst []int32, g *rules.Games, rows, actions []int32) {
	s.translate(&s.toRules, dst, g, rows, actions)
}

// LayoutActions implements Layout.
func (s *Sorted) LayoutActions(dst []int32, g *rules.Games, rows, actions []int32) {
	s.translate(&s.toLayout, dst, g, rows, actions)
}

func (s *Sorted) translate(k *kernel, dst []int32, g *rules.Games, rows, actions []int32) {
	mustMatch(g.Config, s.cards.cfg)
	if len(dst) != len(rows) || len(actions) != len(rows) {
		panic(badLength)
	}
	k.do(call{g: g, rows: rows, to: dst, actions: actions})
}

func (s *Sorted) rulesRange(k *call, lo, hi int) {
	for i := lo; i < hi; i++ {
		order := s.order(k.g, k.rows[i])
		s.renameRow(k, i, &order)
	}
}

func (s *Sorted) layoutRange(k *call, lo, hi int) {
	for i := lo; i < hi; i++ {
		places := s.places(k.g, k.rows[i])
		s.renameRow(k, i, &places)
	}
}

// renameRow renames action i of a call; that of a finished game becomes 0.
func (s *Sorted) renameRow(k *call, i int, to *colorOrder) {
	if k.g.Done(k.rows[i]) {
		k.to[i] = 0
		return
	}
	k.to[i] = s.rename(k.actions[i], to)
}

// LegalGame implements Layout.
func (s *Sorted) LegalGame(g *rules.Game) []int32 {
	legal := s.cards.LegalGame(g)
	for i, a := range legal {
		legal[i] = s.LayoutAction(g, rules.Action(a))
	}
	slices.Sort(legal)
	return legal
}

// RulesAction implements Layout.
func (s *Sorted) RulesAction(g *rules.Game, a int32) rules.Action {
	mustMatch(g.Config(), s.cards.cfg)
	return s.cards.cfg.PermuteAction(rules.Action(a), s.cards.orderGame(g, g.Player()))
}

// LayoutAction implements Layout.
func (s *Sorted) LayoutAction(g *rules.Game, a rules.Action) int32 {
	mustMatch(g.Config(), s.cards.cfg)
	places := make([]int, s.cards.cfg.Colors)
	for place, color := range s.cards.orderGame(g, g.Player()) {
		places[color] = place
	}
	return int32(s.cards.cfg.PermuteAction(a, places))
}
