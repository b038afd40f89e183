package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gathers emits gather over one, two and four panels.
func (s isa) gathers() {
	for _, panels := range []int{1, 2, 4} {
		s.gather(panels)
	}
}

// gather emits C = act(init + Σ value·B[k]) for a list of entries: an offset
// into a panel and a value, eight bytes together. The arguments are those of a
// tile of one row.
func (s isa) gather(panels int) {
	name := fmt.Sprintf("gather%sP%d", s.name, panels)
	TEXT(name, NOSPLIT, "func(list *byte)")
	Pragma("noescape")
	Doc(name + " adds listed rows of panels.")
	args := Load(Param("list"), GP64())
	acc := [][]reg.Register{s.vec[:2*panels]}
	free := s.vec[2*panels:]
	s.begin(args, acc, free, panels == 1)

	entry, count, offset := GP64(), GP64(), GP64()
	MOVQ(field(args, tileA), entry)
	MOVQ(field(args, tileK), count)
	bases := s.bases(args, panels)
	TESTQ(count, count)
	JEQ(LabelRef("done"))
	Label("loop")
	MOVL(Mem{Base: entry}, offset.As32())
	VBROADCASTSS(Mem{Base: entry, Disp: 4}, free[0])
	for j, v := range acc[0] {
		VFMADD231PS(Mem{Base: bases[j/2], Index: offset, Scale: 1, Disp: s.bytes * (j % 2)}, free[0], v)
	}
	ADDQ(Imm(8), entry)
	DECQ(count)
	JNE(LabelRef("loop"))
	Label("done")

	s.end(args, acc, free, panels == 1)
}
