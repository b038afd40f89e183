// Package chance tests random numbers by counting them.
package chance

import (
	"math"
	"testing"
)

// Fair fails the test where counts are too far from being drawn in proportion
// to weights (equal ones if nil): where their chi-square statistic is one that
// chance exceeds once in a million times.
func Fair(t testing.TB, what string, counts []int, weights []float64) {
	t.Helper()
	if got, limit := Square(counts, weights), chiSquareLimit(len(counts)-1); !(got <= limit) {
		t.Errorf("%s: chi-square is %.1f over %d values, expected at most %.1f", what, got, len(counts), limit)
	}
}

// Square returns the chi-square statistic of counts against weights, equal ones if
// nil. It has len(counts)-1 degrees of freedom.
func Square(counts []int, weights []float64) float64 {
	total, sum := 0, 0.0
	for i, n := range counts {
		total += n
		sum += weight(weights, i)
	}
	x := 0.0
	for i, n := range counts {
		mean := float64(total) * weight(weights, i) / sum
		x += (float64(n) - mean) * (float64(n) - mean) / mean
	}
	return x
}

func weight(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// chiSquareLimit is about the quantile 1 - 1e-6, by Wilson and Hilferty's cube
// (1931) of a normal variable at 4.75 standard deviations. It errs upwards.
func chiSquareLimit(degrees int) float64 {
	v := 2 / (9 * float64(degrees))
	return float64(degrees) * math.Pow(1-v+4.75*math.Sqrt(v), 3)
}
