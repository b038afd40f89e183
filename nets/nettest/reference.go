package nettest

import (
	"fmt"

	"vtrain/nets"
	"vtrain/vec"
)

// NewEngine returns the reference as an engine. It pads for real, with NaN, so
// that it also exercises what engines share.
func NewEngine(s nets.Shape, o nets.EngineOptions) (nets.Engine, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	s = clone(s)
	return nets.NewEngine(&reference{Shape: s, params: s.NewParams()}, o)
}

// NewTrainer returns the reference as a trainer.
func NewTrainer(s nets.Shape, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return nets.NewTrainer(&differentiator{clone(s)}, p, o)
}

// clone returns a copy of a shape that shares nothing with it.
func clone(s nets.Shape) nets.Shape {
	if s, ok := s.(nets.Shared); ok {
		return s.Clone()
	}
	return append(nets.MLP{}, s.(nets.MLP)...)
}

// reference implements nets.Backend.
type reference struct {
	nets.Shape
	params nets.Params
}

func (b *reference) Precision() nets.Precision { return nets.Float32 }

func (b *reference) Prepare(*vec.Pool, []int) {}

func (b *reference) Load(p nets.Params) { b.params.CopyFrom(p) }

func (b *reference) Forward(dst, x []float32, _, bucket int) int {
	padded := make([]float32, bucket*b.In())
	poison(padded[copy(padded, x):])
	y := narrow(Forward(b.Shape, b.params, padded, bucket))
	copy(dst, y)
	return bucket
}

func (b *reference) Describe() string { return fmt.Sprintf("reference %v", b.Shape) }

func (b *reference) Close() {}

// differentiator implements nets.Differentiator.
type differentiator struct{ nets.Shape }

func (d *differentiator) Prepare(*vec.Pool) {}

func (d *differentiator) Gradient(dst, p nets.Params, x []float32, rows int, loss nets.Loss) (float64, int) {
	y := narrow(Forward(d.Shape, p, x, rows))
	dy := make([]float32, len(y))
	sum, bad := nets.Score(loss, dy, y, 0, rows)
	if bad < 0 {
		copy(dst.Flat(), narrow(backward(d.Shape, p, x, rows, dy)))
	}
	return sum, bad
}

func (d *differentiator) Describe() string { return fmt.Sprintf("reference %v", d.Shape) }

func (d *differentiator) Close() {}
