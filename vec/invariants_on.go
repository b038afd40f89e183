//go:build invariants || race

package vec

// Invariants is true in builds that check what callers promise: the tags
// invariants and race turn it on, and it costs nothing otherwise.
const Invariants = true
