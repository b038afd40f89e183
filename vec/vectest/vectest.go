// Package vectest runs a lockstep kernel against its scalar oracle over the
// cases where batched code goes wrong: batch sizes around the workers' grain,
// dense and sparse live rows, one worker and many.
package vectest

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"vtrain/vec"
)

// Sizes returns the batch sizes that Run tries: alone, odd, around the powers
// of two that kernels cut at, and more than one worker's share. With -short,
// which is how the race detector runs, they are few.
func Sizes() []int {
	if testing.Short() {
		return []int{1, 3, 65, 513}
	}
	return []int{1, 2, 3, 64, 65, 511, 513, 1000, 4097}
}

// A Case is one combination to test.
type Case struct {
	Size int       // B, the rows of the batch
	Live []int32   // ascending rows to work on
	Pool *vec.Pool // the workers to use; nil is the caller alone
}

// Run calls f for every size × {dense, sparse} × workers {1, 3}. The Live
// slice is followed, within its capacity, by rows that do not exist: a kernel
// that reads past its length crashes.
func Run(t *testing.T, f func(t *testing.T, c Case)) {
	t.Helper()
	for _, workers := range []int{1, 3} {
		pool := vec.NewPool(workers)
		defer pool.Close()
		for _, size := range Sizes() {
			for _, sparse := range []bool{false, true} {
				name := fmt.Sprintf("rows=%d/sparse=%v/workers=%d", size, sparse, workers)
				t.Run(name, func(t *testing.T) {
					f(t, Case{Size: size, Live: liveRows(size, sparse), Pool: pool})
				})
			}
		}
	}
}

func liveRows(size int, sparse bool) []int32 {
	rng := rand.New(rand.NewPCG(uint64(size), 17))
	rows := make([]int32, 0, size+8)
	for r := range size {
		if !sparse || rng.IntN(3) == 0 {
			rows = append(rows, int32(r))
		}
	}
	for i := len(rows); i < cap(rows); i++ {
		rows[:cap(rows)][i] = 1 << 30
	}
	return rows
}

// Unzip returns the text of a gzip-compressed file, such as recorded vectors.
func Unzip(t testing.TB, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
