package record

import (
	"fmt"
	"slices"

	"vtrain/rules"
	"vtrain/vec"
)

// Hand is a hand in arrival order: index s is slot s of the slot actions,
// play slot s = 2s, discard slot s = 2s+1, draw from the deck = 2·hand, draw
// from pile c = 2·hand+1+c.
type Hand []rules.Card

// slotActions returns the number of slot actions.
func slotActions(cfg rules.Config) int { return 2*cfg.Hand + 1 + cfg.Colors }

// Action translates a slot action.
func (h Hand) Action(cfg rules.Config, slotAction int) (rules.Action, error) {
	draw := slotAction - 2*cfg.Hand
	switch {
	case slotAction < 0 || slotAction >= slotActions(cfg):
		return 0, fmt.Errorf("slot action %d, expected 0 to %d", slotAction, slotActions(cfg)-1)
	case draw == 0:
		return cfg.DrawDeck(), nil
	case draw > 0:
		return cfg.DrawPile(draw - 1), nil
	case slotAction/2 >= len(h):
		return 0, fmt.Errorf("slot action %d of a hand of %d cards", slotAction, len(h))
	case slotAction%2 == 0:
		return cfg.Play(h[slotAction/2]), nil
	}
	return cfg.Discard(h[slotAction/2]), nil
}

// Mask translates a row of legal actions to the mask of slot actions; a wager
// in two slots makes two of one.
func (h Hand) Mask(cfg rules.Config, legal []uint64) uint64 {
	var mask uint64
	for slot := range slotActions(cfg) {
		if a, err := h.Action(cfg, slot); err == nil && vec.MaskHas(legal, int(a)) {
			mask |= 1 << slot
		}
	}
	return mask
}

// A ledger moves cards as slot actions say, and tracks who holds which card
// in which slot. It knows nothing of legality, scores or the end of a game:
// the rules are what is being checked.
type ledger struct {
	cfg   rules.Config
	deck  []rules.Card // the top card last
	hands [2]Hand
	piles [][]rules.Card // [C], the top card last
	plies int
}

func newLedger(g *Game) *ledger {
	l := &ledger{cfg: g.Config, deck: slices.Clone(g.Deck), piles: make([][]rules.Card, g.Config.Colors)}
	for range l.cfg.Hand {
		for p := range 2 {
			l.hands[p] = append(l.hands[p], pop(&l.deck))
		}
	}
	return l
}

// pop removes and returns a stack's top card.
func pop(stack *[]rules.Card) rules.Card {
	n := len(*stack) - 1
	top := (*stack)[n]
	*stack = (*stack)[:n]
	return top
}

func (l *ledger) player() int { return l.plies / 2 % 2 }

// hand returns the hand of the player to move.
func (l *ledger) hand() Hand { return l.hands[l.player()] }

// action translates a slot action of the player to move.
func (l *ledger) action(slotAction int) (rules.Action, error) {
	return l.hand().Action(l.cfg, slotAction)
}

// move makes a slot action; one that moves no card is an error.
func (l *ledger) move(slotAction int) error {
	a, err := l.action(slotAction)
	if err != nil {
		return err
	}
	hand := &l.hands[l.player()]
	switch verb, card, color := l.cfg.Split(a); verb {
	case rules.Play, rules.Discard:
		*hand = slices.Delete(*hand, slotAction/2, slotAction/2+1)
		if verb == rules.Discard {
			l.piles[color] = append(l.piles[color], card)
		}
	case rules.DrawDeck:
		err = l.draw(hand, &l.deck)
	case rules.DrawPile:
		err = l.draw(hand, &l.piles[color])
	}
	l.plies++
	return err
}

func (l *ledger) draw(hand *Hand, stack *[]rules.Card) error {
	if len(*stack) == 0 {
		return fmt.Errorf("a draw from where there is no card")
	}
	*hand = append(*hand, pop((*[]rules.Card)(stack)))
	return nil
}
