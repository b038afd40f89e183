package cfr

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vtrain/vec"
)

// BenchmarkBatch assembles batches of 4096 remembered rows of the classic game, all
// that is done for a training step before it: drawing rows, observing them, masks,
// targets and weights. One worker and two take turns, so that both meet the same
// machine. It reports medians, and of the ratios the median too.
func BenchmarkBatch(b *testing.B) {
	const memory, rows = 500_000, 4096
	for _, view := range []vec.View{vec.Information, vec.History} {
		b.Run([]string{"information", "history"}[view], func(b *testing.B) {
			var assemble [2]func() float64 // nanoseconds a row, of one worker and of two
			for i := range assemble {
				pool := vec.NewPool(i + 1)
				defer pool.Close()
				r := NewReservoir(classicGame(pool), memory)
				playedGames(r, memory)
				built, drawn, stream := builder{}, []int32(nil), vec.At(7, 0)
				built.bind(pool)
				assemble[i] = func() float64 {
					pool.Run(rows, fillGrain, func(int, int) {}) // the workers are awake, as after a step
					begin := time.Now()
					drawn = r.Draw(drawn, rows, &stream)
					built.remembered(r, view, drawn, 1000, 2)
					return float64(time.Since(begin).Nanoseconds()) / rows
				}
			}
			var one, two, ratio []float64
			for b.Loop() {
				x, y := assemble[0](), assemble[1]()
				one, two, ratio = append(one, x), append(two, y), append(ratio, x/y)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(one), "ns/row-1-worker")
			b.ReportMetric(median(two), "ns/row-2-workers")
			b.ReportMetric(median(ratio), "times")
		})
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// BenchmarkReservoirMemory fills a reservoir with ten million decisions of the
// classic game, and holds what the process then occupies, and has occupied at
// most, to 2.3 GB.
func BenchmarkReservoirMemory(b *testing.B) {
	const rows, most = 10_000_000, 2_300_000_000
	before := resident(b, "VmRSS")
	for range b.N {
		r := NewReservoir(classicGame(nil), rows)
		playedGames(r, rows)
		now, peak := resident(b, "VmRSS"), resident(b, "VmHWM")
		b.ReportMetric(float64(now-before)/rows, "bytes/row")
		b.ReportMetric(float64(peak)/1e9, "peak-GB")
		if now > most || peak > most {
			b.Errorf("%d rows take %.2f GB and took %.2f, expected at most %.2f", rows, float64(now)/1e9, float64(peak)/1e9, most/1e9)
		}
		runtime.KeepAlive(r)
	}
}

// resident returns the bytes of memory of this process that Linux calls by that
// name: VmRSS now, VmHWM at most so far.
func resident(b *testing.B, name string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("needs Linux: ", err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name+":" {
			kilobytes, err := strconv.Atoi(fields[1])
			if err != nil {
				b.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	b.Fatalf("no %s in /proc/self/status", name)
	return 0
}
