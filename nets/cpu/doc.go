// Package cpu runs multilayer perceptrons on gonum's float32 BLAS interface:
// a forward backend and the gradient of a batch. Whatever implementation is
// registered with blas32.Use when an engine or trainer is made is the one it
// keeps.
//
// All products have the form A·B or Aᵀ·B, never A·Bᵀ, for two reasons that
// hold for gonum's own implementation. Those two forms add multiples of rows
// of B and skip the zeros of A, and A is always sparse here: binary features,
// activations behind a ReLU, gradients behind its mask. And they add in the
// order of the inner dimension whatever the addresses, where the dot products
// of A·Bᵀ add in an order that depends on the alignment of B, so equal batches
// could differ in the last bit.
//
// Gonum starts goroutines of its own for products of four or more 64×64
// blocks. Products are therefore cut into tiles smaller than that, and the
// tiles run on a vec.Pool.
package cpu
