package encode_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vtrain/encode"
	"vtrain/rules"
)

// TestRenamingColorsExchangesGroups holds the groups to the permutations: what
// is in colour k's list moves to the same place of the list of perm[k], and
// what is in no list stays.
func TestRenamingColorsExchangesGroups(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg rules.Config) {
		l := encode.NewCards(cfg)
		g := l.Groups()
		rapid.Check(t, func(t *rapid.T) {
			perm := drawPerm(t, cfg.Colors)
			p := l.Permutation(perm)
			if got := exchanged(g.Features, perm, l.Width()); !slices.Equal(got, p.Features) {
				t.Fatalf("colours %v: groups of features say %v, the permutation %v", perm, got, p.Features)
			}
			if got := exchanged(g.Actions, perm, l.Actions()); !slices.Equal(got, p.Actions) {
				t.Fatalf("colours %v: groups of actions say %v, the permutation %v", perm, got, p.Actions)
			}
		})
	})
}

// exchanged returns the permutation of n indices that moves list k to list
// perm[k].
func exchanged(groups [][]int32, perm []int, n int) []int32 {
	to := make([]int32, n)
	for i := range to {
		to[i] = int32(i)
	}
	for k, list := range groups {
		for i, from := range list {
			to[from] = groups[perm[k]][i]
		}
	}
	return to
}

// TestGroupsAreColors reads the colours off the descriptions: a list has all
// that names its colour, and nothing else.
func TestGroupsAreColors(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg rules.Config) {
		l := encode.NewCards(cfg)
		features := make([]int, l.Width())
		for _, fields := range [][]encode.Field{l.Fields(), encode.NewCritic(l).Fields()} {
			for _, f := range fields {
				for i := range f.Count {
					features[f.First+i] = f.Color
				}
			}
			sameGroups(t, "features", l.Groups().Features, features)
		}
		actions := make([]int, l.Actions())
		for a := range actions {
			actions[a] = encode.Common
			for k := range cfg.Colors {
				if strings.Contains(l.ActionName(int32(a)), rules.ColorName(k)) {
					actions[a] = k
				}
			}
		}
		sameGroups(t, "actions", l.Groups().Actions, actions)
	})
}

// sameGroups compares lists with the colour of each index.
func sameGroups(t *testing.T, what string, groups [][]int32, color []int) {
	t.Helper()
	got := make([]int, len(color))
	for i := range got {
		got[i] = encode.Common
	}
	for k, list := range groups {
		if len(list) != len(groups[0]) {
			t.Errorf("%s: colour %d has %d, the first %d", what, k, len(list), len(groups[0]))
		}
		for _, i := range list {
			got[i] = k
		}
	}
	if !slices.Equal(got, color) {
		t.Errorf("%s have the colours %v, want %v", what, got, color)
	}
}
