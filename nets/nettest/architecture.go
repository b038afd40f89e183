package nettest

import (
	"fmt"
	"testing"

	"vtrain/nets"
	"vtrain/vec"
)

// An architecture is what the suites know of a kind of network: shapes to test
// it by, afresh from each call, and its outputs in plain float64.
type architecture interface {
	name() string

	shapes() []nets.Shape  // odd and even sizes, sizes around those of tiles, nothing where it may be
	tiny() nets.Shape      // cheap enough for the default grid
	small() nets.Shape     // for what isn't about shapes; fewer than 64 outputs
	deep() nets.Shape      // wider than the tiles of kernels
	wide() nets.Shape      // as wide as tempts a BLAS to start goroutines
	sloped() []nets.Shape  // few parameters
	invalid() []nets.Shape // what Validate refuses
	spoil(s nets.Shape)    // changes what s points to

	// work returns the multiplications of a row, about.
	work(s nets.Shape) int

	// forward returns the outputs of the tape's rows.
	forward(t *tape, s nets.Shape, x []float32) matrix

	// fed returns the rows of weights that an input of s is multiplied with.
	fed(s nets.Shape, input int) []place

	// groups returns those that renaming exchanges, nil if there are none.
	groups(s nets.Shape) *nets.Groups

	// column returns the layer that gives out an output of s, the column
	// there, and all outputs that the column gives out, this one included.
	column(s nets.Shape, output int) (layer string, column int, mates []int)
}

// A place is a row of a matrix.
type place struct {
	tensor string
	row    int
}

// of returns the elements of a place.
func (at place) of(p nets.Params) []float32 {
	t, ok := p.Tensor(at.tensor)
	if !ok {
		panic("nettest: no tensor " + at.tensor)
	}
	return t.Data[at.row*t.Shape[1] : (at.row+1)*t.Shape[1]]
}

var architectures = []architecture{mlp{}, shared{}}

// of returns the architecture of a shape.
func of(s nets.Shape) architecture {
	switch s.(type) {
	case nets.MLP:
		return mlp{}
	case nets.Shared:
		return shared{}
	}
	panic(fmt.Sprintf("nettest: unknown architecture %T", s))
}

// Forward returns the outputs [rows,Out] of the network in float64.
func Forward(s nets.Shape, p nets.Params, x []float32, rows int) []float64 {
	return of(s).forward(newTape(rows, p, nil), s, x).v
}

// Gradient returns the gradient of the loss in float64, by the chain rule, and
// the loss.
func Gradient(s nets.Shape, p nets.Params, x []float32, rows int, loss nets.Loss) ([]float64, float64) {
	if err := loss.Begin(rows, s.Out()); err != nil {
		panic(err)
	}
	y := narrow(Forward(s, p, x, rows))
	dy := make([]float32, len(y))
	sum := loss.Eval(dy, y, 0, rows)
	return backward(s, p, x, rows, dy), sum
}

// backward returns the gradient, in the order of the flat parameters, given
// the derivatives by the outputs.
func backward(s nets.Shape, p nets.Params, x []float32, rows int, dy []float32) []float64 {
	grad := make([]float64, p.Len())
	t := newTape(rows, p, grad)
	t.rewind(of(s).forward(t, s, x), dy)
	return grad
}

// slow reports whether the float64 oracle takes too long for a batch.
func slow(s nets.Shape, rows int) bool {
	products := 14_000_000
	if testing.Short() {
		products = 1_400_000
	}
	return rows*of(s).work(s) > products
}

// params returns parameters whose biases are drawn too: zeros hide mistakes.
func params(s nets.Shape, seed uint64) nets.Params {
	p := s.NewParams()
	s.Init(p, seed)
	stream := vec.At(vec.Key(seed, 1), 0)
	for _, t := range p.Tensors() {
		for i := range t.Data {
			if len(t.Shape) == 1 {
				t.Data[i] = stream.Float32() - 0.5
			}
		}
	}
	return p
}
