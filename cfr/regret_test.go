package cfr

import (
	"math"
	"slices"
	"strings"
	"testing"

	"vtrain/vec"
	"vtrain/vec/vectest/chance"
)

func TestMatchRegrets(t *testing.T) {
	const big = math.MaxFloat32
	for name, k := range map[string]struct {
		regrets  []float32
		epsilon  float32
		fallback Fallback
		want     []float32
	}{
		"positive parts":      {[]float32{3, -5, 1}, 0, Argmax, []float32{.75, 0, .25}},
		"none, argmax":        {[]float32{-3, -1, -2}, 0, Argmax, []float32{0, 1, 0}},
		"none, lowest of tie": {[]float32{-3, -1, -1}, 0, Argmax, []float32{0, 1, 0}},
		"none, uniform":       {[]float32{-3, -1, 0, -2}, 0, Uniform, []float32{.25, .25, .25, .25}},
		"up to epsilon":       {[]float32{.25, -1, .25}, .5, Uniform, []float32{1. / 3, 1. / 3, 1. / 3}},
		"beyond epsilon":      {[]float32{.25, -1, .75}, .5, Uniform, []float32{.25, 0, .75}},
		"sum overflows":       {[]float32{big, -big, big}, 0, Uniform, []float32{.5, 0, .5}},
		"one action":          {[]float32{-7}, 0, Argmax, []float32{1}},
		"no action":           {nil, 0, Argmax, nil},
	} {
		got := make([]float32, len(k.regrets))
		MatchRegrets(got, k.regrets, k.epsilon, k.fallback)
		if !slices.Equal(got, k.want) {
			t.Errorf("%s: %v, expected %v", name, got, k.want)
		}
	}
}

func TestSoftmax(t *testing.T) {
	got := make([]float32, 3)
	Softmax(got, []float32{1000, 1000 + float32(math.Log(2)), -1000})
	for i, want := range []float64{1. / 3, 2. / 3, 0} {
		if math.Abs(float64(got[i])-want) > 1e-4 {
			t.Errorf("probability %d is %v, expected %v", i, got[i], want)
		}
	}
}

// TestFollow: actions are drawn from the policy, and from the uniform one with
// probability ε; ξ is the probability of what is done.
func TestFollow(t *testing.T) {
	sigma := []float32{0, .5, .2, 0, .3}
	for _, epsilon := range []float32{0, .25, 1} {
		counts, weights := make([]int, len(sigma)), make([]float64, len(sigma))
		for i, p := range sigma {
			weights[i] = float64(Explore(p, epsilon, len(sigma)))
		}
		for trial := range 40_000 {
			stream := vec.At(vec.Key(4, uint64(trial)), 0)
			xi := make([]float32, len(sigma))
			follow(xi, sigma, epsilon, &stream)
			k := argmax(xi)
			if counts[k]++; float64(xi[k]) != weights[k] || dot(xi, xi) != xi[k]*xi[k] {
				t.Fatalf("action %d was chosen with ξ %v, expected %v", k, xi, weights[k])
			}
		}
		if epsilon == 0 && (counts[0] != 0 || counts[3] != 0) {
			t.Errorf("actions of probability 0 were drawn: %v", counts)
		}
		keep := func(i int) bool { return weights[i] > 0 }
		var c []int
		var w []float64
		for i := range sigma {
			if keep(i) {
				c, w = append(c, counts[i]), append(w, weights[i])
			}
		}
		chance.Fair(t, "choice", c, w)
	}
}

// TestBranch: all sets of so many actions are drawn alike.
func TestBranch(t *testing.T) {
	const n = 5
	for most := 1; most <= n+1; most++ {
		counts := map[[n]bool]int{}
		for trial := range 20_000 {
			stream := vec.At(vec.Key(5, uint64(trial)), 0)
			xi, tried, size := make([]float32, n), [n]bool{}, 0
			branch(xi, most, &stream)
			for k, x := range xi {
				if tried[k] = x > 0; tried[k] {
					size++
				}
				if want := float32(min(most, n)) / n; x != 0 && x != want {
					t.Fatalf("ξ is %v, expected %v", x, want)
				}
			}
			if size != min(most, n) {
				t.Fatalf("%d actions were tried, expected %d", size, min(most, n))
			}
			counts[tried]++
		}
		sets := map[int]int{1: 5, 2: 10, 3: 10, 4: 5, 5: 1, 6: 1}[most]
		if len(counts) != sets {
			t.Fatalf("%d sets of %d actions were drawn, expected %d", len(counts), most, sets)
		}
		if sets > 1 {
			var c []int
			for _, x := range counts {
				c = append(c, x)
			}
			chance.Fair(t, "sets of actions", c, slices.Repeat([]float64{1}, sets))
		}
	}
}

// TestSampleOfAShortSum: a policy that sums to less than 1 by rounding still
// gives an action that it plays.
func TestSampleOfAShortSum(t *testing.T) {
	for trial := range 1000 {
		stream := vec.At(uint64(trial), 0)
		if k := sample([]float32{.2, .2, 0}, &stream); k > 1 {
			t.Fatalf("action %d has probability 0", k)
		}
	}
}

func TestOptionsNameTheBadKey(t *testing.T) {
	for key, spoil := range map[string]func(*Options){
		"estimator":     func(o *Options) { o.Estimator = "magic" },
		"fallback":      func(o *Options) { o.Fallback = "none" },
		"games":         func(o *Options) { o.Games = 0 },
		"epsilon":       func(o *Options) { o.Epsilon = 1.5 },
		"lambda":        func(o *Options) { o.Lambda = math.NaN() },
		"window":        func(o *Options) { o.Window = 0 },
		"clip":          func(o *Options) { o.Clip = .5 },
		"scale":         func(o *Options) { o.Scale = 0 },
		"batch":         func(o *Options) { o.Batch = -1 },
		"passes":        func(o *Options) { o.Passes = 0 },
		"regret_rate":   func(o *Options) { o.RegretRate = -1 },
		"strategy_rate": func(o *Options) { o.StrategyRate = math.Inf(1) },
	} {
		o := OptionsOf(DeepCFR)
		spoil(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v does not name it", key, err)
		}
	}
	if err := OptionsOf(DeepCFR).Validate(); err != nil {
		t.Error(err)
	}
}

func TestBatches(t *testing.T) {
	for n := range 30 {
		rows := vec.AllRows(nil, n)
		var all []int32
		for part := range batches(rows, 7) {
			if len(part) > 7 || len(part) < n/((n+6)/7) {
				t.Errorf("%d rows have a part of %d", n, len(part))
			}
			all = append(all, part...)
		}
		if !slices.Equal(all, rows) {
			t.Errorf("%d rows are cut into %v", n, all)
		}
	}
}
