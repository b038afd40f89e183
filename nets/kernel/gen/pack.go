package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// pack emits a copy of a panel's width from each of k rows at a distance of
// row bytes to places one behind the other. Calls of memmove would take longer
// than the copy.
func (s isa) pack() {
	n := s.panel()
	name := fmt.Sprintf("pack%sN%d", s.name, n)
	TEXT(name, NOSPLIT, "func(dst, src *float32, row, k int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s copies %d elements from each of k rows.", name, n))
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	row, k := Load(Param("row"), GP64()), Load(Param("k"), GP64())
	Label("loop")
	for i := range 2 {
		m := s.vec[i]
		VMOVUPS(Mem{Base: src, Disp: s.bytes * i}, m)
		VMOVUPS(m, Mem{Base: dst, Disp: s.bytes * i})
	}
	ADDQ(row, src)
	ADDQ(U32(uint32(4*n)), dst)
	DECQ(k)
	JNE(LabelRef("loop"))
	s.ret()
}
