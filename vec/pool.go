package vec

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A Pool runs work over ranges of rows on a fixed number of workers: the
// calling goroutine and Workers()-1 others that live until Close. Ranges are
// cut by the caller's grain, so what a call computes never depends on the
// number of workers. A nil *Pool runs everything on the caller.
//
// A Pool serves one Run at a time. Run may not be called from within f.
type Pool struct {
	workers int
	wake    chan struct{} // a token for each worker to be woken
	patient bool          // there is a core for each worker
	task    task

	// Run waits for the workers inside, not for those still waking up: on a
	// busy machine that may take longer than the work.
	mu     sync.Mutex
	open   bool         // workers may go in
	left   sync.Cond    // the last one has left
	inside atomic.Int64 // workers at work, the caller apart; changed under mu
}

type task struct {
	f        func(lo, hi int)
	n, grain int
	next     atomic.Int64
	failed   atomic.Pointer[failure]
}

type failure struct{ value any }

// NewPool returns a pool of that many workers; 0 means one for each core that
// the process may use (GOMAXPROCS, which follows affinity and cgroup quota).
func NewPool(workers int) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &Pool{workers: workers, wake: make(chan struct{}, workers), patient: workers <= runtime.GOMAXPROCS(0)}
	p.left.L = &p.mu
	for range workers - 1 {
		go p.work()
	}
	return p
}

// work joins the run going on at each token, if it isn't over by then.
func (p *Pool) work() {
	for {
		p.watch(func() bool { return len(p.wake) > 0 })
		if _, ok := <-p.wake; !ok {
			return
		}
		p.mu.Lock()
		if !p.open {
			p.mu.Unlock()
			continue
		}
		p.inside.Add(1)
		p.mu.Unlock()
		p.task.run()
		p.mu.Lock()
		if p.inside.Add(-1) == 0 {
			p.left.Signal()
		}
		p.mu.Unlock()
	}
}

// patience is how long one who waits watches before going to sleep. To be
// woken takes about as long, and training has thousands of runs a second.
const patience = 100 * time.Microsecond

// watch returns when something is ready, or after a while.
func (p *Pool) watch(ready func() bool) {
	if !p.patient || ready() {
		return
	}
	const looks = 20 // for each at the clock
	for start := time.Now(); time.Since(start) < patience; {
		for range looks {
			if ready() {
				return
			}
		}
	}
}

// Workers returns the number of workers, 1 for a nil pool.
func (p *Pool) Workers() int {
	if p == nil {
		return 1
	}
	return p.workers
}

// Run calls f for consecutive ranges [lo,hi) that cover [0,n), each of grain
// rows but the last, in no fixed order, and returns when all are done. A panic
// in f is raised again by Run. It allocates nothing beyond f itself.
func (p *Pool) Run(n, grain int, f func(lo, hi int)) {
	if grain <= 0 {
		panic(badRange)
	}
	helpers := min(p.Workers(), (n+grain-1)/grain) - 1
	if helpers <= 0 {
		for lo := 0; lo < n; lo += grain {
			f(lo, min(lo+grain, n))
		}
		return
	}
	t := &p.task
	p.mu.Lock()
	t.f, t.n, t.grain = f, n, grain
	t.next.Store(0)
	p.open = true
	p.mu.Unlock()
	for range helpers {
		select {
		case p.wake <- struct{}{}:
		default: // as many are waking already
		}
	}
	t.run()
	p.mu.Lock()
	p.open = false
	p.mu.Unlock()
	p.watch(func() bool { return p.inside.Load() == 0 })
	p.mu.Lock()
	for p.inside.Load() > 0 {
		p.left.Wait()
	}
	t.f = nil
	p.mu.Unlock()
	if failed := t.failed.Swap(nil); failed != nil {
		panic(failed.value)
	}
}

// Close ends the workers. The pool may not be used afterwards.
func (p *Pool) Close() {
	if p != nil {
		close(p.wake)
	}
}

// run claims ranges until none is left.
func (t *task) run() {
	defer func() {
		if v := recover(); v != nil {
			t.failed.Store(&failure{v})
			t.next.Store(int64(t.n))
		}
	}()
	for {
		lo := int(t.next.Add(int64(t.grain))) - t.grain
		if lo >= t.n {
			return
		}
		t.f(lo, min(lo+t.grain, t.n))
	}
}

// Locals gives each concurrent range of a Pool.Run a scratch value of its own.
type Locals[T any] struct {
	New  func() T
	mu   sync.Mutex
	free []T
}

// Get returns a scratch value that no other caller holds.
func (l *Locals[T]) Get() T {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		v := l.free[n-1]
		l.free = l.free[:n-1]
		return v
	}
	return l.New()
}

// Put hands a value back.
func (l *Locals[T]) Put(v T) {
	l.mu.Lock()
	l.free = append(l.free, v)
	l.mu.Unlock()
}
