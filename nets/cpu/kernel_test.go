package cpu

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/gonum"

	"vtrain/vec"
)

// random returns elements of which that share isn't zero.
func random(n int, share float32, seed uint64) []float32 {
	s := vec.At(vec.Key(seed, 0), 0)
	v := make([]float32, n)
	for i := range v {
		if f := s.Float32(); s.Float32() < share {
			v[i] = f - 0.5
		}
	}
	return v
}

// TestKernelsAgree compares the bits of both kernels on gonum: they add in the
// same order.
func TestKernelsAgree(t *testing.T) {
	a, b := dense{gonum.Implementation{}}, sparse{gonum.Implementation{}}
	for _, d := range []struct{ m, n, k int }{{1, 1, 1}, {32, 17, 3}, {3, 193, 511}, {31, 5, 513}, {5, 400, 1025}} {
		for _, share := range []float32{0, 0.1, 1} {
			x, w := random(d.m*d.k, share, 1), random(d.k*d.n, 1, 2)
			want, got := random(d.m*d.n, 1, 3), random(d.m*d.n, 1, 3)
			a.multiply(d.m, d.n, d.k, x, w, want)
			b.multiply(d.m, d.n, d.k, x, w, got)
			sameBits(t, want, got)

			// The same memory read as the transpose, in the columns that the
			// dense kernel can take at once.
			n := min(d.n, tileCols)
			want, got = random(d.m*d.n, 1, 3), random(d.m*d.n, 1, 3)
			a.multiplyT(d.m, n, d.k, x, d.m, w, want, d.n)
			b.multiplyT(d.m, n, d.k, x, d.m, w, got, d.n)
			sameBits(t, want, got)
		}
	}
}

func sameBits(t *testing.T, a, b []float32) {
	t.Helper()
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			t.Fatalf("element %d is %v, want exactly %v", i, b[i], a[i])
		}
	}
}

// special is the numbers at the edges of the bit tricks.
var special = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, -math.MaxFloat32,
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32,
	float32(math.Inf(1)), float32(math.Inf(-1)),
	math.Float32frombits(0x7f800001), math.Float32frombits(0xff800001),
	math.Float32frombits(0x7fffffff), math.Float32frombits(0xffffffff),
}

func TestReLU(t *testing.T) {
	v := append([]float32{}, special...)
	relu(v)
	for i, f := range special {
		switch {
		case f != f && v[i] == v[i]:
			t.Errorf("NaN %#x becomes %v", math.Float32bits(f), v[i])
		case f == f && (v[i] != max(f, 0) || math.Signbit(float64(v[i]))):
			t.Errorf("%v becomes %v", f, v[i])
		}
	}
}

func TestGate(t *testing.T) {
	activation := append([]float32{}, special...)
	relu(activation)
	d := make([]float32, len(special))
	for i := range d {
		d[i] = -7
	}
	gate(d, activation)
	for i, f := range special {
		if open := d[i] == -7; open != !(f <= 0) || !open && d[i] != 0 {
			t.Errorf("an activation of %v leaves %v of -7", activation[i], d[i])
		}
	}
}

func TestNonzero(t *testing.T) {
	var list [listed]int32
	got := nonzero(&list, special)
	next := 0
	for i, f := range special {
		if f == 0 {
			continue
		}
		if next == len(got) || int(got[next]) != i {
			t.Fatalf("listed %v, which lacks %d, %v", got, i, f)
		}
		next++
	}
	full := random(listed, 2, 4)
	if n := len(nonzero(&list, full)); n != listed {
		t.Errorf("%d elements listed of %d", n, listed)
	}
}

func TestTranspose(t *testing.T) {
	for _, d := range []struct{ m, n int }{{1, 1}, {3, 40}, {33, 17}, {64, 16}} {
		src, dst := random(d.m*d.n, 1, 5), make([]float32, d.m*d.n)
		transpose(dst, src, d.m, d.n)
		for i := range d.m {
			for j := range d.n {
				if dst[j*d.m+i] != src[i*d.n+j] {
					t.Fatalf("%d×%d: element %d,%d is wrong", d.m, d.n, i, j)
				}
			}
		}
	}
}
