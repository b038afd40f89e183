package vec

import "math/bits"

// A mask row is a set of small integers, such as the legal actions of a game:
// bit i of the row is bit i%64 of word i/64. Masks are columns [B,W] of words.

// MaskWords returns the words of a mask row that holds n bits.
func MaskWords(n int) int { return (n + 63) / 64 }

// MaskHas reports whether bit i of the row is set.
func MaskHas(row []uint64, i int) bool { return row[i>>6]>>(i&63)&1 != 0 }

// MaskSet sets bit i of the row.
func MaskSet(row []uint64, i int) { row[i>>6] |= 1 << (i & 63) }

// MaskCount returns the number of bits set.
func MaskCount(row []uint64) int {
	n := 0
	for _, w := range row {
		n += bits.OnesCount64(w)
	}
	return n
}

// MaskSelect returns the index of the k-th set bit, counted from 0, or -1 if
// the row has no more than k.
func MaskSelect(row []uint64, k int) int {
	for i, w := range row {
		if n := bits.OnesCount64(w); k >= n {
			k -= n
			continue
		}
		for ; k > 0; k-- {
			w &= w - 1
		}
		return i<<6 + bits.TrailingZeros64(w)
	}
	return -1
}

// MaskAppend appends the set bits to dst, ascending.
func MaskAppend(dst []int32, row []uint64) []int32 {
	for i, w := range row {
		for ; w != 0; w &= w - 1 {
			dst = append(dst, int32(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return dst
}
