package nettest

import (
	"fmt"
	"slices"

	"vtrain/nets"
)

// A tape computes rows in float64, one plain operation after the other, and
// notes for each how derivatives go back through it. Read backwards it is the
// chain rule.
type tape struct {
	rows      int
	params    map[string]*tensor
	recording bool
	back      []func()
}

// A tensor is parameters and the sum of the derivatives by them.
type tensor struct {
	v []float32
	d []float64
}

// A matrix is values [rows,cols] and, on a tape that records, the derivatives
// by them.
type matrix struct {
	cols int
	v, d []float64
}

// newTape returns a tape for some rows, whose derivatives by the parameters
// add up in grad, in the order of the flat parameters. Without grad it records
// nothing.
func newTape(rows int, p nets.Params, grad []float64) *tape {
	t := &tape{rows: rows, params: map[string]*tensor{}, recording: grad != nil}
	for _, w := range p.Tensors() {
		this := &tensor{v: w.Data}
		if n := len(w.Data); t.recording {
			this.d, grad = grad[:n:n], grad[n:]
		}
		t.params[w.Name] = this
	}
	return t
}

// matrix returns zeros without derivatives so far.
func (t *tape) matrix(cols int) matrix {
	m := matrix{cols: cols, v: make([]float64, t.rows*cols)}
	if t.recording {
		m.d = make([]float64, t.rows*cols)
	}
	return m
}

// note records how to go back through what was computed last.
func (t *tape) note(step func()) {
	if t.recording {
		t.back = append(t.back, step)
	}
}

// rewind goes back to the start, from the derivatives dy by y.
func (t *tape) rewind(y matrix, dy []float32) {
	copy(y.d, widen(dy))
	for _, step := range slices.Backward(t.back) {
		step()
	}
}

// columns returns those columns of x, which are width wide. Nothing goes back
// there.
func (t *tape) columns(x []float32, width int, list []int32) matrix {
	y := t.matrix(len(list))
	for r := range t.rows {
		for i, c := range list {
			y.v[r*y.cols+i] = float64(x[r*width+int(c)])
		}
	}
	return y
}

// A kind is one kind of inputs of a layer, and the name of its tensor.
type kind struct {
	tensor string
	x      matrix
}

// affine returns Σ x·W + b of a layer. Kinds of no inputs have no tensor.
func (t *tape) affine(layer string, kinds ...kind) matrix {
	bias := t.params[layer+".bias"]
	y := t.matrix(len(bias.v))
	for i := range y.v {
		y.v[i] = float64(bias.v[i%y.cols])
	}
	t.note(func() {
		for i, d := range y.d {
			bias.d[i%y.cols] += d
		}
	})
	for _, k := range kinds {
		if k.x.cols > 0 {
			t.multiply(y, k.x, t.params[layer+"."+k.tensor])
		}
	}
	return y
}

// multiply adds x·W to y.
func (t *tape) multiply(y, x matrix, w *tensor) {
	for at, v := range x.v {
		r, i := at/x.cols, at%x.cols
		sums := y.v[r*y.cols : (r+1)*y.cols]
		for j, f := range w.v[i*y.cols : (i+1)*y.cols] {
			sums[j] += v * float64(f)
		}
	}
	t.note(func() {
		for at, v := range x.v {
			r, i := at/x.cols, at%x.cols
			weights, slopes, sum := w.v[i*y.cols:(i+1)*y.cols], w.d[i*y.cols:(i+1)*y.cols], 0.0
			for j, d := range y.d[r*y.cols : (r+1)*y.cols] {
				slopes[j] += v * d
				sum += float64(weights[j]) * d
			}
			x.d[at] += sum
		}
	})
}

// relu has the derivative 0 at 0.
func (t *tape) relu(x matrix) matrix {
	y := t.matrix(x.cols)
	for i, v := range x.v {
		if !(v < 0) {
			y.v[i] = v
		}
	}
	t.note(func() {
		for i, v := range x.v {
			if v > 0 {
				x.d[i] += y.d[i]
			}
		}
	})
	return y
}

// mean is taken element by element.
func (t *tape) mean(xs []matrix) matrix {
	y, n := t.matrix(xs[0].cols), float64(len(xs))
	for _, x := range xs {
		for i, v := range x.v {
			y.v[i] += v / n
		}
	}
	t.note(func() {
		for _, x := range xs {
			for i, d := range y.d {
				x.d[i] += d / n
			}
		}
	})
	return y
}

// maximum is taken element by element; the first of those that tie has the
// derivative.
func (t *tape) maximum(xs []matrix) matrix {
	y := t.matrix(xs[0].cols)
	copy(y.v, xs[0].v)
	from := make([]int, len(y.v))
	for k, x := range xs {
		for i, v := range x.v {
			if v > y.v[i] {
				y.v[i], from[i] = v, k
			}
		}
	}
	t.note(func() {
		for i, d := range y.d {
			xs[from[i]].d[i] += d
		}
	})
	return y
}

// hidden returns the last of layers on top of each other, each with its ReLU.
func (t *tape) hidden(name string, layers int, kinds ...kind) matrix {
	for l := range layers {
		kinds = []kind{{"weight", t.relu(t.affine(fmt.Sprintf("%s.%d", name, l), kinds...))}}
	}
	return kinds[0].x
}

// join returns n columns, of which part k holds those of columns[k].
func (t *tape) join(n int, columns [][]int32, parts []matrix) matrix {
	y := t.matrix(n)
	for k, part := range parts {
		for at, v := range part.v {
			y.v[at/part.cols*n+int(columns[k][at%part.cols])] = v
		}
	}
	t.note(func() {
		for k, part := range parts {
			for at := range part.d {
				part.d[at] += y.d[at/part.cols*n+int(columns[k][at%part.cols])]
			}
		}
	})
	return y
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
