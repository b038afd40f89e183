package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// packs emits the copies that packing is made of: of the width of a tile for
// left factors, of a panel for right factors.
func (s isa) packs() {
	s.pack(s.rows)
	s.pack(s.panel())
}

// pack emits a copy of n floats from each of k rows at a distance of row
// bytes to places one behind the other. Calls of memmove would take longer
// than the copy.
func (s isa) pack(n int) {
	name := fmt.Sprintf("pack%sN%d", s.name, n)
	TEXT(name, NOSPLIT, "func(dst, src *float32, row, k int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s copies %d elements from each of k rows.", name, n))
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	row, k := Load(Param("row"), GP64()), Load(Param("k"), GP64())
	Label("loop")
	for at := 0; at < n; {
		switch left := n - at; {
		case s.bytes == 64 && left >= 16:
			at += copyWith(reg.Z0, 16, dst, src, at)
		case left >= 8:
			at += copyWith(reg.Y0, 8, dst, src, at)
		case left >= 4:
			at += copyWith(reg.X0, 4, dst, src, at)
		default: // two
			VMOVSD(Mem{Base: src, Disp: 4 * at}, reg.X0)
			VMOVSD(reg.X0, Mem{Base: dst, Disp: 4 * at})
			at += 2
		}
	}
	ADDQ(row, src)
	ADDQ(U32(uint32(4*n)), dst)
	DECQ(k)
	JNE(LabelRef("loop"))
	s.ret()
}

func copyWith(v reg.Register, lanes int, dst, src reg.Register, at int) int {
	VMOVUPS(Mem{Base: src, Disp: 4 * at}, v)
	VMOVUPS(v, Mem{Base: dst, Disp: 4 * at})
	return lanes
}
