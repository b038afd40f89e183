package encode_test

import (
	"path/filepath"
	"slices"
	"testing"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/rules/record"
)

// recorded reads the recorded encodings and the games that they are of.
func recorded(t *testing.T, set string) ([]*record.Encoding, *record.Library) {
	t.Helper()
	var library record.Library
	dir := filepath.Join("..", "testdata")
	if err := library.Need(dir, set); err != nil {
		t.Fatal(err)
	}
	f, err := record.ReadFile(filepath.Join(dir, "encodings_"+set+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return f.Encodings, &library
}

func TestRecordedEncodings(t *testing.T) {
	for set, want := range map[string]int{"classic": 372, "small": 133} {
		t.Run(set, func(t *testing.T) {
			encodings, library := recorded(t, set)
			if len(encodings) != want {
				t.Errorf("%d recorded states, expected %d", len(encodings), want)
			}
			for _, e := range encodings {
				checkRecorded(t, e, library)
			}
		})
	}
}

func checkRecorded(t *testing.T, e *record.Encoding, library *record.Library) {
	t.Helper()
	spot, err := library.Spot(e.Games, e.Game, e.Ply)
	if err != nil {
		t.Fatal(err)
	}
	game, err := spot.Replay()
	if err != nil {
		t.Fatal(err)
	}
	games, err := record.Batch([]record.Spot{spot}, nil)
	if err != nil {
		t.Fatal(err)
	}
	own, mover := encode.SlotOrder(game.Hand(e.Player)), encode.SlotOrder(game.Hand(e.CurrentPlayer))
	for name, recorded := range map[string][]float32{
		"slots-d0s0": e.Enc.D0S0, "slots-d0s1": e.Enc.D0S1, "slots-d1s0": e.Enc.D1S0, "slots-d1s1": e.Enc.D1S1,
	} {
		layout, err := encode.New(name, game.State.Config())
		if err != nil {
			t.Fatal(err)
		}
		l := layout.(*encode.Slots)
		scalar, rows := poisoned(l.Width()), poisoned(l.Width())
		l.ObserveGame(scalar, game.State, e.Player)
		l.ObserveAs(rows, games, e.Player, []int32{0})
		for form, ours := range map[string][]float32{"scalar": scalar, "lockstep": rows} {
			if at := l.CompareRecorded(ours, recorded, own, mover); at >= 0 {
				t.Errorf("%s, game %d, ply %d, player %d, %s: feature %d differs (%d of ours, %d recorded)",
					name, e.Game, e.Ply, e.Player, form, at, len(ours), len(recorded))
			}
		}
	}
}

func TestSlotWidths(t *testing.T) {
	for name, want := range map[string]int{"slots-d0s0": 171, "slots-d0s1": 219, "slots-d1s0": 249, "slots-d1s1": 297, "cards": 440} {
		l, err := encode.New(name, rules.MustPreset("classic"))
		if err != nil {
			t.Fatal(err)
		}
		if l.Name() != name || l.Width() != want {
			t.Errorf("%s: %d features, expected %d", l.Name(), l.Width(), want)
		}
	}
}

func TestSlotOrder(t *testing.T) {
	if got := encode.SlotOrder([]rules.Card{7, 0, 9, 0, 3}); !slices.Equal(got, []int{3, 0, 4, 1, 2}) {
		t.Errorf("order %v", got)
	}
}

// Each kind of difference must show, or the comparison proves nothing.
func TestCompareRecordedFinds(t *testing.T) {
	l := encode.NewSlots(rules.MustPreset("classic"), encode.SlotOptions{Derived: true, SlotAware: true})
	g := rules.NewGame(l.Config(), 4, 0)
	ours := make([]float32, l.Width())
	l.ObserveGame(ours, g, 0)
	order := []int{2, 0, 1, 3, 4, 5, 6, 7}
	recorded := make([]float32, l.Width())
	for i, at := range l.RecordedIndex(order, order) {
		recorded[i] = ours[at]
	}
	if at := l.CompareRecorded(ours, recorded, order, order); at != -1 {
		t.Errorf("equal observations differ at %d", at)
	}
	for i := range recorded {
		changed := slices.Clone(recorded)
		changed[i] += 1e-6
		if at := l.CompareRecorded(ours, changed, order, order); at != i {
			t.Errorf("a change at %d is seen at %d", i, at)
		}
	}
	if at := l.CompareRecorded(ours, recorded[:9], order, order); at != 9 {
		t.Errorf("a short observation differs at %d", at)
	}
	if at := l.CompareRecorded(ours, append(recorded, 0), order, order); at != len(ours) {
		t.Errorf("a long observation differs at %d", at)
	}
}
