package rules

import (
	"fmt"
	"slices"
	"strings"
)

// Config is a variant of the game. The zero value is not valid; start from a
// preset.
type Config struct {
	Colors   int `yaml:"colors"`    // expeditions (suits), 1..8
	Ranks    int `yaml:"ranks"`     // number cards per colour
	MinRank  int `yaml:"min_rank"`  // face value of the lowest number card
	Wagers   int `yaml:"wagers"`    // wager cards per colour
	Hand     int `yaml:"hand"`      // cards in a hand
	Penalty  int `yaml:"penalty"`   // points for starting an expedition, not positive
	BonusAt  int `yaml:"bonus_at"`  // cards in one expedition that earn the bonus
	Bonus    int `yaml:"bonus"`     // points of the bonus
	MaxTurns int `yaml:"max_turns"` // turns after which a game is cut, 0 for no limit
}

// Limits of every configuration, for what is sized before one is known. Of the
// types of a colour one is its wagers', whether there are any or not.
const (
	MaxColors  = 8
	MaxActions = 2*MaxColors*(maxPerColor+1) + 1 + MaxColors
)

// Limits that the compact form of Games relies on.
const (
	maxPerColor = 16      // cards of a colour: one bit each in a uint16
	maxTurns    = 1 << 30 // so that plies fit a uint32
	maxFace     = 1000
	maxPoints   = 100000
)

var presets = []struct {
	name string
	cfg  Config
}{
	{"classic", Config{Colors: 5, Ranks: 9, MinRank: 2, Wagers: 3, Hand: 8, Penalty: -20, BonusAt: 8, Bonus: 20}},
	{"classic6", Config{Colors: 6, Ranks: 9, MinRank: 2, Wagers: 3, Hand: 8, Penalty: -20, BonusAt: 8, Bonus: 20}},
	{"tiny", Config{Colors: 2, Ranks: 3, MinRank: 2, Wagers: 1, Hand: 2, Penalty: -20, BonusAt: 8, Bonus: 20}},
	{"mid", Config{Colors: 3, Ranks: 5, MinRank: 1, Wagers: 1, Hand: 4, Penalty: -7, BonusAt: 4, Bonus: 5}},
	{"nowager", Config{Colors: 5, Ranks: 9, MinRank: 2, Wagers: 0, Hand: 8, Penalty: -20, BonusAt: 8, Bonus: 20}},
}

// Presets returns the names that Preset knows.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// Preset returns a named variant, without a turn limit.
func Preset(name string) (Config, error) {
	for _, p := range presets {
		if p.name == name {
			return p.cfg, nil
		}
	}
	return Config{}, fmt.Errorf("rules: unknown preset %q, expected one of %s", name, strings.Join(Presets(), ", "))
}

// MustPreset is Preset for names known when the program is written.
func MustPreset(name string) Config {
	c, err := Preset(name)
	if err != nil {
		panic(err)
	}
	return c
}

// Validate reports the first impossible value.
func (c Config) Validate() error {
	checks := []struct {
		bad      bool
		key      string
		value    int
		expected string
	}{
		{c.Colors < 1 || c.Colors > MaxColors, "colors", c.Colors, fmt.Sprintf("1 to %d", MaxColors)},
		{c.Ranks < 1, "ranks", c.Ranks, "at least 1"},
		{c.Wagers < 0, "wagers", c.Wagers, "at least 0"},
		{c.Wagers+c.Ranks > maxPerColor, "wagers + ranks", c.Wagers + c.Ranks, fmt.Sprintf("at most %d cards a colour", maxPerColor)},
		{c.MinRank < 0 || c.MinRank > maxFace, "min_rank", c.MinRank, fmt.Sprintf("0 to %d", maxFace)},
		{c.Hand < 1, "hand", c.Hand, "at least 1"},
		{c.Cards()/2 < c.Hand, "colors × (wagers + ranks)", c.Cards(), fmt.Sprintf("at least two hands (%d cards)", 2*uint64(c.Hand))},
		{c.Penalty > 0 || c.Penalty < -maxPoints, "penalty", c.Penalty, fmt.Sprintf("%d to 0", -maxPoints)},
		{c.BonusAt < 1, "bonus_at", c.BonusAt, "at least 1"},
		{c.Bonus < 0 || c.Bonus > maxPoints, "bonus", c.Bonus, fmt.Sprintf("0 to %d", maxPoints)},
		{c.MaxTurns < 0 || c.MaxTurns > maxTurns, "max_turns", c.MaxTurns, fmt.Sprintf("0 (no limit) to %d", maxTurns)},
	}
	for _, k := range checks {
		if k.bad {
			return fmt.Errorf("rules: %s is %d, expected %s", k.key, k.value, k.expected)
		}
	}
	return nil
}

// Name returns the preset this variant equals, MaxTurns aside, or "custom".
func (c Config) Name() string {
	c.MaxTurns = 0
	for _, p := range presets {
		if p.cfg == c {
			return p.name
		}
	}
	return "custom"
}

// PerColor returns the cards of one colour.
func (c Config) PerColor() int { return c.Wagers + c.Ranks }

// Cards returns the cards of the whole game.
func (c Config) Cards() int { return c.Colors * c.PerColor() }

// DeckSize returns the cards left in the deck after the deal.
func (c Config) DeckSize() int { return c.Cards() - 2*c.Hand }

// MaxLegal returns the most actions that can be legal at once.
func (c Config) MaxLegal() int { return max(2*min(c.Hand, c.Types()), 1+c.Colors) }

// Types returns T, the number of card types.
func (c Config) Types() int { return c.Colors * (c.Ranks + 1) }

// TopFace returns the highest face value of the game.
func (c Config) TopFace() int { return c.MinRank + c.Ranks - 1 }

// Face returns the face value of a rank; a wager's is 0.
func (c Config) Face(rank int) int {
	if rank == 0 {
		return 0
	}
	return c.MinRank + rank - 1
}

// Score returns the points of one expedition from its wagers, the sum of its
// faces and its number of cards, wagers included.
func (c Config) Score(wagers, faces, cards int) int {
	if cards == 0 {
		return 0
	}
	points := (faces + c.Penalty) * (1 + wagers)
	if cards >= c.BonusAt {
		points += c.Bonus
	}
	return points
}

// A Card is a card type: colour·(ranks+1) + rank, rank 0 a wager.
type Card uint8

// Card returns the type of a colour and rank.
func (c Config) Card(color, rank int) Card { return Card(color*(c.Ranks+1) + rank) }

// Color returns the colour of a card.
func (c Config) Color(x Card) int { return int(x) / (c.Ranks + 1) }

// Rank returns the rank of a card, 0 for a wager.
func (c Config) Rank(x Card) int { return int(x) % (c.Ranks + 1) }

// Pack returns the whole pack of cards, ascending.
func (c Config) Pack() []Card {
	pack := make([]Card, 0, c.Cards())
	for color := range c.Colors {
		wager := c.Card(color, 0)
		pack = append(pack, slices.Repeat([]Card{wager}, c.Wagers)...)
		for rank := 1; rank <= c.Ranks; rank++ {
			pack = append(pack, c.Card(color, rank))
		}
	}
	return pack
}

// Permute returns the configuration's card after renaming colours: colour k
// becomes perm[k].
func (c Config) Permute(x Card, perm []int) Card {
	return c.Card(perm[c.Color(x)], c.Rank(x))
}
