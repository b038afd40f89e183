package cfr

import (
	"fmt"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/vec"
)

// TestSnapshots: those that are kept lie evenly over the whole run, never too
// many, also where a run is restored on the way.
func TestSnapshots(t *testing.T) {
	shape := Shape(kuhn.NewBatch(), []int{3}, vec.Information)
	params := shape.NewParams()
	for most := range 7 {
		straight, halting := newSnapshots(most), newSnapshots(most)
		for i := 1; i <= 100; i++ {
			params.Flat()[0] = float32(i)
			straight.add(i, params)
			halting.add(i, params)
			l := Learner{snapshots: halting}
			halting = newSnapshots(most)
			if err := halting.restore(l.Snapshots(), params); err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprint(halting.at, halting.every), fmt.Sprint(straight.at, straight.every); got != want {
				t.Fatalf("iteration %d: restored to %s, expected %s", i, got, want)
			}
			check(t, &straight, i)
		}
	}
}

func check(t *testing.T, s *snapshots, iteration int) {
	t.Helper()
	if len(s.at) > s.most || s.most > 0 && len(s.at) <= s.most/2-1 && len(s.at) < iteration {
		t.Fatalf("%d snapshots of %d after %d iterations", len(s.at), s.most, iteration)
	}
	for i, at := range s.at {
		if at != (i+1)*s.every || s.params[i].Flat()[0] != float32(at) {
			t.Fatalf("snapshots are of %v, each %d iterations; number %d holds those of %v", s.at, s.every, i, s.params[i].Flat()[0])
		}
	}
	if n := len(s.at); n > 0 && iteration-s.at[n-1] >= s.every {
		t.Fatalf("the newest snapshot is of %d after %d iterations, with one for each %d", s.at[n-1], iteration, s.every)
	}
}
