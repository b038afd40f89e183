package encode_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// drawPerm draws a permutation of the colours.
func drawPerm(t *rapid.T, colors int) []int {
	identity := make([]int, colors)
	for i := range identity {
		identity[i] = i
	}
	return rapid.Permutation(identity).Draw(t, "colours")
}

// twins play the same game in two namings of the colours, for some plies.
func twins(t *rapid.T, cfg rules.Config, perm []int) (plain, renamed *rules.Game) {
	deck := rapid.Permutation(cfg.Pack()).Draw(t, "deck")
	other := make([]rules.Card, len(deck))
	for i, x := range deck {
		other[i] = cfg.Permute(x, perm)
	}
	plain, renamed = mustDeal(cfg, deck), mustDeal(cfg, other)
	stream := vec.At(rapid.Uint64().Draw(t, "moves"), 0)
	for range rapid.IntRange(0, 150).Draw(t, "plies") {
		legal := plain.Legal()
		if len(legal) == 0 {
			break
		}
		a := legal[stream.Intn(len(legal))]
		mustStep(plain, a)
		mustStep(renamed, cfg.PermuteAction(a, perm))
	}
	return plain, renamed
}

func mustDeal(cfg rules.Config, deck []rules.Card) *rules.Game {
	g, err := rules.NewGameFrom(cfg, deck, 0, 0)
	if err != nil {
		panic(err)
	}
	return g
}

func mustStep(g *rules.Game, a rules.Action) {
	if err := g.Step(a); err != nil {
		panic(err)
	}
}

func maskOf(l encode.Layout, g *rules.Game) []uint64 {
	mask := make([]uint64, l.MaskWords())
	for _, a := range l.LegalGame(g) {
		vec.MaskSet(mask, int(a))
	}
	return mask
}

func TestRenamingColorsPermutesFeatures(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg rules.Config) {
		l := encode.NewCards(cfg)
		rapid.Check(t, func(t *rapid.T) {
			perm := drawPerm(t, cfg.Colors)
			plain, renamed := twins(t, cfg, perm)
			p := l.Permutation(perm)
			for _, v := range views(l) {
				src, want, got := poisoned(v.width), poisoned(v.width), poisoned(v.width)
				v.one(src, plain)
				v.one(want, renamed)
				p.Observation(got, src)
				if at := firstDifference(got, want); at >= 0 {
					t.Fatalf("%s, colours %v: feature %d is %v, expected %v", v.name, perm, at, got[at], want[at])
				}
			}
			mask := make([]uint64, l.MaskWords())
			p.Mask(mask, maskOf(l, plain))
			if !slices.Equal(mask, maskOf(l, renamed)) {
				t.Fatalf("colours %v: legal actions are not those of the renamed game", perm)
			}
		})
	})
}

func TestPermutationOfActionsIsTheRules(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg rules.Config) {
		l := encode.NewCards(cfg)
		rapid.Check(t, func(t *rapid.T) {
			perm := drawPerm(t, cfg.Colors)
			p := l.Permutation(perm)
			for a, to := range p.Actions {
				if want := cfg.PermuteAction(rules.Action(a), perm); rules.Action(to) != want {
					t.Fatalf("action %d becomes %d, the rules say %d", a, to, want)
				}
			}
		})
	})
}

func TestPermutationLaws(t *testing.T) {
	l := encode.NewCards(rules.MustPreset("classic6"))
	values := make([]float32, l.Width())
	for i := range values {
		values[i] = float32(i)
	}
	through := func(src []float32, f func(dst, src []float32)) []float32 {
		dst := poisoned(len(src))
		f(dst, src)
		return dst
	}
	rapid.Check(t, func(t *rapid.T) {
		first, second := drawPerm(t, 6), drawPerm(t, 6)
		both := make([]int, 6) // first, then second
		for k := range both {
			both[k] = second[first[k]]
		}
		p, q := l.Permutation(first), l.Permutation(second)
		there := through(values, p.Observation)
		if back := through(there, p.Inverse().Observation); !slices.Equal(back, values) {
			t.Fatal("the inverse does not undo a renaming of features")
		}
		actions := values[:l.Actions()]
		moved := through(actions, p.Values)
		if back := through(moved, p.Inverse().Values); !slices.Equal(back, actions) {
			t.Fatal("the inverse does not undo a renaming of actions")
		}
		pq := l.Permutation(both)
		if !slices.Equal(through(there, q.Observation), through(values, pq.Observation)) ||
			!slices.Equal(through(moved, q.Values), through(actions, pq.Values)) {
			t.Fatal("two renamings in turn are not their product")
		}
	})
	swap := l.Permutation([]int{0, 4, 2, 3, 1, 5})
	inv := swap.Inverse()
	if !slices.Equal(swap.Features, inv.Features) || !slices.Equal(swap.Actions, inv.Actions) {
		t.Error("exchanging two colours is not its own inverse")
	}
	for _, bad := range [][]int{nil, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 4}, {1, 2, 3, 4, 5, 6}} {
		expectPanic(t, "encode: not a permutation of the colours", func() { l.Permutation(bad) })
	}
}

// swapSeats exchanges the players of all rows: their cards, and, by two plies
// more, who is to move.
func swapSeats(src *rules.Games, rows []int32) *rules.Games {
	g := src.New()
	g.Gather(src, rows)
	for _, column := range []*vec.Column[uint16]{&g.Hand, &g.Exp, &g.Known} {
		for b := range rows {
			row := column.Row(int32(b))
			half := len(row) / 2
			copy(row, append(slices.Clone(row[half:]), row[:half]...))
		}
	}
	for b := range rows {
		g.Made.Data[b] += 2
	}
	return g
}

// Seats have no names in cards: exchanging the players changes nothing for the
// one to move.
func TestSeatSwap(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg rules.Config) {
		l := encode.NewCards(cfg)
		p := deal(cfg, nil, 100, 8)
		for ply := range 60 {
			swapped := swapSeats(p.games, p.rows)
			for _, v := range views(l)[:2] {
				a, b := poisoned(100*v.width), poisoned(100*v.width)
				v.rows(a, p.games, p.rows)
				v.rows(b, swapped, p.rows)
				if at := firstDifference(a, b); at >= 0 {
					t.Fatalf("ply %d, %s, row %d: feature %d depends on the seat", ply, v.name, at/v.width, at%v.width)
				}
			}
			p.step()
		}
	})
}
