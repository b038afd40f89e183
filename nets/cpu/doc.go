// Package cpu runs multilayer perceptrons on gonum's float32 BLAS interface:
// a forward backend and the gradient of a batch. The implementation that is
// registered with blas32.Use when an engine or trainer is made is the one it
// keeps; each row of its products may depend on that row of A only, bit for
// bit, as package nets promises.
//
// All products have the form A·B or Aᵀ·B, never A·Bᵀ. Those two add multiples
// of rows of B, so the zeros of A cost nothing, and A is always sparse here:
// binary features, activations behind a ReLU, gradients behind its mask. They
// add in the order of the inner dimension whatever the addresses; gonum's dot
// products, of which A·Bᵀ is made, add in an order that depends on the
// alignment of B, so equal batches could differ in the last bit. For the
// gradient by a layer's inputs, Δ·Wᵀ, the weights are transposed once per
// step: with half of Δ zero that takes 4 µs per row of a 256×256 layer where
// A·Bᵀ takes 7.
package cpu
