package cfr

import (
	"fmt"
	"math"

	"vtrain/nets"
	"vtrain/vec"
)

// PPO (Schulman et al. 2017) on the same traversals: both players draw from the
// current policy, learn from every decision that it made, and a critic that sees
// open hands values states. With r the ratio of the policy's probability of the
// action taken to what it was when it was taken, and Â its advantage, normalised
// over the iteration, the policy ascends
//
//	min(r·Â, clip(r, 1-ε, 1+ε)·Â) + entropy·H(π)

// own sets l.rows to the decisions that the current policy made.
func (l *Learner) own() {
	l.rows = l.rows[:0]
	for r, role := range l.traversal.samples.Role {
		if role != Replaces {
			l.rows = append(l.rows, int32(r))
		}
	}
}

// fitValues fits the critic to the λ-returns of the current policy's decisions.
func (l *Learner) fitValues(seed uint64) (Fit, error) {
	s := &l.traversal.samples
	l.own()
	return l.fitFresh(l.critic, seed, (*builder).regression, func(b *builder, i int, row int32) {
		k, _ := s.taken(row)
		b.set(i, 0, s.Return[k])
	})
}

// fitPolicy improves the policy on its own decisions.
func (l *Learner) fitPolicy(seed uint64) (Fit, error) {
	s := &l.traversal.samples
	l.own()
	mean, deviation := s.advantages(l.rows)
	loss := func(b *builder) nets.Loss { return b.clippedSurrogate(l.o.Surrogate, l.o.Entropy) }
	return l.fitFresh(l.current, seed, loss, func(b *builder, i int, row int32) {
		for k, hi := s.Legal(row); k < hi; k++ {
			b.set(i, s.Act[k], 0)
		}
		k, _ := s.taken(row)
		b.taken.action[i], b.taken.before[i] = s.Act[k], s.Sigma[k]
		b.taken.advantage[i] = (s.Target[k] - mean) / deviation
	})
}

// advantages returns mean and standard deviation of the advantages of the
// actions taken, the latter above 0.
func (s *Samples) advantages(rows []int32) (mean, deviation float32) {
	const least = 1e-6 // where all are alike they say nothing
	var sum, squares float64
	for _, r := range rows {
		k, _ := s.taken(r)
		x := float64(s.Target[k])
		sum += x
		squares += x * x
	}
	n := float64(max(len(rows), 1))
	sum /= n
	return float32(sum), float32(max(math.Sqrt(max(squares/n-sum*sum, 0)), least))
}

// averageParameters makes the strategy network the mean of the policy's
// parameters over the iterations, t weighing t^γ. Where learning rates fall the
// mean is stronger than its parts, and steadier.
func (l *Learner) averageParameters() {
	// With γ whole the share of iteration t in Σt^γ; otherwise close to it
	// (polynomial decay, Shamir and Zhang 2013).
	share := float32((l.o.Averaging + 1) / (float64(l.iteration) + l.o.Averaging))
	mean := l.strategy.trainer.Params().Flat()
	for i, p := range l.current.trainer.Params().Flat() {
		mean[i] += share * (p - mean[i])
	}
	l.strategy.publish()
}

// actionsTaken is what PPO knows of the actions taken in the rows of a batch.
type actionsTaken struct {
	action    []int32
	before    []float32 // probabilities when they were taken
	advantage []float32 // normalised
}

func (t *actionsTaken) resize(rows int) {
	t.action, t.before, t.advantage = vec.Grow(t.action, rows), vec.Grow(t.before, rows), vec.Grow(t.advantage, rows)
}

// clippedSurrogate returns PPO's loss of a batch of the policy's rows.
func (b *builder) clippedSurrogate(clip, entropy float64) nets.Loss {
	b.losses.surrogate = surrogate{actionsTaken: b.taken, mask: b.mask, clip: clip, entropy: entropy}
	return &b.losses.surrogate
}

// surrogate is the negative mean of what PPO ascends, over softmax policies on
// the legal actions, those of the mask. It implements nets.Loss.
type surrogate struct {
	actionsTaken
	mask          []uint64 // [rows,W]
	clip, entropy float64
	rows, outputs int
}

// Begin implements nets.Loss.
func (l *surrogate) Begin(rows, outputs int) error {
	if len(l.action) < rows || len(l.mask) < rows*vec.MaskWords(outputs) {
		panic(badLength)
	}
	for r := range rows {
		if p := l.before[r]; !(p > 0) {
			return &nets.InvalidError{Row: r, What: fmt.Sprintf("probability %v of the action taken, want more than 0", p)}
		}
	}
	l.rows, l.outputs = rows, outputs
	return nil
}

// Eval implements nets.Loss.
func (l *surrogate) Eval(dy, y []float32, lo, hi int) float64 {
	sum := 0.0
	for r := lo; r < hi; r++ {
		at := (r - lo) * l.outputs
		sum += l.eval(dy[at:at+l.outputs], y[at:at+l.outputs], r)
	}
	return sum
}

// eval turns outputs into probabilities, kept in dy, and those into derivatives:
// of log π(a) by output b that is 1[a=b] - π(b), of H(π) it is -π(b)·(log π(b) + H).
func (l *surrogate) eval(dy, y []float32, r int) float64 {
	clear(dy)
	words := vec.MaskWords(l.outputs)
	var buffer [128]int32 // more actions than that allocate
	legal := vec.MaskAppend(buffer[:0], l.mask[r*words:(r+1)*words])
	top, total, mean := math.Inf(-1), 0.0, 0.0
	for _, a := range legal {
		top = max(top, float64(y[a]))
	}
	for _, a := range legal {
		z := float64(y[a]) - top
		e := math.Exp(z)
		dy[a] = float32(e)
		total += e
		mean += e * z
	}
	log := math.Log(total)
	entropy := log - mean/total
	act := l.action[r]
	advantage := float64(l.advantage[r])
	ratio := float64(dy[act]) / total / float64(l.before[r])
	value, slope := ratio*advantage, ratio*advantage // slope: by log π of the action taken
	if bound := min(max(ratio, 1-l.clip), 1+l.clip) * advantage; bound < value {
		value, slope = bound, 0
	}
	scale := 1 / float64(l.rows)
	for _, a := range legal {
		p := float64(dy[a]) / total
		d := slope*p + l.entropy*p*(float64(y[a])-top-log+entropy)
		if a == act {
			d -= slope
		}
		dy[a] = float32(scale * d)
	}
	return -scale * (value + l.entropy*entropy)
}
