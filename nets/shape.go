package nets

// A Shape is an architecture with its sizes: what there is to know about a
// network besides its parameters. MLP is one, Shared another.
type Shape interface {
	// Validate returns an error unless the shape describes a network. Nothing
	// else may be called before it returned nil.
	Validate() error

	// In and Out are the widths of a row of x and of y.
	In() int
	Out() int

	// String is the shape as people write it.
	String() string

	// NewParams returns parameters of this shape, all zero, Fits reports
	// whether parameters are of it, and Init draws them afresh: the same seed
	// gives the same bits.
	NewParams() Params
	Fits(p Params) bool
	Init(p Params, seed uint64)
}

var _, _ Shape = MLP{}, Shared{}
