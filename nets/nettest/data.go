package nettest

import (
	"math"
	"testing"

	"vtrain/vec"
)

// batchSizes lie around those of tiles and buckets; with -short, which is how
// the race detector runs, they are few.
func batchSizes() []int {
	if testing.Short() {
		return []int{1, 65, 257}
	}
	return []int{1, 3, 63, 64, 65, 255, 257, 1000}
}

// inputs returns rows of features, most of them 0, many 1, some neither.
func inputs(rows, width int, seed uint64) []float32 {
	s := vec.At(vec.Key(seed, 2), 0)
	x := make([]float32, rows*width)
	for i := range x {
		switch u := s.Float32(); {
		case u < 0.1:
			x[i] = 2*s.Float32() - 1
		case u < 0.3:
			x[i] = 1
		}
	}
	return x
}

// poison fills a slice with NaN.
func poison(v []float32) {
	for i := range v {
		v[i] = float32(math.NaN())
	}
}

// equalBits compares bit for bit, and reports the first difference.
func equalBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %v, want exactly %v", what, i, got[i], want[i])
		}
	}
}

// near compares within a tolerance, relative to the largest element wanted:
// rounding errors of a sum are those of its largest terms.
func near(t *testing.T, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	scale := 0.0
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for i := range got {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= tolerance*scale) {
			t.Fatalf("%s: element %d is %v, want %v within %g", what, i, got[i], want[i], tolerance*scale)
		}
	}
}

// panics checks that f panics with a message of package nets.
func panics(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if s, ok := recover().(string); !ok || len(s) < 6 || s[:6] != "nets: " {
			t.Errorf("%s: panics with %q, want a message of nets", what, s)
		}
	}()
	f()
}

// allocations fails the test if f allocates once warm.
func allocations(t *testing.T, what string, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(5, f); n != 0 {
		t.Errorf("%s allocates %v times", what, n)
	}
}
