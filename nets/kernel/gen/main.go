// Command gen writes the assembly of package kernel. Run it by go generate.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("!purego")
	for _, s := range []isa{avx2, avx512} {
		s.tiles()
		s.gathers()
		s.list()
		s.pack()
		s.int8Tiles()
		s.peak()
	}
	nonZero()
	gate()
	adamW()
	squares()
	transpose()
	quantise()
	Generate()
}
