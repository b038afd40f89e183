package nets

import (
	"fmt"
	"math"
	"slices"

	"vtrain/nets/kernel"
	"vtrain/vec"
)

// State is the state of the optimiser: the number of steps taken and the
// moving averages of the gradient and of its square, in the order of
// Params.Flat. The zero State is that of a fresh optimiser.
type State struct {
	Step int
	M, V []float32
}

// adamW is Adam with decoupled weight decay (Loshchilov and Hutter 2019),
// after clipping the gradient to a global norm. It works in pieces of fixed
// size, so the norm is the same sum for any number of workers.
type adamW struct {
	o       TrainerOptions
	set     *kernel.Set
	params  Params
	state   State
	pieces  []piece
	squares []float64 // [piece]: sum of squares of its gradient
	pool    *vec.Pool

	// Arguments of the ranges that the pool runs, and their functions, made
	// once because a closure made for each step would be garbage.
	grad          []float32
	c             kernel.AdamW
	norms, update func(lo, hi int)
}

// A piece is a part of one tensor in the flat vector.
type piece struct {
	lo, hi int
	decay  bool
}

const pieceSize = 1 << 14

func newAdamW(set *kernel.Set, p Params, o TrainerOptions, pool *vec.Pool) *adamW {
	a := &adamW{o: o, set: set, params: p, pool: pool, pieces: cut(p)}
	a.state = State{M: make([]float32, p.Len()), V: make([]float32, p.Len())}
	a.squares = make([]float64, len(a.pieces))
	a.norms, a.update = a.sumSquares, a.updatePieces
	return a
}

// cut returns the pieces of the parameters. Only tensors of two or more
// dimensions decay: biases have one.
func cut(p Params) []piece {
	var pieces []piece
	base := 0
	for _, t := range p.tensors {
		for lo := 0; lo < len(t.Data); lo += pieceSize {
			hi := min(lo+pieceSize, len(t.Data))
			pieces = append(pieces, piece{base + lo, base + hi, len(t.Shape) > 1})
		}
		base += len(t.Data)
	}
	return pieces
}

// step applies one gradient. An error leaves parameters and state untouched.
func (a *adamW) step(grad []float32) (norm float64, clipped bool, err error) {
	a.grad = grad
	a.pool.Run(len(a.pieces), 1, a.norms)
	sum := 0.0
	for _, s := range a.squares {
		sum += s
	}
	norm = math.Sqrt(sum)
	if !isFinite(norm) {
		return norm, false, a.blame()
	}
	scale := 1.0
	if clipped = a.o.ClipNorm > 0 && norm > a.o.ClipNorm; clipped {
		scale = a.o.ClipNorm / norm
	}
	if norm*scale > maxNorm {
		return norm, clipped, &InvalidError{Row: -1, Tensor: a.params.at(largest(grad)), What: "is too large to square"}
	}
	a.state.Step++
	a.c = a.coefficients(scale)
	a.pool.Run(len(a.pieces), 1, a.update)
	return norm, clipped, nil
}

// maxNorm bounds a gradient whose squares still fit a float32.
const maxNorm = 1e18

// blame names the first tensor whose gradient isn't finite.
func (a *adamW) blame() error {
	for i, p := range a.pieces {
		if !isFinite(a.squares[i]) {
			return &InvalidError{Row: -1, Tensor: a.params.at(p.lo), What: "is not finite"}
		}
	}
	panic(badLength) // squares of float32 don't overflow a float64
}

// largest returns the index of the element of the largest magnitude.
func largest(v []float32) int {
	best := 0
	for i, f := range v {
		if math.Abs(float64(f)) > math.Abs(float64(v[best])) {
			best = i
		}
	}
	return best
}

func (a *adamW) sumSquares(lo, hi int) {
	for i := lo; i < hi; i++ {
		p := a.pieces[i]
		a.squares[i] = a.set.SumSquares(a.grad[p.lo:p.hi])
	}
}

// coefficients returns the numbers of a step. Rate and root carry the
// corrections for the zero start of the moments.
func (a *adamW) coefficients(scale float64) kernel.AdamW {
	o, t := a.o, float64(a.state.Step)
	return kernel.AdamW{
		Scale: float32(scale),
		KeepM: float32(o.Beta1), AddM: float32(1 - o.Beta1),
		KeepV: float32(o.Beta2), AddV: float32(1 - o.Beta2),
		Decay:   float32(o.Rate * o.WeightDecay),
		Rate:    float32(o.Rate / (1 - math.Pow(o.Beta1, t))),
		Root:    float32(1 / math.Sqrt(1-math.Pow(o.Beta2, t))),
		Epsilon: float32(o.Epsilon),
	}
}

func (a *adamW) updatePieces(lo, hi int) {
	for _, p := range a.pieces[lo:hi] {
		c := a.c
		if !p.decay {
			c.Decay = 0
		}
		a.set.Update(&c, a.params.flat[p.lo:p.hi], a.state.M[p.lo:p.hi], a.state.V[p.lo:p.hi], a.grad[p.lo:p.hi])
	}
}

// snapshot returns a copy of the state.
func (a *adamW) snapshot() State {
	return State{a.state.Step, slices.Clone(a.state.M), slices.Clone(a.state.V)}
}

// restore sets the state; a zero State starts afresh.
func (a *adamW) restore(s State) error {
	n := a.params.Len()
	fresh := s.Step == 0 && len(s.M) == 0 && len(s.V) == 0
	switch {
	case fresh:
		clear(a.state.M)
		clear(a.state.V)
	case len(s.M) != n || len(s.V) != n:
		return fmt.Errorf("nets: optimiser state of %d and %d moments, want %d of each", len(s.M), len(s.V), n)
	case s.Step < 0:
		return fmt.Errorf("nets: optimiser state after %d steps", s.Step)
	case !finite(s.M) || !finite(s.V):
		return fmt.Errorf("nets: optimiser state is not finite")
	}
	copy(a.state.M, s.M)
	copy(a.state.V, s.V)
	a.state.Step = s.Step
	return nil
}
