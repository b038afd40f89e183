package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The fields of kernel.tile, in its order.
const (
	tileA = iota
	tileRowA
	tileColA
	tileB
	tilePanelB
	tileC
	tileRowC
	tileInit
	tileRowInit
	tileK
	tileColumns
	tileReLU
	tileTurnA
	tileJumpA
	tilePanelC
	tilePanelInit
)

// unroll is the steps of the inner dimension in one turn of the loop.
const unroll = 4

// tiles emits a function for each number of rows, and those of few rows over
// several panels.
func (s isa) tiles() {
	for r := 1; r <= s.rows; r++ {
		s.tile(r, 1)
	}
	for _, t := range s.small {
		s.tile(t[0], t[1])
	}
}

// tile emits C = act(init + A·B) for a few rows of A and panels of B. Each
// element of C is one chain of fused multiply-adds over the inner dimension,
// so its bits depend neither on the shape of the tile nor on the instruction
// set. The accumulators fill the registers but for one vector of B for each of
// theirs and the broadcast element of A.
func (s isa) tile(rows, panels int) {
	TEXT(fmt.Sprintf("tile%sR%dP%d", s.name, rows, panels), NOSPLIT, "func(t *byte)")
	Pragma("noescape")
	Doc(fmt.Sprintf("tile%sR%dP%d computes a tile of %d rows × %d panels.", s.name, rows, panels, rows, panels))
	args := Load(Param("t"), GP64())

	vectors := 2 * panels
	acc := make([][]reg.Register, rows)
	for i := range acc {
		acc[i] = s.vec[i*vectors : (i+1)*vectors]
	}
	free := s.vec[rows*vectors:]

	at := ends{field(args, tileInit), field(args, tileC)}
	s.begin(args, at, acc, free, panels == 1)
	s.multiply(args, acc, free)
	s.end(args, at, acc, free, panels == 1)
	s.ret()
}

// ends is where the addresses are held of what a tile starts from and of C.
type ends struct{ init, c Mem }

// begin sets the accumulators to init. Where the columns of a lone panel end
// early, loads and stores are masked; several panels are always whole.
func (s isa) begin(args reg.Register, at ends, acc [][]reg.Register, free []reg.Register, lone bool) {
	if lone {
		s.unlessWhole(args, "partial")
	}
	s.initialise(args, at, acc, nil)
	if lone {
		JMP(LabelRef("begun"))
		Label("partial")
		s.initialise(args, at, acc, s.masks(args, free))
		Label("begun")
	}
}

// end applies ReLU, turns -0 into 0, so that sums which leave out zeros give
// the same bits, and stores the accumulators.
func (s isa) end(args reg.Register, at ends, acc [][]reg.Register, free []reg.Register, lone bool) {
	relu, zero := GP64(), free[0]
	VXORPS(zero, zero, zero)
	MOVQ(field(args, tileReLU), relu)
	TESTQ(relu, relu)
	JEQ(LabelRef("store"))
	for _, row := range acc {
		for _, v := range row {
			VMAXPS(v, zero, v) // NaN in v stays
		}
	}
	Label("store")
	for _, row := range acc {
		for _, v := range row {
			VADDPS(zero, v, v)
		}
	}
	if lone {
		s.unlessWhole(args, "storePartial")
	}
	s.store(args, at, acc, nil)
	if lone {
		JMP(LabelRef("stored"))
		Label("storePartial")
		s.store(args, at, acc, s.masks(args, free))
		Label("stored")
	}
}

// unlessWhole jumps if the panel has fewer columns than a whole one.
func (s isa) unlessWhole(args reg.Register, label string) {
	columns := GP64()
	MOVQ(field(args, tileColumns), columns)
	CMPQ(columns, Imm(uint64(s.panel())))
	JNE(LabelRef(label))
}

func (s isa) ret() {
	VZEROUPPER()
	RET()
}

// initialise sets the accumulators to rows of init.
func (s isa) initialise(args reg.Register, at ends, acc [][]reg.Register, masks []reg.Register) {
	s.walk(args, at.init, tileRowInit, tilePanelInit, acc, func(m Mem, v reg.Register, j int) { s.load(m, v, masks, j) })
}

// store writes the accumulators to rows of C.
func (s isa) store(args reg.Register, at ends, acc [][]reg.Register, masks []reg.Register) {
	s.walk(args, at.c, tileRowC, tilePanelC, acc, func(m Mem, v reg.Register, j int) {
		switch {
		case masks == nil:
			VMOVUPS(v, m)
		case s.bytes == 64:
			VMOVUPS(v, masks[j], m)
		default:
			VMASKMOVPS(v, masks[j], m)
		}
	})
}

// walk visits the vectors of a matrix that the accumulators belong to, two of
// each row in each panel.
func (s isa) walk(args reg.Register, start Mem, row, panel int, acc [][]reg.Register, visit func(m Mem, v reg.Register, j int)) {
	first, p, step := GP64(), GP64(), GP64()
	MOVQ(start, first)
	MOVQ(field(args, row), step)
	for j := 0; j < len(acc[0]); j += 2 {
		if j > 0 {
			ADDQ(field(args, panel), first)
		}
		MOVQ(first, p)
		for i, vectors := range acc {
			visit(Mem{Base: p}, vectors[j], 0)
			visit(Mem{Base: p, Disp: s.bytes}, vectors[j+1], 1)
			if i < len(acc)-1 {
				ADDQ(step, p)
			}
		}
	}
}

func (s isa) load(m Mem, v reg.Register, masks []reg.Register, j int) {
	switch {
	case masks == nil:
		VMOVUPS(m, v)
	case s.bytes == 64:
		VMOVUPS_Z(m, masks[j], v)
	default:
		VMASKMOVPS(m, masks[j], v)
	}
}

// masks returns the masks of the two vectors of a panel, made of the number
// of its columns.
func (s isa) masks(args reg.Register, free []reg.Register) []reg.Register {
	columns := GP64()
	MOVQ(field(args, tileColumns), columns)
	if s.bytes == 64 {
		bits := GP64()
		MOVQ(I32(-1), bits)
		BZHIQ(columns, bits, bits)
		KMOVW(bits.As32(), reg.K1)
		SHRQ(Imm(16), bits)
		KMOVW(bits.As32(), reg.K2)
		return []reg.Register{reg.K1, reg.K2}
	}
	// A window of the table that starts as many elements before its middle.
	table := GP64()
	LEAQ(maskTable(), table)
	NEGQ(columns)
	VMOVUPS(Mem{Base: table, Index: columns, Scale: 4, Disp: 64}, free[0])
	VMOVUPS(Mem{Base: table, Index: columns, Scale: 4, Disp: 96}, free[1])
	return free[:2]
}

var maskData *Mem

// maskTable returns 16 elements of all ones, then 16 of zero.
func maskTable() Mem {
	if maskData == nil {
		m := GLOBL("columnMasks", RODATA|NOPTR)
		for i := range 32 {
			bits := ^uint32(0)
			if i >= 16 {
				bits = 0
			}
			DATA(4*i, U32(bits))
		}
		maskData = &m
	}
	return *maskData
}

// multiply adds A·B to the accumulators.
func (s isa) multiply(args reg.Register, acc [][]reg.Register, free []reg.Register) {
	a := s.addresses(args, len(acc))
	col, k := GP64(), GP64()
	MOVQ(field(args, tileColA), col)
	MOVQ(field(args, tileK), k)
	bases := s.bases(args, len(acc[0])/2)
	// A lone panel is held while elements of A pass; of several panels the
	// vectors pass while the elements of A are held.
	step := func(u int) {
		vectorB := func(j int) Mem { return Mem{Base: bases[j/2], Disp: 2*s.bytes*u + s.bytes*(j%2)} }
		if len(bases) == 1 {
			vb, va := free[:2], free[2:]
			for j, v := range vb {
				VMOVUPS(vectorB(j), v)
			}
			for i, row := range acc {
				e := va[i%len(va)]
				VBROADCASTSS(a.row(i), e)
				for j, v := range row {
					VFMADD231PS(vb[j], e, v)
				}
			}
		} else {
			va, vb := free[:len(acc)], free[len(acc):]
			for i, e := range va {
				VBROADCASTSS(a.row(i), e)
			}
			for j := range acc[0] {
				v := vb[j%len(vb)]
				VMOVUPS(vectorB(j), v)
				for i := range acc {
					VFMADD231PS(v, va[i], acc[i][j])
				}
			}
		}
		for _, p := range a.bases {
			ADDQ(col, p)
		}
	}
	advance := func(steps int) {
		for _, p := range bases {
			ADDQ(U32(2*s.bytes*steps), p)
		}
	}

	// Where A is cut into panels, each is a turn, and a jump leads to the next.
	Label("turn")
	steps := GP64()
	MOVQ(field(args, tileTurnA), steps)
	CMPQ(steps, k)
	CMOVQGT(k, steps)
	SUBQ(steps, k)
	SUBQ(Imm(unroll), steps)
	JLT(LabelRef("rest"))
	Label("loop")
	for u := range unroll {
		step(u)
	}
	advance(unroll)
	SUBQ(Imm(unroll), steps)
	JGE(LabelRef("loop"))
	Label("rest")
	ADDQ(Imm(unroll), steps)
	JEQ(LabelRef("turned"))
	Label("single")
	step(0)
	advance(1)
	DECQ(steps)
	JNE(LabelRef("single"))
	Label("turned")
	for _, p := range a.bases {
		ADDQ(field(args, tileJumpA), p)
	}
	TESTQ(k, k)
	JNE(LabelRef("turn"))
}

// bases returns the addresses of the panels of B.
func (s isa) bases(args reg.Register, panels int) []reg.GPVirtual {
	bases := []reg.GPVirtual{GP64()}
	MOVQ(field(args, tileB), bases[0])
	if panels == 1 {
		return bases
	}
	step := GP64()
	MOVQ(field(args, tilePanelB), step)
	for i := 1; i < panels; i++ {
		p := GP64()
		MOVQ(bases[i-1], p)
		ADDQ(step, p)
		bases = append(bases, p)
	}
	return bases
}

// rowAddresses addresses up to 14 rows of A by two bases and three multiples
// of the distance between rows.
type rowAddresses struct {
	bases      []reg.Register
	x1, x3, x5 reg.Register
}

const rowsPerBase = 7

func (s isa) addresses(args reg.Register, rows int) rowAddresses {
	a := rowAddresses{bases: []reg.Register{GP64()}, x1: GP64(), x3: GP64(), x5: GP64()}
	MOVQ(field(args, tileA), a.bases[0])
	MOVQ(field(args, tileRowA), a.x1)
	if rows > 3 {
		LEAQ(Mem{Base: a.x1, Index: a.x1, Scale: 2}, a.x3)
	}
	if rows > 5 {
		LEAQ(Mem{Base: a.x1, Index: a.x1, Scale: 4}, a.x5)
	}
	if rows > rowsPerBase {
		second := GP64()
		LEAQ(Mem{Base: a.x1, Index: a.x3, Scale: 2}, second)
		ADDQ(a.bases[0], second)
		a.bases = append(a.bases, second)
	}
	return a
}

func (a rowAddresses) row(i int) Mem {
	base := a.bases[i/rowsPerBase]
	switch i % rowsPerBase {
	case 0:
		return Mem{Base: base}
	case 1:
		return Mem{Base: base, Index: a.x1, Scale: 1}
	case 2:
		return Mem{Base: base, Index: a.x1, Scale: 2}
	case 3:
		return Mem{Base: base, Index: a.x3, Scale: 1}
	case 4:
		return Mem{Base: base, Index: a.x1, Scale: 4}
	case 5:
		return Mem{Base: base, Index: a.x5, Scale: 1}
	}
	return Mem{Base: base, Index: a.x3, Scale: 2}
}
