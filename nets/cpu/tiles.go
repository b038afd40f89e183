package cpu

import "gonum.org/v1/gonum/blas"

const (
	// tileRows is the rows that go through all layers together, few enough
	// for their activations to stay in the cache.
	tileRows = 32

	// tileCols bounds the columns of a product; three 64-wide blocks stay
	// below gonum's threshold for goroutines.
	tileCols = 192

	// tileIns bounds the inputs of a tile of a weight gradient.
	tileIns = 64
)

// colStep returns the width of the tiles that cut n columns evenly, a
// multiple of 16 floats, which is what gonum's kernel unrolls.
func colStep(n int) int {
	tiles := (n + tileCols - 1) / tileCols
	return ((n+tiles-1)/tiles + 15) &^ 15
}

// multiply computes C += A·B for A [m,k], B [k,n], C [m,n], all contiguous,
// m at most 64.
func multiply(impl blas.Float32, m, n, k int, a, b, c []float32) {
	step := colStep(n)
	for j := 0; j < n; j += step {
		impl.Sgemm(blas.NoTrans, blas.NoTrans, m, min(step, n-j), k, 1, a, k, b[j:], n, 1, c[j:], n)
	}
}

// affine computes y = x·W + b for rows of x, with ReLU if the layer is hidden.
// The sum starts at the bias.
func affine(impl blas.Float32, y, x, weight, bias []float32, rows int, hidden bool) {
	in, out := len(x)/rows, len(bias)
	for r := range rows {
		copy(y[r*out:(r+1)*out], bias)
	}
	multiply(impl, rows, out, in, x, weight, y)
	if hidden {
		relu(y[:rows*out])
	}
}
