package rules

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"vtrain/vec"
)

// perfts are the sequences of legal actions of each length that a deal allows:
// nodes[d] of d plies, nodes[0] = 1. Sequences that end early are not counted
// further down. The numbers were counted once, by both codes below, and agree
// with TestPerftByHand where that goes; a change here is a change of the rules.
var perfts = []struct {
	name  string
	file  string // recorded games, "" for game 0 of a seed dealt at random
	game  int
	cfg   Config
	nodes []int
}{
	{"classic 0", "games_classic", 0, MustPreset("classic"), []int{1, 16, 16, 256, 370, 5872, 10094, 158864}},
	{"classic 1", "games_classic", 1, MustPreset("classic"), []int{1, 14, 14, 196, 288, 4058, 7114}},
	{"classic 2", "games_classic", 2, MustPreset("classic"), []int{1, 16, 16, 256, 371, 5840, 10071}},
	{"classic at random", "", 0, MustPreset("classic"), []int{1, 16, 16, 256, 377, 5920, 10413, 149755}},
	{"tiny 0, whole", "games_small", 0, limited("tiny", 6), []int{1, 4, 4, 16, 22, 84, 132, 528, 927, 2499, 4351, 9347, 16031, 0}},
	{"tiny 1, whole", "games_small", 1, limited("tiny", 6), []int{1, 4, 4, 16, 22, 84, 136, 484, 844, 2439, 4338, 9417, 15900, 0}},
	{"mid 100", "games_small", 100, MustPreset("mid"), []int{1, 8, 8, 64, 89, 696, 1131, 8655, 15724}},
	{"mid 101, cut", "games_small", 101, limited("mid", 2), []int{1, 8, 8, 64, 92, 0}},
	{"nowager 200", "games_small", 200, MustPreset("nowager"), []int{1, 16, 16, 256, 367, 5808, 9899}},
}

func limited(name string, turns int) Config {
	cfg := MustPreset(name)
	cfg.MaxTurns = turns
	return cfg
}

const perftSeed = 1

func TestPerft(t *testing.T) {
	for _, p := range perfts {
		t.Run(p.name, func(t *testing.T) {
			scalar, games := perftDeal(t, p.file, p.game, p.cfg)
			depth := len(p.nodes) - 1
			counts := make([]int, depth+1)
			perftScalar(t, scalar, counts)
			if !slices.Equal(counts, p.nodes) {
				t.Errorf("scalar %v, expected %v", counts, p.nodes)
			}
			if got := perftLockstep(games, depth); !slices.Equal(got, p.nodes) {
				t.Errorf("lockstep %v, expected %v", got, p.nodes)
			}
		})
	}
}

// perftDeal returns the same deal in both forms.
func perftDeal(t *testing.T, file string, game int, cfg Config) (*Game, *Games) {
	if file == "" {
		games := NewGames(cfg, nil)
		games.Deal(1, perftSeed, 0)
		return NewGame(cfg, perftSeed, 0), games
	}
	deck := recordedDeck(t, file, game)
	scalar, err := NewGameFrom(cfg, deck, perftSeed, 0)
	if err != nil {
		t.Fatal(err)
	}
	games := NewOrderedGames(cfg, nil)
	games.DealFrom([][]Card{deck}, perftSeed, 0)
	return scalar, games
}

// recordedDeck reads the deck of one recorded game. Package record, which
// reads all of it, depends on this one.
func recordedDeck(t *testing.T, file string, game int) []Card {
	f, err := os.Open("../testdata/" + file + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for lines := json.NewDecoder(text); ; {
		var line struct {
			Game int
			Deck []uint16 // a []Card would be read as base64
		}
		if err := lines.Decode(&line); err != nil {
			t.Fatalf("game %d: %v", game, err)
		}
		if line.Game == game {
			var deck []Card
			for _, x := range line.Deck {
				deck = append(deck, Card(x))
			}
			return deck
		}
	}
}

// perftScalar counts the nodes below a game, itself included, by recursion:
// counts[0] is its own depth.
func perftScalar(t *testing.T, g *Game, counts []int) {
	counts[0]++
	if len(counts) == 1 {
		return
	}
	for _, a := range g.Legal() {
		next := cloneGame(g)
		if err := next.Step(a); err != nil {
			t.Fatal(err)
		}
		perftScalar(t, next, counts[1:])
	}
}

// cloneGame copies a game and all its cards.
func cloneGame(g *Game) *Game {
	c := *g
	c.deck, c.piles = slices.Clone(g.deck), cloneLists(g.piles)
	for p := range 2 {
		c.hand[p], c.known[p] = slices.Clone(g.hand[p]), slices.Clone(g.known[p])
		c.exp[p] = cloneLists(g.exp[p])
	}
	return &c
}

func cloneLists(lists [][]Card) [][]Card {
	c := make([][]Card, len(lists))
	for i, l := range lists {
		c[i] = slices.Clone(l)
	}
	return c
}

// perftLockstep counts the nodes of each depth, a batch a level.
func perftLockstep(games *Games, depth int) []int {
	counts := []int{games.Rows()}
	for range depth {
		rows := vec.AllRows(nil, games.Rows())
		mask := make([]uint64, len(rows)*games.MaskWords)
		games.Legal(mask, rows)
		var parents, actions []int32
		for _, b := range rows {
			legal := mask[int(b)*games.MaskWords:][:games.MaskWords]
			actions = vec.MaskAppend(actions, legal)
			parents = append(parents, slices.Repeat([]int32{b}, vec.MaskCount(legal))...)
		}
		next := games.New()
		next.Gather(games, parents)
		next.Step(vec.AllRows(nil, len(parents)), actions)
		games = next
		counts = append(counts, games.Rows())
	}
	return counts
}

// TestPerftByHand derives the first four counts from the hands alone. With t0
// and t1 card types in hand, a player has 2·t choices while all expeditions
// are empty. The first draw can only be from the deck: the one pile there may
// be was made in this turn. The second may also be from the first player's
// pile, unless the card just discarded lies on it.
func TestPerftByHand(t *testing.T) {
	for _, p := range perfts {
		g, _ := perftDeal(t, p.file, p.game, p.cfg)
		types := [2][]Card{slices.Compact(g.Hand(0)), slices.Compact(g.Hand(1))}
		t0, t1 := len(types[0]), len(types[1])
		draws := t0 * 2 * t1 // the first player played: no pile of his
		for _, x := range types[0] {
			draws += 2 * t1 // the second player played
			for _, y := range types[1] {
				draws++
				if p.cfg.Color(x) != p.cfg.Color(y) {
					draws++
				}
			}
		}
		want := []int{1, 2 * t0, 2 * t0, 2 * t0 * 2 * t1, draws}
		if got := p.nodes[:5]; !slices.Equal(got, want) {
			t.Errorf("%s: %v, expected %v", p.name, got, want)
		}
	}
}

// TestPerftEnds looks at the depth where the cut games must all be over.
func TestPerftEnds(t *testing.T) {
	for _, p := range perfts {
		if p.cfg.MaxTurns == 0 {
			continue
		}
		last := 2 * p.cfg.MaxTurns
		if len(p.nodes) != last+2 || p.nodes[last] == 0 || p.nodes[last+1] != 0 {
			t.Errorf("%s: %d turns make %v", p.name, p.cfg.MaxTurns, p.nodes)
		}
	}
}
