package encode_test

import (
	"testing"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// TestDeterminizeKeepsObservations: after the unseen cards were dealt anew the
// mover observes what he did before, in every layout, and may do the same;
// with open hands the difference shows.
func TestDeterminizeKeepsObservations(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg rules.Config) {
		const n = 12
		all := layouts(cfg)
		shown := false
		for p := deal(cfg, nil, n, 21); !p.done() && p.one[0].Plies() < 60; p.step() {
			anew := p.games.New()
			anew.Gather(p.games, p.rows)
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = vec.Key(9, uint64(100*p.one[0].Plies()+i))
			}
			anew.Determinize(p.rows, keys)
			for _, l := range all {
				before, after := encode.Wrap(l, p.games), encode.Wrap(l, anew)
				if at := firstDifference(observed(before, vec.Information), observed(after, vec.Information)); at >= 0 {
					t.Fatalf("%s, ply %d: feature %d of row %d differs", l.Name(), p.one[0].Plies(), at%l.Width(), at/l.Width())
				}
				if firstDifference(observed(before, vec.History), observed(after, vec.History)) >= 0 {
					shown = true
				}
				checkSameLegal(t, l, p.games, anew, p.rows)
			}
		}
		if !shown && cfg.DeckSize() > 1 {
			t.Error("no hidden card has changed")
		}
	})
}

func observed(b *encode.Batch, v vec.View) []float32 {
	x := poisoned(b.Rows() * b.Width(v))
	b.Observe(x, v, vec.AllRows(nil, b.Rows()))
	return x
}

func checkSameLegal(t *testing.T, l encode.Layout, a, b *rules.Games, rows []int32) {
	t.Helper()
	before, after := make([]uint64, len(rows)*l.MaskWords()), make([]uint64, len(rows)*l.MaskWords())
	l.Legal(before, a, rows)
	l.Legal(after, b, rows)
	for i := range before {
		if before[i] != after[i] {
			t.Fatalf("%s: other actions are legal", l.Name())
		}
	}
}
