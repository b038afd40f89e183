package cfr

import (
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/vec"
)

// kuhnOptions are settings for a game of three plies and one unit.
func kuhnOptions() Options {
	o := DefaultOptions()
	o.Games, o.Batch, o.Scale, o.Fallback = 1000, 256, 1, "uniform"
	o.Epsilon = 0.3
	o.RegretRate, o.CriticRate, o.StrategyRate = 2e-3, 4e-3, 1e-3
	return o
}

// strategyOf reads a policy as a table.
func strategyOf(p *Policy) kuhn.Strategy {
	b := kuhn.NewBatch()
	b.DealAll()
	rows := vec.AllRows(nil, b.Rows())
	probabilities := make([]float32, b.Rows()*b.Actions())
	p.Probabilities(probabilities, b, rows)
	var s kuhn.Strategy
	for _, r := range rows {
		history, card := b.Decision(r)
		s[history][card] = float64(probabilities[int(r)*b.Actions()+kuhn.Bet])
	}
	return s
}

func nashConv(t *testing.T, policy func(rows int, seed uint64) (*Policy, error)) float64 {
	t.Helper()
	p, err := policy(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	return kuhn.NashConv(strategyOf(p))
}

func TestKuhnExplore(t *testing.T) {
	l, err := NewLearner(kuhn.NewBatch(), []int{64, 64}, 1<<18, kuhnOptions(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i := range 200 {
		m, err := l.Iterate(float64(i) / 200)
		if err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			t.Logf("%3d: average %.3f current %.3f  critic %.3f entropy %.3f fallback %.3f adv %.3f", i+1, nashConv(t, l.Average), nashConv(t, l.Current), m.CriticError, m.Entropy, m.Fallbacks, m.Advantage)
		}
	}
}
