package cfr

import (
	"math"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/vec"
)

// teacher bets as often as a number of the mover's card and history says, and
// says so.
type teacher struct{ bets []float32 }

func teacherBets(history int, card uint8) float32 { return .1 + .2*float32(history) + .1*float32(card) }

func (a *teacher) Act(dst []int32, state vec.Batch, rows []int32) {
	b := state.(*kuhn.Batch)
	a.bets = a.bets[:0]
	for i, r := range rows {
		h, hand := b.Node(r)
		bet := teacherBets(h, hand[kuhn.Mover(h)])
		stream := vec.At(vec.Key(5, b.GameKeys()[r]), b.Plies()[r])
		dst[i] = kuhn.Pass
		if stream.Float32() < bet {
			dst[i] = kuhn.Bet
		}
		a.bets = append(a.bets, bet)
	}
}

func (a *teacher) Advice(i int) (actions []int32, probabilities []float32) {
	return []int32{kuhn.Bet, kuhn.Pass}, []float32{a.bets[i], 1 - a.bets[i]}
}

// distillOptions learn what the teacher plays.
func distillOptions() Options {
	o := kuhnOptions()
	o.Algorithm, o.Refit, o.Passes, o.PolicyRate, o.Opponents = Distill, Continued, 4, 4e-3, []string{"teacher"}
	return o
}

// muted is a teacher who only acts.
type muted struct{ *teacher }

func (muted) Advice() {}

// TestDistill learns a known policy: from what it says of itself, and from what
// it does alone.
func TestDistill(t *testing.T) {
	for name, who := range map[string]Actor{"advice": &teacher{}, "actions": muted{&teacher{}}} {
		t.Run(name, func(t *testing.T) {
			o := distillOptions()
			o.Opponents = []string{name}
			l := newKuhn(t, o, nil)
			l.Enter(name, who)
			before := strategyOf(t, l.Current)
			m, err := l.Iterate(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if want := crossEntropyWith(l, before); math.Abs(m.Current.HeldOut-want) > 1e-4 {
				t.Errorf("held-out loss %v, expected %v", m.Current.HeldOut, want)
			}
			iterate(t, l, 30)
			learned := strategyOf(t, l.Current)
			for h := range learned {
				for card, got := range learned[h] {
					if want := float64(teacherBets(h, uint8(card))); math.Abs(got-want) > .05 {
						t.Errorf("history %d, card %d: bets %.3f of the time, expected %.3f", h, card, got, want)
					}
				}
			}
		})
	}
}

// crossEntropyWith returns that of the recorded decisions of others and a
// strategy, by the definition.
func crossEntropyWith(l *Learner, s kuhn.Strategy) float64 {
	samples := &l.traversal.samples
	state, sum, n := samples.State.(*kuhn.Batch), 0.0, 0.0
	for _, r := range samples.of(nil, Replaces) {
		h, hand := state.Node(r)
		bet := s[h][hand[kuhn.Mover(h)]]
		lo, _ := samples.Legal(r)
		sum -= float64(samples.Sigma[lo+kuhn.Bet])*math.Log(bet) + float64(samples.Sigma[lo+kuhn.Pass])*math.Log(1-bet)
		n++
	}
	return sum / n
}
