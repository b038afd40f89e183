package nets

import (
	"fmt"
	"math"

	"vtrain/vec"
)

// A Loss scores the outputs of a batch. It holds the targets of that batch;
// the caller sets them, then hands the loss to a trainer, so one Loss value
// serves a whole run. Losses beyond those of this package (policy gradients,
// quantiles, several heads) are types of other packages.
type Loss interface {
	// Begin is called once for each batch, before any Eval, with the rows and
	// the outputs of a row. It computes what all rows share, such as the sum
	// of weights, and returns an error, preferably an *InvalidError, if the
	// batch cannot be scored.
	Begin(rows, outputs int) error

	// Eval scores the rows [lo,hi) of the batch, given their outputs y
	// [hi-lo,outputs]: it returns their part of the loss and sets every
	// element of dy [hi-lo,outputs] to the derivative of the loss by that
	// output. It is called concurrently for ranges of any length, sometimes
	// twice for the same row; a row's gradient may not depend on the range.
	Eval(dy, y []float32, lo, hi int) float64
}

// An InvalidError says which part of a training batch, or which tensor of the
// gradient, holds a number that training cannot use.
type InvalidError struct {
	Row    int    // row of the batch, -1 if it isn't a row
	Tensor string // tensor of the gradient, "" if it isn't a tensor
	What   string // what is wrong with it
}

func (e *InvalidError) Error() string {
	switch {
	case e.Tensor != "":
		return fmt.Sprintf("nets: gradient of %s %s", e.Tensor, e.What)
	case e.Row < 0:
		return "nets: batch: " + e.What
	}
	return fmt.Sprintf("nets: row %d: %s", e.Row, e.What)
}

// SquaredError is the masked, weighted squared error
//
//	Σ_r weight[r] Σ_{a in mask[r]} (y[r,a] - target[r,a])² / Σ_r weight[r]
//
// as Deep CFR fits advantages (Brown et al. 2019). Outputs outside the mask
// have no gradient and their targets are never read. If all weights are zero,
// so is the loss.
type SquaredError struct {
	Mask   []uint64  // [rows,vec.MaskWords(outputs)]: the outputs that count; nil for all
	Target []float32 // [rows,outputs]
	Weight []float32 // [rows], not negative; nil for 1

	batch
}

// Begin implements Loss.
func (l *SquaredError) Begin(rows, outputs int) error {
	return l.begin(l.Mask, l.Target, l.Weight, rows, outputs)
}

// Eval implements Loss.
func (l *SquaredError) Eval(dy, y []float32, lo, hi int) float64 {
	sum := 0.0
	for r := lo; r < hi; r++ {
		d, v, t := l.row(dy, r-lo), l.row(y, r-lo), l.row(l.Target, r)
		sum += l.eval(d, v, t, r)
	}
	return sum
}

func (l *SquaredError) eval(dy, y, target []float32, r int) float64 {
	clear(dy)
	scale, sum := l.scale(l.Weight, r), 0.0
	for w := range l.words {
		for set := l.word(l.Mask, r, w); set != 0; set &= set - 1 {
			a := w<<6 + lowest(set)
			diff := float64(y[a]) - float64(target[a])
			sum += diff * diff
			dy[a] = float32(2 * scale * diff)
		}
	}
	return scale * sum
}

// CrossEntropy is the weighted cross entropy of a target distribution and the
// softmax of the outputs over the legal actions, those of the mask:
//
//	-Σ_r weight[r] Σ_{a in mask[r]} target[r,a] log softmax(y[r])[a] / Σ_r weight[r]
//
// as an average strategy is fitted. Outputs outside the mask have no gradient
// and their targets are never read; a row of an empty mask adds nothing but
// its weight. Targets need not sum to 1. If all weights are zero, so is the
// loss.
type CrossEntropy struct {
	Mask   []uint64  // [rows,vec.MaskWords(outputs)]: the legal actions; nil for all
	Target []float32 // [rows,outputs]
	Weight []float32 // [rows], not negative; nil for 1

	batch
}

// Begin implements Loss.
func (l *CrossEntropy) Begin(rows, outputs int) error {
	return l.begin(l.Mask, l.Target, l.Weight, rows, outputs)
}

// Eval implements Loss.
func (l *CrossEntropy) Eval(dy, y []float32, lo, hi int) float64 {
	sum := 0.0
	for r := lo; r < hi; r++ {
		d, v, t := l.row(dy, r-lo), l.row(y, r-lo), l.row(l.Target, r)
		sum += l.eval(d, v, t, r)
	}
	return sum
}

// eval needs three passes over the legal actions: their largest output, the
// sum of exponentials relative to it, and the derivatives. dy holds the
// exponentials in between.
func (l *CrossEntropy) eval(dy, y, target []float32, r int) float64 {
	clear(dy)
	top := math.Inf(-1)
	for w := range l.words {
		for set := l.word(l.Mask, r, w); set != 0; set &= set - 1 {
			top = max(top, float64(y[w<<6+lowest(set)]))
		}
	}
	total, mass, dot := 0.0, 0.0, 0.0
	for w := range l.words {
		for set := l.word(l.Mask, r, w); set != 0; set &= set - 1 {
			a := w<<6 + lowest(set)
			z, t := float64(y[a])-top, float64(target[a])
			e := math.Exp(z)
			dy[a] = float32(e)
			total += e
			mass += t
			dot += t * z
		}
	}
	if total == 0 {
		return 0
	}
	scale := l.scale(l.Weight, r)
	for w := range l.words {
		for set := l.word(l.Mask, r, w); set != 0; set &= set - 1 {
			a := w<<6 + lowest(set)
			dy[a] = float32(scale * (float64(dy[a])*mass/total - float64(target[a])))
		}
	}
	return scale * (mass*math.Log(total) - dot)
}

// batch is what the losses of this package share: the shape of the batch and
// the normalisation by the sum of weights.
type batch struct {
	outputs, words int
	last           uint64  // the bits of a mask's last word
	norm           float64 // 1 / sum of weights, 0 if that is 0
}

func (b *batch) begin(mask []uint64, target, weight []float32, rows, outputs int) error {
	*b = batch{outputs: outputs, words: vec.MaskWords(outputs), last: ^uint64(0) >> (-outputs & 63)}
	if len(target) < rows*outputs || weight != nil && len(weight) < rows || mask != nil && len(mask) < rows*b.words {
		panic(badLength)
	}
	sum := float64(rows)
	if weight != nil {
		sum = 0
		for r, w := range weight[:rows] {
			if !(w >= 0) || w > math.MaxFloat32 {
				return &InvalidError{Row: r, What: fmt.Sprintf("weight %v, want a finite number of at least 0", w)}
			}
			sum += float64(w)
		}
	}
	if sum > 0 {
		b.norm = 1 / sum
	}
	return nil
}

// row returns row r of a matrix of outputs.
func (b *batch) row(m []float32, r int) []float32 {
	return m[r*b.outputs : (r+1)*b.outputs : (r+1)*b.outputs]
}

// scale returns the share of row r in the loss.
func (b *batch) scale(weight []float32, r int) float64 {
	if weight == nil {
		return b.norm
	}
	return float64(weight[r]) * b.norm
}

// word returns word w of the mask of row r.
func (b *batch) word(mask []uint64, r, w int) uint64 {
	all := ^uint64(0)
	if w == b.words-1 {
		all = b.last
	}
	if mask == nil {
		return all
	}
	set := mask[r*b.words+w]
	if set&^all != 0 {
		panic(badMask)
	}
	return set
}
