package tabular

import (
	"slices"

	"vtrain/vec"
)

// A sampler walks the tree by chance: what external and outcome sampling have
// in common (Lanctot et al. 2009).
type sampler struct {
	tables
	seed      uint64
	stream    vec.Stream
	traverser uint8
	learned   []float64 // [Q] where sampled regrets go: the cumulative ones
	scratch   []float64 // a stack of the policies and values of the decisions above
}

func newSampler(t *Tree, seed uint64) sampler {
	s := sampler{tables: newTables(t), seed: seed}
	s.learned = s.regret
	return s
}

// begin starts a player's traversal of this iteration, from a random deal.
func (s *sampler) begin(player int) (history int32) {
	s.traverser = uint8(player)
	s.stream = vec.At(vec.Key(s.seed, uint64(s.iteration)), uint32(player))
	u := s.stream.Float64() * s.t.deals[len(s.t.deals)-1]
	h, found := slices.BinarySearch(s.t.deals, u)
	if found {
		h++ // each deal's share of [0,1) is without its end
	}
	return int32(h)
}

// utility returns what the traverser wins at an end.
func (s *sampler) utility(end int32) float64 {
	u := s.t.ends[end].utility
	if s.traverser == 1 {
		return -u
	}
	return u
}

// push returns scratch memory for n numbers; pop gives the last n back.
func (s *sampler) push(n int) []float64 {
	lo := len(s.scratch)
	s.scratch = vec.Grow(s.scratch, lo+n)
	return s.scratch[lo:]
}

func (s *sampler) pop(n int) { s.scratch = s.scratch[:len(s.scratch)-n] }

// child draws one of the histories that action number k leads to.
func (s *sampler) child(history, k int32) int32 {
	slot := s.t.slot[history] + k
	lo, hi := s.t.child[slot], s.t.child[slot+1]
	if hi == lo+1 {
		return lo
	}
	return lo + s.draw(s.t.chance[lo:hi])
}

// draw returns an index by its probability.
func (s *sampler) draw(p []float64) int32 {
	u, last := s.stream.Float64(), 0
	for k, x := range p {
		if x <= 0 {
			continue
		}
		last = k
		if u -= x; u < 0 {
			break
		}
	}
	return int32(last)
}

// An External samples chance and the other player, and tries every action of
// the traverser.
type External struct{ sampler }

// NewExternal returns a solver that has done nothing yet.
func NewExternal(t *Tree, seed uint64) *External { return &External{newSampler(t, seed)} }

// Iterate implements Solver: one traversal for each player.
func (s *External) Iterate() error {
	s.iteration++
	for player := range 2 {
		s.walk(s.begin(player))
	}
	return nil
}

// walk returns the traverser's sampled value of a history, of which the
// sampled regrets below it have been learned.
func (s *External) walk(history int32) float64 {
	s.nodes++
	info := s.t.info[history]
	if info < 0 {
		return s.utility(^info)
	}
	lo, hi := s.t.first[info], s.t.first[info+1]
	if s.t.mover[info] == s.traverser {
		return s.branch(history, lo, hi)
	}
	policy := s.push(int(hi - lo))
	match(policy, s.regret[lo:hi])
	for k, p := range policy {
		s.average[lo+int32(k)] += p
	}
	k := s.draw(policy)
	s.pop(len(policy))
	return s.walk(s.child(history, k))
}

// branch tries all actions of a decision.
func (s *External) branch(history, lo, hi int32) float64 {
	n := int(hi - lo)
	both := s.push(2 * n)
	policy, value := both[:n], both[n:]
	match(policy, s.regret[lo:hi])
	for k := range value {
		value[k] = s.walk(s.child(history, int32(k)))
	}
	expected := dot(policy, value)
	for k, v := range value {
		s.learned[lo+int32(k)] += v - expected
	}
	s.pop(2 * n)
	return expected
}

// DefaultEpsilon is the usual exploration of outcome sampling.
const DefaultEpsilon = 0.6

// An Outcome samples single games. The traverser mixes a share ε of the uniform
// policy into his own, and what he sees is weighted accordingly.
type Outcome struct {
	sampler
	epsilon float64
}

// NewOutcome returns a solver that has done nothing yet.
func NewOutcome(t *Tree, epsilon float64, seed uint64) *Outcome {
	return &Outcome{newSampler(t, seed), epsilon}
}

// Iterate implements Solver: one game for each player.
func (s *Outcome) Iterate() error {
	s.iteration++
	for player := range 2 {
		s.walk(s.begin(player), 1)
	}
	return nil
}

// walk returns an unbiased estimate of the traverser's value of a history. The
// weight is 1/Πξ of his own actions so far: everybody else's are sampled by
// their own probabilities, which cancel.
func (s *Outcome) walk(history int32, weight float64) float64 {
	s.nodes++
	info := s.t.info[history]
	if info < 0 {
		return s.utility(^info)
	}
	lo, hi := s.t.first[info], s.t.first[info+1]
	policy := s.push(int(hi - lo))
	defer s.pop(len(policy))
	match(policy, s.regret[lo:hi])
	if s.t.mover[info] == s.traverser {
		return s.learn(history, policy, lo, weight)
	}
	for k, p := range policy {
		s.average[lo+int32(k)] += weight * p
	}
	return s.walk(s.child(history, s.draw(policy)), weight)
}

// learn plays on after a decision of the traverser. With â the action taken,
// v̂(a) = 1[a=â]·v̂(hâ)/ξ(â) and r(a) = v̂(a) - Σσv̂: also the actions not taken
// have regrets, or the estimate would be biased.
func (s *Outcome) learn(history int32, policy []float64, lo int32, weight float64) float64 {
	taken := s.explore(policy)
	xi := s.epsilon/float64(len(policy)) + (1-s.epsilon)*policy[taken]
	value := s.walk(s.child(history, taken), weight/xi) / xi
	expected := policy[taken] * value
	for k := range policy {
		s.learned[lo+int32(k)] -= weight * expected
	}
	s.learned[lo+taken] += weight * value
	return expected
}

// explore draws the traverser's action.
func (s *Outcome) explore(policy []float64) int32 {
	if s.stream.Float64() < s.epsilon {
		return int32(s.stream.Intn(len(policy)))
	}
	return s.draw(policy)
}
