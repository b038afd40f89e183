package vec

// An Outcome is one of the ways that chance can go.
type Outcome struct {
	P    float64   // its probability; those of one turn of chance sum to 1
	Seen [2]uint32 // what each player sees of it: equal numbers look alike to him
}

// An Enumerable is a Batch of games whose chance can be looked at from all
// sides, as exact solvers do: every deal, and after an action every way that
// chance may go, instead of one drawn from the game's streams. Both players see
// all actions of both, and of chance what its outcomes say: together that is
// all they know.
type Enumerable interface {
	Batch
	// Deals returns the number of different deals, which may be beyond counting.
	Deals() float64
	// DealEach replaces the batch by one game for each deal. It writes to dst,
	// [Deals], what chance did.
	DealEach(dst []Outcome)
	// Outcomes writes in how many ways chance can go after action actions[i] in
	// row rows[i]: 1 where it has no turn, or none that matters.
	Outcomes(dst, rows, actions []int32)
	// StepTo is Step where chance goes way ways[i], below Outcomes. It writes to
	// dst what chance did.
	StepTo(dst []Outcome, rows, actions, ways []int32)
}
