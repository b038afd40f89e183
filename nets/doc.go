// Package nets is networks as matrices: their parameters, the forward engine
// that evaluates thousands of rows at once, losses, and the trainer. It knows
// no cards: a row is a vector of features, an output is a number.
//
// Conventions, kept by every implementation of the contracts here:
//   - Matrices are row-major float32; x is [rows,In], y is [rows,Out]. A slice
//     may be longer than its rows need; what lies beyond is neither read nor
//     written.
//   - The slice written is named dst and comes first.
//   - The result of a row depends on that row and the parameters alone, with
//     Int8 also on the calibration rows, bit for bit: not on the batch it
//     travels in, nor on the number of workers.
//   - ReLU has the derivative 0 at 0.
//   - Nothing is allocated by an engine once sealed, nor by a trainer once it
//     has seen its largest batch (package graph is excepted).
//   - A caller's mistake (a wrong length, a call out of order) panics with a
//     constant message; the world's faults (options from a file, numbers that
//     are not finite) are errors.
//   - Engines, trainers and losses serve one goroutine at a time; the
//     concurrency is inside.
package nets

// Messages of the panics raised for a caller's mistake.
const (
	badLength   = "nets: slice length mismatch"
	badShape    = "nets: parameters of another shape"
	badRows     = "nets: number of rows out of range"
	badSpec     = "nets: tensor with an empty dimension or a name used twice"
	badMask     = "nets: mask names an output that does not exist"
	badRate     = "nets: learning rate out of range"
	notLoaded   = "nets: engine holds no parameters"
	notSealed   = "nets: engine is not sealed"
	sealedTwice = "nets: engine is sealed already"
)
