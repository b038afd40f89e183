package kernel

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// A Set is the kernels of one instruction set.
type Set struct {
	name string
	code instructions

	// A full tile of a product. Its accumulators fill the registers.
	rows, columns int

	// depth is the largest part of the inner dimension that is multiplied at
	// once. A panel of 512 streams from the second-level cache; parts that fit
	// the first are slower, by what it costs to store and load the sums between
	// them.
	depth int

	// block is the rows that pass through a network together: few enough for
	// their activations to stay in the second-level cache, many enough to
	// share the weights that stream from the third.
	block int
}

// instructions says which code a Set calls.
type instructions int

const (
	portable instructions = iota
	avx2
	avx512
)

// Environment is the variable that forces a set, by its name, on a machine
// that could run a faster one.
const Environment = "VTRAIN_KERNEL"

var inGo = Set{name: "go", code: portable, rows: 2, columns: 4, depth: 512, block: 64}

// Sets returns the sets that this machine can run, the fastest first. The last
// is portable.
func Sets() []*Set { return append(native(), &inGo) }

// Default returns the fastest set that this machine can run, or the one that
// the environment names.
func Default() (*Set, error) { return choice() }

var choice = sync.OnceValues(func() (*Set, error) { return choose(os.Getenv(Environment)) })

func choose(name string) (*Set, error) {
	sets := Sets()
	if name == "" {
		return sets[0], nil
	}
	var names []string
	for _, s := range sets {
		if s.name == name {
			return s, nil
		}
		names = append(names, s.name)
	}
	return nil, fmt.Errorf("%s=%s: this machine runs %s", Environment, name, strings.Join(names, ", "))
}

// Name returns avx512, avx2 or go.
func (s *Set) Name() string { return s.name }

// Block returns the rows that should pass through a network together.
func (s *Set) Block() int { return s.block }

// Depth returns the rows of a right factor that are multiplied at once.
func (s *Set) Depth() int { return s.depth }

// Columns returns the columns of a panel.
func (s *Set) Columns() int { return s.columns }

// Rows returns the rows of a full tile: products of a multiple of them are the
// fastest.
func (s *Set) Rows() int { return s.rows }
