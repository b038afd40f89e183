package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// peak emits a loop of nothing but independent fused multiply-adds, as many
// in each turn as there are accumulators in a full tile.
func (s isa) peak() {
	TEXT("peak"+s.name, NOSPLIT, "func(turns int)")
	Doc("peak" + s.name + " runs turns of independent fused multiply-adds on registers.")
	turns := Load(Param("turns"), GP64())
	n := 2 * s.rows
	for _, v := range s.vec[:n+1] {
		VXORPS(v, v, v)
	}
	Label("loop")
	for _, v := range s.vec[:n] {
		VFMADD231PS(s.vec[n], s.vec[n], v)
	}
	DECQ(turns)
	JNE(LabelRef("loop"))
	s.ret()
}
