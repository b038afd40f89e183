package kernel

import (
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
