package cfr

import (
	"vtrain/nets"
	"vtrain/vec"
)

// A Valuer is a critic of PPO, as search uses it: the value of a state for the
// player to move, all cards known, should both play on by the policy that it was
// trained with. It is not safe for concurrent use.
type Valuer struct {
	engine nets.Engine
	scale  float32
	x      []float32 // [rows,D]
}

// NewValuer returns a critic that owns a copy of the parameters, of which
// precision and calibration are as NewPolicy's. Scale is what a unit of its
// output is in the game's own units of utility; rows is the largest batch that it
// should take in one forward.
func NewValuer(shape nets.MLP, params nets.Params, precision nets.Precision, calibration []float32, scale float64, rows int, pool *vec.Pool) (*Valuer, error) {
	engine, err := newEngine(shape, params, precision, calibration, rows, pool)
	if err != nil {
		return nil, err
	}
	return &Valuer{engine: engine, scale: float32(scale)}, nil
}

// Values sets dst to the values of rows, which must be live games, in the game's
// own units.
func (v *Valuer) Values(dst []float32, state vec.Batch, rows []int32) {
	if len(dst) != len(rows) {
		panic(badLength)
	}
	v.x = vec.Grow(v.x, len(rows)*v.engine.In())
	state.Observe(v.x, vec.History, rows)
	v.engine.Forward(dst, v.x, len(rows))
	for i := range dst {
		dst[i] *= v.scale
	}
}

// Close frees the engine.
func (v *Valuer) Close() { v.engine.Close() }
