package bench

import (
	"errors"
	"testing"
	"time"
)

func TestClocks(t *testing.T) {
	const nap = 30 * time.Millisecond
	calls := 0
	sleep := func() error { calls++; time.Sleep(nap); return nil }
	took, err := Wall.Timed(sleep)(2)
	if err != nil || calls != 2 || took < 2*nap {
		t.Errorf("%d calls in %v, %v", calls, took, err)
	}
	if took, err := CPU.Timed(sleep)(1); err != nil || took < 0 || hasProcessTime && took > nap {
		t.Errorf("a nap of %v took %v of the processor, %v", nap, took, err)
	}
	start := time.Now()
	spin := func() error {
		for time.Since(start) < nap {
		}
		return nil
	}
	if took, _ := CPU.Timed(spin)(1); took <= 0 {
		t.Errorf("work took %v of the processor", took)
	}
}

func TestTimedFails(t *testing.T) {
	broken, calls := errors.New("broken"), 0
	if _, err := Wall.Timed(func() error { calls++; return broken })(3); !errors.Is(err, broken) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestClockOfAGrid: processor time says nothing of several cores.
func TestClockOfAGrid(t *testing.T) {
	g := tiny()
	if g.Clock(1) != Wall {
		t.Error("processor time unasked")
	}
	g.CPUTime = true
	if one, two := g.Clock(1), g.Clock(2); (one == CPU) != hasProcessTime || two != Wall {
		t.Errorf("clocks %v and %v", one, two)
	}
}
