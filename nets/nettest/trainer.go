package nettest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"vtrain/nets"
	"vtrain/vec"
)

// A TrainerFactory makes a trainer, as cpu.NewTrainer does.
type TrainerFactory[S nets.Shape] func(S, nets.Params, nets.TrainerOptions) (nets.Trainer, error)

// trainers makes trainers of one architecture.
type trainers struct {
	architecture
	make func(nets.Shape, nets.Params, nets.TrainerOptions) (nets.Trainer, error)
}

// RunTrainer runs the suite over the trainers that a factory makes, for each
// architecture whose shapes it takes: all of them if it takes a nets.Shape.
func RunTrainer[S nets.Shape](t *testing.T, factory TrainerFactory[S], traits ...Traits) {
	for _, a := range architectures {
		if _, ok := a.tiny().(S); ok {
			f := trainers{a, func(s nets.Shape, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
				return factory(s.(S), p, o)
			}}
			t.Run(a.name(), func(t *testing.T) { f.run(t, union(traits)) })
		}
	}
}

func (f trainers) run(t *testing.T, traits Traits) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, trainers)
		skip bool
	}{
		{"Gradient", trainerGradient, false},
		{"Slope", trainerSlope, false},
		{"Kinks", trainerKinks, false},
		{"Ties", trainerTies, f.groups(f.small()) == nil},
		{"Renaming", trainerRenaming, f.groups(f.small()) == nil},
		{"Weights", trainerWeights, false},
		{"Masks", trainerMasks, false},
		{"Clip", trainerClip, false},
		{"AdamW", trainerAdamW, false},
		{"Fit", trainerFit, false},
		{"InPlace", trainerInPlace, false},
		{"NotFinite", trainerNotFinite, false},
		{"HiddenInfinity", trainerHidden, false},
		{"Overflow", trainerOverflow, false},
		{"Resume", trainerResume, false},
		{"State", trainerState, false},
		{"Workers", trainerWorkers, false},
		{"Allocations", trainerAllocations, traits.Allocates},
		{"Misuse", trainerMisuse, false},
		{"Options", trainerOptions, false},
	} {
		if !test.skip {
			t.Run(test.name, func(t *testing.T) { test.run(t, f) })
		}
	}
}

// new returns a trainer, closed at the end of the test.
func (f trainers) new(t *testing.T, shape nets.Shape, p nets.Params, o nets.TrainerOptions) nets.Trainer {
	t.Helper()
	tr, err := f.make(shape, p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

// step takes a step that must succeed.
func step(t *testing.T, tr nets.Trainer, p *problem) nets.StepInfo {
	t.Helper()
	info, err := tr.Step(p.x, p.rows, p.loss)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// trainerGradient compares gradients with the chain rule in float64, and the
// loss with its formula. The batch is surrounded by NaN.
func trainerGradient(t *testing.T, f trainers) {
	for _, shape := range f.shapes() {
		p := params(shape, 1)
		tr := f.new(t, shape, p, nets.TrainerOptions{Workers: 2})
		for _, rows := range []int{257, 1, 3, 64, 65} {
			if slow(shape, rows) {
				continue
			}
			for _, k := range kinds {
				what := fmt.Sprintf("%v, %d rows, %s", shape, rows, k.name)
				b := newProblem(shape, rows, k, uint64(rows))
				want, _ := Gradient(shape, p, b.x, rows, b.loss)
				tail := make([]float32, 3*shape.In())
				poison(tail)
				grad := p.Clone()
				poison(grad.Flat())
				loss := tr.Gradient(grad, append(slices.Clone(b.x), tail...), rows, b.loss)
				near(t, what, grad.Flat(), want, 1e-5)
				near(t, what+", loss", []float32{float32(loss)}, []float64{b.at(p)}, 1e-5)
			}
		}
	}
}

// trainerSlope compares gradients with differences of the loss, the oracle
// that shares no formula with any of them.
func trainerSlope(t *testing.T, f trainers) {
	for _, shape := range f.sloped() {
		p := params(shape, 2)
		tr := f.new(t, shape, p, nets.TrainerOptions{Workers: 1})
		for _, k := range kinds {
			b := newProblem(shape, 20, k, 3)
			grad, want := p.Clone(), make([]float64, p.Len())
			tr.Gradient(grad, b.x, b.rows, b.loss)
			for i := range want {
				want[i] = b.slope(p, i)
			}
			near(t, fmt.Sprintf("%v, %s", shape, k.name), grad.Flat(), want, 3e-3)
		}
	}
}

// trainerKinks has rows where every hidden unit is at the kink of its ReLU.
func trainerKinks(t *testing.T, f trainers) {
	const rows = 64
	small := f.small()
	p := small.NewParams()
	small.Init(p, 36)
	b := newProblem(small, rows, kinds[0], 37)
	clear(b.x[:rows/2*small.In()])
	grad := p.Clone()
	f.new(t, small, p, nets.TrainerOptions{Workers: 1}).Gradient(grad, b.x, rows, b.loss)
	want, _ := Gradient(small, p, b.x, rows, b.loss)
	near(t, "rows of zeros", grad.Flat(), want, 1e-5)
}

// trainerWeights doubles the weight of one row: the gradient must turn
// towards that row's, by exactly its share.
func trainerWeights(t *testing.T, f trainers) {
	small := f.small()
	const rows, heavy = 65, 40
	p := params(small, 4)
	tr := f.new(t, small, p, nets.TrainerOptions{Workers: 2})
	for _, k := range kinds[:1] {
		b := newProblem(small, rows, k, 5)
		for r := range b.weight {
			b.weight[r] = 1
		}
		all, one, got := p.Clone(), p.Clone(), p.Clone()
		tr.Gradient(all, b.x, rows, b.loss)
		b.weight[heavy] = 2
		tr.Gradient(got, b.x, rows, b.loss)
		clear(b.weight)
		b.weight[heavy] = 1
		tr.Gradient(one, b.x, rows, b.loss)
		want := make([]float64, p.Len())
		for i := range want {
			want[i] = (rows*float64(all.Flat()[i]) + float64(one.Flat()[i])) / (rows + 1)
		}
		near(t, k.name, got.Flat(), want, 1e-5)
		if slices.Equal(got.Flat(), all.Flat()) {
			t.Error("the weight of a row makes no difference")
		}
		clear(b.weight)
		if loss := tr.Gradient(got, b.x, rows, b.loss); loss != 0 {
			t.Errorf("%s: loss %v of rows without weight", k.name, loss)
		}
		near(t, k.name+" without weights", got.Flat(), make([]float64, p.Len()), 0)
	}
}

// trainerMasks leaves an output out of every mask, and those of the same
// weights: nothing may pull at them.
func trainerMasks(t *testing.T, f trainers) {
	small := f.small()
	const rows = 65
	layer, at, hidden := f.column(small, 5)
	p := params(small, 6)
	tr := f.new(t, small, p, nets.TrainerOptions{Workers: 2})
	for _, k := range []lossKind{kinds[0], kinds[2]} {
		b := newProblem(small, rows, k, 7)
		for r := range rows {
			for _, a := range hidden {
				b.mask[r] &^= 1 << a
				b.target[r*small.Out()+a] = float32(math.NaN())
			}
		}
		grad := p.Clone()
		if loss := tr.Gradient(grad, b.x, rows, b.loss); loss != loss {
			t.Fatalf("%s: targets outside the mask are read", k.name)
		}
		weights := column(grad, layer, at)
		if slices.Max(weights) != 0 || slices.Min(weights) != 0 {
			t.Fatalf("%s: gradient %v of a masked output", k.name, weights)
		}
		if slices.Max(grad.Flat()) == 0 && slices.Min(grad.Flat()) == 0 {
			t.Fatalf("%s: no gradient at all", k.name)
		}
	}
}

// column returns that column of all tensors of a layer.
func column(p nets.Params, layer string, at int) []float32 {
	var all []float32
	for _, t := range p.Tensors() {
		if strings.HasPrefix(t.Name, layer+".") {
			out := t.Shape[len(t.Shape)-1]
			for i := at; i < len(t.Data); i += out {
				all = append(all, t.Data[i])
			}
		}
	}
	return all
}

func norm(v []float32) float64 {
	sum := 0.0
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	return math.Sqrt(sum)
}

// trainerClip reads the gradient that was applied from the first moment,
// which the first step leaves at (1-beta1)·g.
func trainerClip(t *testing.T, f trainers) {
	small := f.small()
	b := newProblem(small, 65, kinds[0], 8)
	want, _ := Gradient(small, params(small, 9), b.x, b.rows, b.loss)
	full := norm(narrow(want))
	for _, clip := range []float64{0, 1e-3, 0.9 * full, 1.1 * full} {
		p := params(small, 9)
		tr := f.new(t, small, p, nets.TrainerOptions{ClipNorm: clip, Beta1: 0.5, Workers: 2})
		info := step(t, tr, b)
		want, clipped := full, clip > 0 && clip < full
		if clipped {
			want = clip
		}
		if got := 2 * norm(tr.State().M); math.Abs(got-want) > 1e-5*want {
			t.Errorf("clip %v: a gradient of norm %v was applied, want %v", clip, got, want)
		}
		if math.Abs(info.GradNorm-full) > 1e-5*full || info.Clipped != clipped {
			t.Errorf("clip %v: %+v, want norm %v", clip, info, full)
		}
	}
}

// trainerAdamW follows several steps in float64.
func trainerAdamW(t *testing.T, f trainers) {
	small := f.small()
	for _, o := range []nets.TrainerOptions{
		{},
		{Rate: 0.02, Beta1: 0.8, Beta2: 0.95, Epsilon: 1e-3, WeightDecay: 0.3, ClipNorm: 0.2, Workers: 2},
	} {
		p := params(small, 10)
		tr := f.new(t, small, p, o)
		want := newAdamW(p, o)
		for i := range 8 {
			b := newProblem(small, 20+i, kinds[i%2], uint64(11+i))
			grad := p.Clone()
			tr.Gradient(grad, b.x, b.rows, b.loss)
			step(t, tr, b)
			want.step(p, grad)
			near(t, fmt.Sprintf("%+v, step %d", o, i), p.Flat(), want.w, 1e-6)
		}
		near(t, "first moments", tr.State().M, want.m, 1e-5)
		near(t, "second moments", tr.State().V, want.v, 1e-5)
		if s := tr.State().Step; s != 8 {
			t.Errorf("%d steps, want 8", s)
		}
	}
}

// adamW is the optimiser as its paper writes it.
type adamW struct {
	o       nets.TrainerOptions
	w, m, v []float64
	t       float64
}

func newAdamW(p nets.Params, o nets.TrainerOptions) *adamW {
	if o.Rate == 0 {
		o.Rate, o.Beta1, o.Beta2, o.Epsilon = 0.001, 0.9, 0.999, 1e-8
	}
	return &adamW{o: o, w: widen(p.Flat()), m: make([]float64, p.Len()), v: make([]float64, p.Len())}
}

func (a *adamW) step(p nets.Params, grad nets.Params) {
	scale := 1.0
	if n := norm(grad.Flat()); a.o.ClipNorm > 0 && n > a.o.ClipNorm {
		scale = a.o.ClipNorm / n
	}
	a.t++
	i := 0
	for _, tensor := range p.Tensors() {
		for range tensor.Data {
			g := scale * float64(grad.Flat()[i])
			a.m[i] = a.o.Beta1*a.m[i] + (1-a.o.Beta1)*g
			a.v[i] = a.o.Beta2*a.v[i] + (1-a.o.Beta2)*g*g
			mean := a.m[i] / (1 - math.Pow(a.o.Beta1, a.t))
			square := a.v[i] / (1 - math.Pow(a.o.Beta2, a.t))
			decay := 0.0
			if len(tensor.Shape) == 2 {
				decay = a.o.WeightDecay
			}
			a.w[i] -= a.o.Rate * (mean/(math.Sqrt(square)+a.o.Epsilon) + decay*a.w[i])
			i++
		}
	}
}

// trainerFit learns a batch by heart.
func trainerFit(t *testing.T, f trainers) {
	small := f.small()
	steps := 300
	if testing.Short() {
		steps = 100
	}
	for _, k := range kinds {
		b := newProblem(small, 30, k, 12)
		p := small.NewParams()
		small.Init(p, 13)
		tr := f.new(t, small, p, nets.TrainerOptions{Rate: 0.01, Workers: 1})
		b.normalise()
		floor := b.floor()
		first := step(t, tr, b).Loss - floor
		for range steps {
			step(t, tr, b)
		}
		if last := step(t, tr, b).Loss - floor; !(last < 0.05*first) || !(first > 0) {
			t.Errorf("%s: loss %v above its least possible at first, %v in the end", k.name, first, last)
		}
	}
}

// normalise makes the targets distributions over the mask.
func (p *problem) normalise() {
	out := p.shape.Out()
	for r := range p.rows {
		sum := float32(0)
		for a := range out {
			if p.counts(r, a) {
				sum += p.target[r*out+a]
			}
		}
		for a := range out {
			p.target[r*out+a] /= sum
		}
	}
}

// floor returns the least loss that outputs can have: the entropy of the
// targets for a cross entropy, none for squares.
func (p *problem) floor() float64 {
	if _, ok := p.loss.(*nets.CrossEntropy); !ok {
		return 0
	}
	sum, out := 0.0, p.shape.Out()
	for r := range p.rows {
		for a := range out {
			if q := float64(p.target[r*out+a]); p.counts(r, a) && q > 0 {
				sum -= p.weigh(r) * q * math.Log(q)
			}
		}
	}
	return sum
}

// trainerInPlace checks whose parameters are trained, and that Gradient
// trains nothing.
func trainerInPlace(t *testing.T, f trainers) {
	small := f.small()
	b := newProblem(small, 65, kinds[0], 14)
	p := params(small, 15)
	tr := f.new(t, small, p, nets.TrainerOptions{Workers: 1})
	before := p.Clone()
	tr.Gradient(p.Clone(), b.x, b.rows, b.loss)
	equalBits(t, "parameters after Gradient", p.Flat(), before.Flat())
	step(t, tr, b)
	equalBits(t, "the trainer's parameters", tr.Params().Flat(), p.Flat())
	if slices.Equal(p.Flat(), before.Flat()) {
		t.Error("Step left the parameters as they were")
	}
	tr.SetRate(0)
	before.CopyFrom(p)
	step(t, tr, b)
	equalBits(t, "parameters after a step of rate 0", p.Flat(), before.Flat())
	p.CopyFrom(params(small, 16))
	grad := p.Clone()
	tr.Gradient(grad, b.x, b.rows, b.loss)
	want, _ := Gradient(small, p, b.x, b.rows, b.loss)
	near(t, "gradient at parameters written from outside", grad.Flat(), want, 1e-5)
}

// trainerNotFinite breaks one number of the batch at a time. The error has to
// name its row, and the next step has to be what it would have been.
func trainerNotFinite(t *testing.T, f trainers) {
	small := f.small()
	const rows, row = 130, 71
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, test := range []struct {
		name string
		row  int
		set  func(b *problem, p nets.Params)
	}{
		{"NaN input", row, func(b *problem, _ nets.Params) { b.x[row*small.In()+3] = nan }},
		{"infinite input", row, func(b *problem, _ nets.Params) { b.x[row*small.In()+3] = -inf }},
		{"two NaN inputs", row, func(b *problem, _ nets.Params) { b.x[row*small.In()], b.x[(row+30)*small.In()] = nan, nan }},
		{"NaN target", row, func(b *problem, _ nets.Params) { b.target[row*small.Out()+b.first(row)] = nan }},
		{"infinite target", row, func(b *problem, _ nets.Params) { b.target[row*small.Out()+b.first(row)] = inf }},
		{"NaN weight", row, func(b *problem, _ nets.Params) { b.weight[row] = nan }},
		{"infinite weight", row, func(b *problem, _ nets.Params) { b.weight[row] = inf }},
		{"negative weight", row, func(b *problem, _ nets.Params) { b.weight[row] = -1 }},
		{"NaN parameter", 0, func(_ *problem, p nets.Params) { last(p)[0] = nan }},
	} {
		for _, k := range []lossKind{kinds[0], kinds[2]} {
			what := test.name + ", " + k.name
			good, bad := newProblem(small, rows, k, 17), newProblem(small, rows, k, 17)
			p, q := params(small, 18), params(small, 18)
			tr := f.new(t, small, p, nets.TrainerOptions{Workers: 2})
			other := f.new(t, small, q, nets.TrainerOptions{Workers: 2})
			step(t, tr, good)
			step(t, other, good)

			bad.weight[row] = 1
			test.set(bad, p)
			_, err := tr.Step(bad.x, rows, bad.loss)
			var invalid *nets.InvalidError
			if !errors.As(err, &invalid) || invalid.Row != test.row {
				t.Errorf("%s: error %v, want one about row %d", what, err, test.row)
			}
			if loss := tr.Gradient(p.Clone(), bad.x, rows, bad.loss); loss == loss && test.name != "infinite input" {
				t.Errorf("%s: Gradient returns loss %v", what, loss)
			}
			if last(p)[0] != last(p)[0] {
				last(p)[0] = last(q)[0]
			}
			equalBits(t, what+": parameters", p.Flat(), q.Flat())
			equalState(t, what, tr.State(), other.State())
			step(t, tr, good)
			step(t, other, good)
			equalBits(t, what+": parameters a step later", p.Flat(), q.Flat())
		}
	}
}

// last returns the last tensor, a bias.
func last(p nets.Params) []float32 { return p.Tensors()[len(p.Tensors())-1].Data }

// trainerHidden gives an input of -Inf to units that it turns off: outputs and
// loss are finite, and the gradient, 0·Inf, is not.
func trainerHidden(t *testing.T, f trainers) {
	small := f.small()
	const rows, row, input = 130, 71, 3
	b := newProblem(small, rows, kinds[0], 34)
	p := params(small, 35)
	for _, at := range f.fed(small, input) {
		weight := at.of(p)
		for j := range weight {
			weight[j] = 0.5
		}
	}
	tr := f.new(t, small, p, nets.TrainerOptions{Workers: 2})
	before, state := p.Clone(), tr.State()
	b.x[row*small.In()+input] = float32(math.Inf(-1))
	_, err := tr.Step(b.x, rows, b.loss)
	var invalid *nets.InvalidError
	if !errors.As(err, &invalid) || invalid.Row != row {
		t.Errorf("error %v, want one about row %d", err, row)
	}
	equalBits(t, "parameters", p.Flat(), before.Flat())
	equalState(t, "optimiser", tr.State(), state)
}

// first returns the first output that counts in a row.
func (p *problem) first(r int) int {
	for a := range p.shape.Out() {
		if p.counts(r, a) {
			return a
		}
	}
	panic("nettest: empty mask")
}

func equalState(t *testing.T, what string, got, want nets.State) {
	t.Helper()
	if got.Step != want.Step {
		t.Errorf("%s: %d steps, want %d", what, got.Step, want.Step)
	}
	equalBits(t, what+": first moments", got.M, want.M)
	equalBits(t, what+": second moments", got.V, want.V)
}

// fixed is a loss whose derivatives are given, to reach what real losses
// reach only by accident.
type fixed struct{ dy float32 }

func (l fixed) Begin(int, int) error { return nil }

func (l fixed) Eval(dy, _ []float32, lo, hi int) float64 {
	for i := range dy {
		dy[i] = l.dy
	}
	return float64(hi - lo)
}

// trainerOverflow has every row finite but not their sum: the error names the
// tensor.
func trainerOverflow(t *testing.T, f trainers) {
	small := f.small()
	const rows = 65
	p := params(small, 19)
	x := inputs(rows, small.In(), 20)
	tr := f.new(t, small, p, nets.TrainerOptions{Workers: 2})
	before, state := p.Clone(), tr.State()
	for _, dy := range []float32{1e38, 1e20} {
		_, err := tr.Step(x, rows, fixed{dy})
		var invalid *nets.InvalidError
		if !errors.As(err, &invalid) {
			t.Fatalf("derivatives %v: error %v", dy, err)
		}
		if _, ok := p.Tensor(invalid.Tensor); !ok {
			t.Errorf("derivatives %v: %v, which names no tensor", dy, err)
		}
		equalBits(t, "parameters after an overflow", p.Flat(), before.Flat())
		equalState(t, "after an overflow", tr.State(), state)
	}
	if info, err := tr.Step(x, rows, fixed{1e3}); err != nil || info.Loss != rows {
		t.Errorf("large derivatives: %+v, %v", info, err)
	}
}

// trainerResume continues a run from its state, in a new trainer.
func trainerResume(t *testing.T, f trainers) {
	small := f.small()
	o := nets.TrainerOptions{Rate: 0.01, WeightDecay: 0.1, ClipNorm: 1, Workers: 2}
	p := params(small, 21)
	tr := f.new(t, small, p, o)
	batch := func(i int) *problem { return newProblem(small, 65+i, kinds[0], uint64(22+i)) }
	for i := range 4 {
		step(t, tr, batch(i))
	}
	q, saved := p.Clone(), tr.State()
	for i := range 4 {
		step(t, tr, batch(4+i))
	}
	resumed := f.new(t, small, q, o)
	if err := resumed.SetState(saved); err != nil {
		t.Fatal(err)
	}
	saved.M[0]++ // a copy was taken
	for i := range 4 {
		step(t, resumed, batch(4+i))
	}
	equalBits(t, "parameters of a resumed run", q.Flat(), p.Flat())
	equalState(t, "resumed run", resumed.State(), tr.State())
}

// trainerState resets the optimiser and offers it states that don't fit.
func trainerState(t *testing.T, f trainers) {
	small := f.small()
	b := newProblem(small, 65, kinds[0], 23)
	p := params(small, 24)
	tr := f.new(t, small, p, nets.TrainerOptions{Workers: 1})
	fresh := tr.State()
	step(t, tr, b)
	kept := tr.State()
	n := p.Len()
	nan := make([]float32, n)
	poison(nan)
	for _, s := range []nets.State{
		{Step: 1},
		{Step: 1, M: make([]float32, n), V: make([]float32, n-1)},
		{Step: 1, M: make([]float32, n+1), V: make([]float32, n)},
		{Step: -1, M: make([]float32, n), V: make([]float32, n)},
		{Step: 1, M: nan, V: make([]float32, n)},
	} {
		if tr.SetState(s) == nil {
			t.Errorf("state of %d, %d moments after %d steps: no error", len(s.M), len(s.V), s.Step)
		}
	}
	equalState(t, "after refused states", tr.State(), kept)
	if err := tr.SetState(nets.State{}); err != nil {
		t.Error(err)
	}
	equalState(t, "after a reset", tr.State(), fresh)
}

// trainerWorkers compares the bits of a run over workers, and over what the
// trainer did before.
func trainerWorkers(t *testing.T, f trainers) {
	for _, shape := range []nets.Shape{f.small(), f.deep()} {
		var want nets.Params
		for _, workers := range []int{1, 2, 5} {
			p := params(shape, 25)
			tr := f.new(t, shape, p, nets.TrainerOptions{Workers: workers, ClipNorm: 0.1})
			if workers > 1 {
				big := newProblem(shape, 500, kinds[0], 26)
				tr.Gradient(p.Clone(), big.x, big.rows, big.loss)
			}
			for i, rows := range []int{300, 1, 65} {
				step(t, tr, newProblem(shape, rows, kinds[i], 27))
			}
			if workers == 1 {
				want = p
			}
			equalBits(t, fmt.Sprintf("%v, %d workers", shape, workers), p.Flat(), want.Flat())
		}
	}
}

// trainerAllocations counts allocations once the largest batch was seen, with
// a layer as wide as tempts a BLAS to start goroutines.
func trainerAllocations(t *testing.T, f trainers) {
	shape := f.wide()
	for _, workers := range []int{1, 2, 5} {
		p := params(shape, 28)
		tr := f.new(t, shape, p, nets.TrainerOptions{Workers: workers, ClipNorm: 1})
		grad := p.Clone()
		b := newProblem(shape, 257, kinds[0], 29)
		allocations(t, fmt.Sprintf("%d workers", workers), func() {
			for _, rows := range []int{257, 1, 64} {
				if _, err := tr.Step(b.x, rows, b.loss); err != nil {
					t.Fatal(err)
				}
				tr.Gradient(grad, b.x, rows, b.loss)
			}
		})
	}
}

// trainerMisuse checks that a caller's mistakes panic, and that those of a
// loss, found on a worker, do too.
func trainerMisuse(t *testing.T, f trainers) {
	small := f.small()
	p := params(small, 30)
	b := newProblem(small, 65, kinds[0], 31)
	tr := f.new(t, small, p, nets.TrainerOptions{Workers: 2})
	loss := func(mask []uint64, target, weight []float32) nets.Loss {
		return &nets.SquaredError{Mask: mask, Target: target, Weight: weight}
	}
	panics(t, "no rows", func() { tr.Step(b.x, 0, b.loss) })
	panics(t, "short x", func() { tr.Step(b.x[1:], b.rows, b.loss) })
	panics(t, "short mask", func() { tr.Step(b.x, b.rows, loss(b.mask[1:], b.target, b.weight)) })
	panics(t, "short target", func() { tr.Step(b.x, b.rows, loss(b.mask, b.target[1:], b.weight)) })
	panics(t, "short weight", func() { tr.Step(b.x, b.rows, loss(b.mask, b.target, b.weight[1:])) })
	panics(t, "other parameters", func() { tr.Gradient(f.tiny().NewParams(), b.x, b.rows, b.loss) })
	panics(t, "parameters of another shape", func() { _, _ = f.make(small, f.deep().NewParams(), nets.TrainerOptions{}) })
	panics(t, "rate", func() { tr.SetRate(math.NaN()) })
	b.mask[40] |= 1 << small.Out()
	panics(t, "mask of an output too many", func() { tr.Step(b.x, b.rows, b.loss) })
	b.mask[40] &^= 1 << small.Out()
	step(t, tr, b)
}

// trainerOptions checks that a bad configuration is an error, that defaults
// are the stated ones, and that pools can be shared.
func trainerOptions(t *testing.T, f trainers) {
	small := f.small()
	for _, o := range []nets.TrainerOptions{
		{Rate: -1}, {Rate: math.NaN()}, {Rate: math.Inf(1)}, {Beta1: 1}, {Beta2: 1.5}, {Beta1: -0.1},
		{Epsilon: -1}, {WeightDecay: -1}, {ClipNorm: math.NaN()}, {Workers: -1},
	} {
		if _, err := f.make(small, small.NewParams(), o); err == nil {
			t.Errorf("options %+v: no error", o)
		}
	}
	for _, shape := range f.invalid() {
		if _, err := f.make(shape, nets.Params{}, nets.TrainerOptions{}); err == nil {
			t.Errorf("shape %v: no error", shape)
		}
	}
	pool := vec.NewPool(2)
	defer pool.Close()
	b := newProblem(small, 65, kinds[0], 32)
	p, q := params(small, 33), params(small, 33)
	step(t, f.new(t, small, p, nets.TrainerOptions{}), b)
	step(t, f.new(t, small, q, nets.TrainerOptions{Rate: 0.001, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Pool: pool}), b)
	equalBits(t, "defaults", q.Flat(), p.Flat())
}
