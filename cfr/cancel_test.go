package cfr

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// An alarm is an opponent who cancels at some move, and never bets.
type alarm struct {
	cancel func()
	left   int
}

func (a *alarm) Act(dst []int32, _ vec.Batch, _ []int32) {
	clear(dst)
	if a.left--; a.left == 0 {
		a.cancel()
	}
}

// TestCancel: a traversal that is cancelled between two levels leaves the learner
// as it was, and nothing running.
func TestCancel(t *testing.T) {
	o := kuhnOptions()
	o.Opponents = []string{"alarm"}
	pool := vec.NewPool(2)
	defer pool.Close()
	straight, halted := newKuhn(t, o, pool), newKuhn(t, o, pool)
	ctx, cancel := context.WithCancel(t.Context())
	straight.Enter("alarm", &alarm{})
	halted.Enter("alarm", &alarm{cancel, 5})
	iterate(t, straight, 3)
	goroutines := runtime.NumGoroutine()
	done := 0
	for ; done < 3; done++ {
		if _, err := halted.Iterate(ctx, float64(done)/3); err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			break
		}
	}
	if done == 3 || halted.Iteration() != done {
		t.Fatalf("%d iterations after a cancellation in number %d", halted.Iteration(), done+1)
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left, expected %d", runtime.NumGoroutine(), goroutines)
		}
	}
	for ; done < 3; done++ {
		if _, err := halted.Iterate(t.Context(), float64(done)/3); err != nil {
			t.Fatal(err)
		}
	}
	a, b := straight.State(), halted.State()
	for i, n := range a.Networks {
		if !slices.Equal(n.Params.Flat(), b.Networks[i].Params.Flat()) {
			t.Errorf("the %s network differs from that of a run without interruption", n.Name)
		}
	}
	if a.Decisions != b.Decisions || a.Memory.Seen != b.Memory.Seen {
		t.Errorf("%d decisions, %d remembered, expected %d and %d", b.Decisions, b.Memory.Seen, a.Decisions, a.Memory.Seen)
	}
}

// TestLargeTraversal goes over a million nodes, with all checks where the build has
// them: `go test -tags invariants`, and a smaller one under -race.
func TestLargeTraversal(t *testing.T) {
	want := 100_000
	switch {
	case testing.Short():
		want = 30_000
	case vec.Invariants:
		want = 1_000_000
	}
	pool := vec.NewPool(2)
	defer pool.Close()
	cfg := rules.MustPreset("classic")
	cfg.MaxTurns = 100
	o := OptionsOf(DeepCFR)
	o.Games, o.Estimator, o.BranchOnce, o.BranchPlies = want/200, External, true, 60
	l, err := NewLearner(encode.NewBatch(encode.NewCards(cfg), pool), Nets{Hidden: []int{8}}, DefaultMemory(), o, 1, pool)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got, err := l.Traverse(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Tree.Nodes(); n < want || got.States >= n || got.Tree.MaxRows <= o.Games {
		t.Errorf("%d nodes, %d decisions, %d rows in the largest forward of %d games", n, got.States, got.Tree.MaxRows, o.Games)
	}
}
