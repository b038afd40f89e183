package vec

// A View selects what an observation shows.
type View uint8

const (
	// Information is the information state of the player to move: all he may
	// know, and nothing else.
	Information View = iota
	// History is the whole state, hidden cards included, as the player to move
	// would see it with open hands. It is for critics in training only.
	History
)

// Inline is the most rows with which Observe and Legal may be called by several
// workers at once, from within a run of the pool that the batch works on.
const Inline = 128

// Batch is a set of two-player zero-sum games that step in lockstep: all that
// a trainer needs to know of a game. B counts its rows, A its actions.
//
// Methods that take rows, an ascending index vector, write entry i of dst for
// row rows[i]. Rows of finished games are legal arguments of ToMove, Legal
// (nothing is legal), Step (nothing happens), Utility, Gather and Scatter.
// Implementations allocate nothing once a batch has reached its largest size.
type Batch interface {
	// New returns an empty batch of the same game.
	New() Batch
	// Rows returns B.
	Rows() int
	// RowBytes returns the memory of one row.
	RowBytes() int
	// Fields returns the columns that make up the rows, sharing memory: what a
	// checkpoint stores. They stay valid until the batch changes its size.
	Fields() []Field
	// Actions returns A.
	Actions() int
	// MaxLegal returns the most actions that can be legal at once.
	MaxLegal() int
	// Width returns the features of an observation.
	Width(v View) int
	// Horizon returns the most plies that a game can last, 0 if unbounded.
	Horizon() int

	// Limit promises that the batch will never have more rows than that; its
	// memory then never holds more. Batches made from it by New have no limit.
	Limit(rows int)
	// Resize sets the number of rows. Rows that stay keep their games; new ones
	// hold anything until Scatter fills them.
	Resize(rows int)
	// Deal replaces the batch by n new games, number first, first+1, … of
	// those that seed stands for.
	Deal(n int, seed, first uint64)
	// Gather replaces the batch by copies of src's rows; rows may repeat.
	Gather(src Batch, rows []int32)
	// Scatter overwrites row at[i] with row rows[i] of src, one after the other,
	// on the calling goroutine alone. Several calls may run at once if no row is
	// written by two.
	Scatter(at []int32, src Batch, rows []int32)

	// Finished is the column [B] of flags: 1 once a game has ended.
	Finished() []uint8
	// Plies is the column [B] of plies made.
	Plies() []uint32
	// GameKeys is the column [B] of keys for At: a game's copies share one.
	GameKeys() []uint64

	// ToMove writes the player to move, 0 or 1.
	ToMove(dst []uint8, rows []int32)
	// Legal writes mask rows of the legal actions, [len(rows), MaskWords(A)].
	Legal(dst []uint64, rows []int32)
	// Observe writes features, [len(rows), Width(v)].
	Observe(dst []float32, v View, rows []int32)
	// Step makes action actions[i] in row rows[i], and whatever chance does
	// next, from the game's own streams.
	Step(rows, actions []int32)
	// Utility writes what player 0 has won, in the game's own unit, once the
	// game has ended; before that, as it stands.
	Utility(dst []float32, rows []int32)
}
