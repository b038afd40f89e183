package nets_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"vtrain/nets"
)

// pair is two groups of two inputs and one output, with a common input and two
// common outputs.
func pair() nets.Groups {
	return nets.Groups{In: 5, Out: 4, Inputs: [][]int32{{0, 4}, {3, 1}}, Outputs: [][]int32{{2}, {0}}}
}

func TestGroupsCommon(t *testing.T) {
	g := pair()
	if in, out := g.CommonInputs(), g.CommonOutputs(); !slices.Equal(in, []int32{2}) || !slices.Equal(out, []int32{1, 3}) {
		t.Errorf("common inputs %v, outputs %v", in, out)
	}
	c := g.Clone()
	c.Inputs[0][0], c.Outputs[1][0] = 9, 9
	if g.Inputs[0][0] != 0 || g.Outputs[1][0] != 0 {
		t.Error("Clone shares lists")
	}
}

func TestSharedValidate(t *testing.T) {
	for _, test := range []struct {
		says string
		edit func(s *nets.Shared)
	}{
		{"0 groups of inputs and 2 of outputs", func(s *nets.Shared) { s.Groups.Inputs = nil }},
		{"2 groups of inputs and 1 of outputs", func(s *nets.Shared) { s.Groups.Outputs = s.Groups.Outputs[1:] }},
		{"group 1 has 1 inputs", func(s *nets.Shared) { s.Groups.Inputs[1] = []int32{1} }},
		{"group 0 has 0 outputs", func(s *nets.Shared) { s.Groups.Outputs = [][]int32{nil, nil} }},
		{"group 1: input 5, want 0 to 4", func(s *nets.Shared) { s.Groups.Inputs[1][0] = 5 }},
		{"group 1: input -1, want 0 to 4", func(s *nets.Shared) { s.Groups.Inputs[1][0] = -1 }},
		{"group 1: input 4 is in group 0 already", func(s *nets.Shared) { s.Groups.Inputs[1][0] = 4 }},
		{"group 1: output 2 is in group 0 already", func(s *nets.Shared) { s.Groups.Outputs[1][0] = 2 }},
		{"0 outputs", func(s *nets.Shared) { s.Groups.Out = 0 }},
		{"encoder []: want at least one layer", func(s *nets.Shared) { s.Encoder = nil }},
		{"trunk []: want at least one layer", func(s *nets.Shared) { s.Trunk = nil }},
		{"encoder [3 0]: width 0 at position 1", func(s *nets.Shared) { s.Encoder = []int{3, 0} }},
		{"head [-1]: width -1 at position 0", func(s *nets.Shared) { s.Head = []int{-1} }},
		{"more than", func(s *nets.Shared) { s.Trunk = []int{1 << 16, 1 << 16} }},
		{"more than", func(s *nets.Shared) { s.Trunk = []int{1 << 30, 1 << 30} }},
	} {
		s := nets.Shared{Groups: pair(), Encoder: []int{3}, Trunk: []int{4}}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		test.edit(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("error %v, want one that says %q", err, test.says)
		}
	}
}

func TestSharedTensors(t *testing.T) {
	for _, test := range []struct {
		shape nets.Shared
		want  string
	}{
		{nets.Shared{Groups: pair(), Encoder: []int{3, 7}, Trunk: []int{4, 5}, Head: []int{6}}, "" +
			"encoder.0.group[2 3] encoder.0.common[1 3] encoder.0.bias[3] encoder.1.weight[3 7] encoder.1.bias[7] " +
			"trunk.0.mean[7 4] trunk.0.max[7 4] trunk.0.common[1 4] trunk.0.bias[4] trunk.1.weight[4 5] trunk.1.bias[5] " +
			"head.0.embedding[7 6] head.0.trunk[5 6] head.0.bias[6] head.1.weight[6 1] head.1.bias[1] " +
			"common.0.trunk[5 2] common.0.bias[2]"},
		{nets.Shared{Groups: nets.Groups{In: 1, Out: 1, Inputs: [][]int32{{0}}, Outputs: [][]int32{{0}}}, Encoder: []int{3}, Trunk: []int{4}}, "" +
			"encoder.0.group[1 3] encoder.0.bias[3] trunk.0.mean[3 4] trunk.0.max[3 4] trunk.0.bias[4] " +
			"head.0.embedding[3 1] head.0.trunk[4 1] head.0.bias[1]"},
	} {
		p := test.shape.NewParams()
		var got []string
		for _, w := range p.Tensors() {
			got = append(got, w.Name+shapeText(w.Shape))
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%v has tensors\n%s\nwant\n%s", test.shape, s, test.want)
		}
		if !test.shape.Fits(p) {
			t.Errorf("%v doesn't fit its own parameters", test.shape)
		}
	}
}

func shapeText(shape []int) string {
	return "[" + strings.ReplaceAll(nets.MLP(shape).String(), "-", " ") + "]"
}

func TestSharedFits(t *testing.T) {
	s := nets.Shared{Groups: pair(), Encoder: []int{3}, Trunk: []int{4}}
	other := func(edit func(s *nets.Shared)) nets.Params {
		o := s.Clone()
		edit(&o)
		return o.NewParams()
	}
	for name, p := range map[string]nets.Params{
		"none":    {},
		"an MLP":  nets.MLP{5, 4}.NewParams(),
		"deeper":  other(func(s *nets.Shared) { s.Encoder = []int{3, 3} }),
		"wider":   other(func(s *nets.Shared) { s.Trunk[0]++ }),
		"a head":  other(func(s *nets.Shared) { s.Head = []int{2} }),
		"an out":  other(func(s *nets.Shared) { s.Groups.Out++ }),
		"no rest": other(func(s *nets.Shared) { s.Groups.Outputs = [][]int32{{0, 1}, {2, 3}} }),
	} {
		if s.Fits(p) {
			t.Errorf("fits %s", name)
		}
		mustPanic(t, func() { s.Init(p, 1) })
	}
}

func TestSharedString(t *testing.T) {
	s := nets.Shared{Groups: pair(), Encoder: []int{3, 7}, Trunk: []int{4}}
	if got, want := s.String(), "shared(2×2+1 encoder [3 7] trunk [4] head [] 2×1+2)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSharedInit(t *testing.T) {
	groups := nets.Groups{In: 250, Out: 150, Inputs: make([][]int32, 2), Outputs: make([][]int32, 2)}
	for i := range int32(200) {
		groups.Inputs[i%2] = append(groups.Inputs[i%2], i)
	}
	for i := range int32(100) {
		groups.Outputs[i%2] = append(groups.Outputs[i%2], i)
	}
	s := nets.Shared{Groups: groups, Encoder: []int{120}, Trunk: []int{160}, Head: []int{110}}
	p, q := s.NewParams(), s.NewParams()
	for i := range p.Flat() {
		p.Flat()[i] = 9
	}
	s.Init(p, 1)
	s.Init(q, 1)
	if !slices.Equal(p.Flat(), q.Flat()) {
		t.Error("the same seed gives other parameters")
	}
	deviation := map[string]float64{
		"encoder.0.group": math.Sqrt(2.0 / 150), "encoder.0.common": math.Sqrt(2.0 / 150),
		"trunk.0.mean": math.Sqrt(2.0 / 290), "trunk.0.max": math.Sqrt(2.0 / 290), "trunk.0.common": math.Sqrt(2.0 / 290),
		"head.0.embedding": math.Sqrt(2.0 / 280), "head.0.trunk": math.Sqrt(2.0 / 280), "head.1.weight": 0.1 * math.Sqrt(2.0/110),
		"common.0.trunk": 0.1 * math.Sqrt(2.0/160),
	}
	seen := map[float32]string{}
	for _, w := range p.Tensors() {
		mean, spread, _ := moments(w.Data)
		want := deviation[w.Name]
		// Five standard errors of either estimate; biases are zero.
		if n := math.Sqrt(float64(len(w.Data))); math.Abs(mean) > 5*want/n || math.Abs(spread-want) > 5*want/(n*math.Sqrt2) {
			t.Errorf("%s: mean %v, deviation %v, want 0, %v", w.Name, mean, spread, want)
		}
		normal := w.Data[0] / float32(want)
		if other, ok := seen[normal]; ok && want > 0 {
			t.Errorf("%s and %s draw from the same stream", w.Name, other)
		}
		seen[normal] = w.Name
	}
}

// TestSharedInitIsFrozen pins the first weights of a seed: saved runs name
// seeds.
func TestSharedInitIsFrozen(t *testing.T) {
	s := nets.Shared{Groups: pair(), Encoder: []int{1}, Trunk: []int{1}}
	p := s.NewParams()
	s.Init(p, 7)
	want := []float32{
		-0.55858624, 0.2818331, -0.93812007, 0, 0.22365274, -0.3854266, -0.29821566, 0,
		-0.03797589, 0.1678338, 0, 0.03444835, 0.024420252, 0, 0,
	}
	for i, v := range p.Flat() {
		if i >= len(want) || math.Abs(float64(v-want[i])) > 1e-6 {
			t.Fatalf("parameters %v, want %v: a change here invalidates every seed", p.Flat(), want)
		}
	}
}
