package record

import (
	"slices"
	"strings"
	"testing"

	"vtrain/vec"
)

// files are the recorded games, and what there is to compare in them.
var files = []struct {
	path  string
	games int
}{
	{"../../testdata/games_classic.jsonl.gz", 155},
	{"../../testdata/games_small.jsonl.gz", 225},
}

func readGames(t testing.TB, path string) []*Game {
	t.Helper()
	games, err := ReadGames(path)
	if err != nil {
		t.Fatal(err)
	}
	return games
}

// TestRecordedGames replays every recorded game through both codes.
func TestRecordedGames(t *testing.T) {
	pool := vec.NewPool(2)
	defer pool.Close()
	for _, f := range files {
		games := readGames(t, f.path)
		if len(games) != f.games {
			t.Errorf("%s: %d games, expected %d", f.path, len(games), f.games)
		}
		r := Verify(games, pool)
		if !clean(r) {
			t.Errorf("%s: %+v", f.path, r)
		}
		if least := 2 * 7 * plies(games); r.Checked < least {
			t.Errorf("%s: %d items checked, expected at least %d", f.path, r.Checked, least)
		}
	}
}

// clean reports whether something was checked and nothing differs.
func clean(r *Report) bool { return r.Checked > 0 && r.Mismatched == 0 }

func plies(games []*Game) int {
	n := 0
	for _, g := range games {
		n += len(g.Plies)
	}
	return n
}

// clone copies a game deeply enough to corrupt it.
func clone(g *Game) *Game {
	c := *g
	c.Deck, c.Plies = slices.Clone(g.Deck), slices.Clone(g.Plies)
	for p := range c.ExpeditionScores {
		c.ExpeditionScores[p] = slices.Clone(g.ExpeditionScores[p])
	}
	return &c
}

// corruptions each change one fact of a recorded game. Both codes must object,
// unless the deal is impossible, and name what is wrong.
var corruptions = []struct {
	name    string
	corrupt func(g *Game)
	what    string // of the first mismatch
	ply     int
	scalar  bool // the lockstep code never gets to see it
}{
	{"player", func(g *Game) { g.Plies[4].Player ^= 1 }, "player", 4, false},
	{"phase", func(g *Game) { g.Plies[5].Phase ^= 1 }, "phase", 5, false},
	{"mask lacks a bit", func(g *Game) { g.Plies[6].Mask &= g.Plies[6].Mask - 1 }, "legal mask", 6, false},
	{"mask has a bit more", func(g *Game) { g.Plies[7].Mask |= 1 }, "legal mask", 7, false},
	{"score 0", func(g *Game) { g.Plies[8].Score[0]++ }, "score of player 0", 8, false},
	{"score 1", func(g *Game) { g.Plies[9].Score[1]-- }, "score of player 1", 9, false},
	{"deck length", func(g *Game) { g.Plies[10].Deck++ }, "deck length", 10, false},
	{"a draw for a card", func(g *Game) { g.Plies[12].Action = 16 }, "slot action 16", 12, false},
	{"a card for a draw", func(g *Game) { g.Plies[13].Action = 0 }, "slot action 0", 13, false},
	{"an empty pile", func(g *Game) { g.Plies[1].Action = 18 }, "slot action 18", 1, false},
	{"no slot action", func(g *Game) { g.Plies[2].Action = 40 }, "slot action 40", 2, false},
	{"a card twice", func(g *Game) { g.Deck[3] = g.Deck[4] }, "deck", 0, true},
	{"a card of no type", func(g *Game) { g.Deck[3] = 200 }, "deck", 0, true},
	{"terminal", func(g *Game) { g.Terminal = false }, "terminal", -1, false},
	{"final 0", func(g *Game) { g.Final[0]++ }, "final score of player 0", -1, false},
	{"final 1", func(g *Game) { g.Final[1]++ }, "final score of player 1", -1, false},
	{"n_plies", func(g *Game) { g.PlyCount++ }, "number of plies", -1, false},
	{"turns", func(g *Game) { g.Turns++ }, "turns", -1, false},
	{"expedition", func(g *Game) { g.ExpeditionScores[1][2]++ }, "player 1's white expedition", -1, false},
	{"a ply too many", func(g *Game) { g.Plies = append(g.Plies, g.Plies[0]) }, "player", -1, false},
	{"the last ply missing", func(g *Game) { g.Plies = g.Plies[:len(g.Plies)-1] }, "terminal", -2, false},
}

func TestVerifyFindsCorruption(t *testing.T) {
	game := readGames(t, files[0].path)[0]
	for _, c := range corruptions {
		t.Run(c.name, func(t *testing.T) {
			bad := clone(game)
			c.corrupt(bad)
			r := Verify([]*Game{game, bad}, nil)
			if clean(r) {
				t.Fatal("nothing was found")
			}
			ply := c.ply
			if ply < 0 {
				ply += len(game.Plies) + 1
			}
			if m := r.First[0]; !strings.HasPrefix(m.What, c.what) || m.Ply != ply || m.Line != game.Line || m.File != files[0].path {
				t.Errorf("found %s; expected %s at ply %d", m, c.what, ply)
			}
			lockstep := slices.ContainsFunc(r.First, func(m Mismatch) bool { return m.Code == Lockstep })
			if r.First[0].Code != Scalar || lockstep == c.scalar {
				t.Errorf("found by the wrong code: %+v", r)
			}
		})
	}
}

// TestVerifyFindsSwappedCards swaps two neighbours of the deck: a valid deal of
// another game, to be told from the one recorded. Two cards that are only ever
// discarded, or never seen again, may change nothing that is recorded.
func TestVerifyFindsSwappedCards(t *testing.T) {
	game := readGames(t, files[0].path)[0]
	swaps, found := 0, 0
	for i := 0; i < len(game.Deck)-1; i += 3 {
		if game.Deck[i] == game.Deck[i+1] {
			continue
		}
		bad := clone(game)
		bad.Deck[i], bad.Deck[i+1] = bad.Deck[i+1], bad.Deck[i]
		swaps++
		if !clean(Verify([]*Game{bad}, nil)) {
			found++
		}
	}
	if found < swaps*9/10 {
		t.Errorf("%d of %d swaps found", found, swaps)
	}
}

func TestReportKeepsTheFirst(t *testing.T) {
	r, at := &Report{}, Where{File: "f", Line: 3, Game: 7, Ply: 9, Code: Scalar}
	for i := range 2 * keepMismatches {
		r.Count(at, Differs("deck length", i, -1))
		r.Count(at, Differs("deck length", i, i))
	}
	if r.Checked != 4*keepMismatches || r.Mismatched != 2*keepMismatches || len(r.First) != keepMismatches {
		t.Errorf("counted %+v", r)
	}
	if got := r.First[1].String(); got != "f, line 3: game 7, ply 9, scalar: deck length is 1, recorded -1" {
		t.Errorf("got %q", got)
	}
	row := Mismatch{Where{File: "f", Line: 3, Row: "no_legal", Code: Lockstep}, "a policy"}
	if got := row.String(); got != "f, line 3: no_legal, lockstep: a policy" {
		t.Errorf("got %q", got)
	}
}
