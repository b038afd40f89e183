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
	Regret []float32 // [L] regrets when the row was visited, R_{t-1}
	Sigma  []float32 // [L] current policy
	Q      []float32 // [L] the critic's value of each action

	Mover    []uint8   // [N] player to move
	Learns   []uint8   // [N] 1 if the mover is the traverser of its game
	Taken    []int32   // [N] index into the ragged columns of the action taken
	Xi       []float32 // [N] probability ξ with which it was taken
	Expected []float32 // [N] Σσ(a)Q(a)
	Return   []float32 // [N] λ-return of the action taken: what the critic learns
	Target   []float32 // [L] advantages, then what the regret network learns
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
	s.Learns = vec.Grow(s.Learns, rows)
	s.Taken = vec.Grow(s.Taken, rows)
	s.Xi = vec.Grow(s.Xi, rows)
	s.Expected = vec.Grow(s.Expected, rows)
	s.Return = vec.Grow(s.Return, rows)
	s.Act = vec.Grow(s.Act, legal)
	s.Regret = vec.Grow(s.Regret, legal)
	s.Sigma = vec.Grow(s.Sigma, legal)
	s.Q = vec.Grow(s.Q, legal)
	s.Target = vec.Grow(s.Target, legal)
}

// append adds the live rows of a level, with their legal actions but without
// the numbers of networks. It returns the first row added.
func (s *Samples) append(level *vec.Level, mask []uint64) int {
	first, live := s.Rows(), level.Live
	words := len(mask) / max(len(live), 1)
	for i := range live {
		n := vec.MaskCount(mask[i*words : (i+1)*words])
		s.Off = append(s.Off, s.Off[first+i]+int32(n))
	}
	s.resize(first+len(live), int(s.Off[first+len(live)]))
	for i := range live {
		lo := s.Off[first+i]
		vec.MaskAppend(s.Act[lo:lo], mask[i*words:(i+1)*words])
	}
	return first
}

// learned sets dst to the rows whose Learns is as given, in dst's memory.
func (s *Samples) learned(dst []int32, learns uint8) []int32 {
	dst = vec.AllRows(dst, s.Rows())
	return vec.Keep(dst, dst, s.Learns, learns)
}
