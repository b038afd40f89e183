package rules

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vtrain/vec"
)

var update = flag.Bool("update", false, "write testdata/playthroughs anew")

// Plies of a long game that its playthrough shows in full; of those between
// it has only the actions.
const (
	headPlies = 12
	tailPlies = 4
)

// TestPlaythroughs plays one game of each preset and compares the account of
// it with the golden file. A difference is a change of the rules, of the
// random streams or of the text: read it, then refresh with -update.
func TestPlaythroughs(t *testing.T) {
	for _, name := range Presets() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("..", "testdata", "playthroughs", name+".txt")
			got := playthrough(t, name, MustPreset(name))
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs from what is played now, first at:\n%s", path, firstDifference(got, string(want)))
			}
		})
	}
}

func firstDifference(got, want string) string {
	a, b := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n got %swant %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("line %d, where one of them ends", min(len(a), len(b))+1)
}

// playthrough is the account of game 1 of seed 2026, which ends soon: players
// prefer the deck.
func playthrough(t *testing.T, name string, cfg Config) string {
	var w strings.Builder
	fmt.Fprintf(&w, "# %s: %+v\n# Game 1 of seed 2026. %s\n", name, cfg, starLegend)
	actions := deckLover(t, cfg)
	g := NewGame(cfg, 2026, 1)
	for ply, a := range actions {
		if ply < headPlies || ply >= len(actions)-tailPlies || len(actions) < 30 {
			fmt.Fprintf(&w, "\n%slegal: %s\n> %s\n", g, legalText(g), cfg.ActionName(a))
		} else {
			fmt.Fprintf(&w, "> ply %d, player %d: %s\n", ply, g.Player(), cfg.ActionName(a))
		}
		if err := g.Step(a); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(&w, "\n%sfinal scores: %d and %d\n", g, g.Score(0), g.Score(1))
	return w.String()
}

// legalText lists the legal actions in lines as wide as the position's.
func legalText(g *Game) string {
	var names []string
	for _, a := range g.Legal() {
		names = append(names, g.cfg.ActionName(a))
	}
	return strings.Join(fill(names, "; ", lineWidth-7), "\n       ")
}

const starLegend = "A star marks a card in hand that the other player knows."

// deckLover returns the actions of a random game whose players draw from the
// deck three times out of four.
func deckLover(t *testing.T, cfg Config) []Action {
	var actions []Action
	g := NewGame(cfg, 2026, 1)
	for !g.Done() {
		a := pick(g.Legal(), g.Key(), g.Plies())
		s := vec.At(g.Key()^1, uint32(g.Plies()))
		if g.Phase() == DrawPhase && s.Intn(4) > 0 {
			a = cfg.DrawDeck()
		}
		actions = append(actions, a)
		if err := g.Step(a); err != nil {
			t.Fatal(err)
		}
	}
	return actions
}
