package kernel

import (
	"runtime"
	"time"
)

// PeakGFLOPS measures the most float32 operations per second, in units of
// 10⁹, that one core gets out of the fused multiply-adds of the set when it
// waits for nothing else: the roof over every product. It takes a few
// milliseconds; the best of several short runs is what a shared machine gives
// undisturbed.
func (s *Set) PeakGFLOPS() float64 {
	const turns, runs = 20000, 20
	operations := float64(turns * 2 * s.rows * s.columns)
	best := time.Duration(1 << 62)
	for range runs {
		start := time.Now()
		s.turn(turns)
		best = min(best, time.Since(start))
	}
	return operations / float64(best.Nanoseconds())
}

// peakGo is as many independent sums as the tile in Go has: two rows of four.
func peakGo(turns int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	x := float32(turns)
	for range turns {
		s0 += float32(x * x)
		s1 += float32(x * x)
		s2 += float32(x * x)
		s3 += float32(x * x)
		s4 += float32(x * x)
		s5 += float32(x * x)
		s6 += float32(x * x)
		s7 += float32(x * x)
	}
	runtime.KeepAlive(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7)
}
