package vec

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// TestPoolCoversEachIndexOnce also checks how ranges are cut: by grain alone.
func TestPoolCoversEachIndexOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		pool := NewPool(workers)
		for _, n := range []int{0, 1, 2, 63, 64, 65, 1000, 1024} {
			for _, grain := range []int{1, 2, 7, 64, 1000, 5000} {
				checkRun(t, pool, n, grain)
			}
		}
		pool.Close()
	}
	checkRun(t, nil, 100, 7)
	checkRun(t, nil, 0, 7)
}

func checkRun(t *testing.T, pool *Pool, n, grain int) {
	t.Helper()
	visits := make([]atomic.Int32, n)
	pool.Run(n, grain, func(lo, hi int) {
		if lo%grain != 0 || hi != min(lo+grain, n) || lo >= hi {
			t.Errorf("%d workers, n=%d, grain=%d: range [%d,%d)", pool.Workers(), n, grain, lo, hi)
		}
		for i := lo; i < hi; i++ {
			visits[i].Add(1)
		}
	})
	for i := range visits {
		if v := visits[i].Load(); v != 1 {
			t.Fatalf("%d workers, n=%d, grain=%d: index %d was visited %d times", pool.Workers(), n, grain, i, v)
		}
	}
}

// TestPoolUsesItsWorkers has two ranges wait for each other, which one worker
// alone could not do.
func TestPoolUsesItsWorkers(t *testing.T) {
	pool := NewPool(2)
	defer pool.Close()
	var both sync.WaitGroup
	both.Add(2)
	pool.Run(2, 1, func(int, int) {
		both.Done()
		both.Wait()
	})
}

func TestPoolWorkers(t *testing.T) {
	var none *Pool
	if got := none.Workers(); got != 1 {
		t.Errorf("a nil pool has %d workers", got)
	}
	none.Close()
	if pool := NewPool(0); pool.Workers() < 1 {
		t.Errorf("NewPool(0) has %d workers", pool.Workers())
	} else {
		pool.Close()
	}
	mustPanic(t, "grain 0", badRange, func() { none.Run(1, 0, func(int, int) {}) })
}

// TestPoolRaisesPanics: from whichever worker, and the pool goes on to work.
func TestPoolRaisesPanics(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		pool := NewPool(workers)
		for _, bad := range []int{0, 17, 99} {
			want := fmt.Sprint("at ", bad)
			mustPanic(t, fmt.Sprintf("%d workers", workers), want, func() {
				pool.Run(100, 1, func(lo, _ int) {
					if lo == bad {
						panic(want)
					}
				})
			})
			checkRun(t, pool, 100, 3)
		}
		pool.Close()
	}
	mustPanic(t, "all ranges", "x", func() {
		pool := NewPool(3)
		defer pool.Close()
		pool.Run(100, 1, func(int, int) { panic("x") })
	})
}

func TestPoolAllocatesNothing(t *testing.T) {
	pool := NewPool(3)
	defer pool.Close()
	var sum atomic.Int64
	f := func(lo, hi int) { sum.Add(int64(hi - lo)) }
	if got := testing.AllocsPerRun(50, func() { pool.Run(1000, 10, f) }); got != 0 {
		t.Errorf("%v allocations a run, expected none", got)
	}
}

// TestLocals: no two ranges that run at once hold the same value, and values
// are used again.
func TestLocals(t *testing.T) {
	type scratch struct{ busy atomic.Bool }
	var made atomic.Int32
	locals := Locals[*scratch]{New: func() *scratch {
		made.Add(1)
		return new(scratch)
	}}
	pool := NewPool(4)
	defer pool.Close()
	for range 20 {
		pool.Run(200, 1, func(int, int) {
			s := locals.Get()
			defer locals.Put(s)
			if s.busy.Swap(true) {
				t.Error("two ranges hold the same value")
			}
			s.busy.Store(false)
		})
	}
	if n := made.Load(); n > 4 {
		t.Errorf("%d values for 4 workers", n)
	}
}

func BenchmarkPoolRun(b *testing.B) {
	pool := NewPool(0)
	defer pool.Close()
	for b.Loop() {
		pool.Run(64, 1, func(int, int) {})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/range")
}
