// Package cpu runs multilayer perceptrons on the kernels of package
// nets/kernel: a forward backend and the gradient of a batch.
//
// A block of rows passes through all layers while its activations are in the
// cache. Weights are packed once per update; bias and ReLU are part of the
// store. Where few inputs of a block are set, as with binary features, the
// first layer adds the weights of those inputs instead of multiplying: both
// ways give the same bits.
//
// With nets.Int8 the forward multiplies bytes instead: see int8Backend, and
// docs/performance.md for what that gains.
package cpu
