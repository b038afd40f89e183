package main

import (
	"fmt"
	"strings"

	"vtrain/nets"
	"vtrain/nets/kernel"
)

// usualShape is the network that limits are about.
const usualShape = "297-512-512-512-22"

// limits are the goals of the usual shape on a machine with nothing
// else to do, and say in a line which of them apply here.
type limits struct {
	text    string
	float32 map[int]float64 // [batch]: of the time of a forward by OpenBLAS's products, on one core
	large   float64         // the same from largeBatch rows
	int8    map[int]float64 // [batch]: as float32
	own     bool            // whether those of ratios among ourselves apply
}

const (
	largeBatch = 256 // rows

	speedupLimit = 1.8 // of two cores over one
	speedupFrom  = 512 // rows

	stepLimit  = 3.6 // times a forward
	graphLimit = 5   // times our step
	stepBatch  = 1024

	int8Limit = 2.2 // times as fast as float32
	int8Batch = 1024

	sparseLimit = 3   // times as fast as dense
	flatLimit   = 0.1 // of the median
)

// OpenBLAS's names of kernels that limits are about.
const (
	forAVX2   = "Haswell"
	forAVX512 = "SkylakeX"
)

// limitsOf returns those of a comparison of our kernels with OpenBLAS's for a
// core type, empty for its own choice. Only like is compared with like.
func limitsOf(ours, best, coretype string) limits {
	asked := func(name string) bool { return strings.EqualFold(coretype, name) }
	switch {
	case ours == "go":
		return limits{text: "none, for kernels in Go"}
	case ours == best && coretype == "" || ours == "avx512" && asked(forAVX512):
		return limits{
			text:    "all, for " + ours + " against the best of OpenBLAS",
			float32: map[int]float64{1: 0.95, 16: 0.9, 64: 0.9}, large: 1.05, int8: map[int]float64{1: 0.4}, own: true,
		}
	case ours == "avx2" && asked(forAVX2):
		return limits{text: "those for avx2 against OpenBLAS's kernels for Haswell, and those of ratios among ourselves", large: 1.1, own: true}
	}
	return limits{text: fmt.Sprintf("those of ratios among ourselves; none for %s against %s", ours, theirs(coretype)), own: true}
}

// theirs names the kernels of OpenBLAS.
func theirs(coretype string) string {
	if coretype == "" {
		return "the best of OpenBLAS"
	}
	return "OpenBLAS's kernels for " + coretype
}

// limitsHere are those of the kernels that this process runs.
// They are about one shape of network alone.
func limitsHere(shape, coretype string) (limits, error) {
	if shape != usualShape {
		return limits{text: "none, they are for " + usualShape}, nil
	}
	set, err := kernel.Default()
	if err != nil {
		return limits{}, err
	}
	return limitsOf(set.Name(), kernel.Sets()[0].Name(), coretype), nil
}

// forward returns the limit of a forward, 0 for none.
func (l limits) forward(precision nets.Precision, cores, batch int) float64 {
	switch {
	case cores > 1:
		return 0
	case precision == nets.Int8:
		return l.int8[batch]
	case batch >= largeBatch:
		return l.large
	}
	return l.float32[batch]
}

// among returns a limit of a ratio among ourselves, 0 where it doesn't apply.
func (l limits) among(limit float64) float64 {
	if !l.own {
		return 0
	}
	return limit
}
