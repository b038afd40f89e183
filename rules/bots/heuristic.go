package bots

import (
	"math"
	"math/bits"

	"vtrain/rules"
)

// params are what the heuristic bots differ in.
type params struct {
	openTarget  float64 // faces that justify an expedition, of a colour's sum
	openCards   float64 // numbers that justify it, of the hand
	wagerTarget float64 // faces that justify a wager, of the opening target
	wagerCards  float64 // numbers that justify it, of the hand
	block       float64 // deck, of the whole pack, down from which nothing is opened
}

var (
	balanced   = params{openTarget: .50, openCards: .40, wagerTarget: 1.15, wagerCards: .34, block: .20}
	aggressive = params{openTarget: .42, openCards: .30, wagerTarget: 1.00, wagerCards: .25, block: .12}
	cautious   = params{openTarget: .62, openCards: .50, wagerTarget: 1.35, wagerCards: .45, block: .30}
)

// tie is the difference up to which two values count as equal. Values are
// sums of a few small decimal fractions: equal ones differ by rounding errors
// near 1e-14, different ones by 1e-4 or more.
const tie = 1e-9

// refused is the value of a pile that is not to be drawn from.
const refused = -8

// A heuristic weighs candidates and takes the best. Thresholds on faces are
// whole numbers, rounded up: faces are whole, so the comparison is exact.
type heuristic struct {
	*rules.Tables
	faceSum []int32 // [2^ranks] faces of a set of numbers

	midRank, topFace int
	late, mid        int // deck sizes down from which the game is late, in its middle
	block            int // deck size down from which nothing is opened
	minOpen          int // numbers for a strong opening
	minWager         int // numbers for a wager

	strongFaces, strongLow int // faces for a strong opening, and without a high number
	speculativeFaces       int
	exceptionalFaces       int
	halfFaces              int
	wagerFaces             int
	canBonus               bool
	bonus, hopeful         float64 // points of the bonus, and of the prospect of it
	penalty                float64
}

func newHeuristic(t *rules.Tables, p params) *heuristic {
	h := &heuristic{
		Tables:  t,
		faceSum: make([]int32, 1<<t.Ranks),
		midRank: (t.Ranks + 1) / 2,
		topFace: t.TopFace(),
		penalty: float64(t.Penalty),
	}
	for numbers := range h.faceSum {
		h.faceSum[numbers] = int32(t.FaceSum(uint16(numbers) << t.Wagers))
	}
	h.setDeck(p)
	h.setHand(p)
	h.setFaces(p)
	h.canBonus = t.PerColor() >= t.BonusAt
	h.bonus, h.hopeful = float64(t.Bonus), .4*float64(t.Bonus)
	return h
}

// setDeck takes the parts of the whole pack, the cards of the deal included:
// the recorded bots tell it from the deck that the deal leaves.
func (h *heuristic) setDeck(p params) {
	part := func(f float64) int { return int(math.RoundToEven(f * float64(h.Cards()))) }
	h.late = max(1, part(.20))
	h.mid = max(h.late+1, part(.35))
	h.block = max(1, part(p.block))
}

func (h *heuristic) setHand(p params) {
	part := func(f float64) int {
		n := int(math.RoundToEven(f * float64(h.Config.Hand)))
		return min(max(n, 1), h.Config.Hand)
	}
	h.minOpen = part(p.openCards)
	h.minWager = part(p.wagerCards)
}

func (h *heuristic) setFaces(p params) {
	sum := float64(h.faceSum[len(h.faceSum)-1])
	target := min(-.8*h.penalty, p.openTarget*sum)
	h.strongFaces = atLeast(target)
	h.strongLow = atLeast(.85 * sum)
	h.speculativeFaces = atLeast(.65 * target)
	h.exceptionalFaces = atLeast(max(-h.penalty, 1.4*target))
	h.halfFaces = atLeast(.5 * target)
	h.wagerFaces = atLeast(target * p.wagerTarget)
}

// atLeast returns the least whole number that reaches x, rounding errors aside.
func atLeast(x float64) int { return int(math.Ceil(x - tie)) }

// A choice is the best of the candidates offered so far: of equal ones the
// last. Offered in ascending order, that is the higher colour, then rank.
type choice struct {
	action rules.Action
	value  float64
	found  bool
	all    []float64 // [A] value of each candidate, where that is asked for
}

func (c *choice) offer(a rules.Action, value float64) {
	if c.all != nil {
		c.all[a] = value
	}
	switch {
	case !c.found:
		c.action, c.value, c.found = a, value, true
	case value >= c.value-tie:
		c.action, c.value = a, max(value, c.value)
	}
}

func (h *heuristic) act(v *view) rules.Action {
	var best choice
	h.weigh(&best, v)
	return best.action
}

// weigh offers the candidates of the first step that has any.
func (h *heuristic) weigh(best *choice, v *view) {
	if v.drawing {
		h.weighDraws(best, v)
		return
	}
	opened := h.opened(v)
	var held holdings
	h.hold(&held, v)
	h.weighWagers(best, v, &held)
	if !best.found {
		h.weighNumbers(best, v, &held, opened)
	}
	if !best.found && opened == 0 {
		h.weighFirst(best, v, &held)
	}
	if !best.found {
		h.weighDiscards(best, v, &held)
	}
}

// opened counts the own started expeditions.
func (h *heuristic) opened(v *view) int {
	n := 0
	for _, exp := range v.own[:h.Colors] {
		if exp != 0 {
			n++
		}
	}
	return n
}

// A holding is what a player holds of one colour.
type holding struct {
	exp         uint16
	numbers     uint16 // hand numbers
	live        uint16 // hand numbers that fit
	wagers      int    // hand wagers
	liveWagers  int    // hand wagers that fit
	expWagers   int
	expFaces    int
	expCards    int
	liveFaces   int
	liveNumbers int
}

// holdings are what a player holds, by colour. Those of colours that he has no
// card of in hand are empty: no card ply needs them.
type holdings [rules.MaxColors]holding // [C]

func (h *heuristic) hold(held *holdings, v *view) {
	for c, hand := range v.hand[:h.Colors] {
		if hand != 0 {
			held[c] = h.holding(v, c)
		}
	}
}

func (h *heuristic) holding(v *view, c int) holding {
	hand, exp := v.hand[c], v.own[c]
	fits := h.Fits(hand, exp)
	live := h.Numbers(fits)
	return holding{
		exp:         exp,
		numbers:     h.Numbers(hand),
		live:        live,
		wagers:      h.WagerCount(hand),
		liveWagers:  h.WagerCount(fits),
		expWagers:   h.WagerCount(exp),
		expFaces:    h.faces(h.Numbers(exp)),
		expCards:    bits.OnesCount16(exp),
		liveFaces:   h.faces(live),
		liveNumbers: bits.OnesCount16(live),
	}
}

// faces returns the faces of a set of numbers.
func (h *heuristic) faces(numbers uint16) int { return int(h.faceSum[numbers]) }

// from returns the numbers of a rank and above.
func from(numbers uint16, rank int) uint16 {
	return numbers & (^uint16(0) << max(rank-1, 0))
}

// prospect values the bonus: in full once committed cards secure it, in part
// while live cards in hand, and extra ones, could.
func (h *heuristic) prospect(k *holding, committed, live int) float64 {
	if !h.canBonus {
		return 0
	}
	switch need := h.BonusAt - k.expCards - committed; {
	case need <= 0:
		return h.bonus
	case live >= need:
		return h.hopeful
	}
	return 0
}

// liveCards returns the hand cards that fit.
func (k *holding) liveCards() int { return k.liveNumbers + k.liveWagers }

// commit says how far the player is committed to a colour.
func (h *heuristic) commit(k *holding) float64 {
	value := 0.0
	if k.exp != 0 {
		value = 5
	}
	return value + 2*float64(k.expWagers) + .25*float64(k.expFaces) +
		1.2*float64(k.liveNumbers) + 1.5*float64(k.liveWagers) + .15*float64(k.liveFaces) +
		.05*h.prospect(k, 0, k.liveCards())
}

// planCost is what one more expedition costs, by those opened already.
var planCost = [...]float64{0, 0, 6, 14, 28, 28, 28, 28, 28}

// plan values opening a colour with a card of a rank: 0 for no reason to.
func (h *heuristic) plan(k *holding, rank, opened, deck int) float64 {
	set := from(k.numbers, rank)
	n, s := bits.OnesCount16(set), h.faces(set)
	high := bits.OnesCount16(from(set, h.midRank))
	count, faces, wagers := float64(n), float64(s), float64(k.wagers)
	cost := planCost[opened]
	if opened <= 3 && n >= h.minOpen && s >= h.strongFaces && (high > 0 || s >= h.strongLow) {
		return 6 + .25*faces + .8*count + .5*wagers - cost
	}
	if opened <= 2 && n >= 2 && s >= h.speculativeFaces && high > 0 {
		return 3 + .18*faces + .7*count + .4*wagers - cost
	}
	if opened == 3 {
		return 0
	}
	if n > h.minOpen && s >= h.exceptionalFaces && high >= 2 && deck > h.mid {
		return 10 + .3*faces + count + .7*float64(high) - cost
	}
	if face := h.Face(rank); opened <= 2 && deck <= h.mid && n >= 1 && face >= 8 {
		return 1.5 + .2*float64(face) - cost
	}
	return 0
}

// latePenalty is what starting something costs as the deck runs out.
func (h *heuristic) latePenalty(deck int) float64 {
	switch {
	case deck <= h.late:
		return 15
	case deck <= h.mid:
		return 8
	}
	return 0
}

// weighWagers offers wagers that the hand backs.
func (h *heuristic) weighWagers(best *choice, v *view, held *holdings) {
	if v.deck <= h.block {
		return
	}
	late := h.latePenalty(v.deck)
	for c := range h.Colors {
		k := &held[c]
		if k.liveWagers == 0 || !h.backsWager(k) {
			continue
		}
		value := float64(k.liveFaces) + 2*float64(k.liveNumbers) + h.prospect(k, 1, k.liveCards()-1) - late
		best.offer(h.Play(h.Card(c, 0)), value)
	}
}

// backsWager reports whether the live numbers justify a wager.
func (h *heuristic) backsWager(k *holding) bool {
	return k.liveNumbers >= h.minWager && k.liveFaces >= h.wagerFaces
}

// weighNumbers offers numbers for started expeditions, and for new ones that
// there is a plan for.
func (h *heuristic) weighNumbers(best *choice, v *view, held *holdings, opened int) {
	for c := range h.Colors {
		k := &held[c]
		if k.live == 0 {
			continue
		}
		if k.exp != 0 {
			h.weighGoingOn(best, v, c, k)
		} else if v.deck > h.block {
			h.weighOpening(best, v, c, k, opened)
		}
	}
}

func (h *heuristic) weighGoingOn(best *choice, v *view, c int, k *holding) {
	bonus := h.prospect(k, 1, k.liveCards()-1)
	for m := k.live; m != 0; m &= m - 1 {
		rank := lowest(m)
		face := h.Face(rank)
		value := float64(7 + h.topFace + 1 - face + 3*k.expWagers)
		switch {
		case v.deck <= h.late:
			value += 2 * float64(face)
		case v.deck <= h.mid:
			value += .8 * float64(face)
		}
		// What the expedition will hold if nothing but the hand comes.
		if k.expFaces+h.faces(m) < h.strongFaces {
			value -= 6
		}
		best.offer(h.Play(h.Card(c, rank)), value+bonus)
	}
}

func (h *heuristic) weighOpening(best *choice, v *view, c int, k *holding, opened int) {
	bonus := h.prospect(k, 1, k.liveCards()-1)
	late := h.latePenalty(v.deck)
	for m := k.live; m != 0; m &= m - 1 {
		rank := lowest(m)
		plan := h.plan(k, rank, opened, v.deck)
		if plan <= 0 {
			continue
		}
		value := float64(h.faces(m)) + 2*float64(bits.OnesCount16(m)) + 1.5*float64(k.wagers) +
			plan + h.penalty + float64(max(0, h.midRank-rank)) + bonus - late
		best.offer(h.Play(h.Card(c, rank)), value)
	}
}

// weighFirst offers numbers that start the first expedition of all, on less
// than a plan.
func (h *heuristic) weighFirst(best *choice, v *view, held *holdings) {
	for c := range h.Colors {
		k := &held[c]
		weak := k.liveNumbers < 2 && k.liveFaces < h.halfFaces && v.deck > h.mid
		for m := k.live; m != 0; m &= m - 1 {
			rank := lowest(m)
			plan := h.plan(k, rank, 0, v.deck)
			if plan <= 0 && weak {
				continue
			}
			value := plan + .2*float64(k.liveFaces) + float64(h.topFace+1-h.Face(rank))
			best.offer(h.Play(h.Card(c, rank)), value)
		}
	}
}

// weighDiscards offers every card of the hand, at what it is not worth.
func (h *heuristic) weighDiscards(best *choice, v *view, held *holdings) {
	for c := range h.Colors {
		if v.hand[c] == 0 {
			continue
		}
		k := &held[c]
		commit := h.commit(k)
		interest := h.interest(v, c)
		for m := h.TypeBits(v.hand[c]); m != 0; m &= m - 1 {
			rank := bits.TrailingZeros64(m)
			value := 0.0
			switch {
			case !h.FitsRank(k.exp, rank):
				value = 20
			case rank == 0:
				value = -4 - h.mine(k, rank, commit)
			default:
				value = -h.mine(k, rank, commit)
			}
			if h.FitsRank(v.other[c], rank) {
				value -= h.theirs(rank, interest)
			} else {
				value += 6
			}
			best.offer(h.Discard(h.Card(c, rank)), value)
		}
	}
}

// mine is what a card that fits is worth to its holder.
func (h *heuristic) mine(k *holding, rank int, commit float64) float64 {
	if rank == 0 {
		return 7 + 1.2*commit
	}
	value := .8*float64(h.Face(rank)) + commit
	if k.exp != 0 {
		value += 7
	}
	if commit >= 6-tie && rank <= h.midRank {
		value += 5
	}
	return value
}

// theirs is what a card that fits the opponent is worth to him, from his
// interest in its colour.
func (h *heuristic) theirs(rank int, interest float64) float64 {
	if rank == 0 {
		return 8 + 1.5*interest
	}
	return float64(h.Face(rank)) * (.4 + .25*interest)
}

// interest is the opponent's interest in a colour, as far as can be seen.
func (h *heuristic) interest(v *view, c int) float64 {
	exp := v.other[c]
	value := 0.0
	if exp != 0 {
		value = 5 + 2*float64(h.WagerCount(exp)) + .25*float64(h.faces(h.Numbers(exp))) +
			.4*float64(h.Face(h.TopRank(exp)))
	}
	if top := int(v.top[c]); top != noTop && h.FitsRank(exp, top) {
		if top == 0 {
			value += 1.5
		} else {
			value += 1 + .1*float64(h.Face(top))
		}
	}
	if h.canBonus && bits.OnesCount16(exp)+1 >= h.BonusAt {
		value += .2 * h.bonus
	}
	return value
}

// weighDraws offers the piles that may be drawn from and then the deck, which
// so wins ties.
func (h *heuristic) weighDraws(best *choice, v *view) {
	opened := h.opened(v)
	for c := range h.Colors {
		if v.canDraw(c) {
			best.offer(h.DrawPile(c), h.pileValue(v, c, opened))
		}
	}
	best.offer(h.DrawDeck(), h.deckValue(v))
}

func (h *heuristic) deckValue(v *view) float64 {
	value := -1.0
	switch {
	case v.deck > h.mid:
		value = 2
	case v.deck > h.late:
		value = 1
	}
	if v.diff > 0 {
		return value + .75
	}
	return value - 1.25
}

// pileValue is the worth of a pile's top card, taking it from the opponent
// included.
func (h *heuristic) pileValue(v *view, c, opened int) float64 {
	k := h.holding(v, c)
	rank := int(v.top[c])
	theirs := 0.0
	if h.FitsRank(v.other[c], rank) {
		theirs = h.theirs(rank, h.interest(v, c))
	}
	value := .4 * theirs
	if v.diff <= 0 {
		value += 1.5
	}
	if k.exp != 0 {
		return value + h.pileForStarted(&k, rank)
	}
	if opened >= 4 {
		value -= 20
	} else if opened == 3 {
		value -= 10
	}
	backed := rank == 0 && h.backsWager(&k)
	if backed {
		return value + 6 + h.commit(&k)
	}
	support := h.support(&k, rank, opened, v.deck)
	if opened >= 4 && support < 6-tie && theirs < 10-tie && v.diff > -15 {
		return refused
	}
	if rank == 0 {
		return value + support - .5
	}
	return value + float64(h.Face(rank)) + .7*h.commit(&k) + support + h.prospect(&k, 0, k.liveCards()+1)
}

// pileForStarted is what a pile's top card adds to a started expedition.
func (h *heuristic) pileForStarted(k *holding, rank int) float64 {
	fits := h.FitsRank(k.exp, rank)
	switch bonus := h.prospect(k, 0, k.liveCards()+1); {
	case rank == 0 && !fits:
		return -2
	case rank == 0:
		return 6 + h.commit(k)
	case fits:
		return float64(h.Face(rank)) + .7*h.commit(k) + 5 + bonus
	default:
		return -2 + bonus
	}
}

// support is how well the hand would go with a pile's top card of a colour
// not started.
func (h *heuristic) support(k *holding, rank, opened, deck int) float64 {
	set := from(k.numbers, rank)
	n := bits.OnesCount16(set)
	value := .8*float64(n) + float64(k.wagers)
	if rank <= h.midRank {
		value += 1.5
	}
	if h.carries(set, rank) {
		value += 4
	} else if opened <= 2 && (n > 0 || k.wagers > 0) {
		value += 1.5
	}
	switch plan := h.plan(k, rank, opened, deck); {
	case opened <= 2:
		value += .25 * plan
	case opened == 3:
		value += .1 * max(0, plan)
	}
	return value
}

// carries reports whether numbers and a card make an expedition.
func (h *heuristic) carries(set uint16, rank int) bool {
	if rank > 0 {
		set |= 1 << (rank - 1)
	}
	return bits.OnesCount16(set) >= h.minOpen && h.faces(set) >= h.strongFaces && from(set, h.midRank) != 0
}
