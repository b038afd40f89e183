package rules

import "fmt"

// An Action is one of A = 2T+1+C moves: play a card type (0..T-1), discard a
// card type (T..2T-1), draw from the deck (2T), draw from a colour's pile
// (2T+1..2T+C).
type Action int32

// Verb is the kind of an action.
type Verb uint8

// The four kinds of action.
const (
	Play Verb = iota
	Discard
	DrawDeck
	DrawPile
)

// Actions returns A, the number of actions.
func (c Config) Actions() int { return 2*c.Types() + 1 + c.Colors }

// Play returns the action that plays a card to the own expedition.
func (c Config) Play(x Card) Action { return Action(x) }

// Discard returns the action that puts a card on its colour's pile.
func (c Config) Discard(x Card) Action { return Action(c.Types()) + Action(x) }

// DrawDeck returns the action that draws the deck's top card.
func (c Config) DrawDeck() Action { return Action(2 * c.Types()) }

// DrawPile returns the action that draws the top card of a colour's pile.
func (c Config) DrawPile(color int) Action { return Action(2*c.Types() + 1 + color) }

// Split returns what an action does: the verb, and the card of Play and
// Discard or the colour of DrawPile. It panics on a number that is no action.
func (c Config) Split(a Action) (verb Verb, card Card, color int) {
	t := Action(c.Types())
	switch {
	case a < 0 || a > 2*t+Action(c.Colors):
		panic("rules: action out of range")
	case a < t:
		return Play, Card(a), c.Color(Card(a))
	case a < 2*t:
		return Discard, Card(a - t), c.Color(Card(a - t))
	case a == 2*t:
		return DrawDeck, 0, 0
	}
	return DrawPile, 0, int(a - 2*t - 1)
}

// PermuteAction returns the action after renaming colours: colour k becomes
// perm[k].
func (c Config) PermuteAction(a Action, perm []int) Action {
	switch verb, card, color := c.Split(a); verb {
	case Play:
		return c.Play(c.Permute(card, perm))
	case Discard:
		return c.Discard(c.Permute(card, perm))
	case DrawPile:
		return c.DrawPile(perm[color])
	}
	return a
}

var colorNames = [MaxColors]string{"yellow", "blue", "white", "green", "red", "purple", "orange", "black"}

// ColorName returns the English name of a colour.
func ColorName(color int) string { return colorNames[color] }

// CardName returns a card as people write it: "red 7", "blue wager".
func (c Config) CardName(x Card) string {
	if rank := c.Rank(x); rank > 0 {
		return fmt.Sprintf("%s %d", ColorName(c.Color(x)), c.Face(rank))
	}
	return ColorName(c.Color(x)) + " wager"
}

// ActionName returns an action as people write it: "play red 7".
func (c Config) ActionName(a Action) string {
	switch verb, card, color := c.Split(a); verb {
	case Play:
		return "play " + c.CardName(card)
	case Discard:
		return "discard " + c.CardName(card)
	case DrawPile:
		return "draw from the " + ColorName(color) + " pile"
	}
	return "draw from the deck"
}
