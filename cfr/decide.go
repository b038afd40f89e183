package cfr

import (
	"math"

	"vtrain/vec"
)

// A sampling is an estimator, as settings of the traversal.
type sampling struct {
	branches bool    // the traverser tries several actions
	most     int     // of them
	plies    int     // before which he does
	once     bool    // at one decision of a game only
	epsilon  float64 // share of the uniform policy in what he plays, where he doesn't branch
	critic   bool    // the critic's values of actions are baselines
	values   bool    // the critic values states, and both players learn from what they do
	lambda   float64 // λ of the values carried upwards
	correct  bool    // advantages are corrected by what happened
	clip     float64 // largest weight of that
}

// sampling returns the settings of the estimator, which must be valid.
func (o Options) sampling() sampling {
	s := sampling{most: math.MaxInt, plies: math.MaxInt, lambda: 1, correct: true, clip: o.Clip}
	switch o.Algorithm {
	case PPO:
		s.values, s.lambda, s.correct = true, o.Lambda, false
		return s
	case Distill:
		s.correct = false
		return s
	}
	switch o.Estimator {
	case Critic:
		s.critic, s.epsilon, s.lambda, s.correct = true, o.Epsilon, o.Lambda, o.Correction
	case Outcome:
		s.epsilon = o.Epsilon
	case Robust:
		s.most = o.Branch
		fallthrough
	default:
		s.branches, s.once, s.clip = true, o.BranchOnce, math.MaxFloat32
		if o.BranchPlies > 0 {
			s.plies = o.BranchPlies
		}
	}
	return s
}

// hasCritic reports whether there is a critic.
func (s sampling) hasCritic() bool { return s.critic || s.values }

// A Role is what a decision teaches besides the critic.
type Role uint8

const (
	Opposes  Role = iota // the average strategy: the mover doesn't traverse and plays the current policy
	Teaches              // regrets: the mover traverses
	Follows              // nothing: the mover traverses, on the way to a decision that branches or from one
	Replaces             // nothing: an opponent who isn't the current policy has moved
)

// decide chooses actions at a live node by a network's outputs, and records
// them.
func (t *traversal) decide(place int32, head Head) {
	s, row := &t.samples, t.row(place)
	lo, hi := s.Legal(row)
	outputs, sigma := s.Regret[lo:hi], s.Sigma[lo:hi]
	if t.sampling.values && !finite(s.Expected[row:row+1]) || !finite(outputs) || !finite(s.Q[lo:hi]) {
		lower(&t.bad, int64(row))
	}
	head.policy(sigma, outputs, t.fallback)

	b, only := t.level.Live[place], several
	stream := vec.At(vec.Key(t.seed, t.level.State.GameKeys()[b]), t.level.State.Plies()[b])
	xi := s.Xi[lo:hi]
	clear(xi)
	switch {
	case !t.traverses(b, row):
		s.Role[row] = Opposes
		if len(t.opponents) > 0 && t.by[place] != current {
			s.Role[row] = Replaces
		}
		only = follow(xi, sigma, 0, &stream)
	case !t.sampling.branches:
		s.Role[row] = Teaches
		only = follow(xi, sigma, float32(t.sampling.epsilon), &stream)
	case t.tight || !t.mayBranch(b):
		s.Role[row] = Follows
		only = follow(xi, sigma, 0, &stream)
	default:
		s.Role[row] = Teaches
		if t.sampling.once {
			t.spent[b] = 1
		}
		branch(xi, t.sampling.most, &stream)
	}
	t.tried[place] = several
	if only != several {
		t.tried[place] = lo + int32(only)
	}
}

// traverses reports whether the mover traverses the game.
func (t *traversal) traverses(b, row int32) bool {
	if t.o.Alternate {
		return t.traverser == t.samples.Mover[row]
	}
	return uint8(t.level.State.GameKeys()[b]&1) == t.samples.Mover[row]
}

// mayBranch reports whether the traverser tries several actions at row b of the
// level.
func (t *traversal) mayBranch(b int32) bool {
	ply := int(t.level.State.Plies()[b])
	if ply >= t.sampling.plies {
		return false
	}
	return !t.sampling.once || t.spent[b] == 0 && ply >= t.branchFrom(b)
}

// branchFrom returns the ply from which on a game's next decision of the
// traverser branches, if only one does. It is drawn uniformly.
func (t *traversal) branchFrom(b int32) int {
	stream := vec.At(vec.Key(vec.Derive(t.seed, "branch", 0), t.level.State.GameKeys()[b]), 0)
	return stream.Intn(t.sampling.plies)
}

// affordable reports whether branching at this level keeps the node budget,
// should all games then last as long as a game can. It counts the decisions that
// can't branch.
func (t *traversal) affordable() bool {
	wanted, below := 0, 0
	for i, b := range t.level.Live {
		row := t.row(int32(i))
		below++
		if t.traverses(b, row) && t.mayBranch(b) {
			lo, hi := t.samples.Legal(row)
			below += min(int(hi-lo), t.sampling.most) - 1
			wanted++
		}
	}
	depth := len(t.stats.Levels) - 1
	left := max(t.level.State.Horizon()-depth, 1)
	if t.stats.Nodes()+below*left <= t.budget {
		return true
	}
	t.stats.Tight += wanted
	return false
}

// follow draws one action from the policy mixed with a share epsilon of the
// uniform one, and sets its probability in xi, which is all zero. It returns the
// action's index.
func follow(xi, sigma []float32, epsilon float32, s *vec.Stream) int {
	k := 0
	if epsilon > 0 && s.Float32() < epsilon {
		k = s.Intn(len(sigma))
	} else {
		k = sample(sigma, s)
	}
	xi[k] = Explore(sigma[k], epsilon, len(sigma))
	return k
}

// branch draws most actions, or all if there are fewer, uniformly without
// replacement, and sets their probability in xi, which is all zero.
func branch(xi []float32, most int, s *vec.Stream) {
	n := len(xi)
	most = min(most, n)
	for k, left := 0, most; left > 0; k++ {
		if left == n-k || s.Intn(n-k) < left {
			xi[k] = float32(most) / float32(n)
			left--
		}
	}
}
