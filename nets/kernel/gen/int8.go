package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The fields of kernel.int8Tile that differ from those of kernel.tile.
const (
	int8Scale  = tileInit
	int8Bias   = tileRowInit
	int8Groups = tileK
	int8Steps  = tileReLU
)

// Inputs come in quads, the four bytes that one lane multiplies at once; four
// quads are a group, one turn of the loop.
const (
	quad  = 4
	quads = 4
)

// int8Rows is the rows of a full tile. AVX2 has two accumulators for each
// element, of 16 and of 32 bits, so its tiles are lower.
func (s isa) int8Rows() int {
	if s.bytes == 64 {
		return s.rows
	}
	return 3
}

// int8Tiles emits a function for each number of rows.
func (s isa) int8Tiles() {
	for r := 1; r <= s.int8Rows(); r++ {
		s.int8Tile(r)
	}
}

// int8Tile emits a few rows of a product of bytes and one panel, and what
// follows it: C = sum·scale + bias in float32, or that in whole steps from 0
// to 127.
func (s isa) int8Tile(rows int) {
	name := fmt.Sprintf("int8Tile%sR%d", s.name, rows)
	TEXT(name, NOSPLIT, "func(t *byte)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s computes a tile of %d rows × a panel.", name, rows))
	args := Load(Param("t"), GP64())
	acc := make([][]reg.Register, rows)
	for i := range acc {
		acc[i] = s.vec[2*i : 2*i+2]
	}
	free := s.vec[2*rows:]

	s.int8Multiply(args, acc, free)
	s.rescale(args, acc, free)
	steps := GP64()
	MOVQ(field(args, int8Steps), steps)
	TESTQ(steps, steps)
	JNE(LabelRef("steps"))
	s.unlessWhole(args, "storePartial")
	s.store(args, ends{c: field(args, tileC)}, acc, nil)
	s.ret()
	Label("storePartial")
	s.store(args, ends{c: field(args, tileC)}, acc, s.masks(args, free))
	s.ret()
	Label("steps")
	s.storeSteps(args, acc, free)
	s.ret()
}

// int8Multiply sets the accumulators to the sums of the products.
func (s isa) int8Multiply(args reg.Register, acc [][]reg.Register, free []reg.Register) {
	for _, row := range acc {
		for _, v := range row {
			if s.bytes == 64 {
				VPXORD(v, v, v)
			} else {
				VPXOR(v, v, v)
			}
		}
	}
	a := s.addresses(args, len(acc))
	b, groups := GP64(), GP64()
	MOVQ(field(args, tileB), b)
	MOVQ(field(args, int8Groups), groups)
	Label("loop")
	if s.bytes == 64 {
		s.vnniGroup(a, b, acc, free)
	} else {
		s.maddGroup(a, b, acc, free)
	}
	for _, p := range a.bases {
		ADDQ(Imm(quad*quads), p)
	}
	ADDQ(I32(2*s.bytes*quads), b)
	DECQ(groups)
	JNE(LabelRef("loop"))
}

// vnniGroup adds a group of inputs by the instruction made for it.
func (s isa) vnniGroup(a rowAddresses, b reg.Register, acc [][]reg.Register, free []reg.Register) {
	vb, va := free[:2], free[2:]
	for q := range quads {
		for j, v := range vb {
			VMOVDQU32(Mem{Base: b, Disp: s.bytes * (2*q + j)}, v)
		}
		for i, row := range acc {
			e := va[i%len(va)]
			VPBROADCASTD(a.row(i).Offset(quad*q), e)
			for j, v := range row {
				VPDPBUSD(vb[j], e, v)
			}
		}
	}
}

// maddGroup adds a group of inputs on AVX2. The products of its quads are
// added in 16 bits, which the packing of the weights keeps from overflowing,
// and only their sums are widened.
func (s isa) maddGroup(a rowAddresses, b reg.Register, acc [][]reg.Register, free []reg.Register) {
	sums, vb, e, products := free[:2*len(acc)], free[2*len(acc):2*len(acc)+2], free[2*len(acc)+2], free[2*len(acc)+3:]
	next := 0
	for q := range quads {
		for j, v := range vb {
			VMOVDQU(Mem{Base: b, Disp: s.bytes * (2*q + j)}, v)
		}
		for i, row := range acc {
			VPBROADCASTD(a.row(i).Offset(quad*q), e)
			for j, v := range row {
				sum := sums[2*i+j]
				if q == 0 {
					VPMADDUBSW(vb[j], e, sum)
					continue
				}
				p := products[next%len(products)]
				next++
				VPMADDUBSW(vb[j], e, p)
				VPADDW(p, sum, sum)
				if q == quads-1 {
					VPMADDWD(constant("ones16", 0x00010001, s.bytes), sum, sum)
					VPADDD(sum, v, v)
				}
			}
		}
	}
}

// rescale turns the sums into float32, times scale plus bias. Both operations
// round, so that Go does the same.
func (s isa) rescale(args reg.Register, acc [][]reg.Register, free []reg.Register) {
	scale, bias := GP64(), GP64()
	MOVQ(field(args, int8Scale), scale)
	MOVQ(field(args, int8Bias), bias)
	for j := range 2 {
		VMOVUPS(Mem{Base: scale, Disp: s.bytes * j}, free[0])
		VMOVUPS(Mem{Base: bias, Disp: s.bytes * j}, free[1])
		for _, row := range acc {
			VCVTDQ2PS(row[j], row[j])
			VMULPS(free[0], row[j], row[j])
			VADDPS(free[1], row[j], row[j])
		}
	}
}

// storeSteps writes the accumulators as bytes, whole panels always.
func (s isa) storeSteps(args reg.Register, acc [][]reg.Register, free []reg.Register) {
	zero, most := free[0], free[1]
	s.limits(zero, most)
	p, step := GP64(), GP64()
	MOVQ(field(args, tileC), p)
	MOVQ(field(args, tileRowC), step)
	for i, row := range acc {
		for _, v := range row {
			s.toSteps(v, zero, most)
		}
		if s.bytes == 64 {
			VPMOVDB(row[0], Mem{Base: p})
			VPMOVDB(row[1], Mem{Base: p, Disp: 16})
		} else {
			// Packing works within halves of a vector: put them in order.
			VPACKSSDW(row[1], row[0], row[0])
			VPERMQ(Imm(0xd8), row[0], row[0])
			VEXTRACTI128(Imm(1), row[0], asX(row[1]))
			VPACKUSWB(asX(row[1]), asX(row[0]), asX(row[0]))
			VMOVDQU(asX(row[0]), Mem{Base: p})
		}
		if i < len(acc)-1 {
			ADDQ(step, p)
		}
	}
}

// limits sets registers to the least and the most steps.
func (s isa) limits(zero, most reg.Register) {
	VXORPS(zero, zero, zero)
	VBROADCASTSS(constant("mostSteps", math.Float32bits(127), 4), most)
}

// toSteps rounds to whole steps between the limits, as int32; NaN becomes 0.
func (s isa) toSteps(v, zero, most reg.Register) {
	VMAXPS(zero, v, v)
	VMINPS(most, v, v)
	VCVTPS2DQ(v, v)
}

func asX(v reg.Register) reg.Register { return v.(reg.Vec).AsX() }

var constants = map[string]Mem{}

// constant returns read-only memory of that many bytes, filled with a value.
func constant(name string, value uint32, bytes int) Mem {
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		for i := range bytes / 4 {
			DATA(4*i, U32(value))
		}
		constants[name] = m
	}
	return m
}

// quantise emits the rounding of a row of float32 to steps.
func quantise() {
	TEXT("quantise", NOSPLIT, "func(dst *uint8, v, scale, offset *float32, n int) uint64")
	Pragma("noescape")
	Doc("quantise sets n bytes, a multiple of 8, and returns 0 if all elements of v are finite.")
	dst, v := Load(Param("dst"), GP64()), Load(Param("v"), GP64())
	scale, offset, n := Load(Param("scale"), GP64()), Load(Param("offset"), GP64()), Load(Param("n"), GP64())
	i := GP64()
	XORQ(i, i)
	zero, most, odd := YMM(), YMM(), YMM()
	avx2.limits(zero, most)
	VXORPS(odd, odd, odd)
	element := func(base reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 4} }
	Label("loop")
	x, difference := YMM(), YMM()
	VMOVUPS(element(v), x)
	VSUBPS(x, x, difference) // NaN unless x is finite
	VORPS(difference, odd, odd)
	VMULPS(element(scale), x, x)
	VADDPS(element(offset), x, x)
	avx2.toSteps(x, zero, most)
	high := XMM()
	VEXTRACTI128(Imm(1), x, high)
	VPACKSSDW(high, x.AsX(), high)
	VPACKUSWB(high, high, high)
	VMOVQ(high, Mem{Base: dst, Index: i, Scale: 1})
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	set := GP64()
	VCMPPS(Imm(unordered), odd, odd, odd)
	VMOVMSKPS(odd, set.As32())
	VZEROUPPER()
	Store(set, ReturnIndex(0))
	RET()
}

const unordered = 3 // predicate of VCMPPS: either is NaN
