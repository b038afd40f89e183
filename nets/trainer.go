package nets

import (
	"fmt"
	"math"

	"vtrain/nets/kernel"
	"vtrain/vec"
)

// A Trainer fits the parameters of a network by AdamW steps on batches. The
// bits of what it computes depend on the batches alone, not on its workers.
type Trainer interface {
	// In and Out are the widths of a row of x and of the outputs.
	In() int
	Out() int

	// Params returns the parameters being trained, those given at the start:
	// they change with every Step, and may be written between steps.
	Params() Params

	// Step takes one optimiser step on the rows of x [rows,In], at least one.
	// If anything isn't finite it returns an *InvalidError that names the
	// first offending row, or else the tensor, and parameters and optimiser
	// are what they were.
	Step(x []float32, rows int, loss Loss) (StepInfo, error)

	// Gradient sets dst to the gradient of the loss, before clipping and
	// without weight decay, and returns the loss; both are NaN if the batch
	// isn't valid or its outputs aren't finite. It changes nothing else.
	Gradient(dst Params, x []float32, rows int, loss Loss) float64

	// SetRate sets the learning rate of the steps to come.
	SetRate(rate float64)

	// State returns a copy of the optimiser's state, and SetState continues
	// from one, taking a copy. SetState(State{}) starts afresh.
	State() State
	SetState(s State) error

	// Describe returns the network and the kernels in a few words.
	Describe() string

	// Close frees what the trainer holds. It may not be used afterwards.
	Close()
}

// StepInfo describes a step.
type StepInfo struct {
	Loss     float64 // before the step
	GradNorm float64 // Euclidean norm of the gradient, before clipping
	Clipped  bool    // whether the gradient was scaled down to ClipNorm
}

// TrainerOptions configures a trainer; the zero value works.
type TrainerOptions struct {
	Rate        float64   // learning rate; 0 means 0.001
	Beta1       float64   // decay of the first moment; 0 means 0.9
	Beta2       float64   // decay of the second moment; 0 means 0.999
	Epsilon     float64   // added to the root of the second moment; 0 means 1e-8
	WeightDecay float64   // decoupled, times the rate; on weights, not on biases
	ClipNorm    float64   // largest norm of the whole gradient; 0 for no limit
	Workers     int       // number of workers, 0 for one per core; ignored if Pool is given
	Pool        *vec.Pool // shared workers, which stay the caller's to close
}

func (o TrainerOptions) withDefaults() TrainerOptions {
	set := func(v *float64, value float64) {
		if *v == 0 {
			*v = value
		}
	}
	set(&o.Rate, 0.001)
	set(&o.Beta1, 0.9)
	set(&o.Beta2, 0.999)
	set(&o.Epsilon, 1e-8)
	return o
}

func (o TrainerOptions) validate() error {
	for _, f := range []struct {
		name    string
		value   float64
		lo, hi  float64
		exclude bool // hi itself
	}{
		{"rate", o.Rate, 0, math.MaxFloat32, false},
		{"beta1", o.Beta1, 0, 1, true},
		{"beta2", o.Beta2, 0, 1, true},
		{"epsilon", o.Epsilon, math.SmallestNonzeroFloat32, math.MaxFloat32, false},
		{"weight decay", o.WeightDecay, 0, math.MaxFloat32, false},
		{"clip norm", o.ClipNorm, 0, math.MaxFloat32, false},
		{"workers", float64(o.Workers), 0, math.MaxInt32, false},
	} {
		if !(f.value >= f.lo) || f.value > f.hi || f.exclude && f.value == f.hi {
			return fmt.Errorf("nets: %s %v is out of range", f.name, f.value)
		}
	}
	return nil
}

// A Differentiator is what a trainer runs on: kernels that compute the
// gradient of one batch. The trainer around it checks arguments and numbers,
// and owns the optimiser.
type Differentiator interface {
	In() int
	Out() int

	// Fits reports whether p is of the shape that Gradient takes.
	Fits(p Params) bool

	// Prepare is called once, before any other work, with the workers to use.
	Prepare(pool *vec.Pool)

	// Gradient sets dst to the gradient of the loss on x [rows,In] by the
	// parameters p. It evaluates the loss by Score, Begin having been called,
	// and returns the loss and the first row that isn't finite or -1; with
	// such a row dst is unspecified. Its sums are taken in an order that
	// doesn't depend on the number of workers.
	Gradient(dst, p Params, x []float32, rows int, loss Loss) (sum float64, bad int)

	Describe() string
	Close()
}

// NewTrainer makes a trainer of a differentiator, which it then owns; it
// trains the parameters p in place. The error is about the options.
func NewTrainer(d Differentiator, p Params, o TrainerOptions) (Trainer, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	set, err := kernel.Default()
	if err != nil {
		return nil, err
	}
	if !d.Fits(p) {
		panic(badShape)
	}
	pool := o.Pool
	if pool == nil {
		pool = vec.NewPool(o.Workers)
	}
	d.Prepare(pool)
	return &trainer{d: d, params: p, grad: p.Clone(), adam: newAdamW(set, p, o, pool), pool: pool, shared: o.Pool != nil}, nil
}

type trainer struct {
	d      Differentiator
	params Params
	grad   Params
	adam   *adamW
	pool   *vec.Pool
	shared bool
}

func (t *trainer) In() int          { return t.d.In() }
func (t *trainer) Out() int         { return t.d.Out() }
func (t *trainer) Params() Params   { return t.params }
func (t *trainer) Describe() string { return t.d.Describe() }

func (t *trainer) Step(x []float32, rows int, loss Loss) (StepInfo, error) {
	sum, err := t.gradient(t.grad, x, rows, loss)
	if err != nil {
		return StepInfo{Loss: sum}, err
	}
	norm, clipped, err := t.adam.step(t.grad.flat)
	if err != nil {
		// Infinite inputs can hide behind units that are off, up to here.
		if r := t.badInput(x, rows); r >= 0 {
			err = &InvalidError{Row: r, What: "input is not finite"}
		}
	}
	return StepInfo{sum, norm, clipped}, err
}

func (t *trainer) Gradient(dst Params, x []float32, rows int, loss Loss) float64 {
	if !dst.Same(t.params) {
		panic(badShape)
	}
	sum, err := t.gradient(dst, x, rows, loss)
	if err == nil {
		return sum
	}
	nan := float32(math.NaN())
	for i := range dst.flat {
		dst.flat[i] = nan
	}
	return math.NaN()
}

// gradient computes a gradient whose loss and outputs are finite, or says
// which row is at fault.
func (t *trainer) gradient(dst Params, x []float32, rows int, loss Loss) (float64, error) {
	if rows < 1 {
		panic(badRows)
	}
	if len(x) < rows*t.In() {
		panic(badLength)
	}
	if err := loss.Begin(rows, t.Out()); err != nil {
		return math.NaN(), err
	}
	sum, bad := t.d.Gradient(dst, t.params, x[:rows*t.In()], rows, loss)
	switch {
	case bad >= 0 && !finite(x[bad*t.In():(bad+1)*t.In()]):
		return sum, &InvalidError{Row: bad, What: "input is not finite"}
	case bad >= 0:
		return sum, &InvalidError{Row: bad, What: "output, loss or its gradient is not finite"}
	case !isFinite(sum):
		return sum, &InvalidError{Row: -1, What: "loss is not finite"}
	}
	return sum, nil
}

// badInput returns the first row of x that isn't finite, or -1.
func (t *trainer) badInput(x []float32, rows int) int {
	in := t.In()
	for r := range rows {
		if !finite(x[r*in : (r+1)*in]) {
			return r
		}
	}
	return -1
}

func (t *trainer) SetRate(rate float64) {
	if !(rate >= 0) || rate > math.MaxFloat32 {
		panic(badRate)
	}
	t.adam.o.Rate = rate
}

func (t *trainer) State() State           { return t.adam.snapshot() }
func (t *trainer) SetState(s State) error { return t.adam.restore(s) }

func (t *trainer) Close() {
	t.d.Close()
	if !t.shared {
		t.pool.Close()
	}
}
