package nettest

import (
	"math"

	"vtrain/nets"
	"vtrain/vec"
)

// A problem is a batch with its loss, and the same loss written down once
// more, in float64 and one output at a time.
type problem struct {
	shape  nets.Shape
	rows   int
	x      []float32
	mask   []uint64
	target []float32
	weight []float32
	loss   nets.Loss
	value  func(y []float64) float64
}

// A lossKind makes one of the losses of package nets for a problem.
type lossKind struct {
	name string
	set  func(*problem)
}

var kinds = []lossKind{
	{"squared error", func(p *problem) {
		p.loss = &nets.SquaredError{Mask: p.mask, Target: p.target, Weight: p.weight}
		p.value = p.squaredError
	}},
	{"squared error of all outputs", func(p *problem) {
		p.mask, p.weight = nil, nil
		p.loss = &nets.SquaredError{Target: p.target}
		p.value = p.squaredError
	}},
	{"cross entropy", func(p *problem) {
		p.loss = &nets.CrossEntropy{Mask: p.mask, Target: p.target, Weight: p.weight}
		p.value = p.crossEntropy
	}},
}

// newProblem draws a batch: about a third of the outputs count, targets of
// the others are NaN, every fifth weight is zero.
func newProblem(shape nets.Shape, rows int, k lossKind, seed uint64) *problem {
	out, words := shape.Out(), vec.MaskWords(shape.Out())
	p := &problem{
		shape: shape, rows: rows, x: inputs(rows, shape.In(), seed),
		mask: make([]uint64, rows*words), target: make([]float32, rows*out), weight: make([]float32, rows),
	}
	s := vec.At(vec.Key(seed, 3), 0)
	for r := range rows {
		p.weight[r] = float32(s.Intn(5))
		vec.MaskSet(p.mask[r*words:], s.Intn(out))
		for a := range out {
			p.target[r*out+a] = s.Float32()
			if s.Intn(3) == 0 {
				vec.MaskSet(p.mask[r*words:], a)
			}
		}
	}
	p.weight[0] = 3
	k.set(p)
	for i := range p.target {
		if !p.counts(i/out, i%out) {
			p.target[i] = float32(math.NaN())
		}
	}
	return p
}

func (p *problem) counts(r, a int) bool {
	return p.mask == nil || vec.MaskHas(p.mask[r*vec.MaskWords(p.shape.Out()):], a)
}

// weigh returns the weight of a row, divided by the sum of weights.
func (p *problem) weigh(r int) float64 {
	if p.weight == nil {
		return 1 / float64(p.rows)
	}
	sum := 0.0
	for _, w := range p.weight[:p.rows] {
		sum += float64(w)
	}
	return float64(p.weight[r]) / sum
}

func (p *problem) squaredError(y []float64) float64 {
	sum, out := 0.0, p.shape.Out()
	for r := range p.rows {
		for a := range out {
			if p.counts(r, a) {
				sum += p.weigh(r) * math.Pow(y[r*out+a]-float64(p.target[r*out+a]), 2)
			}
		}
	}
	return sum
}

func (p *problem) crossEntropy(y []float64) float64 {
	sum, out := 0.0, p.shape.Out()
	for r := range p.rows {
		total := 0.0
		for a := range out {
			if p.counts(r, a) {
				total += math.Exp(y[r*out+a])
			}
		}
		for a := range out {
			if p.counts(r, a) {
				sum -= p.weigh(r) * float64(p.target[r*out+a]) * math.Log(math.Exp(y[r*out+a])/total)
			}
		}
	}
	return sum
}

// at returns the loss at the parameters.
func (p *problem) at(params nets.Params) float64 {
	return p.value(Forward(p.shape, params, p.x, p.rows))
}

// slope returns the derivative of the loss by element i of the parameters,
// from its difference at both sides. A step is a power of two that float32
// parameters of about 1 can represent.
func (p *problem) slope(params nets.Params, i int) float64 {
	const step = 1.0 / (1 << 12)
	q := params.Clone()
	v := q.Flat()[i]
	up, down := v+step, v-step
	q.Flat()[i] = up
	above := p.at(q)
	q.Flat()[i] = down
	below := p.at(q)
	return (above - below) / (float64(up) - float64(down))
}
