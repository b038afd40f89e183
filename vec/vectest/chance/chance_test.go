package chance

import (
	"testing"
)

// TestChiSquareLimit compares with exact quantiles 1 - 1e-6.
func TestChiSquareLimit(t *testing.T) {
	for degrees, want := range map[int]float64{5: 35.89, 10: 46.86, 50: 112.61, 300: 431.14} {
		if got := chiSquareLimit(degrees); got < want || got > 1.05*want {
			t.Errorf("%d degrees: %.2f, expected %.2f or a little more", degrees, got, want)
		}
	}
}

func TestSquare(t *testing.T) {
	if got := Square([]int{10, 20, 30}, nil); got != 10 {
		t.Errorf("got %v, expected 10", got)
	}
	if got := Square([]int{10, 20, 30}, []float64{1, 2, 3}); got != 0 {
		t.Errorf("got %v, expected 0", got)
	}
}
