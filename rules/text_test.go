package rules

import (
	"slices"
	"strings"
	"testing"
)

// mustParse returns the action of a name.
func mustParse(t testing.TB, cfg Config, name string) Action {
	t.Helper()
	a, err := cfg.ParseAction(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// script deals from the pack in its order, the highest cards on top, and plays
// actions by name.
func script(t testing.TB, cfg Config, deck []Card, actions ...string) *Game {
	t.Helper()
	g, err := NewGameFrom(cfg, deck, 0, 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range actions {
		if err := g.Step(mustParse(t, cfg, name)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return g
}

// scriptedPlies are of the mid game dealt from its pack: the hands are blue 5,
// white 1 3 5 against blue 4, white W 2 4, and blue 3 is on top of the deck.
var scriptedPlies = []string{
	"discard white 5", "draw from the deck", "play white 4", "draw from the white pile", "play blue 5",
}

const scriptedOpen = `turn 3, ply 5, 9 cards in the deck: player 0 draws
       player 0            points  pile, top last     player 1            points
yellow
blue   5                       -2
white                                                 4                       -3
total                          -2                                             -3
hand 0 blue 3, white 1 3
hand 1 blue 4, white W 2 5*
`

const scriptedSeen = `turn 3, ply 5, 9 cards in the deck: player 0 draws
       player 0            points  pile, top last     player 1            points
yellow
blue   5                       -2
white                                                 4                       -3
total                          -2                                             -3
hand 0 blue 3, white 1 3
hand 1 white 5*, 3 unseen cards
`

func TestText(t *testing.T) {
	cfg := MustPreset("mid")
	g := script(t, cfg, cfg.Pack(), scriptedPlies...)
	for _, c := range []struct {
		sight Sight
		want  string
	}{
		{OpenHands, scriptedOpen}, {SeenBy0, scriptedSeen},
		{SeenBy1, strings.Replace(scriptedOpen, "hand 0 blue 3, white 1 3", "hand 0 3 unseen cards", 1)},
	} {
		if got := g.Text(c.sight); got != c.want {
			t.Errorf("sight %d:\n%swanted:\n%s", c.sight, got, c.want)
		}
	}
	if g.String() != scriptedOpen {
		t.Errorf("String is\n%s", g)
	}
}

// TestTextOfRows compares the text of a batch row with the scalar game's, at
// every ply of games of every variant, and looks at the width of lines.
func TestTextOfRows(t *testing.T) {
	for name, cfg := range variants() {
		games := NewGames(cfg, nil)
		games.Deal(1, 11, 4)
		g := NewGame(cfg, 11, 4)
		for {
			for _, s := range []Sight{SeenBy0, SeenBy1, OpenHands} {
				got, want := games.Text(0, s), g.Text(s)
				if got != want {
					t.Fatalf("%s, ply %d: the row is\n%sthe game is\n%s", name, g.Plies(), got, want)
				}
				for line := range strings.Lines(want) {
					if len(line) > lineWidth+1 {
						t.Fatalf("%s: a line of %d columns: %s", name, len(line)-1, line)
					}
				}
			}
			if g.Done() {
				break
			}
			a := pick(g.Legal(), g.Key(), g.Plies())
			games.Step([]int32{0}, []int32{int32(a)})
			if err := g.Step(a); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTextWrapsLongCells(t *testing.T) {
	cfg := variants()["16-ranks"]
	b := NewGame(cfg, 1, 0).board()
	for rank := 1; rank <= 16; rank++ {
		b.piles[2] = append(b.piles[2], cfg.Card(2, rank))
	}
	want := "white                              1 2 3 4 5 6 7 8 9\n" +
		"                                   10 11 12 13 14 15\n" +
		"                                   16\n"
	if got := b.text(OpenHands); !strings.Contains(got, want) {
		t.Errorf("got\n%swanted\n%s", got, want)
	}
}

func TestTextOfTheEnd(t *testing.T) {
	cfg := MustPreset("tiny")
	cfg.MaxTurns = 1
	deck := cfg.Pack()
	g := script(t, cfg, deck, "discard blue 4", "draw deck")
	if got := g.String(); !strings.HasPrefix(got, "turn 1, ply 2, 3 cards in the deck: the game is over, cut by the turn limit\n") {
		t.Errorf("got\n%s", got)
	}
	cfg = variants()["no-deck"]
	g = script(t, cfg, cfg.Pack(), "play blue 4")
	if got := g.String(); !strings.HasPrefix(got, "turn 1, ply 1, 0 cards in the deck: the game is over\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestParseActionIsTheReverseOfNames(t *testing.T) {
	for name, cfg := range variants() {
		for a := range Action(cfg.Actions()) {
			verb, card, _ := cfg.Split(a)
			if cfg.Wagers == 0 && verb < DrawDeck && cfg.Rank(card) == 0 {
				continue // a type that no card is of
			}
			text := cfg.ActionName(a)
			for _, text := range []string{text, "  " + strings.ToUpper(strings.ReplaceAll(text, " ", "  "))} {
				got, err := cfg.ParseAction(text)
				if err != nil || got != a {
					t.Fatalf("%s: %q is %d (%v), expected %d", name, text, got, err, a)
				}
			}
		}
	}
}

func TestParseActionRefuses(t *testing.T) {
	classic := MustPreset("classic")
	for text, want := range map[string]string{
		"":                         "expected play, discard or draw",
		"pass":                     `"pass", expected play, discard or draw`,
		"play":                     "0 words for a card, expected a colour and wager or 2 to 10",
		"play red":                 "1 words for a card, expected a colour and wager or 2 to 10",
		"play red 7 8":             "3 words for a card, expected a colour and wager or 2 to 10",
		"play purple 7":            `no colour "purple", expected yellow, blue, white, green, red`,
		"play red 11":              `no card "11", expected wager or 2 to 10`,
		"play red 1":               `no card "1", expected wager or 2 to 10`,
		"play red 07":              `no card "07", expected wager or 2 to 10`,
		"discard red ace":          `no card "ace", expected wager or 2 to 10`,
		"draw":                     "expected to draw from the deck or from the pile of a colour",
		"draw from the red":        "expected to draw from the deck or from the pile of a colour",
		"draw from the pink pile":  `no colour "pink", expected yellow, blue, white, green, red`,
		"draw from the deck twice": "expected to draw from the deck or from the pile of a colour",
	} {
		_, err := classic.ParseAction(text)
		full := "rules: " + quoted(text) + " is no action: " + want
		if err == nil || err.Error() != full {
			t.Errorf("got  %v\nexpected %s", err, full)
		}
	}
	if _, err := MustPreset("nowager").ParseAction("play red wager"); err == nil || !strings.Contains(err.Error(), `no card "wager", expected 2 to 10`) {
		t.Errorf("a wager without wagers: %v", err)
	}
	short := map[string]Action{"draw deck": classic.DrawDeck(), "draw red": classic.DrawPile(4)}
	for text, want := range short {
		if got := mustParse(t, classic, text); got != want {
			t.Errorf("%s is %d, expected %d", text, got, want)
		}
	}
}

func quoted(s string) string { return `"` + s + `"` }

// TestActionNames has one name of each kind, and the numbers behind them.
func TestActionNames(t *testing.T) {
	cfg := MustPreset("classic")
	if cfg.Actions() != 106 || cfg.Types() != 50 {
		t.Fatalf("%d actions, %d types", cfg.Actions(), cfg.Types())
	}
	for a, want := range map[Action]string{
		0: "play yellow wager", 1: "play yellow 2", 19: "play blue 10", 49: "play red 10", 50: "discard yellow wager",
		99: "discard red 10", 100: "draw from the deck", 101: "draw from the yellow pile", 105: "draw from the red pile",
	} {
		if got := cfg.ActionName(a); got != want {
			t.Errorf("action %d is %q, expected %q", a, got, want)
		}
	}
	perm := []int{4, 3, 2, 1, 0}
	for a := range Action(cfg.Actions()) {
		b := cfg.PermuteAction(a, perm)
		if cfg.PermuteAction(b, perm) != a {
			t.Errorf("renaming colours twice turns %d into %d", a, cfg.PermuteAction(b, perm))
		}
	}
	if got := cfg.ActionName(cfg.PermuteAction(mustParse(t, cfg, "discard yellow 5"), perm)); got != "discard red 5" {
		t.Errorf("renamed: %s", got)
	}
}

func TestSplitRefusesOtherNumbers(t *testing.T) {
	cfg := MustPreset("tiny")
	for _, a := range []Action{-1, Action(cfg.Actions())} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("action %d did not panic", a)
				}
			}()
			cfg.Split(a)
		}()
	}
}

// TestPack counts the pack's cards and types.
func TestPack(t *testing.T) {
	for name, cfg := range variants() {
		pack := cfg.Pack()
		if len(pack) != cfg.Cards() || !slices.IsSorted(pack) {
			t.Errorf("%s: pack %v", name, pack)
		}
		for color := range cfg.Colors {
			for rank := range cfg.Ranks + 1 {
				x := cfg.Card(color, rank)
				n := 0
				for _, y := range pack {
					if y == x {
						n++
					}
				}
				want := 1
				if rank == 0 {
					want = cfg.Wagers
				}
				if n != want || cfg.Color(x) != color || cfg.Rank(x) != rank {
					t.Errorf("%s: %d cards of colour %d, rank %d, expected %d", name, n, color, rank, want)
				}
			}
		}
	}
}
