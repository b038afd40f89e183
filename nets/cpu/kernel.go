package cpu

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"
)

// A kernel is the two products that networks are made of. Matrices are
// contiguous unless a leading dimension (ld) says otherwise. Any row of C is
// the same for any m, bit for bit.
type kernel interface {
	// multiply computes C += A·B for A [m,k], B [k,n] and C [m,n], where m is
	// at most tileRows.
	multiply(m, n, k int, a, b, c []float32)

	// multiplyT computes C = Aᵀ·B for A [k,m], B [k,n] and C [m,n], where m is
	// at most tileIns. B and C have the leading dimension ld.
	multiplyT(m, n, k int, a []float32, lda int, b, c []float32, ld int)

	// columns returns the width of the tiles in which multiplyT wants n
	// columns.
	columns(n int) int
}

// registered returns the kernel on the BLAS that is registered with blas32.
func registered() kernel {
	impl := blas32.Implementation()
	if impl, ok := impl.(gonum.Implementation); ok {
		return sparse{impl}
	}
	return dense{impl}
}

const (
	// tileRows is the rows that go through all layers together, few enough
	// for their activations to stay in the cache.
	tileRows = 32

	// tileIns bounds the inputs of a tile of a weight gradient.
	tileIns = 32
)

// dense calls a BLAS that is better at matrices than gonum's own.
type dense struct{ impl blas.Float32 }

// tileCols bounds the columns of a product. Gonum, and what is derived from
// it, starts goroutines for products of four or more 64×64 blocks; these have
// three.
const tileCols = 192

// columns cuts evenly, to a multiple of 16 floats.
func (dense) columns(n int) int {
	tiles := (n + tileCols - 1) / tileCols
	return ((n+tiles-1)/tiles + 15) &^ 15
}

func (d dense) multiply(m, n, k int, a, b, c []float32) {
	step := d.columns(n)
	for j := 0; j < n; j += step {
		d.impl.Sgemm(blas.NoTrans, blas.NoTrans, m, min(step, n-j), k, 1, a, k, b[j:], n, 1, c[j:], n)
	}
}

func (d dense) multiplyT(m, n, k int, a []float32, lda int, b, c []float32, ld int) {
	d.impl.Sgemm(blas.Trans, blas.NoTrans, m, n, k, 1, a, lda, b, ld, 0, c, ld)
}

// sparse does what gonum's Sgemm does, in the same order and with the same
// bits, except that it lists the elements of A that aren't zero before it adds
// rows of B. Sgemm tests them one by one, and as they are close to random the
// processor mispredicts the test: that costs it two fifths of its time.
type sparse struct{ impl gonum.Implementation }

// listed is the elements of A that are listed at once.
const listed = 512

func (sparse) columns(n int) int { return n }

func (s sparse) multiply(m, n, k int, a, b, c []float32) {
	var list [listed]int32
	for lo := 0; lo < k; lo += listed {
		hi := min(lo+listed, k)
		for r := range m {
			row, dst := a[r*k+lo:r*k+hi], c[r*n:(r+1)*n]
			for _, i := range nonzero(&list, row) {
				s.impl.Saxpy(n, row[i], b[(lo+int(i))*n:], 1, dst, 1)
			}
		}
	}
}

func (s sparse) multiplyT(m, n, k int, a []float32, lda int, b, c []float32, ld int) {
	var list [listed]int32
	for i := range m {
		clear(c[i*ld : i*ld+n])
	}
	for l := range k {
		row, src := a[l*lda:l*lda+m], b[l*ld:l*ld+n]
		for _, i := range nonzero(&list, row) {
			s.impl.Saxpy(n, row[i], src, 1, c[int(i)*ld:], 1)
		}
	}
}

// nonzero lists the elements of a row that aren't zero, without a branch: each
// is written, and stays if it counts. The sign is shifted out, so -0 is zero.
func nonzero(list *[listed]int32, row []float32) []int32 {
	n := uint(0)
	for i, f := range row {
		list[n%listed] = int32(i)
		b := math.Float32bits(f) << 1
		n += uint((b | -b) >> 31)
	}
	return list[:n]
}
