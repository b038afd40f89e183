package cfr

import (
	"fmt"

	"vtrain/vec"
)

// A Reservoir keeps a uniform sample, of bounded size, of all decisions ever
// added (Vitter's algorithm R): the state, the policy played there, and the
// iteration, from which the row's weight in the average follows. Memory grows
// up to the capacity and stays there.
type Reservoir struct {
	State     vec.Batch           // [N]
	Policy    vec.Column[float32] // [N,M] probabilities of the legal actions, ascending; 0 beyond them
	Iteration vec.Column[uint32]  // [N]
	Seen      uint64              // rows ever added
	capacity  int
	columns   vec.Arena // Policy and Iteration
	at, from  []int32   // scratch of Add
}

// NewReservoir returns an empty reservoir of states of game's kind.
func NewReservoir(game vec.Batch, capacity int) *Reservoir {
	r := &Reservoir{State: game.New(), capacity: capacity}
	vec.Attach(&r.columns, "policy", &r.Policy, game.MaxLegal())
	vec.Attach(&r.columns, "iteration", &r.Iteration, 1)
	r.State.Limit(capacity)
	r.columns.Limit(capacity)
	return r
}

// Rows returns N, the rows held.
func (r *Reservoir) Rows() int { return r.columns.Rows() }

// RowBytes returns the memory of one row.
func (r *Reservoir) RowBytes() int { return r.State.RowBytes() + r.columns.RowBytes() }

// Add offers rows of the samples, with the policy played in them.
func (r *Reservoir) Add(s *Samples, rows []int32, iteration int, stream *vec.Stream) {
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
		policy := r.Policy.Row(slot)
		clear(policy[copy(policy, s.Sigma[lo:hi]):])
		r.Iteration.Data[slot] = uint32(iteration)
	}
}

func (r *Reservoir) resize(rows int) {
	r.State.Resize(rows)
	r.columns.Resize(rows)
}

// Fields returns all columns, for a checkpoint.
func (r *Reservoir) Fields() []vec.Field { return append(r.State.Fields(), r.columns.Fields()...) }

// Restore fills the reservoir with columns that Fields returned, of that many
// rows, after as many had been seen. Fields are matched by name and type.
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
		if err := f.Set(fields[i]); err != nil {
			return fmt.Errorf("cfr: reservoir: %w", err)
		}
	}
	r.Seen = seen
	return nil
}
