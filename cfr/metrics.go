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
	Plies           float64 // mean plies of a game
	Legal           float64 // mean legal actions of a decision
	Entropy         float64 // of the current policy, mean over decisions, nats
	Fallbacks       float64 // share of decisions without positive regret
	ClipRate        float64 // share of the traverser's decisions whose 1/ξ was clipped; 0 without Correction
	Advantage       float64 // mean |Q - ΣσQ| over the legal actions, in utility units
	CriticError     float64 // root mean square of return - Q, in utility units
	Memory          int     // rows that the average strategy is learned from
	Critic          Fit
	Regret          Fit
	Strategy        Fit
	Stages          Stages
}

// describe computes the metrics that follow from the samples alone.
func (l *Learner) describe() Metrics {
	t, s := l.traversal, &l.traversal.samples
	rows := float64(s.Rows())
	m := Metrics{
		Iteration: l.iteration, States: l.decisions, IterationStates: s.Rows(),
		Plies: float64(t.plies) / float64(l.o.Games), Legal: float64(len(s.Act)) / rows,
	}
	var learns, squares float64
	for r := range int32(s.Rows()) {
		lo, hi := s.Legal(r)
		m.Entropy += entropy(s.Sigma[lo:hi])
		m.Fallbacks += b2f(s.Regret[lo:hi][argmax(s.Regret[lo:hi])] <= 0)
		m.Advantage += spread(s.Q[lo:hi], s.Expected[r])
		d := float64(s.Return[r] - s.Q[s.Taken[r]])
		squares += d * d
		if s.Learns[r] == 1 && l.o.Correction {
			learns++
			m.ClipRate += b2f(1/float64(s.Xi[r]) > l.o.Clip)
		}
	}
	m.Entropy /= rows
	m.Fallbacks /= rows
	m.ClipRate /= max(learns, 1)
	m.Advantage /= rows
	m.CriticError = math.Sqrt(squares / rows)
	return m
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
