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
