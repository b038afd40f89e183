// Package kernel is the arithmetic of package nets: products of matrices, in
// float32 and in bytes, and the loops of an optimiser, in assembly for AVX-512
// and for AVX2 with FMA, and in Go for every other processor. The assembly is
// generated: see the folder gen.
//
// Conventions:
//   - A Set is the kernels of one instruction set; all sets compute the same
//     and pass the same tests. On AVX2 and AVX-512 they give the same bits: an
//     element of a product is one chain of fused multiply-adds in the order of
//     the inner dimension, whatever the shape of the tile it lies in.
//   - The right factor of a product is packed into panels of a few columns,
//     once for many products.
//   - Nothing allocates but what is named New, and BLAS as it grows.
//   - A caller's mistake panics with a constant message. Nothing beyond the
//     rows and columns named is written, or read, of float32.
package kernel

//go:generate go run ./gen -pkg kernel -out zkernel_amd64.s -stubs zkernel_amd64.go

// Messages of the panics raised for a caller's mistake.
const (
	badLength = "kernel: slice length mismatch"
	badShape  = "kernel: dimension or stride out of range"
)
