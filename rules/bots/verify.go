package bots

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"vtrain/rules"
	"vtrain/vec"
)

// A Record is an action that another implementation of a bot chose.
type Record struct {
	Action   rules.Action
	Balanced rules.Action // heuristic-noisy: what heuristic-balanced would do
	Arrival  []rules.Card // discard-only: the hand, longest held first
}

// NoValue is the value of an action that a heuristic does not consider.
var NoValue = math.Inf(-1)

// Values writes the worth of each action of a row to dst, [A]: NoValue for
// those that the bot does not consider, as it takes the first step with any
// candidate. It reports whether the bot weighs its actions at all.
func (b *Bot) Values(dst []float64, g *rules.Games, row int32) bool {
	b.mustPlay(g.Config)
	var v view
	v.fromRow(g, row)
	return b.values(dst, &v)
}

// ValuesGame is Values for a scalar game.
func (b *Bot) ValuesGame(dst []float64, g *rules.Game) bool {
	b.mustPlay(g.Config())
	var v view
	v.fromGame(g, b.t)
	return b.values(dst, &v)
}

func (b *Bot) values(dst []float64, v *view) bool {
	if b.h == nil {
		return false
	}
	if len(dst) != b.t.Actions() {
		panic("bots: one value for each action")
	}
	for i := range dst {
		dst[i] = NoValue
	}
	b.h.weigh(&choice{all: dst}, v)
	return true
}

// Verify reports why a recorded action is not one that the bot could have
// taken in the row. Bots that choose at random may take any legal action, and
// heuristics any action of the highest value: whom they prefer among equals
// is left open, since the recorded ones went by the order of arrival.
func (b *Bot) Verify(g *rules.Games, row int32, r Record) error {
	b.mustPlay(g.Config)
	var v view
	v.fromRow(g, row)
	return b.verify(&v, r)
}

// VerifyGame is Verify for a scalar game.
func (b *Bot) VerifyGame(g *rules.Game, r Record) error {
	b.mustPlay(g.Config())
	var v view
	v.fromGame(g, b.t)
	return b.verify(&v, r)
}

func (b *Bot) verify(v *view, r Record) error {
	if err := b.checkLegal(v, r.Action); err != nil {
		return err
	}
	switch b.kind {
	case randomKind:
		return nil
	case noisyKind:
		if err := b.checkLegal(v, r.Balanced); err != nil {
			return err
		}
		return b.checkBest(v, r.Balanced)
	case heuristicKind:
		return b.checkBest(v, r.Action)
	case discardKind:
		if !v.drawing {
			return b.checkOldest(v, r)
		}
	}
	return b.checkSame(r.Action, b.act(v))
}

func (b *Bot) checkLegal(v *view, a rules.Action) error {
	var buf [maxMaskWords]uint64
	mask := buf[:b.t.MaskWords]
	v.legal(mask, b.t)
	if a < 0 || int(a) >= b.t.Actions() || !vec.MaskHas(mask, int(a)) {
		return fmt.Errorf("bots: %s: action %d is not legal", b.name, a)
	}
	return nil
}

func (b *Bot) checkBest(v *view, a rules.Action) error {
	values := make([]float64, b.t.Actions())
	b.values(values, v)
	if best := slices.Max(values); values[a] < best-tie {
		return fmt.Errorf("bots: %s: %s is worth %g, %s is worth %g", b.name,
			b.t.ActionName(a), values[a], b.t.ActionName(b.h.act(v)), best)
	}
	return nil
}

// checkOldest holds discard-only to the card that has been in the hand for
// longest.
func (b *Bot) checkOldest(v *view, r Record) error {
	hand := 0
	for _, set := range v.hand {
		hand += bits.OnesCount16(set)
	}
	var arrived [maxColors]uint16
	for _, x := range r.Arrival {
		if c := b.t.Color(x); c < b.t.Colors {
			arrived[c] = with(b.t, arrived[c], b.t.Rank(x))
		}
	}
	if len(r.Arrival) != hand || arrived != v.hand {
		return fmt.Errorf("bots: %s: the hand in order of arrival does not hold the cards of the hand", b.name)
	}
	return b.checkSame(r.Action, b.t.Discard(r.Arrival[0]))
}

func (b *Bot) checkSame(recorded, ours rules.Action) error {
	if recorded != ours {
		return fmt.Errorf("bots: %s: recorded %s, expected %s", b.name, b.t.ActionName(recorded), b.t.ActionName(ours))
	}
	return nil
}
