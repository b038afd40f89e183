//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// int8 returns the code of a set. AVX-512 without the instruction made for
// products of bytes is no faster than AVX2.
func (s *Set) int8() int8Kernel {
	switch {
	case s.code == avx512 && cpu.X86.HasAVX512VNNI:
		return int8Kernel{avx512, 14, 32}
	case s.code != portable:
		return int8Kernel{avx2, 3, 16}
	}
	return int8InGo
}

// compute runs one tile.
func (k int8Kernel) compute(t *int8Tile, rows int) {
	p := (*byte)(unsafe.Pointer(t))
	switch k.code {
	case portable:
		t.compute(rows)
	case avx2:
		int8AVX2(p, rows)
	default:
		int8AVX512(p, rows)
	}
}

func int8AVX2(t *byte, rows int) {
	switch rows {
	case 1:
		int8TileAVX2R1(t)
	case 2:
		int8TileAVX2R2(t)
	case 3:
		int8TileAVX2R3(t)
	}
}

func int8AVX512(t *byte, rows int) {
	switch rows {
	case 1:
		int8TileAVX512R1(t)
	case 2:
		int8TileAVX512R2(t)
	case 3:
		int8TileAVX512R3(t)
	case 4:
		int8TileAVX512R4(t)
	case 5:
		int8TileAVX512R5(t)
	case 6:
		int8TileAVX512R6(t)
	case 7:
		int8TileAVX512R7(t)
	case 8:
		int8TileAVX512R8(t)
	case 9:
		int8TileAVX512R9(t)
	case 10:
		int8TileAVX512R10(t)
	case 11:
		int8TileAVX512R11(t)
	case 12:
		int8TileAVX512R12(t)
	case 13:
		int8TileAVX512R13(t)
	case 14:
		int8TileAVX512R14(t)
	}
}
