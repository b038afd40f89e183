package cfr

import "math"

// Metrics describe one iteration. All are of that iteration alone, but for
// Iteration and States.
type Metrics struct {
	Iteration       int
	States          int64 // decisions seen since the run began
	IterationStates int
	Seconds         float64
	StatesPerSecond float64
	Nodes           int     // of the tree, ends included
	Plies           float64 // nodes of the tree for each game dealt; without branching its mean plies
	MeanRows        float64 // mean rows of a forward of the network that decides
	MaxRows         int     // the most
	Tight           int     // decisions that would have branched, but for the node budget
	Legal           float64 // mean legal actions of a decision
	Entropy         float64 // of the current policy, mean over its decisions, nats
	Fallbacks       float64 // share of its decisions without positive regret
	ClipRate        float64 // share of the corrections of regrets whose 1/ξ was clipped
	Advantage       float64 // mean |Q - ΣσQ| over the legal actions, or under PPO |return - V| of its own decisions, in utility units
	CriticError     float64 // root mean square of return - Q, or return - V, in utility units
	Memory          int     // rows that the average strategy is learned from
	Critic          Fit
	Current         Fit // of regrets, or of the policy
	Strategy        Fit
	Stages          Stages
}

// describe computes the metrics that follow from the samples alone.
func (l *Learner) describe() Metrics {
	t, s := l.traversal, &l.traversal.samples
	rows := float64(s.Rows())
	m := Metrics{
		Iteration: l.iteration, States: l.decisions, IterationStates: s.Rows(),
		Nodes: t.stats.Nodes(), Plies: float64(t.stats.Plies) / float64(l.o.Games),
		MeanRows: t.stats.MeanRows(), MaxRows: t.stats.MaxRows, Tight: t.stats.Tight,
		Legal: float64(len(s.Act)) / rows,
	}
	var own, judged, tried, corrected, squares float64
	for r := range int32(s.Rows()) {
		lo, hi := s.Legal(r)
		if s.Role[r] != Replaces {
			own++
			m.Entropy += entropy(s.Sigma[lo:hi])
			if l.o.Algorithm == DeepCFR {
				m.Fallbacks += b2f(s.Regret[lo:hi][argmax(s.Regret[lo:hi])] <= 0)
			}
		}
		if t.sampling.values && s.Role[r] == Replaces {
			continue // the critic isn't asked
		}
		judged++
		if k, ok := s.taken(r); t.sampling.values && ok {
			m.Advantage += math.Abs(t.surprise(r, k))
		} else {
			m.Advantage += spread(s.Q[lo:hi], s.Expected[r])
		}
		for k := lo; k < hi; k++ {
			if s.Xi[k] == 0 {
				continue
			}
			tried++
			d := t.surprise(r, k)
			squares += d * d
			if s.Role[r] == Teaches && t.sampling.correct {
				corrected++
				m.ClipRate += b2f(1/float64(s.Xi[k]) > t.sampling.clip)
			}
		}
	}
	m.Entropy /= max(own, 1)
	m.Fallbacks /= max(own, 1)
	m.ClipRate /= max(corrected, 1)
	m.Advantage /= max(judged, 1)
	m.CriticError = math.Sqrt(squares / max(tried, 1))
	return m
}

// surprise returns how far the return of an action tried is from what the critic
// said of it, or under PPO of the state.
func (t *traversal) surprise(row, k int32) float64 {
	s := &t.samples
	if t.sampling.values {
		return float64(s.Return[k] - s.Expected[row])
	}
	return float64(s.Return[k] - s.Q[k])
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func entropy(policy []float32) float64 {
	h := 0.0
	for _, p := range policy {
		if p > 0 {
			h -= float64(p) * math.Log(float64(p))
		}
	}
	return h
}

// spread returns the mean distance of values from their expectation.
func spread(q []float32, expected float32) float64 {
	sum := 0.0
	for _, v := range q {
		sum += math.Abs(float64(v - expected))
	}
	return sum / float64(len(q))
}
