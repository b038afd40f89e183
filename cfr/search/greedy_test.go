package search

import (
	"slices"
	"testing"

	"vtrain/cfr"
	"vtrain/nets"
)

// TestGreedyPlayouts: in playouts of a greedy policy nothing is drawn but cards,
// so that its seed does not matter; otherwise it does.
func TestGreedyPlayouts(t *testing.T) {
	cfg := limited("mid", 30)
	n := network{layout: "cards-sorted", hidden: []int{16, 8}, sharp: 2}
	g, rows := positions(t, cfg, nil, false, 40)
	for _, greedy := range []bool{false, true} {
		var actions [2][]int32
		for i := range actions {
			l := newLayout(t, n.layout, cfg)
			shape, params := n.params(l)
			policy, err := cfr.NewPolicy(shape, params, nets.Float32, nil, cfr.Logits, cfr.Argmax, 1024, uint64(i), nil)
			if err != nil {
				t.Fatal(err)
			}
			policy.Greedy = greedy
			a, err := New("search", policy, l, few())
			if err != nil {
				t.Fatal(err)
			}
			actions[i] = asked(a, g, rows)
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
		if same := slices.Equal(actions[0], actions[1]); same != greedy {
			t.Errorf("greedy %v: by two seeds the actions are equal: %v, expected %v", greedy, same, greedy)
		}
	}
}
