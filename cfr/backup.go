package cfr

import "vtrain/vec"

// sign turns a value of the mover's frame into player 0's and back.
func sign(mover uint8) float32 { return 1 - 2*float32(mover) }

// backup computes the targets of a level's decisions and its nodes' values, in
// the frame of player 0. With Q the critic or zero, S the actions tried, each
// with probability ξ, v(a) the value of the node that a led to, and everything
// in the mover's frame,
//
//	v̂(h,a) = Q(h,a) + 1[a∈S]·(v(a) - Q(h,a))/ξ(a)
//	v̂(h)   = Σσ(a)·v̂(h,a)
//	value  = (1-λ)·Σσ(a)Q(h,a) + λ·v̂(h)
//
// With Q that is VR-DeepDCFR+; without, and λ = 1, it is external sampling where
// S is all actions, robust sampling where it is some, and outcome sampling where
// it is one. For an opponent, who plays ξ = σ, it is his child's value, less the
// noise that Q takes out.
func (t *traversal) backup(depth int, level, below *vec.Level) {
	t.depth, t.level, t.below = depth, level, below
	t.pool.Run(len(level.Live), grain, t.kernels.backup)
}

func (t *traversal) backupRange(lo, hi int) {
	s := &t.samples
	for i := lo; i < hi; i++ {
		row := int32(t.first[t.depth] + i)
		frame, child := sign(s.Mover[row]), t.child[row]
		lo, hi := s.Legal(row)
		for k := lo; k < hi; k++ {
			if s.Xi[k] > 0 {
				s.Return[k] = frame * t.below.Value[child]
				child++
			}
		}
		var value float32
		if t.sampling.values {
			value = t.advance(row)
		} else {
			value = t.evaluate(row)
		}
		t.level.Value[t.level.Live[i]] = frame * value
	}
}

// settle sets the values of the level's nodes whose game has ended.
func (t *traversal) settle() {
	level := t.level
	t.ended = vec.AllRows(t.ended, level.Rows())
	t.ended = vec.Keep(t.ended, t.ended, level.State.Finished(), 1)
	t.utility = vec.Grow(t.utility, len(t.ended))
	level.State.Utility(t.utility, t.ended)
	for i, b := range t.ended {
		level.Value[b] = t.utility[i] / float32(t.o.Scale)
	}
}

// evaluate returns the value of a decision, and sets its advantages: v̂(h,a) -
// v̂(h) with 1/ξ clipped, or without the correction by what happened Q(h,a) - ΣσQ,
// which is ESCHER's choice.
func (t *traversal) evaluate(row int32) float32 {
	s, o := &t.samples, &t.sampling
	lo, hi := s.Legal(row)
	expected := dot(s.Sigma[lo:hi], s.Q[lo:hi])
	s.Expected[row] = expected
	value, baseline := expected, expected
	for k := lo; k < hi; k++ {
		s.Target[k] = s.Q[k]
		if s.Xi[k] == 0 {
			continue
		}
		surprise := s.Return[k] - s.Q[k]
		value += float32(o.lambda) * s.Sigma[k] / s.Xi[k] * surprise
		if o.correct {
			correction := min(1/s.Xi[k], float32(o.clip)) * surprise
			baseline += s.Sigma[k] * correction
			s.Target[k] += correction
		}
	}
	for k := lo; k < hi; k++ {
		s.Target[k] -= baseline
	}
	return value
}

// advance sets the advantage of the action taken at a decision by generalised
// advantage estimation (Schulman et al. 2016): with V the critic's value of the
// state and G the λ-return from the child on, G - V. It returns what the level
// above sees, (1-λ)·V + λ·G. Where somebody else moves that is G: the critic
// learns nothing there.
func (t *traversal) advance(row int32) float32 {
	s := &t.samples
	lo, hi := s.Legal(row)
	value := s.Expected[row]
	for k := lo; k < hi; k++ {
		s.Target[k] = 0
		if s.Xi[k] == 0 {
			continue
		}
		s.Target[k] = s.Return[k] - value
		if s.Role[row] == Replaces {
			value = s.Return[k]
		} else {
			value += float32(t.sampling.lambda) * s.Target[k]
		}
	}
	return value
}

func dot(a, b []float32) float32 {
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
