package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An isa is one of the instruction sets that kernels are written for. The
// same emitters serve both: they differ in the width and the number of vector
// registers, and in how the columns beyond the end of a matrix are masked.
type isa struct {
	name  string
	bytes int            // of a vector
	vec   []reg.Register // all of them
	rows  int            // of a full tile
	small [][2]int       // tiles of few rows over several panels: rows, panels
}

// lanes returns the float32 of a vector.
func (s isa) lanes() int { return s.bytes / 4 }

// panel returns the columns of a panel, two vectors.
func (s isa) panel() int { return 2 * s.lanes() }

var avx2 = isa{
	name: "AVX2", bytes: 32, rows: 6,
	vec:   []reg.Register{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15},
	small: [][2]int{{1, 4}, {2, 3}, {3, 2}},
}

var avx512 = isa{
	name: "AVX512", bytes: 64, rows: 14,
	vec: []reg.Register{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	},
	small: [][2]int{{1, 6}, {2, 6}, {3, 4}, {4, 3}, {5, 2}, {6, 2}},
}

// field returns an 8-byte field of the argument struct.
func field(args reg.Register, i int) Mem { return Mem{Base: args, Disp: 8 * i} }
