package kernel

import (
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// counting counts the products that pass through it.
type counting struct {
	BLAS
	products *int
}

func (c counting) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, out []float32, ldc int) {
	*c.products++
	c.BLAS.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, out, ldc)
}

// TestUse hands the kernels to each library that takes a BLAS, and multiplies
// through it.
func TestUse(t *testing.T) {
	const m, k, n = 5, 7, 9
	a, b, want := random(m*k, 1, 1), random(k*n, 1, 2), make([]float32, m*n)
	gonum.Implementation{}.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a, k, b, n, 0, want, n)
	check := func(library string, products int, got []float32) {
		t.Helper()
		if products != 1 {
			t.Errorf("%s: %d products reached the kernels, want 1", library, products)
		}
		for i := range want {
			if d := got[i] - want[i]; d > 1e-5 || d < -1e-5 {
				t.Fatalf("%s: element %d is %v, want %v", library, i, got[i], want[i])
			}
		}
	}
	products := 0
	ours := counting{Sets()[0].BLAS(), &products}

	blas32.Use(ours)
	defer blas32.Use(gonum.Implementation{})
	c := blas32.General{Rows: m, Cols: n, Stride: n, Data: make([]float32, m*n)}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, blas32.General{Rows: m, Cols: k, Stride: k, Data: a}, blas32.General{Rows: k, Cols: n, Stride: n, Data: b}, 0, c)
	check("gonum", products, c.Data)

	products = 0
	tensor.Use(ours)
	defer tensor.Use(gonum.Implementation{})
	x, y := tensor.New(tensor.WithShape(m, k), tensor.WithBacking(a)), tensor.New(tensor.WithShape(k, n), tensor.WithBacking(b))
	z, err := x.MatMul(y)
	if err != nil {
		t.Fatal(err)
	}
	check("tensor", products, z.Data().([]float32))

	products = 0
	gorgonia.Use(ours)
	defer gorgonia.Use(gonum.Implementation{})
	g := gorgonia.NewGraph()
	node, err := gorgonia.Mul(gorgonia.NodeFromAny(g, x), gorgonia.NodeFromAny(g, y))
	if err != nil {
		t.Fatal(err)
	}
	machine := gorgonia.NewTapeMachine(g)
	defer machine.Close()
	if err := machine.RunAll(); err != nil {
		t.Fatal(err)
	}
	check("gorgonia", products, node.Value().Data().([]float32))
}

// TestSgemm compares with gonum over all forms of its arguments, and over
// sizes beyond one part.
func TestSgemm(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		b := s.BLAS()
		forms := []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}
		for _, d := range []dims{{1, 1, 1}, {7, 5, 3}, {3, 70, 9}, {blasRows + 1, 9, blasDepth + 1}, {2, blasColumns + 1, 4}, {4, 5, 0}, {0, 2, 2}, {2, 0, 2}} {
			for _, tA := range forms {
				for _, tB := range forms {
					for _, f := range [][2]float32{{1, 0}, {-0.5, 1}, {2, 0.25}, {0, 0.5}, {1, 1}} {
						sgemmOnce(t, b, d, tA, tB, f[0], f[1])
					}
				}
			}
		}
	})
}

func sgemmOnce(t *testing.T, b BLAS, d dims, tA, tB blas.Transpose, alpha, beta float32) {
	t.Helper()
	lda, ldb, ldc := d.k+1, d.n+2, d.n+3
	rowsA, rowsB := d.m, d.k
	if tA != blas.NoTrans {
		lda, rowsA = d.m+1, d.k
	}
	if tB != blas.NoTrans {
		ldb, rowsB = d.k+2, d.n
	}
	x, y := random(rowsA*lda, 1, 1), random(rowsB*ldb, 1, 2)
	want, got := random(d.m*ldc, 1, 3), random(d.m*ldc, 1, 3)
	if beta == 0 && len(got) > 0 {
		want[0], got[0] = nan, nan
	}
	gonum.Implementation{}.Sgemm(tA, tB, d.m, d.n, d.k, alpha, x, lda, y, ldb, beta, want, ldc)
	b.Sgemm(tA, tB, d.m, d.n, d.k, alpha, x, lda, y, ldb, beta, got, ldc)
	for i := range want {
		if diff := math.Abs(float64(want[i] - got[i])); !(diff <= 1e-4) && (want[i] == want[i] || got[i] == got[i]) {
			t.Fatalf("%+v %c%c alpha %v beta %v: element %d is %v, want %v", d, tA, tB, alpha, beta, i, got[i], want[i])
		}
	}
}

// TestSgemmShared compares a product that all cores share with one that a
// single core computes, bit for bit, and checks that a factor of zero is not
// read.
func TestSgemmShared(t *testing.T) {
	const n = 300
	a, b := random(n*n, 1, 1), random(n*n, 1, 2)
	ours := Sets()[0].BLAS()
	product := func(cores int) []float32 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		c := make([]float32, n*n)
		ours.Sgemm(blas.NoTrans, blas.Trans, n, n, n, 1, a, n, b, n, 0, c, n)
		return c
	}
	sameBits(t, "two cores", product(2), product(1))
	c := []float32{1}
	ours.Sgemm(blas.NoTrans, blas.NoTrans, 1, 1, 1, 0, []float32{nan}, 1, []float32{nan}, 1, 2, c, 1)
	if c[0] != 2 {
		t.Errorf("alpha 0 gives %v, want 2", c[0])
	}
	ours.Sgemm(blas.NoTrans, blas.NoTrans, 3, 0, 2, 1, make([]float32, 6), 2, nil, 1, 0, nil, 1)
}
