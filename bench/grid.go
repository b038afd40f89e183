package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"vtrain/nets"
	"vtrain/vec"
)

// A Grid is what is timed of networks: each shape on each number of cores for
// each batch.
type Grid struct {
	Layers     []nets.MLP
	Precisions []nets.Precision // of forwards; nil for float32 alone
	Cores      []int
	Batches    []int
	Input      Input
	CPUTime    bool // on one core, measure processor time: what others do there then doesn't count
}

// Clock returns what measures work on so many cores.
func (g Grid) Clock(cores int) Clock {
	if g.CPUTime && cores == 1 && hasProcessTime {
		return CPU
	}
	return Wall
}

// Input is what rows are made of.
type Input string

// Dense rows are numbers between -1 and 1; a tenth of the elements of binary
// rows are 1, as of those that agents see, and the others 0.
const (
	Dense  Input = "dense"
	Binary Input = "binary"
)

const (
	maxBatch = 1 << 20

	// maxFloats bounds the inputs and outputs of the largest batch.
	maxFloats = 1 << 29

	oneIn = 10 // elements of a binary row is 1
)

// ParseLayers reads a shape as nets.MLP writes it, 440-256-256-106.
func ParseLayers(text string) (nets.MLP, error) {
	var shape nets.MLP
	for width := range strings.SplitSeq(text, "-") {
		n, err := strconv.Atoi(width)
		if err != nil {
			return nil, fmt.Errorf("layers %q, expected widths joined by -, as in 440-256-256-106", text)
		}
		shape = append(shape, n)
	}
	if len(shape) < 2 {
		return nil, fmt.Errorf("layers %q, expected at least two widths, joined by - as in 440-256-256-106", text)
	}
	return shape, shape.Validate()
}

// Validate returns an error that names the value that can't be measured here.
func (g Grid) Validate() error {
	if len(g.Layers) == 0 || len(g.Cores) == 0 || len(g.Batches) == 0 {
		return errors.New("nothing to measure: no layers, no cores or no batch")
	}
	if err := checkCores(g.Cores); err != nil {
		return err
	}
	for _, b := range g.Batches {
		if b < 1 || b > maxBatch {
			return fmt.Errorf("batch %d, expected 1 to %d", b, maxBatch)
		}
	}
	for _, shape := range g.Layers {
		if err := shape.Validate(); err != nil {
			return err
		}
		if floats := g.mostRows() * (shape.In() + shape.Out()); floats > maxFloats {
			return fmt.Errorf("batch %d of %v: %d inputs and outputs, expected at most %d", g.mostRows(), shape, floats, maxFloats)
		}
	}
	return nil
}

// checkCores returns an error that names a number of cores that there aren't.
func checkCores(cores []int) error {
	granted := ThisHost().Cores
	for _, c := range cores {
		if c < 1 || c > granted {
			return fmt.Errorf("%d cores, expected 1 to the %d granted", c, granted)
		}
	}
	return nil
}

// mostRows returns the rows of the largest batch, or of a calibration.
func (g Grid) mostRows() int {
	most := slices.Max(g.Batches)
	if slices.Contains(g.Precisions, nets.Int8) {
		most = max(most, calibrationRows)
	}
	return most
}

// SomeCores returns 1, 2, 4 and so on up to the cores granted, and those.
func SomeCores() []int { return powers(ThisHost().Cores) }

func powers(last int) []int {
	var all []int
	for n := 1; n < last; n *= 2 {
		all = append(all, n)
	}
	return append(all, last)
}

// A setting is one configuration of a grid.
type setting struct {
	shape        nets.MLP
	precision    nets.Precision
	cores, batch int
}

// settings lists all configurations in the order of the rows.
func (g Grid) settings() []setting {
	var all []setting
	for _, shape := range g.Layers {
		for _, precision := range g.precisions() {
			for _, cores := range g.Cores {
				for _, batch := range g.Batches {
					all = append(all, setting{shape, precision, cores, batch})
				}
			}
		}
	}
	return all
}

// precisions are those asked for, or float32.
func (g Grid) precisions() []nets.Precision {
	if len(g.Precisions) == 0 {
		return []nets.Precision{nets.Float32}
	}
	return g.Precisions
}

// buckets are the batches as an engine wants them.
func (g Grid) buckets() []int { return slices.Compact(slices.Sorted(slices.Values(g.Batches))) }

// Seeds of what is drawn.
const (
	inputSeed = 1 + iota
	targetSeed
	calibrationSeed
)

// calibrationRows is the rows that int8 engines are calibrated by.
const calibrationRows = 1024

// inputs returns rows of a width for the largest batch.
func (g Grid) inputs(width int) []float32 { return g.draw(slices.Max(g.Batches), width, inputSeed) }

// calibration returns other rows of the same kind.
func (g Grid) calibration(width int) []float32 {
	return g.draw(calibrationRows, width, calibrationSeed)
}

func (g Grid) draw(rows, width int, seed uint64) []float32 {
	x := make([]float32, rows*width)
	s := vec.At(vec.Key(seed, 0), 0)
	for i := range x {
		switch {
		case g.Input != Binary:
			x[i] = 2*s.Float32() - 1
		case s.Intn(oneIn) == 0:
			x[i] = 1
		}
	}
	return x
}

// Flops returns the multiplications and additions of a row's forward: those of
// the matrix products, whatever a kernel saves of them.
func Flops(shape nets.MLP) float64 {
	sum := 0.0
	for l := range shape.Layers() {
		sum += 2 * float64(shape[l]) * float64(shape[l+1])
	}
	return sum
}

// moved returns the bytes that a forward moves if layers run one after the
// other: parameters once, each layer's inputs in and its outputs out. In int8
// weights and what passes between layers are bytes, and the rest is float32.
func moved(shape nets.MLP, precision nets.Precision, batch int) float64 {
	const size = 4
	number := float64(size)
	if precision == nets.Int8 {
		number = 1
	}
	sum := 0.0
	for l := range shape.Layers() {
		in, out := float64(shape[l]), float64(shape[l+1])
		sum += number*in*out + size*out
		if l > 0 {
			sum += 2 * number * float64(batch) * in // out of the last layer and into this one
		}
	}
	return sum + size*float64(batch)*float64(shape.In()+shape.Out())
}

// intensity returns the operations per byte moved.
func intensity(shape nets.MLP, precision nets.Precision, batch int) float64 {
	return float64(batch) * Flops(shape) / moved(shape, precision, batch)
}

// rate returns GFLOP/s.
func rate(flops, seconds float64) float64 { return flops / seconds / 1e9 }

// scaled returns the quartiles in other units, without digits that mean
// nothing.
func scaled(s Sample, factor float64) (lower, median, upper float64) {
	lower, median, upper = s.Quartiles()
	return round(factor * lower), round(factor * median), round(factor * upper)
}

// Round keeps the digits that mean something, as all reports do.
func Round(v float64) float64 { return round(v) }

// round keeps five digits.
func round(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	unit := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*unit) / unit
}
