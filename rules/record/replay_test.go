package record

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"vtrain/rules"
	"vtrain/vec"
)

func mustReplay(t testing.TB, s Spot) *Replay {
	t.Helper()
	r, err := s.Replay()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReplayTranslates compares the slots with the scalar game: they hold its
// hands, and the recorded actions are legal in it.
func TestReplayTranslates(t *testing.T) {
	for _, f := range files {
		for _, g := range readGames(t, f.path)[:10] {
			r := mustReplay(t, Spot{Game: g})
			for !r.Done() {
				for p := range 2 {
					if hand := slices.Sorted(slices.Values(r.Hand(p))); !slices.Equal(hand, r.State.Hand(p)) {
						t.Fatalf("game %d, ply %d: hand %v, expected %v", g.Index, r.Ply(), hand, r.State.Hand(p))
					}
				}
				a, err := r.ledger.action(r.Next().Action)
				if err != nil || !slices.Contains(r.State.Legal(), a) {
					t.Fatalf("game %d, ply %d: action %d, %v", g.Index, r.Ply(), a, err)
				}
				if err := r.Step(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestSlotsByHand follows the first plies of game 0 of tiny, worked by hand:
// the deck is 4 1 6 0 5 7 2 3, its top last, so the hands are 3 7 and 2 5.
func TestSlotsByHand(t *testing.T) {
	g := readGames(t, files[1].path)[0]
	r := mustReplay(t, Spot{Game: g})
	for _, want := range []struct {
		hands  [2]Hand
		action rules.Action
	}{
		{[2]Hand{{3, 7}, {2, 5}}, g.Config.Discard(7)}, // slot 1
		{[2]Hand{{3}, {2, 5}}, g.Config.DrawDeck()},    // card 0
		{[2]Hand{{3, 0}, {2, 5}}, g.Config.Play(5)},    // slot 1
		{[2]Hand{{3, 0}, {2}}, g.Config.DrawPile(1)},   // card 7
		{[2]Hand{{3, 0}, {2, 7}}, g.Config.Discard(3)}, // slot 0
		{[2]Hand{{0}, {2, 7}}, g.Config.DrawDeck()},    // card 6
		{[2]Hand{{0, 6}, {2, 7}}, g.Config.Play(2)},    // slot 0
	} {
		a, err := r.ledger.action(r.Next().Action)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]Hand{r.Hand(0), r.Hand(1)}; !reflect.DeepEqual(got, want.hands) || a != want.action {
			t.Fatalf("ply %d: hands %v, action %d; expected %v, %d", r.Ply(), got, a, want.hands, want.action)
		}
		if err := r.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHandRefusesOtherSlots(t *testing.T) {
	cfg := rules.MustPreset("tiny") // 7 slot actions
	for slot, want := range map[int]string{
		-1: "slot action -1, expected 0 to 6",
		2:  "slot action 2 of a hand of 1 cards",
		7:  "slot action 7, expected 0 to 6",
	} {
		if _, err := (Hand{3}).Action(cfg, slot); err == nil || err.Error() != want {
			t.Errorf("slot action %d: %v, expected %s", slot, err, want)
		}
	}
	wagers := Hand{4, 4} // two slots, one action
	legal := make([]uint64, vec.MaskWords(cfg.Actions()))
	vec.MaskSet(legal, int(cfg.Discard(4)))
	if mask := wagers.Mask(cfg, legal); mask != 0b1010 {
		t.Errorf("two wagers to discard: mask %b", mask)
	}
}

// TestBatchMixesPlies gathers states of many games and plies in one batch, in
// no order, some twice, and compares each row with the scalar replay.
func TestBatchMixesPlies(t *testing.T) {
	games := readGames(t, files[0].path)
	var spots []Spot
	for i := range 200 {
		g := games[i*7%len(games)]
		spots = append(spots, Spot{g, i * 13 % (len(g.Plies) + 1)})
	}
	spots = append(spots, spots[3], Spot{games[0], 0}, Spot{games[0], len(games[0].Plies)})
	batch, err := Batch(spots, nil)
	if err != nil {
		t.Fatal(err)
	}
	if batch.Rows() != len(spots) {
		t.Fatalf("%d rows, expected %d", batch.Rows(), len(spots))
	}
	scores := make([]int32, 2*len(spots))
	batch.Score(scores, vec.AllRows(nil, len(spots)))
	for i, s := range spots {
		b, g := int32(i), mustReplay(t, s).State
		for p := range 2 {
			if got := rowHand(batch, b, p); !slices.Equal(got, g.Hand(p)) {
				t.Fatalf("row %d, game %d, ply %d: hand %v, expected %v", i, s.Game.Index, s.Ply, got, g.Hand(p))
			}
			if got, want := int(scores[2*i+p]), g.Score(p); got != want {
				t.Fatalf("row %d: score %d, expected %d", i, got, want)
			}
		}
		got := [5]int{int(batch.Made.Data[b]), int(batch.DeckLen.Data[b]), batch.Player(b), int(batch.Phase(b)), int(batch.Finish.Data[b])}
		want := [5]int{g.Plies(), g.Deck(), g.Player(), int(g.Phase()), 0}
		if g.Done() {
			want[4] = 1
		}
		if got != want || batch.Keys.Data[b] != g.Key() {
			t.Fatalf("row %d: plies, deck, player, phase, end %v, expected %v", i, got, want)
		}
	}
}

func TestBatchRefuses(t *testing.T) {
	classic, small := readGames(t, files[0].path), readGames(t, files[1].path)
	bad := clone(classic[0])
	bad.Plies[3].Action = 0
	for name, c := range map[string]struct {
		spots []Spot
		want  string
	}{
		"nothing":            {nil, "a batch of no states"},
		"two configurations": {[]Spot{{classic[0], 0}, {small[0], 0}}, `game 0, ply 0: a batch of two configurations`},
		"a ply too far":      {[]Spot{{small[0], 13}}, "game 0, ply 13: no such ply, expected 0 to 12"},
		"a wrong action":     {[]Spot{{classic[1], 9}, {bad, 9}}, "game 0, ply 3: illegal action"},
	} {
		_, err := Batch(c.spots, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
	}
	if _, err := Batch([]Spot{{bad, 3}, {bad, 2}, {classic[1], 9}}, nil); err != nil {
		t.Errorf("a wrong action after the ply asked for: %v", err)
	}
	if _, err := (Spot{bad, 9}).Replay(); err == nil || !strings.Contains(err.Error(), "game 0, ply 3") {
		t.Errorf("replay of a wrong action: %v", err)
	}
}

func TestLibrary(t *testing.T) {
	var l Library
	if err := l.Need("../../testdata", "small"); err != nil {
		t.Fatal(err)
	}
	s, err := l.Spot("small", 41, 10)
	if err != nil || s.Game.Index != 41 || s.Ply != 10 {
		t.Fatalf("got %+v, %v", s, err)
	}
	if err := l.Need(t.TempDir(), "small"); err != nil {
		t.Errorf("known already, yet %v", err)
	}
	for want, err := range map[string]error{
		`no games "classic"`:               l.Need(t.TempDir(), "classic"),
		`"../x" is no name`:                l.Need("../../testdata", "../x"),
		`no game 500 among the games`:      second(l.Spot("small", 500, 0)),
		`no game 1 among the games "other`: second(l.Spot("other", 1, 0)),
		`no such ply`:                      second(l.Spot("small", 41, 1000)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
	if got := SetName("a/games_classic.jsonl.gz"); got != "classic" {
		t.Errorf("got %q", got)
	}
}

func second(_ Spot, err error) error { return err }
