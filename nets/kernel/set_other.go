//go:build !amd64 || purego

package kernel

func native() []*Set { return nil }

func (s *Set) compute(t *tile, rows, _ int) { t.compute(rows) }

func (s *Set) panelsAtOnce(int) int { return 1 }

func (s *Set) list(*Lists, []float32, uint32) int { return 0 }

func (s *Set) gather(g *gathering, _ int) { g.compute() }

func (s *Set) gatherAtOnce(int) int { return 1 }

func (s *Set) copyRows(dst, src []float32, row, k int) { s.copyRowsGo(dst, src, row, k) }

func (s *Set) turn(turns int) { peakGo(turns) }

// There is no assembly for the loops of the other files to call: the portable
// set is the only one.

func nonZero(*float32, int) uint64 { panic(badShape) }

func gate(_, _ *float32, _ int) { panic(badShape) }

func adamW(_, _, _, _, _ *float32, _ int) { panic(badShape) }

func squares(*[16]float64, *float32, int) { panic(badShape) }

func transpose8(_, _ *float32, _, _, _ int) { panic(badShape) }
