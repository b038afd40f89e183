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
	var buf [rules.MaxMaskWords]uint64
	mask := buf[:b.t.MaskWords]
	v.legal(mask, b.t)
	if a < 0 || int(a) >= b.t.Actions() || !vec.MaskHas(mask, int(a)) {
		return fmt.Errorf("bots: %s: action %d is not legal", b.name, a)
	}
	return nil
}

// values returns the worth of each action, [A]: -Inf for those not considered,
// as the bot takes the first step with any candidate.
func (h *heuristic) values(v *view) []float64 {
	all := slices.Repeat([]float64{math.Inf(-1)}, h.Actions())
	h.weigh(&choice{all: all}, v)
	return all
}

func (b *Bot) checkBest(v *view, a rules.Action) error {
	values := b.h.values(v)
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
	var arrived [rules.MaxColors]uint16
	for _, x := range r.Arrival {
		if c := b.t.Color(x); c < b.t.Colors {
			arrived[c] = b.t.With(arrived[c], b.t.Rank(x))
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
