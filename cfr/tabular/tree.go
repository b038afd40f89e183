package tabular

import "vtrain/vec"

// A Tree is a game as flat arrays. Histories are numbered by plies, so that
// what comes later in a game has the larger number; so are information sets and
// sequences. Chance has no histories of its own: an action leads to one child
// for each way that chance goes after it.
type Tree struct {
	// Histories.
	info   []int32   // [H] information set, or ^e for end e
	slot   []int32   // [H+1] first of its actions
	child  []int32   // [S+1] first history that an action leads to
	chance []float64 // [H] probability of chance's last turn
	deals  []float64 // [deals] sums of their probabilities

	// Information sets.
	mover  []uint8    // [I]
	first  []int32    // [I+1] sequence of its first action
	before []int32    // [I] the mover's last sequence before it
	owned  [2][]int32 // information sets of each player, ascending
	action []int32    // [Q] the game's number of a sequence's action
	state  vec.Batch  // [I] a history of each

	// Ends.
	ends []end // [E]
}

// An end is a history where the game is over.
type end struct {
	sequence [2]int32 // what each player did
	expected float64  // utility times the probability of all chance before it
	utility  float64
}

// Histories returns H, ends included.
func (t *Tree) Histories() int { return len(t.info) }

// Ends returns E.
func (t *Tree) Ends() int { return len(t.ends) }

// InformationSets returns I.
func (t *Tree) InformationSets() int { return len(t.mover) }

// Sequences returns Q, the length of policies.
func (t *Tree) Sequences() int { return len(t.action) }

// States returns a batch with one history of each information set, whose
// observation as its mover is that of all others.
func (t *Tree) States() vec.Batch { return t.state }

// Mover returns the player who acts at an information set.
func (t *Tree) Mover(info int) int { return int(t.mover[info]) }

// Span returns the sequences lo ≤ q < hi of an information set's actions.
func (t *Tree) Span(info int) (lo, hi int) { return int(t.first[info]), int(t.first[info+1]) }

// Action returns the action of the game that a sequence ends with; -1 for the
// empty ones.
func (t *Tree) Action(q int) int { return int(t.action[q]) }

// reach sets dst[q] to the probability that a player's own choices follow
// sequence q: his realisation plan. Entries of the other player stay.
func (t *Tree) reach(dst, policy []float64, player int) {
	dst[player] = 1
	for _, i := range t.owned[player] {
		before := dst[t.before[i]]
		for q := t.first[i]; q < t.first[i+1]; q++ {
			dst[q] = before * policy[q]
		}
	}
}

// payoffs sets dst, for a player's sequences, to what he wins on average in
// games that end with each, if his own choices lead there and the other's have
// the probabilities reach.
func (t *Tree) payoffs(dst, reach []float64, player int) {
	dst[player] = 0
	for _, i := range t.owned[player] {
		clear(dst[t.first[i]:t.first[i+1]])
	}
	if player == 0 {
		for k := range t.ends {
			e := &t.ends[k]
			dst[e.sequence[0]] += e.expected * reach[e.sequence[1]]
		}
		return
	}
	for k := range t.ends {
		e := &t.ends[k]
		dst[e.sequence[1]] -= e.expected * reach[e.sequence[0]]
	}
}
