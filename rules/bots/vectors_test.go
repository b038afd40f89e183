package bots

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vtrain/rules"
)

// recordedGame is a line of games_*.jsonl.gz, as far as bots need it.
type recordedGame struct {
	Game   int
	Config struct {
		Colors  int `json:"n_colors"`
		Ranks   int `json:"n_ranks"`
		MinRank int `json:"min_rank"`
		Wagers  int `json:"n_handshakes"`
		Hand    int `json:"hand_size"`
		Penalty int `json:"expedition_penalty"`
		BonusAt int `json:"bonus_threshold"`
		Bonus   int `json:"bonus_amount"`
	}
	Bots  [2]string
	Deck  []int
	Plies [][7]int
}

// recordedAct is a line of bots.jsonl.gz.
type recordedAct struct {
	Bot      string
	Games    string
	Game     int
	Ply      int
	Phase    int
	Action   int
	Balanced int `json:"balanced_action"`
}

func readLines[T any](tb testing.TB, name string) []T {
	tb.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var lines []T
	for s := json.NewDecoder(bufio.NewReader(z)); s.More(); {
		var line T
		if err := s.Decode(&line); err != nil {
			tb.Fatalf("%s, line %d: %v", name, len(lines)+1, err)
		}
		lines = append(lines, line)
	}
	return lines
}

func (r *recordedGame) config() rules.Config {
	c := r.Config
	return rules.Config{Colors: c.Colors, Ranks: c.Ranks, MinRank: c.MinRank, Wagers: c.Wagers,
		Hand: c.Hand, Penalty: c.Penalty, BonusAt: c.BonusAt, Bonus: c.Bonus}
}

func (r *recordedGame) deck() []rules.Card {
	deck := make([]rules.Card, len(r.Deck))
	for i, x := range r.Deck {
		deck[i] = rules.Card(x)
	}
	return deck
}

// A replay is a recorded game being played again: the game, and the hands in
// order of arrival that the recorded slots refer to.
type replay struct {
	*rules.Game
	arrival [2][]rules.Card
}

func newReplay(tb testing.TB, r *recordedGame) *replay {
	tb.Helper()
	cfg, deck := r.config(), r.deck()
	g, err := rules.NewGameFrom(cfg, deck, 1, uint64(r.Game))
	if err != nil {
		tb.Fatal(err)
	}
	p := &replay{Game: g}
	for i := range 2 * cfg.Hand {
		p.arrival[i%2] = append(p.arrival[i%2], deck[len(deck)-1-i])
	}
	return p
}

// action translates a recorded action.
func (p *replay) action(a int) rules.Action {
	cfg := p.Config()
	switch deck := 2 * cfg.Hand; {
	case a > deck:
		return cfg.DrawPile(a - deck - 1)
	case a == deck:
		return cfg.DrawDeck()
	case a%2 == 0:
		return cfg.Play(p.arrival[p.Player()][a/2])
	default:
		return cfg.Discard(p.arrival[p.Player()][a/2])
	}
}

// step makes a recorded action and returns its canonical number.
func (p *replay) step(tb testing.TB, recorded int) rules.Action {
	tb.Helper()
	a, player := p.action(recorded), p.Player()
	before := p.Hand(player)
	if err := p.Step(a); err != nil {
		tb.Fatal(err)
	}
	if slot := recorded / 2; recorded < 2*p.Config().Hand {
		p.arrival[player] = slices.Delete(p.arrival[player], slot, slot+1)
	} else {
		p.arrival[player] = append(p.arrival[player], added(before, p.Hand(player)))
	}
	return a
}

// added returns the card that an ascending hand has gained.
func added(before, after []rules.Card) rules.Card {
	for i, x := range before {
		if after[i] != x {
			return after[i]
		}
	}
	return after[len(before)]
}

// vectors are the recorded acts, by file and game.
type vectors struct {
	games map[string]*recordedGame
	acts  map[string][]recordedAct
}

func readVectors(tb testing.TB) vectors {
	v := vectors{map[string]*recordedGame{}, map[string][]recordedAct{}}
	for _, file := range []string{"classic", "small"} {
		for _, g := range readLines[recordedGame](tb, "games_"+file+".jsonl.gz") {
			v.games[fmt.Sprint(file, g.Game)] = &g
		}
	}
	for _, a := range readLines[recordedAct](tb, "bots.jsonl.gz") {
		id := fmt.Sprint(a.Games, a.Game)
		v.acts[id] = append(v.acts[id], a)
	}
	return v
}

// TestRecorded replays every recorded game that bots acted in, and checks each
// recorded act through the scalar game and through a batch.
func TestRecorded(t *testing.T) {
	v := readVectors(t)
	checked := map[string]int{}
	for id, acts := range v.acts {
		checkRecorded(t, id, v.games[id], acts, checked)
	}
	total := 0
	for _, n := range checked {
		total += n
	}
	if total != 1670 {
		t.Errorf("checked %d acts %v, expected 1670", total, checked)
	}
}

func checkRecorded(t *testing.T, id string, r *recordedGame, acts []recordedAct, checked map[string]int) {
	scalar := newReplay(t, r)
	batch := rules.NewOrderedGames(r.config(), nil)
	batch.DealFrom([][]rules.Card{r.deck(), r.deck(), r.deck()}, 1, 0)
	rows := []int32{0, 1, 2}
	for ply := 0; ply <= len(r.Plies); ply++ {
		for _, a := range acts {
			if a.Ply != ply {
				continue
			}
			checked[a.Bot]++
			b := must(New(a.Bot, r.config(), 1))
			rec := Record{Action: scalar.action(a.Action), Balanced: scalar.action(a.Balanced), Arrival: scalar.arrival[scalar.Player()]}
			if err := b.VerifyGame(scalar.Game, rec); err != nil {
				t.Errorf("%s ply %d scalar: %v", id, ply, err)
			}
			if err := b.Verify(batch, 1, rec); err != nil {
				t.Errorf("%s ply %d batch: %v", id, ply, err)
			}
		}
		if ply < len(r.Plies) {
			a := int32(scalar.step(t, r.Plies[ply][3]))
			batch.Step(rows, []int32{a, a, a})
		}
	}
}

// TestRecordedGames checks the heuristics against every ply of the recorded
// games between bots, thousands of states that good play leads to.
func TestRecordedGames(t *testing.T) {
	plies, noisy, random := 0, 0, 0
	for _, g := range readLines[recordedGame](t, "games_classic.jsonl.gz") {
		if g.Bots[0] == "uniform" {
			continue
		}
		r := newReplay(t, &g)
		for ply, p := range g.Plies {
			a, b := r.action(p[3]), must(New(g.Bots[p[0]], g.config(), 1))
			err := b.verify(viewOf(b, r.Game), Record{Action: a, Balanced: a})
			switch {
			case b.kind == noisyKind:
				noisy++
				if err != nil {
					random++
				}
			case err != nil:
				t.Errorf("game %d ply %d: %v", g.Game, ply, err)
			}
			plies++
			r.step(t, p[3])
		}
	}
	t.Logf("%d plies, of %d by heuristic-noisy %d random", plies, noisy, random)
}

func viewOf(b *Bot, g *rules.Game) *view {
	var v view
	v.fromGame(g, b.t)
	return &v
}
