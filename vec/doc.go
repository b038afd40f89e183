// Package vec is the struct-of-arrays foundation of the engine: columns, live
// rows, random streams, worker pools, the level tree, and Batch, the interface
// through which a trainer sees a game. It knows no game.
//
// Conventions, kept by every package above:
//   - B counts rows, W the width of one row; a column is one slice, row-major,
//     and its shape stands beside it: hand []uint16 // [B,P,C].
//   - The slice written is named dst and comes first.
//   - Rows are addressed by ascending []int32 index vectors.
//   - A caller's mistake (a wrong length, a row out of range) panics with a
//     constant message; nothing here meets the outside world.
//   - Results depend on the seed, never on the number of workers or on how
//     many rows are processed together.
package vec

// Messages of the panics raised for a caller's mistake.
const (
	badLength = "vec: slice length mismatch"
	badRow    = "vec: row out of range"
	badRange  = "vec: empty range"
	badColumn = "vec: arenas hold different columns"
	badLimit  = "vec: more rows than the limit"
	noPurpose = "vec: a seed derived for no purpose"
)
