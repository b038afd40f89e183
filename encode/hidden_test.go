package encode_test

import (
	"reflect"
	"slices"
	"testing"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// A script is a game from a given deck and the moves made in it.
type script struct {
	cfg     rules.Config
	deck    []rules.Card
	actions []rules.Action
}

// randomScript plays a few random plies from a shuffled deck.
func randomScript(cfg rules.Config, stream *vec.Stream, plies int) script {
	s := script{cfg: cfg, deck: cfg.Pack()}
	stream.Shuffle(len(s.deck), func(i, j int) { s.deck[i], s.deck[j] = s.deck[j], s.deck[i] })
	g := mustDeal(cfg, s.deck)
	for range plies {
		legal := g.Legal()
		if len(legal) == 0 {
			break
		}
		a := legal[stream.Intn(len(legal))]
		mustStep(g, a)
		s.actions = append(s.actions, a)
	}
	return s
}

// A twin is one position in both forms.
type twin struct {
	one   *rules.Game
	games *rules.Games
}

// replay plays the script; ok is false if a move is illegal.
func (s script) replay() (w twin, ok bool) {
	w = twin{mustDeal(s.cfg, s.deck), rules.NewOrderedGames(s.cfg, nil)}
	w.games.DealFrom([][]rules.Card{s.deck}, 0, 0)
	for _, a := range s.actions {
		if w.one.Step(a) != nil {
			return twin{}, false
		}
		w.games.Step([]int32{0}, []int32{int32(a)})
	}
	return w, true
}

// public is all that a player has seen by his turn, in the rules' own words.
func public(g *rules.Game, player int) any {
	cfg := g.Config()
	var seen [][]rules.Card
	for color := range cfg.Colors {
		seen = append(seen, g.Expedition(0, color), g.Expedition(1, color), g.Pile(color))
	}
	seen = append(seen, g.Hand(player), g.Known(0), g.Known(1))
	return [3]any{seen, g.Deck(), g.Plies()}
}

// hiddenPair returns two positions that differ only in which cards the
// opponent of a player holds unseen: those of s, and of s with two cards of the
// deck exchanged. ok is false where that would show, or make no difference.
func (s script) hiddenPair(player int, stream *vec.Stream) (pair [2]twin, ok bool) {
	pair[0], _ = s.replay()
	i, j := stream.Intn(len(s.deck)), stream.Intn(len(s.deck))
	s.deck = slices.Clone(s.deck)
	s.deck[i], s.deck[j] = s.deck[j], s.deck[i]
	if pair[1], ok = s.replay(); !ok {
		return pair, false
	}
	a, b := pair[0].one, pair[1].one
	return pair, reflect.DeepEqual(public(a, player), public(b, player)) && !slices.Equal(a.Hand(1-player), b.Hand(1-player))
}

func TestHiddenCardsNeverShow(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg rules.Config) {
		stream := vec.At(7, 1)
		all := layouts(cfg)
		found := 0
		for range fewer(400, 150) {
			s := randomScript(cfg, &stream, stream.Intn(40))
			player := len(s.actions) / 2 % 2 // to move
			pair, ok := s.hiddenPair(player, &stream)
			if !ok {
				continue
			}
			found++
			for _, l := range all {
				c := encode.NewCritic(l)
				checkHidden(t, pair, l.Width(), true, l.ObserveGame, l.ObserveAs, player)
				checkHidden(t, pair, c.Width(), false, c.ObserveOpenGame, c.ObserveOpenAs, player)
			}
		}
		if found == 0 && cfg.DeckSize() > 1 {
			t.Error("no pair of games found that differ in hidden cards only")
		}
	})
}

type (
	observeOne  = func(dst []float32, g *rules.Game, player int)
	observeRows = func(dst []float32, g *rules.Games, player int, rows []int32)
)

// checkHidden compares what a player sees of two positions that differ only in
// what he does not know.
func checkHidden(t *testing.T, pair [2]twin, width int, same bool, one observeOne, rows observeRows, player int) {
	t.Helper()
	var seen, seenRows [2][]float32
	for i, w := range pair {
		seen[i], seenRows[i] = poisoned(width), poisoned(width)
		one(seen[i], w.one, player)
		rows(seenRows[i], w.games, player, []int32{0})
	}
	for _, s := range [][2][]float32{seen, seenRows} {
		if at := firstDifference(s[0], s[1]); at >= 0 == same {
			t.Fatalf("ply %d, player %d, %d features: first difference at %d", pair[0].one.Plies(), player, width, at)
		}
	}
}

// A player who is not to move learns nothing either, and nothing about what
// the mover may do: cards has no legal mask.
func TestHiddenFromTheOtherPlayerToo(t *testing.T) {
	cfg := rules.MustPreset("classic")
	l := encode.NewCards(cfg)
	stream := vec.At(7, 2)
	found := 0
	for range 600 {
		s := randomScript(cfg, &stream, stream.Intn(40))
		player := 1 - len(s.actions)/2%2 // not to move
		pair, ok := s.hiddenPair(player, &stream)
		if !ok {
			continue
		}
		found++
		checkHidden(t, pair, l.Width(), true, l.ObserveGame, l.ObserveAs, player)
	}
	if found < 20 {
		t.Errorf("only %d pairs of games found", found)
	}
}

// What the opponent took from a pile stays known until he plays or discards
// it.
func TestKnownCardsShow(t *testing.T) {
	cfg := rules.MustPreset("classic")
	l := encode.NewCards(cfg)
	deck := cfg.Pack()
	red7 := cfg.Card(4, 6)
	at := slices.Index(deck, red7)
	deck[at], deck[59] = deck[59], deck[at] // player 0's first card
	s := script{cfg, deck, nil}
	const at7 = 4*80 + 36 + 3 + 5 // red, their hand, after three wagers and 2 to 6
	look := func(player int) (info, history float32) {
		w, _ := s.replay()
		dst := make([]float32, l.Width())
		l.ObserveGame(dst, w.one, player)
		info = dst[at7]
		l.ObserveAs(dst, w.games, player, []int32{0})
		if dst[at7] != info {
			t.Fatal("the two forms disagree")
		}
		encode.NewCritic(l).ObserveOpenGame(dst, w.one, player)
		return info, dst[at7]
	}
	expect := func(when string, player int, info, history float32) {
		t.Helper()
		if i, h := look(player); i != info || h != history {
			t.Errorf("%s: player %d sees red 7 in the other hand: %v, with open hands %v; expected %v, %v", when, player, i, h, info, history)
		}
	}
	expect("dealt to player 0", 1, 0, 1)
	s.actions = append(s.actions, cfg.Discard(red7), cfg.DrawDeck())
	expect("discarded", 1, 0, 0)
	first := mustDeal(cfg, deck).Hand(1)[0]
	s.actions = append(s.actions, cfg.Discard(first), cfg.DrawPile(4))
	expect("taken by player 1", 0, 1, 1)
	second := mustDeal(cfg, deck).Hand(0)[0]
	s.actions = append(s.actions, cfg.Discard(second), cfg.DrawDeck())
	expect("a turn later", 0, 1, 1)
	s.actions = append(s.actions, cfg.Play(red7))
	expect("played", 0, 0, 0)
}

// Only a Layout can be handed to what plays; a Critic must not be one.
func TestCriticIsNoLayout(t *testing.T) {
	layout := reflect.TypeFor[encode.Layout]()
	critic := reflect.TypeFor[*encode.Critic]()
	if critic.Implements(layout) {
		t.Error("a Critic can pass for a Layout")
	}
	for _, name := range []string{"Observe", "ObserveAs", "ObserveGame"} {
		if _, ok := critic.MethodByName(name); ok {
			t.Errorf("a Critic has the Layout's method %s", name)
		}
	}
}
