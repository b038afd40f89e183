package leduc

import (
	"fmt"
	"slices"
	"testing"

	"vtrain/vec"
	"vtrain/vec/vectest"
)

func TestEnumerable(t *testing.T) { vectest.Enumerable(t, NewBatch()) }

// letters are the actions of scripts; a digit is the rank of the card for both.
var letters = map[rune]int32{'f': Fold, 'c': Call, 'r': Raise}

// play deals two ranks and follows a script.
func play(t *testing.T, one, two uint8, script string) *Batch {
	t.Helper()
	all, b := NewBatch(), NewBatch()
	all.DealEach(make([]vec.Outcome, int(all.Deals())))
	b.Gather(all, []int32{int32(one*ranks + two)})
	for i, letter := range script {
		action, ok := letters[letter]
		if !ok {
			continue // the card was chosen with the action before
		}
		way := 0
		if i+1 < len(script) && script[i+1] < 'a' {
			way = slices.Index(b.boards(0), script[i+1]-'0')
		}
		mustBeLegal(t, b, action)
		b.StepTo(make([]vec.Outcome, 1), []int32{0}, []int32{action}, []int32{int32(way)})
	}
	return b
}

func mustBeLegal(t *testing.T, b *Batch, action int32) {
	t.Helper()
	mask := make([]uint64, 1)
	b.Legal(mask, []int32{0})
	if !vec.MaskHas(mask, int(action)) {
		t.Fatalf("action %d is not legal", action)
	}
}

// TestUtility: what player 0 wins by the rules, worked out by hand.
func TestUtility(t *testing.T) {
	for _, c := range []struct {
		one, two uint8
		script   string
		want     float32
	}{
		{0, 1, "rf", 1},              // the ante
		{0, 1, "crf", -1},            // the same of the other
		{0, 1, "rrf", -3},            // the ante and a bet
		{2, 1, "cc0cc", 1},           // the higher card
		{2, 1, "cc1cc", -1},          // a pair beats it
		{1, 1, "crrc2crrc", 0},       // equal ranks share
		{0, 2, "crrc0crrc", 13},      // everything: 1+2+2+4+4
		{0, 2, "crrc1crrc", -13},     // and lost
		{0, 2, "rc0rrf", -(3 + 4)},   // folding to a raise, with a pair
		{0, 2, "rc0crf", -(1 + 2)},   // folding to a bet of the second round
		{1, 0, "rrc2rc", 1 + 4 + 4},  // a raised first round, a bet in the second
		{0, 1, "rc1rrc", -(3 + 2*4)}, // a raised second round
	} {
		b := play(t, c.one, c.two, c.script)
		var u [1]float32
		b.Utility(u[:], []int32{0})
		if b.Finished()[0] == 0 || u[0] != c.want {
			t.Errorf("%d against %d, %s: %v (ended: %d), expected %v", c.one, c.two, c.script, u[0], b.Finished()[0], c.want)
		}
	}
}

// TestLegal: no fold without a bet to fold to, no third raise of a round.
func TestLegal(t *testing.T) {
	for script, want := range map[string][]int32{
		"":         {Call, Raise},
		"c":        {Call, Raise},
		"r":        {Fold, Call, Raise},
		"rr":       {Fold, Call},
		"crr":      {Fold, Call},
		"cc0":      {Call, Raise},
		"crrc0":    {Call, Raise},
		"crrc0crr": {Fold, Call},
		"cc0cc":    nil,
		"rf":       nil,
	} {
		b, mask := play(t, 0, 1, script), make([]uint64, 1)
		b.Legal(mask, []int32{0})
		if got := vec.MaskAppend(nil, mask); !slices.Equal(got, want) {
			t.Errorf("after %q %v, expected %v", script, got, want)
		}
	}
}

// TestObserve: the other's card shows with open hands only, and bets show who
// made which.
func TestObserve(t *testing.T) {
	observe := func(b *Batch, v vec.View) []float32 {
		x := make([]float32, b.Width(v))
		b.Observe(x, v, []int32{0})
		return x
	}
	one, two := play(t, 2, 0, "rc1"), play(t, 2, 1, "rc1")
	if !slices.Equal(observe(one, vec.Information), observe(two, vec.Information)) {
		t.Error("the other's card is seen")
	}
	if slices.Equal(observe(one, vec.History), observe(two, vec.History)) {
		t.Error("with open hands the other's card isn't seen")
	}
	seen := map[string]string{}
	for _, script := range []string{"", "c", "r", "rr", "cr", "crr", "cc1", "rc1", "crc1", "rrc1", "crrc1", "cc1c", "cc1r", "rc1c"} {
		x := observe(play(t, 2, 2, script), vec.Information)
		key := fmt.Sprint(x)
		if other, ok := seen[key]; ok {
			t.Errorf("%q looks like %q", script, other)
		}
		seen[key] = script
	}
}
