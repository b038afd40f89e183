package cfr

import (
	"vtrain/vec"
)

// Samples are the decisions of one traversal, as columns over N rows: a
// compact state each, not its encoding, and the numbers of its legal actions.
type Samples struct {
	State vec.Batch // [N]

	Off    []int32   // [N+1] where the row's legal actions start in the ragged columns
	Act    []int32   // [L] legal actions, ascending
	Regret []float32 // [L] outputs when the row was visited: regrets R_{t-1}, or logits of a policy; where another policy moves its own outputs, 0 where its network isn't known
	Sigma  []float32 // [L] policy of the mover
	Q      []float32 // [L] the critic's value of each action; 0 without a critic
	Xi     []float32 // [L] probability ξ with which the action was to be tried, 0 if it wasn't
	Return []float32 // [L] λ-return of an action that was tried: what the critic learns
	Target []float32 // [L] advantages, then what the regret network learns

	Mover    []uint8   // [N] player to move
	Role     []Role    // [N]
	Expected []float32 // [N] Σσ(a)Q(a); under PPO the critic's value of the state

	slots []int32 // [N] scratch of set
}

// Rows returns N.
func (s *Samples) Rows() int { return len(s.Mover) }

// Legal returns the range of row r in the ragged columns.
func (s *Samples) Legal(r int32) (lo, hi int32) { return s.Off[r], s.Off[r+1] }

// reset empties the samples and keeps their memory.
func (s *Samples) reset() {
	s.Off = append(s.Off[:0], 0)
	s.resize(0, 0)
}

// resize sets the rows and the length of the ragged columns, Off aside.
func (s *Samples) resize(rows, legal int) {
	s.State.Resize(rows)
	s.Mover = vec.Grow(s.Mover, rows)
	s.Role = vec.Grow(s.Role, rows)
	s.Expected = vec.Grow(s.Expected, rows)
	s.slots = vec.Grow(s.slots, rows)
	s.Act = vec.Grow(s.Act, legal)
	s.Regret = vec.Grow(s.Regret, legal)
	s.Sigma = vec.Grow(s.Sigma, legal)
	s.Q = vec.Grow(s.Q, legal)
	s.Xi = vec.Grow(s.Xi, legal)
	s.Return = vec.Grow(s.Return, legal)
	s.Target = vec.Grow(s.Target, legal)
}

// extend adds rows, whose legal actions are those of the mask; set fills them.
func (s *Samples) extend(rows int, mask []uint64) {
	first, words := s.Rows(), len(mask)/max(rows, 1)
	for i := range rows {
		s.Off = append(s.Off, s.Off[first+i]+int32(vec.MaskCount(mask[i*words:(i+1)*words])))
	}
	s.resize(first+rows, int(s.Off[first+rows]))
}

// set fills the rows from first on with rows of a state and their legal actions.
// Numbers of networks aren't there yet. Several calls may run at once, for
// different rows.
func (s *Samples) set(first int32, state vec.Batch, rows []int32, mask []uint64) {
	last := first + int32(len(rows))
	slots, words := s.slots[first:last], len(mask)/max(len(rows), 1)
	for i := range rows {
		slots[i] = first + int32(i)
		lo := s.Off[slots[i]]
		vec.MaskAppend(s.Act[lo:lo], mask[i*words:(i+1)*words])
	}
	s.State.Scatter(slots, state, rows)
	state.ToMove(s.Mover[first:last], rows)
}

// taken returns the first action of row r that was tried, by its index in the
// ragged columns.
func (s *Samples) taken(r int32) (k int32, ok bool) {
	lo, hi := s.Legal(r)
	for k := lo; k < hi; k++ {
		if s.Xi[k] > 0 {
			return k, true
		}
	}
	return 0, false
}

// of sets dst to the rows of a role, in dst's memory.
func (s *Samples) of(dst []int32, role Role) []int32 {
	dst = dst[:0]
	for r, x := range s.Role {
		if x == role {
			dst = append(dst, int32(r))
		}
	}
	return dst
}
