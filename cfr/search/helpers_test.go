package search

import (
	"testing"

	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/nets"
	"vtrain/rules"
	"vtrain/vec"
)

// limited returns a preset with a turn limit.
func limited(preset string, turns int) rules.Config {
	cfg := rules.MustPreset(preset)
	cfg.MaxTurns = turns
	return cfg
}

// A network is an untrained policy.
type network struct {
	layout string
	hidden []int
	sharp  float32 // factor of its logits, 0 for 1
	deck   float32 // what it adds to the logit of drawing from the deck, in layouts of cards
	seed   uint64
}

const policySeed = 5

// params returns its shape and parameters for a layout.
func (n network) params(l encode.Layout) (nets.MLP, nets.Params) {
	shape := cfr.Shape(encode.NewBatch(l, nil), n.hidden, vec.Information)
	p := shape.NewParams()
	shape.Init(p, 1+n.seed)
	weight, bias := shape.Layer(p, shape.Layers()-1)
	if n.sharp != 0 {
		for i := range weight {
			weight[i] *= n.sharp
		}
	}
	if n.deck != 0 {
		bias[l.Config().DrawDeck()] += n.deck
	}
	return shape, p
}

func (n network) open(t testing.TB, l encode.Layout, pool *vec.Pool) *cfr.Policy {
	t.Helper()
	shape, params := n.params(l)
	p, err := cfr.NewPolicy(shape, params, nets.Float32, nil, cfr.Logits, cfr.Argmax, 16384, policySeed, pool)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newLayout(t testing.TB, name string, cfg rules.Config) encode.Layout {
	t.Helper()
	l, err := encode.New(name, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func newAgent(t testing.TB, n network, cfg rules.Config, o Options, pool *vec.Pool) *Agent {
	t.Helper()
	l := newLayout(t, n.layout, cfg)
	a, err := New("search", n.open(t, l, pool), l, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}
