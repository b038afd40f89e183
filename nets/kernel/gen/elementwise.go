package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// These loops wait for memory or divide, so AVX-512 gains nothing: both sets
// run them in AVX2. They take a positive multiple of 8 elements.

const notEqual = 4 // predicate of VCMPPS: not equal or unordered

// nonZero emits the mask of the elements, at most 64, that aren't zero.
func nonZero() {
	TEXT("nonZero", NOSPLIT, "func(v *float32, n int) uint64")
	Pragma("noescape")
	Doc("nonZero returns the set of elements that aren't zero, of n, a multiple of 8 up to 64.")
	p, n := Load(Param("v"), GP64()), Load(Param("n"), GP64())
	set, bits, shift := GP64(), GP64(), GP64()
	XORQ(set, set)
	XORQ(shift, shift)
	zero, v := YMM(), YMM()
	VXORPS(zero, zero, zero)
	Label("loop")
	VCMPPS(Imm(notEqual), Mem{Base: p, Index: shift, Scale: 4}, zero, v)
	VMOVMSKPS(v, bits.As32())
	SHLXQ(shift, bits, bits)
	ORQ(bits, set)
	ADDQ(Imm(8), shift)
	CMPQ(shift, n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	Store(set, ReturnIndex(0))
	RET()
}

// gate emits the derivative of ReLU.
func gate() {
	TEXT("gate", NOSPLIT, "func(d, activation *float32, n int)")
	Pragma("noescape")
	Doc("gate clears the elements of d whose activation is zero; n is a multiple of 8.")
	d, a, n := Load(Param("d"), GP64()), Load(Param("activation"), GP64()), Load(Param("n"), GP64())
	i := GP64()
	XORQ(i, i)
	zero, v := YMM(), YMM()
	VXORPS(zero, zero, zero)
	Label("loop")
	VCMPPS(Imm(notEqual), Mem{Base: a, Index: i, Scale: 4}, zero, v)
	VANDPS(Mem{Base: d, Index: i, Scale: 4}, v, v)
	VMOVUPS(v, Mem{Base: d, Index: i, Scale: 4})
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// The fields of kernel.AdamW, in its order.
const (
	adamScale = iota
	adamKeepM
	adamAddM
	adamKeepV
	adamAddV
	adamDecay
	adamRate
	adamRoot
	adamEpsilon
	adamFields
)

// adamW emits the update of an optimiser. Every operation is one that IEEE 754
// rounds, in the order of the Go code: the bits are the same.
func adamW() {
	TEXT("adamW", NOSPLIT, "func(c, w, m, v, gradient *float32, n int)")
	Pragma("noescape")
	Doc("adamW updates n parameters, a multiple of 8.")
	c := Load(Param("c"), GP64())
	w, m, v, g := Load(Param("w"), GP64()), Load(Param("m"), GP64()), Load(Param("v"), GP64()), Load(Param("gradient"), GP64())
	n := Load(Param("n"), GP64())
	var k [adamFields]reg.VecVirtual
	for i := range k {
		k[i] = YMM()
		VBROADCASTSS(Mem{Base: c, Disp: 4 * i}, k[i])
	}
	i := GP64()
	XORQ(i, i)
	element := func(base reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 4} }
	Label("loop")
	grad, t, u, wi := YMM(), YMM(), YMM(), YMM()
	VMULPS(element(g), k[adamScale], grad)

	VMULPS(grad, k[adamAddM], t)
	VMULPS(element(m), k[adamKeepM], u)
	VADDPS(t, u, u) // m
	VMOVUPS(u, element(m))
	VMULPS(u, k[adamRate], u)

	VMULPS(grad, grad, grad)
	VMULPS(grad, k[adamAddV], grad)
	VMULPS(element(v), k[adamKeepV], t)
	VADDPS(grad, t, t) // v
	VMOVUPS(t, element(v))
	VSQRTPS(t, t)
	VMULPS(t, k[adamRoot], t)
	VADDPS(k[adamEpsilon], t, t)
	VDIVPS(t, u, u)

	VMOVUPS(element(w), wi)
	VMULPS(wi, k[adamDecay], t)
	VADDPS(u, t, t)
	VSUBPS(t, wi, wi)
	VMOVUPS(wi, element(w))
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// squares emits sums of squares: of the elements i with the same i mod 16. The
// square of a float32 is exact in float64, so fusing changes nothing.
func squares() {
	TEXT("squares", NOSPLIT, "func(sums *[16]float64, v *float32, n int)")
	Pragma("noescape")
	Doc("squares adds the squares of n elements, a positive multiple of 16, to 16 sums.")
	sums, v, n := Load(Param("sums"), GP64()), Load(Param("v"), GP64()), Load(Param("n"), GP64())
	var acc [4]reg.VecVirtual
	for i := range acc {
		acc[i] = YMM()
		VMOVUPD(Mem{Base: sums, Disp: 32 * i}, acc[i])
	}
	Label("loop")
	for i := range acc {
		x := YMM()
		VCVTPS2PD(Mem{Base: v, Disp: 16 * i}, x)
		VFMADD231PD(x, x, acc[i])
	}
	ADDQ(Imm(64), v)
	SUBQ(Imm(16), n)
	JNE(LabelRef("loop"))
	for i := range acc {
		VMOVUPD(acc[i], Mem{Base: sums, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

// transpose emits the transposition of blocks of 8×8: eight rows of src, of k
// elements, become k rows of eight elements of dst.
func transpose() {
	TEXT("transpose8", NOSPLIT, "func(dst, src *float32, rowDst, rowSrc, k int)")
	Pragma("noescape")
	Doc("transpose8 sets k rows of 8 elements, k a positive multiple of 8, to the columns of 8 rows. Distances are in bytes.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	rowDst, rowSrc, k := Load(Param("rowDst"), GP64()), Load(Param("rowSrc"), GP64()), Load(Param("k"), GP64())
	walk := func(from, step reg.Register, visit func(i int, m Mem)) {
		p := GP64()
		MOVQ(from, p)
		for i := range 8 {
			visit(i, Mem{Base: p})
			if i < 7 {
				ADDQ(step, p)
			}
		}
	}
	Label("loop")
	var a, b [8]reg.VecVirtual
	for i := range a {
		a[i], b[i] = YMM(), YMM()
	}
	walk(src, rowSrc, func(i int, m Mem) { VMOVUPS(m, a[i]) })
	for i := 0; i < 8; i += 2 { // pairs of rows, pairs of elements
		VUNPCKLPS(a[i+1], a[i], b[i])
		VUNPCKHPS(a[i+1], a[i], b[i+1])
	}
	for i := 0; i < 8; i += 4 { // four rows
		VSHUFPS(Imm(0x44), b[i+2], b[i], a[i])
		VSHUFPS(Imm(0xee), b[i+2], b[i], a[i+1])
		VSHUFPS(Imm(0x44), b[i+3], b[i+1], a[i+2])
		VSHUFPS(Imm(0xee), b[i+3], b[i+1], a[i+3])
	}
	for i := range 4 { // all eight
		VPERM2F128(Imm(0x20), a[i+4], a[i], b[i])
		VPERM2F128(Imm(0x31), a[i+4], a[i], b[i+4])
	}
	walk(dst, rowDst, func(i int, m Mem) { VMOVUPS(b[i], m) })
	ADDQ(Imm(32), src)
	LEAQ(Mem{Base: dst, Index: rowDst, Scale: 8}, dst)
	SUBQ(Imm(8), k)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
