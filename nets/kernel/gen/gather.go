package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The fields of kernel.gathering: those of kernel.tile that both have, under
// the same numbers, and these.
const (
	gatherOffsets = tileA
	gatherValues  = tileRowA
	gatherEnds    = tileColA
	gatherRows    = tileK
)

// gatherColumns is the columns that gather takes at once: those of panels that
// are measured to add the fastest, on processors with either instruction set.
const gatherColumns = 64

// gathers emits gather over one panel, two and so on up to gatherColumns.
func (s isa) gathers() {
	for panels := 1; panels*s.panel() <= gatherColumns; panels *= 2 {
		s.gather(panels)
	}
}

// gather emits C = act(init + Σ value·B[k]) for rows of A that are lists:
// offsets into a panel and values, which the list of the next row follows.
func (s isa) gather(panels int) {
	name := fmt.Sprintf("gather%sP%d", s.name, panels)
	TEXT(name, NOSPLIT, "func(lists *byte)")
	Pragma("noescape")
	Doc(name + " adds listed rows of panels.")
	args := Load(Param("lists"), GP64())
	acc := [][]reg.Register{s.vec[:2*panels]}
	free := s.vec[2*panels:]
	bases := s.bases(args, panels)
	offsets, values, listEnds, rows := GP64(), GP64(), GP64(), GP64()
	MOVQ(field(args, gatherOffsets), offsets)
	MOVQ(field(args, gatherValues), values)
	MOVQ(field(args, gatherEnds), listEnds)
	MOVQ(field(args, gatherRows), rows)
	entry := GP64()
	XORQ(entry, entry)
	// The addresses that move from row to row live in the frame.
	frame, step := AllocLocal(16), GP64()
	at := ends{frame, frame.Offset(8)}
	MOVQ(field(args, tileInit), step)
	MOVQ(step, at.init)
	MOVQ(field(args, tileC), step)
	MOVQ(step, at.c)

	Label("row")
	s.begin(args, at, acc, free, panels == 1)
	end := GP64()
	MOVLQSX(Mem{Base: listEnds}, end)
	CMPQ(entry, end)
	JGE(LabelRef("done"))
	Label("loop")
	offset := GP64()
	MOVL(Mem{Base: offsets, Index: entry, Scale: 4}, offset.As32())
	VBROADCASTSS(Mem{Base: values, Index: entry, Scale: 4}, free[0])
	for j, v := range acc[0] {
		VFMADD231PS(Mem{Base: bases[j/2], Index: offset, Scale: 1, Disp: s.bytes * (j % 2)}, free[0], v)
	}
	INCQ(entry)
	CMPQ(entry, end)
	JLT(LabelRef("loop"))
	Label("done")
	s.end(args, at, acc, free, panels == 1)

	MOVQ(field(args, tileRowC), step)
	ADDQ(step, at.c)
	MOVQ(field(args, tileRowInit), step)
	ADDQ(step, at.init)
	ADDQ(Imm(4), listEnds)
	DECQ(rows)
	JNE(LabelRef("row"))
	s.ret()
}

// list emits the list of the elements of a row that aren't zero: their
// offsets, which go up by step, and their values. A vector of elements is
// packed to the left and stored whole; what it holds beyond them is overwritten
// by the next, or lies in the room for elements that turned out to be zero.
func (s isa) list() {
	TEXT("list"+s.name, NOSPLIT, "func(offsets *uint32, values, row *float32, n int, step uint32) int")
	Pragma("noescape")
	Doc("list" + s.name + " lists the elements of a row that aren't zero, of n, a positive multiple of " + fmt.Sprint(s.lanes()) + ".")
	offsets, values := Load(Param("offsets"), GP64()), Load(Param("values"), GP64())
	row, n := Load(Param("row"), GP64()), Load(Param("n"), GP64())
	step := Load(Param("step"), GP32())

	index, stride, zero, packed := s.vec[0], s.vec[1], s.vec[2], s.vec[3]
	v, at, order, mask := s.vec[4], s.vec[5], s.vec[6], s.vec[7]
	s.steps(step, index, stride)
	VXORPS(zero, zero, zero)
	count, bits := GP64(), GP64()
	XORQ(count, count)
	end := GP64()
	LEAQ(Mem{Base: row, Index: n, Scale: 4}, end)
	Label("loop")
	VMOVUPS(Mem{Base: row}, v)
	if s.bytes == 64 {
		VCMPPS(Imm(notEqual), zero, v, reg.K1)
		VCOMPRESSPS_Z(v, reg.K1, packed)
		VPCOMPRESSD_Z(index, reg.K1, at)
		KMOVW(reg.K1, bits.As32())
	} else {
		table := GP64()
		LEAQ(leftTable(), table)
		VCMPPS(Imm(notEqual), zero, v, mask)
		VMOVMSKPS(mask, bits.As32())
		VPMOVZXBD(Mem{Base: table, Index: bits, Scale: 8}, order)
		VPERMPS(v, order, packed)
		VPERMD(index, order, at)
	}
	VMOVUPS(packed, Mem{Base: values, Index: count, Scale: 4})
	VMOVUPS(at, Mem{Base: offsets, Index: count, Scale: 4})
	POPCNTQ(bits, bits)
	ADDQ(bits, count)
	VPADDD(stride, index, index)
	ADDQ(U32(uint32(s.bytes)), row)
	CMPQ(row, end)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}

// steps sets index to 0, step, 2·step, … and stride to lanes·step.
func (s isa) steps(step, index, stride reg.Register) {
	x := s.vec[4]
	switch s.bytes {
	case 64:
		VPBROADCASTD(step, x)
	default:
		MOVD(step, reg.X4)
		VPBROADCASTD(reg.X4, x)
	}
	VPMULLD(laneTable(), x, index)
	VPSLLD(Imm(uint64(3+s.bytes/64)), x, stride)
}

var laneData, leftData *Mem

// laneTable returns 0, 1, … 15.
func laneTable() Mem {
	if laneData == nil {
		m := GLOBL("lanes", RODATA|NOPTR)
		for i := range 16 {
			DATA(4*i, U32(uint32(i)))
		}
		laneData = &m
	}
	return *laneData
}

// leftTable returns, for each set of 8 lanes, the lanes of the set in order,
// a byte each, and then some lane.
func leftTable() Mem {
	if leftData == nil {
		m := GLOBL("leftOrders", RODATA|NOPTR)
		for set := range 256 {
			order, n := uint64(0), 0
			for lane := range 8 {
				if set>>lane&1 != 0 {
					order |= uint64(lane) << (8 * n)
					n++
				}
			}
			DATA(8*set, U64(order))
		}
		leftData = &m
	}
	return *leftData
}
