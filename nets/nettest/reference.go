package nettest

import (
	"math"
	"slices"

	"vtrain/nets"
	"vtrain/vec"
)

// NewEngine returns the reference as an engine. It pads for real, with NaN, so
// that it also exercises what engines share.
func NewEngine(shape nets.MLP, o nets.EngineOptions) (nets.Engine, error) {
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	return nets.NewEngine(&reference{MLP: slices.Clone(shape), params: shape.NewParams()}, o)
}

// NewTrainer returns the reference as a trainer.
func NewTrainer(shape nets.MLP, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	return nets.NewTrainer(&differentiator{slices.Clone(shape)}, p, o)
}

// Forward returns the outputs [rows,Out] of the network in float64.
func Forward(shape nets.MLP, p nets.Params, x []float32, rows int) []float64 {
	y := make([]float64, 0, rows*shape.Out())
	for r := range rows {
		layers := activations(shape, p, x[r*shape.In():(r+1)*shape.In()])
		y = append(y, layers[len(layers)-1]...)
	}
	return y
}

// Gradient returns the gradient of the loss in float64, by the chain rule, and
// the loss.
func Gradient(shape nets.MLP, p nets.Params, x []float32, rows int, loss nets.Loss) ([]float64, float64) {
	if err := loss.Begin(rows, shape.Out()); err != nil {
		panic(err)
	}
	y := narrow(Forward(shape, p, x, rows))
	dy := make([]float32, len(y))
	sum := loss.Eval(dy, y, 0, rows)
	return backward(shape, p, x, rows, dy), sum
}

// backward returns the gradient, in the order of the flat parameters, given
// the derivatives by the outputs.
func backward(shape nets.MLP, p nets.Params, x []float32, rows int, dy []float32) []float64 {
	grad := make([]float64, p.Len())
	for r := range rows {
		layers := activations(shape, p, x[r*shape.In():(r+1)*shape.In()])
		delta := widen(dy[r*shape.Out() : (r+1)*shape.Out()])
		end := len(grad)
		for l := shape.Layers() - 1; l >= 0; l-- {
			in, out := shape[l], shape[l+1]
			end -= (in + 1) * out
			delta = backLayer(grad[end:end+(in+1)*out], p.Tensors()[2*l].Data, layers[l], delta)
		}
	}
	return grad
}

// backLayer adds one row to the gradient of a layer, weights before biases,
// and returns the derivatives by the layer's inputs.
func backLayer(grad []float64, weight []float32, input, delta []float64) []float64 {
	below := make([]float64, len(input))
	for i, v := range input {
		for j, d := range delta {
			grad[i*len(delta)+j] += v * d
			if v > 0 {
				below[i] += float64(weight[i*len(delta)+j]) * d
			}
		}
	}
	for j, d := range delta {
		grad[len(input)*len(delta)+j] += d
	}
	return below
}

// activations returns the input of every layer and the output of the last.
func activations(shape nets.MLP, p nets.Params, row []float32) [][]float64 {
	layers := [][]float64{widen(row)}
	for l := range shape.Layers() {
		x, weight, bias := layers[l], p.Tensors()[2*l].Data, p.Tensors()[2*l+1].Data
		y := widen(bias)
		for i, v := range x {
			for j := range y {
				y[j] += v * float64(weight[i*len(y)+j])
			}
		}
		for j := range y {
			if l < shape.Layers()-1 && y[j] < 0 {
				y[j] = 0
			}
		}
		layers = append(layers, y)
	}
	return layers
}

func widen(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, f := range v {
		w[i] = float64(f)
	}
	return w
}

func narrow(v []float64) []float32 {
	w := make([]float32, len(v))
	for i, f := range v {
		w[i] = float32(f)
	}
	return w
}

// reference implements nets.Backend. Its buffers are made in Prepare, and its
// rows are computed in place, because engines may not allocate either.
type reference struct {
	nets.MLP
	params     nets.Params
	x          []float32 // [largest,In]
	this, next []float64 // [Widest]
}

func (b *reference) Prepare(_ *vec.Pool, buckets []int) {
	b.x = make([]float32, buckets[len(buckets)-1]*b.In())
	n := max(b.In(), b.Widest())
	b.this, b.next = make([]float64, n), make([]float64, n)
}

func (b *reference) Load(p nets.Params) { b.params.CopyFrom(p) }

func (b *reference) Forward(dst, x []float32, rows, bucket int) int {
	padded := b.x[:bucket*b.In()]
	for i := copy(padded, x); i < len(padded); i++ {
		padded[i] = float32(math.NaN())
	}
	for r := range bucket {
		y := b.row(padded[r*b.In() : (r+1)*b.In()])
		for j := 0; r < rows && j < b.Out(); j++ {
			dst[r*b.Out()+j] = float32(y[j])
		}
	}
	return bucket
}

func (b *reference) row(x []float32) []float64 {
	for i, v := range x {
		b.this[i] = float64(v)
	}
	for l := range b.Layers() {
		weight, bias := b.Layer(b.params, l)
		for j, v := range bias {
			sum := float64(v)
			for i := range b.MLP[l] {
				sum += b.this[i] * float64(weight[i*len(bias)+j])
			}
			if l < b.Layers()-1 && sum < 0 {
				sum = 0
			}
			b.next[j] = sum
		}
		b.this, b.next = b.next, b.this
	}
	return b.this[:b.Out()]
}

func (b *reference) Describe() string { return "reference " + b.String() }

func (b *reference) Close() {}

// differentiator implements nets.Differentiator.
type differentiator struct{ nets.MLP }

func (d *differentiator) Prepare(*vec.Pool) {}

func (d *differentiator) Gradient(dst, p nets.Params, x []float32, rows int, loss nets.Loss) (float64, int) {
	y := narrow(Forward(d.MLP, p, x, rows))
	dy := make([]float32, len(y))
	sum, bad := nets.Score(loss, dy, y, 0, rows)
	if bad < 0 {
		copy(dst.Flat(), narrow(backward(d.MLP, p, x, rows, dy)))
	}
	return sum, bad
}

func (d *differentiator) Describe() string { return "reference " + d.String() }

func (d *differentiator) Close() {}
