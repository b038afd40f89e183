package cfr

import (
	"fmt"

	"vtrain/vec"
)

// A Reservoir keeps a uniform sample, of bounded size, of all decisions ever
// added (Vitter's algorithm R): the state, a value of each legal action, and the
// iteration, from which the row's weight follows. Values are probabilities where
// it is the memory of an average strategy, advantages where it is that of regrets.
// Memory grows up to the capacity and stays there.
type Reservoir struct {
	State     vec.Batch           // [N]
	Value     vec.Column[float32] // [N,M] values of the legal actions, ascending; 0 beyond them
	Iteration vec.Column[uint32]  // [N]
	Seen      uint64              // rows ever added
	capacity  int
	columns   vec.Arena // Value and Iteration
	at, from  []int32   // scratch of Add
}

// NewReservoir returns an empty reservoir of states of game's kind.
func NewReservoir(game vec.Batch, capacity int) *Reservoir {
	r := &Reservoir{State: game.New(), capacity: capacity}
	vec.Attach(&r.columns, "value", &r.Value, game.MaxLegal())
	vec.Attach(&r.columns, "iteration", &r.Iteration, 1)
	r.State.Limit(capacity)
	r.columns.Limit(capacity)
	return r
}

// Rows returns N, the rows held.
func (r *Reservoir) Rows() int { return r.columns.Rows() }

// RowBytes returns the memory of one row.
func (r *Reservoir) RowBytes() int { return r.State.RowBytes() + r.columns.RowBytes() }

// Add offers rows of the samples with their values, [L]: a ragged column of the
// samples, such as Sigma or Target.
func (r *Reservoir) Add(s *Samples, rows []int32, values []float32, iteration int, stream *vec.Stream) {
	if len(values) != int(s.Off[len(s.Off)-1]) {
		panic(badLength)
	}
	r.at, r.from = r.at[:0], r.from[:0]
	for _, row := range rows {
		slot := r.Seen
		if r.Seen++; r.Seen > uint64(r.capacity) {
			slot = uint64(stream.Float64() * float64(r.Seen))
		}
		if slot < uint64(r.capacity) {
			r.at = append(r.at, int32(slot))
			r.from = append(r.from, row)
		}
	}
	r.resize(int(min(r.Seen, uint64(r.capacity))))
	r.State.Scatter(r.at, s.State, r.from)
	for i, slot := range r.at {
		lo, hi := s.Legal(r.from[i])
		value := r.Value.Row(slot)
		clear(value[copy(value, values[lo:hi]):])
		r.Iteration.Data[slot] = uint32(iteration)
	}
}

// scatter overwrites row at[i] with row rows[i] of src, for every i. Several calls
// may run at once if no row is written by two.
func (r *Reservoir) scatter(at []int32, src *Reservoir, rows []int32) {
	r.State.Scatter(at, src.State, rows)
	r.columns.Scatter(at, &src.columns, rows)
}

// Draw sets dst to n rows, drawn uniformly and independently. They are left in
// that order: sorting takes longer than it spares those who copy them.
func (r *Reservoir) Draw(dst []int32, n int, stream *vec.Stream) []int32 {
	dst = dst[:0]
	for range n {
		dst = append(dst, int32(stream.Intn(r.Rows())))
	}
	return dst
}

// reserved is the part of the capacity beyond which all of it is allocated.
const reserved = 16

// resize sets the rows held. A large reservoir gets its whole capacity at once,
// of which the system only grants the pages that are written to: growing twofold
// would hold the old columns beside the new ones.
func (r *Reservoir) resize(rows int) {
	if rows > r.capacity/reserved {
		r.setRows(r.capacity)
	}
	r.setRows(rows)
}

func (r *Reservoir) setRows(rows int) {
	r.State.Resize(rows)
	r.columns.Resize(rows)
}

// Fields returns all columns, for a checkpoint.
func (r *Reservoir) Fields() []vec.Field { return append(r.State.Fields(), r.columns.Fields()...) }

// snapshot returns the state, which shares memory with the reservoir.
func (r *Reservoir) snapshot() MemoryState { return MemoryState{r.Rows(), r.Seen, r.Fields()} }

// Restore fills the reservoir with columns that Fields returned, of that many
// rows, after as many had been seen. Fields are matched by name and shape, and by
// type but for integers, which may have been stored in a narrower one.
func (r *Reservoir) Restore(fields []vec.Field, rows int, seen uint64) error {
	if rows < 0 || rows > r.capacity || uint64(rows) != min(seen, uint64(r.capacity)) {
		return fmt.Errorf("cfr: reservoir of %d rows out of %d seen does not fit a capacity of %d", rows, seen, r.capacity)
	}
	r.resize(rows)
	own := r.Fields()
	if len(own) != len(fields) {
		return fmt.Errorf("cfr: reservoir has %d columns, expected %d", len(fields), len(own))
	}
	for i, f := range own {
		if err := f.Widen(fields[i]); err != nil {
			return fmt.Errorf("cfr: reservoir: %w", err)
		}
	}
	r.Seen = seen
	return nil
}
