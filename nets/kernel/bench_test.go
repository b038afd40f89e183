package kernel

import (
	"fmt"
	"testing"
)

// eachSetB runs a benchmark on every set of this machine but the portable one,
// unless that is all there is.
func eachSetB(b *testing.B, f func(*testing.B, *Set)) {
	for i, s := range Sets() {
		if i == 0 || s.code != portable {
			b.Run(s.name, func(b *testing.B) { f(b, s) })
		}
	}
}

func reportGFLOPS(b *testing.B, flop float64) {
	b.ReportMetric(flop*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
}

// BenchmarkPeak is the roof over the others.
func BenchmarkPeak(b *testing.B) {
	eachSetB(b, func(b *testing.B, s *Set) {
		const turns = 10000
		for b.Loop() {
			s.turn(turns)
		}
		reportGFLOPS(b, turns*2*float64(s.rows*s.columns))
	})
}

func BenchmarkMultiply(b *testing.B) {
	const k, n = 512, 512
	eachSetB(b, func(b *testing.B, s *Set) {
		for _, m := range []int{1, 2, 3, 4, 8, 16, 48, 56} {
			b.Run(fmt.Sprintf("rows=%d", m), func(b *testing.B) {
				panels := s.NewPanels(k, n)
				panels.Pack(random(k*n, 1, 1), n, 0, panels.Count())
				stride := Stride(n)
				p := Product{M: m, A: Rows(random(m*stride, 1, 2), stride, m, k), B: panels, C: Rows(NewFloats(m*stride), stride, m, n)}
				for b.Loop() {
					s.Multiply(&p, 0, panels.Count())
				}
				reportGFLOPS(b, 2*float64(m*n*k))
			})
		}
	})
}

// BenchmarkFirstLayer compares the ways to compute the first layer of the
// default agent for a block of rows: all inputs, those that are set, and, for
// the sums of an earlier row of the same player, those that have changed. In
// random games 77 of the 440 inputs are set on average, and 9 differ from the
// player's decision before.
func BenchmarkFirstLayer(b *testing.B) {
	const k, n = 440, 256
	eachSetB(b, func(b *testing.B, s *Set) {
		panels, rows := s.NewPanels(k, n), s.block
		panels.Pack(random(k*n, 1, 1), n, 0, panels.Count())
		p := Product{M: rows, B: panels, C: Rows(NewFloats(rows*n), n, rows, n), Bias: random(n, 1, 2)}
		perRow := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		}
		b.Run("dense", func(b *testing.B) {
			p.A = Rows(random(rows*k, 1, 3), k, rows, k)
			for b.Loop() {
				s.Multiply(&p, 0, panels.Count())
			}
			perRow(b)
		})
		lists := s.NewLists(rows, rows*k)
		sparse := func(set int, add bool) func(b *testing.B) {
			return func(b *testing.B) {
				x := random(rows*k, float32(set)/k, 3)
				if p.Add = add; add {
					p.Bias = nil
				}
				for b.Loop() {
					lists.Reset(k)
					for r := range rows {
						lists.AppendRow(x[r*k : (r+1)*k])
					}
					s.Gather(lists, &p, 0, panels.Count())
				}
				perRow(b)
			}
		}
		b.Run("sparse/set=45", sparse(45, false))
		b.Run("sparse/set=77", sparse(77, false))
		b.Run("changes=9", sparse(9, true))
	})
}

func BenchmarkPack(b *testing.B) {
	const k, n = 512, 512
	eachSetB(b, func(b *testing.B, s *Set) {
		w, panels := random(k*n, 1, 1), s.NewPanels(k, n)
		for _, turned := range []bool{false, true} {
			b.Run(fmt.Sprintf("turned=%v", turned), func(b *testing.B) {
				pack := panels.Pack
				if turned {
					pack = panels.PackTransposed
				}
				b.SetBytes(4 * k * n)
				for b.Loop() {
					pack(w, n, 0, panels.Count())
				}
			})
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	const n = 1 << 16
	eachSetB(b, func(b *testing.B, s *Set) {
		c := AdamW{Scale: 1, KeepM: 0.9, AddM: 0.1, KeepV: 0.999, AddV: 0.001, Rate: 0.001, Root: 1, Epsilon: 1e-8}
		w, m, v, g := random(n, 1, 1), random(n, 1, 2), NewFloats(n), random(n, 1, 3)
		for b.Loop() {
			s.Update(&c, w, m, v, g)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/parameter")
	})
}
