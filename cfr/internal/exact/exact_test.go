package exact

import (
	"math"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/vec"
)

type uniform struct{}

func (uniform) Probabilities(dst []float32, _ vec.Batch, _ []int32) {
	for i := range dst {
		dst[i] = .5
	}
}

// TestKuhn compares with what package kuhn finds by walking its own tree.
func TestKuhn(t *testing.T) {
	b := kuhn.NewBatch()
	advantages := Advantages(b, uniform{}, 2)
	b.DealAll()
	if len(advantages) != b.Rows() {
		t.Fatalf("%d decisions, expected %d", len(advantages), b.Rows())
	}
	for r := range int32(b.Rows()) {
		h, hand := b.Node(r)
		got := advantages[string(States(b).Append(nil, r))]
		for a, want := range kuhn.Advantages(kuhn.Uniform(), h, hand) {
			if len(got) != 2 || math.Abs(got[a]-want/2) > 1e-12 {
				t.Errorf("history %d, hands %v: advantages %v, expected %v of action %d", h, hand, got, want/2, a)
			}
		}
	}
}

// TestTally: errors that are as likely positive as negative are no evidence, a
// few more of one sign are; those of one game count once.
func TestTally(t *testing.T) {
	fair, biased, once := Tally{}, Tally{}, Tally{}
	stream := vec.At(1, 0)
	for game := range uint64(10_000) {
		off := float64(1 - 2*stream.Intn(2))
		fair.Add(nil, game, []int32{3}, []float64{off})
		biased.Add(nil, game, []int32{3}, []float64{off + .1})
		for range 100 {
			once.Add(nil, game, []int32{3}, []float64{off})
		}
	}
	for name, c := range map[string]struct {
		Tally
		lo, hi float64
	}{"fair": {fair, 0, 4}, "biased": {biased, 6, 14}, "100 rows a game": {once, 0, 4}} {
		if v := c.Judge(); v.Tests != 1 || v.Worst < c.lo || v.Worst > c.hi || math.Abs(v.Squares-v.Worst*v.Worst) > 1e-9 {
			t.Errorf("%s: verdict %+v, expected a score of %v to %v", name, v, c.lo, c.hi)
		}
	}
}
