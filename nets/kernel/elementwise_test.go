package kernel

import (
	"math"
	"testing"
)

func TestGate(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		for n := range len(special) + 1 {
			d, intact := fenced(t, n)
			for i := range d {
				d[i] = -7
			}
			s.gateRow(d, copied(t, special[:n]))
			intact()
			for i, v := range d {
				if open := special[i] != 0; open && v != -7 || !open && v != 0 {
					t.Errorf("an activation of %v leaves %v of -7", special[i], v)
				}
			}
		}
	})
}

// TestUpdate compares steps of AdamW with its formula in float64, and the sets
// with each other, bit for bit.
func TestUpdate(t *testing.T) {
	c := AdamW{Scale: 0.7, KeepM: 0.9, AddM: 0.1, KeepV: 0.999, AddV: 0.001, Decay: 0.05, Rate: 0.01, Root: 5, Epsilon: 1e-8}
	for _, n := range []int{0, 1, 7, 8, 9, 67, 4099} {
		var first [3][]float32
		for i, s := range Sets() {
			w, m, g := copied(t, random(n, 1, 1)), copied(t, random(n, 1, 2)), copied(t, random(n, 1, 4))
			v := copied(t, random(n, 1, 3))
			for i := range v {
				v[i] *= v[i]
			}
			before := [3][]float32{append([]float32{}, w...), append([]float32{}, m...), append([]float32{}, v...)}
			s.Update(&c, w, m, v, g)
			after := [3][]float32{w, m, v}
			if i > 0 {
				for j := range after {
					sameBits(t, s.name, after[j], first[j])
				}
				continue
			}
			first = after
			for j := range n {
				grad := float64(c.Scale) * float64(g[j])
				wantM := float64(c.KeepM)*float64(before[1][j]) + float64(c.AddM)*grad
				wantV := float64(c.KeepV)*float64(before[2][j]) + float64(c.AddV)*grad*grad
				w0 := float64(before[0][j])
				wantW := w0 - (w0*float64(c.Decay) + float64(c.Rate)*wantM/(float64(c.Root)*math.Sqrt(wantV)+float64(c.Epsilon)))
				for k, want := range []float64{wantW, wantM, wantV} {
					if got := float64(after[k][j]); math.Abs(got-want) > 1e-6*(math.Abs(want)+0.01) {
						t.Errorf("element %d of %d, vector %d: %v, want %v", j, n, k, got, want)
					}
				}
			}
		}
	}
}

// TestSumSquares compares with a plain sum, and the sets with each other, bit
// for bit.
func TestSumSquares(t *testing.T) {
	for _, n := range []int{0, 1, 7, 15, 16, 17, 33, 1000} {
		v := random(n, 1, 1)
		want := 0.0
		for _, f := range v {
			want += float64(f) * float64(f)
		}
		first := inGo.SumSquares(v)
		for _, s := range Sets() {
			if got := s.SumSquares(copied(t, v)); math.Abs(got-want) > 1e-12*want || got != first {
				t.Errorf("%s, %d elements: %v, want %v", s.name, n, got, want)
			}
		}
	}
}
