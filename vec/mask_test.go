package vec

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMasks compares every operation with the sorted list of the set's
// elements.
func TestMasks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "bits")
		set := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n, rapid.ID[int]).Draw(t, "set")
		row := make([]uint64, MaskWords(n))
		for _, i := range set {
			MaskSet(row, i)
		}
		slices.Sort(set)
		for i := range 64 * len(row) {
			if got, want := MaskHas(row, i), slices.Contains(set, i); got != want {
				t.Fatalf("MaskHas(%d) is %v", i, got)
			}
		}
		if got := MaskCount(row); got != len(set) {
			t.Fatalf("MaskCount is %d, expected %d", got, len(set))
		}
		for k := range len(set) + 3 {
			want := -1
			if k < len(set) {
				want = set[k]
			}
			if got := MaskSelect(row, k); got != want {
				t.Fatalf("MaskSelect(%d) is %d, expected %d", k, got, want)
			}
		}
		want := []int32{-7}
		for _, i := range set {
			want = append(want, int32(i))
		}
		if got := MaskAppend([]int32{-7}, row); !slices.Equal(got, want) {
			t.Fatalf("MaskAppend gives %v, expected %v", got, want)
		}
	})
}

func TestMaskWords(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 63: 1, 64: 1, 65: 2, 106: 2, 128: 2, 129: 3} {
		if got := MaskWords(n); got != want {
			t.Errorf("MaskWords(%d) is %d, expected %d", n, got, want)
		}
	}
	if MaskSelect(nil, 0) != -1 || MaskCount(nil) != 0 {
		t.Error("a mask of no words holds something")
	}
}
