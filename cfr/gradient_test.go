package cfr

import (
	"math"
	"slices"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/vec"
)

// ppoOptions are settings of PPO for a game of three plies and one unit.
func ppoOptions() Options {
	o := kuhnOptions()
	o.Algorithm, o.Lambda, o.Averaging, o.PolicyRate = PPO, 0.7, 10, 2e-3
	return o
}

// TestSurrogate compares loss and derivatives with the objective as the paper
// writes it, differentiated numerically. The ratios lie within the clip, and
// beyond it on either side of either sign of the advantage.
func TestSurrogate(t *testing.T) {
	const outputs = 4
	l := &surrogate{
		actionsTaken: actionsTaken{
			action:    []int32{0, 2, 3, 2, 0},
			before:    []float32{.5, .1, .2, .9, .9},
			advantage: []float32{1.5, 2, -1, -2, 3},
		},
		mask: []uint64{0b0111, 0b1101, 0b1001, 0b0110, 0b1111},
		clip: .2, entropy: .3,
	}
	y := []float32{
		.3, -.2, -.9, 99,
		-1, 99, .5, 1,
		.2, 99, 99, .1,
		99, .4, -.5, 99,
		.5, .6, .7, -.8,
	}
	rows := len(l.action)
	objective := func(y []float64) float64 {
		sum := 0.0
		for r := range rows {
			total := 0.0
			for a := range outputs {
				if l.mask[r]>>a&1 != 0 {
					total += math.Exp(y[r*outputs+a])
				}
			}
			ratio := math.Exp(y[r*outputs+int(l.action[r])]) / total / float64(l.before[r])
			advantage := float64(l.advantage[r])
			sum += math.Min(ratio*advantage, math.Max(.8, math.Min(1.2, ratio))*advantage)
			for a := range outputs {
				if p := math.Exp(y[r*outputs+a]) / total; l.mask[r]>>a&1 != 0 {
					sum -= .3 * p * math.Log(p)
				}
			}
		}
		return -sum / float64(rows)
	}
	wide := make([]float64, len(y))
	for i, v := range y {
		wide[i] = float64(v)
	}
	if err := l.Begin(rows, outputs); err != nil {
		t.Fatal(err)
	}
	dy := make([]float32, len(y))
	if got, want := l.Eval(dy, y, 0, rows), objective(wide); math.Abs(got-want) > 1e-6 {
		t.Errorf("loss %v, want %v", got, want)
	}
	const h = 1e-6
	for i := range wide {
		at := wide[i]
		wide[i] = at + h
		above := objective(wide)
		wide[i] = at - h
		below := objective(wide)
		wide[i] = at
		if want := (above - below) / (2 * h); math.Abs(float64(dy[i])-want) > 1e-6 {
			t.Errorf("derivative by output %d of row %d is %v, want %v", i%outputs, i/outputs, dy[i], want)
		}
	}
	part := make([]float32, outputs)
	l.Eval(part, y[3*outputs:4*outputs], 3, 4)
	for a, want := range dy[3*outputs : 4*outputs] {
		if part[a] != want {
			t.Errorf("row 3 alone: derivative %d is %v, want %v", a, part[a], want)
		}
	}
	l.before[1] = 0
	if err := l.Begin(rows, outputs); err == nil {
		t.Error("an action of probability 0 was taken")
	}
}

// TestAdvantageEstimation compares with the sum that defines the estimates:
// Â_t = Σ λ^k δ_{t+k}, with δ_t = V_{t+1} - V_t and V the utility at the end, all
// for one player. Plies of somebody else are left out, as if the ply above led
// to the one below; t and k then count the others.
func TestAdvantageEstimation(t *testing.T) {
	t.Run("self-play", func(t *testing.T) {
		checkAdvantages(t, newKuhn(t, ppoOptions(), nil))
	})
	t.Run("against another", func(t *testing.T) {
		o := ppoOptions()
		o.Opponents = []string{"coin=0.5", CurrentOpponent}
		l := newKuhn(t, o, nil)
		l.Enter("coin", coin{})
		checkAdvantages(t, l)
	})
}

func checkAdvantages(t *testing.T, l *Learner) {
	t.Helper()
	o := l.o
	iterate(t, l, 2) // a critic that says something
	mustTraverse(t, l, 9)
	s := &l.traversal.samples
	state := s.State.(*kuhn.Batch)
	games := map[uint64][]int32{} // rows by ply
	for r := range int32(s.Rows()) {
		games[state.GameKeys()[r]] = append(games[state.GameKeys()[r]], r)
	}
	if len(games) != o.Games {
		t.Fatalf("%d games, expected %d", len(games), o.Games)
	}
	var own, distance, squares float64
	for _, rows := range games {
		last := rows[len(rows)-1]
		k, _ := s.taken(last)
		history, hand := state.Node(last)
		won, over := kuhn.Utility(kuhn.After(history, int(s.Act[k])), hand)
		if !over {
			t.Fatal("a game wasn't recorded to its end")
		}
		rows = slices.DeleteFunc(rows, func(r int32) bool { return s.Role[r] == Replaces })
		values := make([]float64, len(rows)+1)
		values[len(rows)] = float64(won)
		for i, r := range rows {
			values[i] = float64(sign(s.Mover[r]) * s.Expected[r])
		}
		for i, r := range rows {
			want, weight := 0.0, 1.0
			for j := i; j < len(rows); j++ {
				want += weight * (values[j+1] - values[j])
				weight *= o.Lambda
			}
			k, _ := s.taken(r)
			if got := float64(sign(s.Mover[r]) * s.Target[k]); math.Abs(got-want) > 1e-5 {
				t.Fatalf("ply %d of %d: advantage %v, want %v", i, len(rows), got, want)
			}
			own++
			distance += math.Abs(want)
			squares += want * want
			if got := float64(sign(s.Mover[r]) * s.Return[k]); math.Abs(got-want-values[i]) > 1e-5 {
				t.Fatalf("ply %d of %d: return %v, want %v", i, len(rows), got, want+values[i])
			}
		}
	}
	m := l.describe()
	if math.Abs(m.Advantage-distance/own) > 1e-5 || math.Abs(m.CriticError-math.Sqrt(squares/own)) > 1e-5 {
		t.Errorf("metrics say %v and %v of the policy's own decisions, expected %v and %v", m.Advantage, m.CriticError, distance/own, math.Sqrt(squares/own))
	}
}

// coin plays Kuhn poker by coin flips.
type coin struct{}

func (coin) Act(dst []int32, state vec.Batch, rows []int32) {
	for i, b := range rows {
		stream := vec.At(vec.Key(77, state.GameKeys()[b]), state.Plies()[b])
		dst[i] = int32(stream.Intn(2))
	}
}

// TestPPOLearnsABestResponse to an opponent who flips coins: both players
// together can win 11/12 from him, as trying all pure strategies shows.
func TestPPOLearnsABestResponse(t *testing.T) {
	o := ppoOptions()
	o.Opponents, o.Entropy = []string{"coin"}, 0
	l := newKuhn(t, o, nil)
	l.Enter("coin", coin{})
	iterate(t, l, 60)
	for name, policy := range map[string]func(int, uint64) (*Policy, error){"current": l.Current, "average": l.Average} {
		learned := strategyOf(t, policy)
		won := 0.0
		for player := range 2 {
			mixed := kuhn.Uniform()
			for h := range mixed {
				if kuhn.Mover(h) == player {
					mixed[h] = learned[h]
				}
			}
			won += kuhn.Value(mixed) * float64(1-2*player)
		}
		if best := kuhn.NashConv(kuhn.Uniform()); won < best-0.02 || won > best+1e-9 {
			t.Errorf("the %s policy wins %.4f from both seats, expected nearly %.4f: %v", name, won, best, learned)
		}
	}
}

// TestParametersAreAveraged: with γ = 1 iteration t weighs t.
func TestParametersAreAveraged(t *testing.T) {
	o := ppoOptions()
	o.Averaging = 1
	l := newKuhn(t, o, nil)
	var sum []float64
	total := 0.0
	for n := 1; n <= 4; n++ {
		iterate(t, l, 1)
		total += float64(n)
		for i, p := range l.current.trainer.Params().Flat() {
			if n == 1 {
				sum = append(sum, 0)
			}
			sum[i] += float64(n) * float64(p)
		}
	}
	for i, got := range l.strategy.trainer.Params().Flat() {
		if want := sum[i] / total; math.Abs(float64(got)-want) > 1e-5 {
			t.Fatalf("parameter %d is %v, want %v", i, got, want)
		}
	}
}
