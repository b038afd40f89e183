//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var (
	inAVX2   = Set{name: "avx2", code: avx2, rows: 6, columns: 16, depth: 512, block: 72}
	inAVX512 = Set{name: "avx512", code: avx512, rows: 14, columns: 32, depth: 512, block: 112}
)

// native returns the sets in assembly, the fastest first. That of AVX-512
// calls those of AVX2 where vectors of half the width are as good.
func native() []*Set {
	var sets []*Set
	hasAVX2 := cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2
	if hasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ {
		sets = append(sets, &inAVX512)
	}
	if hasAVX2 {
		sets = append(sets, &inAVX2)
	}
	return sets
}

// compute runs one tile. The calls are written out because through a variable
// they would make t escape.
func (s *Set) compute(t *tile, rows, panels int) {
	p := (*byte)(unsafe.Pointer(t))
	switch {
	case s.code == portable:
		t.compute(rows)
	case s.code == avx2 && panels > 1:
		fewAVX2(p, rows)
	case s.code == avx2:
		tileAVX2(p, rows)
	case panels > 1:
		fewAVX512(p, rows)
	default:
		tileAVX512(p, rows)
	}
}

// panelsAtOnce returns the panels that a tile of so few rows takes.
func (s *Set) panelsAtOnce(rows int) int {
	switch {
	case s.code == avx2 && rows < len(manyAVX2):
		return manyAVX2[rows]
	case s.code == avx512 && rows < len(manyAVX512):
		return manyAVX512[rows]
	}
	return 1
}

// [rows]: the panels of the tiles that the generator lists as small.
var (
	manyAVX2   = [...]int{1: 4, 2: 3, 3: 2}
	manyAVX512 = [...]int{1: 6, 2: 6, 3: 4, 4: 3, 5: 2, 6: 2}
)

func fewAVX2(t *byte, rows int) {
	switch rows {
	case 1:
		tileAVX2R1P4(t)
	case 2:
		tileAVX2R2P3(t)
	case 3:
		tileAVX2R3P2(t)
	default:
		panic(badShape)
	}
}

func tileAVX2(t *byte, rows int) {
	switch rows {
	case 1:
		tileAVX2R1P1(t)
	case 2:
		tileAVX2R2P1(t)
	case 3:
		tileAVX2R3P1(t)
	case 4:
		tileAVX2R4P1(t)
	case 5:
		tileAVX2R5P1(t)
	case 6:
		tileAVX2R6P1(t)
	default:
		panic(badShape)
	}
}

func fewAVX512(t *byte, rows int) {
	switch rows {
	case 1:
		tileAVX512R1P6(t)
	case 2:
		tileAVX512R2P6(t)
	case 3:
		tileAVX512R3P4(t)
	case 4:
		tileAVX512R4P3(t)
	case 5:
		tileAVX512R5P2(t)
	case 6:
		tileAVX512R6P2(t)
	default:
		panic(badShape)
	}
}

func tileAVX512(t *byte, rows int) {
	switch rows {
	case 1:
		tileAVX512R1P1(t)
	case 2:
		tileAVX512R2P1(t)
	case 3:
		tileAVX512R3P1(t)
	case 4:
		tileAVX512R4P1(t)
	case 5:
		tileAVX512R5P1(t)
	case 6:
		tileAVX512R6P1(t)
	case 7:
		tileAVX512R7P1(t)
	case 8:
		tileAVX512R8P1(t)
	case 9:
		tileAVX512R9P1(t)
	case 10:
		tileAVX512R10P1(t)
	case 11:
		tileAVX512R11P1(t)
	case 12:
		tileAVX512R12P1(t)
	case 13:
		tileAVX512R13P1(t)
	case 14:
		tileAVX512R14P1(t)
	default:
		panic(badShape)
	}
}

// list lists the elements of the first part of a row that aren't zero, and
// returns the length of the part.
func (s *Set) list(l *Lists, row []float32, step uint32) (done int) {
	offsets, values := &l.offsets[l.n], &l.values[l.n]
	switch s.code {
	case avx2:
		if done = len(row) &^ 7; done > 0 {
			l.n += listAVX2(offsets, values, &row[0], done, step)
		}
	case avx512:
		if done = len(row) &^ 15; done > 0 {
			l.n += listAVX512(offsets, values, &row[0], done, step)
		}
	}
	return done
}

// gather adds listed rows of panels, several panels at once.
func (s *Set) gather(g *gathering, panels int) {
	p := (*byte)(unsafe.Pointer(g))
	switch {
	case s.code == portable:
		g.compute()
	case s.code == avx2 && panels == 4:
		gatherAVX2P4(p)
	case s.code == avx2 && panels == 2:
		gatherAVX2P2(p)
	case s.code == avx2:
		gatherAVX2P1(p)
	case panels == 2:
		gatherAVX512P2(p)
	default:
		gatherAVX512P1(p)
	}
}

// gatherAtOnce returns the most panels that gather takes of those left.
func (s *Set) gatherAtOnce(left int) int {
	switch {
	case s.code == portable || left < 2:
		return 1
	case s.code == avx512 || left < 4:
		return 2
	}
	return 4
}

// copyRows copies the elements of a whole panel's columns from each of k rows.
func (s *Set) copyRows(dst, src []float32, row, k int) {
	n := s.columns
	_, _ = dst[n*k-1], src[(k-1)*row+n-1]
	switch s.code {
	case avx2:
		packAVX2N16(&dst[0], &src[0], 4*row, k)
	case avx512:
		packAVX512N32(&dst[0], &src[0], 4*row, k)
	default:
		s.copyRowsGo(dst, src, row, k)
	}
}

func (s *Set) turn(turns int) {
	switch s.code {
	case avx2:
		peakAVX2(turns)
	case avx512:
		peakAVX512(turns)
	default:
		peakGo(turns)
	}
}
