package tabular

// Uniform returns the policy that takes all legal actions alike.
func (t *Tree) Uniform() []float64 {
	policy := make([]float64, t.Sequences())
	t.Normalise(policy)
	return policy
}

// Normalise scales weights of sequences, in place, to probabilities at each
// information set; where there are none all actions are alike.
func (t *Tree) Normalise(weights []float64) {
	t.check(weights)
	weights[0], weights[1] = 1, 1
	for i := range t.mover {
		normalise(weights[t.first[i]:t.first[i+1]])
	}
}

func normalise(weights []float64) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for k := range weights {
		if sum > 0 {
			weights[k] /= sum
		} else {
			weights[k] = 1 / float64(len(weights))
		}
	}
}

// AddPlan adds to weights a policy as a plan for the whole game: each sequence
// gets the probability that its player's choices follow it, times weight. Normalise
// then makes the policy of drawing one of the plans, before the game, with
// probabilities in the ratio of their weights (Kuhn 1953).
func (t *Tree) AddPlan(weights, policy []float64, weight float64) {
	t.check(weights)
	t.check(policy)
	reach := make([]float64, len(policy))
	t.reach(reach, policy, 0)
	t.reach(reach, policy, 1)
	for q, r := range reach {
		weights[q] += weight * r
	}
}

func (t *Tree) check(policy []float64) {
	if len(policy) != t.Sequences() {
		panic(badPolicy)
	}
}

// Value returns what player 0 wins on average if both play a policy.
func (t *Tree) Value(policy []float64) float64 {
	t.check(policy)
	reach := make([]float64, t.Sequences())
	t.reach(reach, policy, 0)
	t.reach(reach, policy, 1)
	sum := 0.0
	for _, e := range t.ends {
		sum += e.expected * reach[e.sequence[0]] * reach[e.sequence[1]]
	}
	return sum
}

// BestResponse returns what a player wins on average who knows the other's
// policy and plays the best against it. It sets response, unless nil, to how:
// [Q], of which the other player's entries stay.
func (t *Tree) BestResponse(response, policy []float64, player int) float64 {
	t.check(policy)
	reach, value := make([]float64, t.Sequences()), make([]float64, t.Sequences())
	t.reach(reach, policy, 1-player)
	t.payoffs(value, reach, player)
	for k := len(t.owned[player]) - 1; k >= 0; k-- {
		i := t.owned[player][k]
		lo, hi := t.first[i], t.first[i+1]
		best := lo
		for q := lo; q < hi; q++ {
			if value[q] > value[best] {
				best = q
			}
		}
		value[t.before[i]] += value[best]
		if response != nil {
			clear(response[lo:hi])
			response[best] = 1
		}
	}
	return value[player]
}

// NashConv returns what both players together could gain by best responses to
// a policy that both play: 0 for an equilibrium, but for rounding.
func (t *Tree) NashConv(policy []float64) float64 {
	return t.BestResponse(nil, policy, 0) + t.BestResponse(nil, policy, 1)
}
