package rules

import (
	"fmt"
	"slices"

	"vtrain/vec"
)

// Phase is the half of a turn to be played.
type Phase uint8

// A turn is a card ply, then a draw ply.
const (
	CardPhase Phase = iota
	DrawPhase
)

// NoColor stands for "no pile": nothing was discarded in this turn.
const NoColor = -1

// Game is one game, in the plainest form: what the rules say, step by step.
// It is the oracle of Games and is not meant to be fast.
type Game struct {
	cfg Config
	id  uint64 // named in errors

	hand  [2][]Card   // ascending
	exp   [2][][]Card // [P][C], in the order played
	piles [][]Card    // [C], the top card last
	known [2][]Card   // cards of the player's hand that the opponent saw him take, ascending

	deck     []Card // fixed order: the top card last; otherwise the cards left, ascending
	shuffled bool   // deck is an order, not a set
	key      uint64 // the game's random streams

	plies   int // plies made
	done    bool
	pending int // colour discarded to in this turn, or NoColor
}

// NewGame deals a random game: number id of those that seed stands for. Cards
// are drawn from the game's own streams, so the deck has no order until it is
// drawn from. It panics on an invalid configuration.
func NewGame(cfg Config, seed, id uint64) *Game {
	g := newGame(cfg, id)
	g.deck = cfg.Pack()
	g.key = vec.Key(seed, id)
	stream := vec.At(g.key, 0)
	g.deal(func() Card { return g.takeAt(stream.Intn(len(g.deck))) })
	return g
}

// NewGameFrom deals from a given order of the whole pack, the last card on
// top: hand by hand, player 0 first. Seed and id name the game's streams, for
// players that use them.
func NewGameFrom(cfg Config, deck []Card, seed, id uint64) (*Game, error) {
	if err := cfg.CheckDeck(deck); err != nil {
		return nil, err
	}
	g := newGame(cfg, id)
	g.key = vec.Key(seed, id)
	g.deck = slices.Clone(deck)
	g.shuffled = true
	g.deal(func() Card { return g.takeAt(len(g.deck) - 1) })
	return g, nil
}

// CheckDeck reports whether deck is a permutation of the pack.
func (c Config) CheckDeck(deck []Card) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if len(deck) != c.Cards() {
		return fmt.Errorf("rules: the deck has %d cards, expected %d", len(deck), c.Cards())
	}
	sorted := slices.Sorted(slices.Values(deck))
	for i, x := range c.Pack() {
		if sorted[i] != x {
			return fmt.Errorf("rules: the deck is not a permutation of the pack: wrong number of cards of type %d", min(x, sorted[i]))
		}
	}
	return nil
}

func newGame(cfg Config, id uint64) *Game {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	return &Game{
		cfg:     cfg,
		id:      id,
		exp:     [2][][]Card{make([][]Card, cfg.Colors), make([][]Card, cfg.Colors)},
		piles:   make([][]Card, cfg.Colors),
		pending: NoColor,
	}
}

func (g *Game) deal(draw func() Card) {
	for range g.cfg.Hand {
		for p := range 2 {
			g.hand[p] = insert(g.hand[p], draw())
		}
	}
}

// takeAt removes and returns the card at an index of the deck.
func (g *Game) takeAt(i int) Card {
	x := g.deck[i]
	g.deck = slices.Delete(g.deck, i, i+1)
	return x
}

// insert returns the ascending list with one more card.
func insert(cards []Card, x Card) []Card {
	i, _ := slices.BinarySearch(cards, x)
	return slices.Insert(cards, i, x)
}

// remove returns the list without one card of type x, and whether it had one.
func remove(cards []Card, x Card) ([]Card, bool) {
	i := slices.Index(cards, x)
	if i < 0 {
		return cards, false
	}
	return slices.Delete(cards, i, i+1), true
}

// Config returns the variant being played.
func (g *Game) Config() Config { return g.cfg }

// Key returns the key of the game's random streams.
func (g *Game) Key() uint64 { return g.key }

// Plies returns the plies made so far.
func (g *Game) Plies() int { return g.plies }

// Done reports whether the game has ended.
func (g *Game) Done() bool { return g.done }

// Turns returns the turns completed.
func (g *Game) Turns() int { return g.plies / 2 }

// Capped reports whether the game was cut by the turn limit.
func (g *Game) Capped() bool {
	return g.done && len(g.deck) > 0 && g.cfg.MaxTurns > 0 && g.Turns() >= g.cfg.MaxTurns
}

// lastPly is the ply about to be made or, once the game has ended, the one
// that ended it: phase and player stay as they were then.
func (g *Game) lastPly() int {
	if g.done && g.plies%2 == 0 {
		return g.plies - 1
	}
	return g.plies
}

// Phase returns the half of the turn to be played.
func (g *Game) Phase() Phase { return Phase(g.lastPly() % 2) }

// Player returns the player to move.
func (g *Game) Player() int { return g.lastPly() / 2 % 2 }

// Hand returns the player's cards, ascending.
func (g *Game) Hand(player int) []Card { return slices.Clone(g.hand[player]) }

// Known returns the cards of the player's hand that the opponent knows,
// because they were taken from a pile, ascending.
func (g *Game) Known(player int) []Card { return slices.Clone(g.known[player]) }

// Expedition returns the player's cards of a colour in the order played.
func (g *Game) Expedition(player, color int) []Card { return slices.Clone(g.exp[player][color]) }

// Pile returns a colour's pile, the top card last.
func (g *Game) Pile(color int) []Card { return slices.Clone(g.piles[color]) }

// Deck returns the number of cards left to draw.
func (g *Game) Deck() int { return len(g.deck) }

// Pending returns the colour discarded to in this turn, or NoColor.
func (g *Game) Pending() int { return g.pending }

// ExpeditionScore returns the points of one expedition as it stands.
func (g *Game) ExpeditionScore(player, color int) int {
	cards := g.exp[player][color]
	wagers, faces := 0, 0
	for _, x := range cards {
		if rank := g.cfg.Rank(x); rank > 0 {
			faces += g.cfg.Face(rank)
		} else {
			wagers++
		}
	}
	return g.cfg.Score(wagers, faces, len(cards))
}

// Score returns the player's total as it stands.
func (g *Game) Score(player int) int {
	total := 0
	for color := range g.cfg.Colors {
		total += g.ExpeditionScore(player, color)
	}
	return total
}

// Fits reports whether the player's expedition can take a card: a number
// higher than all numbers there, a wager while there is no number.
func (g *Game) Fits(player int, x Card) bool {
	for _, y := range g.exp[player][g.cfg.Color(x)] {
		if g.cfg.Rank(y) > 0 && y >= x {
			return false
		}
	}
	return true
}

// Legal returns the legal actions, ascending; none once the game has ended.
func (g *Game) Legal() []Action {
	if g.done {
		return nil
	}
	if g.Phase() == DrawPhase {
		return g.legalDraws()
	}
	types := slices.Compact(g.Hand(g.Player()))
	var legal []Action
	for _, x := range types {
		if g.Fits(g.Player(), x) {
			legal = append(legal, g.cfg.Play(x))
		}
	}
	for _, x := range types {
		legal = append(legal, g.cfg.Discard(x))
	}
	return legal
}

func (g *Game) legalDraws() []Action {
	var legal []Action
	if len(g.deck) > 0 {
		legal = append(legal, g.cfg.DrawDeck())
	}
	for color, pile := range g.piles {
		if len(pile) > 0 && color != g.pending {
			legal = append(legal, g.cfg.DrawPile(color))
		}
	}
	return legal
}

// Step makes a move. A finished game stays as it is. An illegal action is an
// error that names the game, the ply and the action, and changes nothing.
func (g *Game) Step(a Action) error {
	if g.done {
		return nil
	}
	if !slices.Contains(g.Legal(), a) {
		return fmt.Errorf("rules: game %d, ply %d: illegal action %d", g.id, g.plies, a)
	}
	p := g.Player()
	switch verb, card, color := g.cfg.Split(a); verb {
	case Play:
		g.release(p, card)
		g.exp[p][color] = append(g.exp[p][color], card)
	case Discard:
		g.release(p, card)
		g.piles[color] = append(g.piles[color], card)
		g.pending = color
	case DrawDeck:
		g.hand[p] = insert(g.hand[p], g.drawDeck())
	case DrawPile:
		pile := g.piles[color]
		top := pile[len(pile)-1]
		g.piles[color] = pile[:len(pile)-1]
		g.hand[p] = insert(g.hand[p], top)
		g.known[p] = insert(g.known[p], top)
	}
	g.plies++
	g.finish(a)
	return nil
}

// release takes a card out of the player's hand. If the opponent knew of a
// card of that type it is assumed to be this one: of k known wagers he can be
// sure of k-1 after one is gone.
func (g *Game) release(player int, x Card) {
	g.hand[player], _ = remove(g.hand[player], x)
	g.known[player], _ = remove(g.known[player], x)
}

func (g *Game) drawDeck() Card {
	if g.shuffled {
		return g.takeAt(len(g.deck) - 1)
	}
	stream := vec.At(g.key, uint32(g.plies))
	return g.takeAt(stream.Intn(len(g.deck)))
}

// finish ends the game after action a where the rules say so, and closes a
// turn that does not end it.
func (g *Game) finish(a Action) {
	if g.plies%2 == 1 {
		g.done = len(g.legalDraws()) == 0
		return
	}
	emptied := a == g.cfg.DrawDeck() && len(g.deck) == 0
	cut := g.cfg.MaxTurns > 0 && g.Turns() >= g.cfg.MaxTurns
	g.done = emptied || cut
	if !g.done {
		g.pending = NoColor
	}
}
