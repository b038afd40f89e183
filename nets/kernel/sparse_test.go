package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestGather compares sums over lists with the whole product, bit for bit.
func TestGather(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for i, d := range sizes(s) {
			for _, share := range []float32{0, 0.1, 1} {
				for _, start := range []string{"zero", "bias", "add"} {
					gatherOnce(t, s, d, share, start, i%2 == 0)
				}
			}
		}
	})
}

func gatherOnce(t *testing.T, s *Set, d dims, share float32, start string, relu bool) {
	t.Helper()
	a, b, before := random(d.m*d.k, share, 1), random(d.k*d.n, 1, 2), random(d.m*d.n, 1, 4)
	panels := s.NewPanels(d.k, d.n)
	panels.Pack(b, d.n, 0, panels.Count())
	p := Product{M: d.m, A: Rows(a, d.k, d.m, d.k), B: panels, ReLU: relu, Add: start == "add"}
	if start == "bias" {
		p.Bias = copied(t, random(d.n, 1, 3))
	}
	want := intoRows(t, &p, before, d, func() { s.Multiply(&p, 0, panels.Count()) })

	lists := s.NewLists(d.m, d.m*d.k)
	lists.Reset(d.k)
	for r := range d.m {
		lists.AppendRow(copied(t, a[r*d.k:(r+1)*d.k]))
	}
	p.M, p.A = 0, Matrix{}
	half := panels.Count() / 2
	gather := func() {
		s.Gather(lists, &p, 0, half)
		s.Gather(lists, &p, half, panels.Count())
	}
	what := fmt.Sprintf("%+v, share %v, start %s", d, share, start)
	sameBits(t, what, intoRows(t, &p, before, d, gather), want)
	sameBits(t, what+", C in panels", intoPanels(t, s, &p, before, d, gather), want)
}

// TestAppendColumns lists the columns of a matrix in two parts, and compares
// with the rows of its transpose.
func TestAppendColumns(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		const row = 70
		for _, d := range []struct{ rows, lo, hi int }{{1, 0, 1}, {9, 3, 67}, {40, 69, 70}, {5, 2, 2}, {0, 0, 3}} {
			x := random(d.rows*row, 0.2, 1)
			depth, half := max(d.rows, 1), d.rows/2
			got := s.NewLists(2*64, 2*64*depth)
			got.Reset(depth)
			got.AppendColumns(x, row, 0, half, d.lo, d.hi)
			got.AppendColumns(x[half*row:], row, half, d.rows-half, d.lo, d.hi)
			want := s.NewLists(2*64, 2*64*depth)
			want.Reset(depth)
			for _, part := range [][2]int{{0, half}, {half, d.rows}} {
				for j := d.lo; j < d.hi; j++ {
					column := make([]float32, d.rows)
					for i := part[0]; i < part[1]; i++ {
						column[i] = x[i*row+j]
					}
					want.AppendRow(column)
				}
			}
			if got.n != want.n || !slices.Equal(got.ends, want.ends) || !slices.Equal(got.offsets[:got.n], want.offsets[:got.n]) ||
				!slices.Equal(got.values[:got.n], want.values[:got.n]) {
				t.Errorf("%+v: listed %v of %v, want %v of %v", d, got.values[:got.n], got.ends, want.values[:want.n], want.ends)
			}
			if got.Reset(depth); got.Len() != 0 || got.room() != 2*64*depth {
				t.Errorf("%d elements and room for %d after Reset", got.Len(), got.room())
			}
		}
	})
}

// TestAppendRow lists special numbers, of which only the zeros are left out.
func TestAppendRow(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for n := range len(special) + 1 {
			l := s.NewLists(1, n)
			l.Reset(max(n, 1))
			l.AppendRow(copied(t, special[:n]))
			next := 0
			for k, f := range special[:n] {
				if f == 0 {
					continue
				}
				if next == l.Len() || l.offsets[next] != uint32(4*s.columns*k) || math.Float32bits(l.values[next]) != math.Float32bits(f) {
					t.Fatalf("%d elements: listed %v, which lacks %v at %d", n, l.values[:l.n], f, k)
				}
				next++
			}
			if next != l.Len() {
				t.Errorf("%d elements: listed %d, want %d", n, l.Len(), next)
			}
		}
	})
}

func TestNonZeros(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		v := special
		for len(v) < 64 {
			v = append(v, 0, 0, 7, 0, float32(len(v)))
		}
		for n := range 65 {
			want := uint64(0)
			for i, f := range v[:n] {
				if f != 0 {
					want |= 1 << i
				}
			}
			if got := s.nonZeros(copied(t, v[:n])); got != want {
				t.Errorf("%d elements: %#x, want %#x", n, got, want)
			}
		}
	})
}
