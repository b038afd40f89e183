package bench

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// A fakeClock is a machine on which time passes only by work that is timed.
type fakeClock struct {
	now   time.Duration
	slow  func(now time.Duration) float64 // factor on all work, nil for 1
	order strings.Builder                 // names of the timers, as they were called for several runs
}

// timer does work that takes a fixed time.
func (c *fakeClock) timer(name string, each time.Duration) Timer {
	return func(n int) (time.Duration, error) {
		factor := 1.0
		if c.slow != nil {
			factor = c.slow(c.now)
		}
		took := time.Duration(factor * float64(n) * float64(each))
		c.now += took
		if n > 1 {
			c.order.WriteString(name)
		}
		return took, nil
	}
}

func TestMeasureInterleaves(t *testing.T) {
	var c fakeClock
	timers := []Timer{c.timer("a", 200*time.Microsecond), c.timer("b", time.Millisecond/2), c.timer("c", 300*time.Microsecond)}
	samples, err := Measure(timers, MeasureOptions{Repetitions: 4})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{200e-6, 500e-6, 300e-6} {
		if len(samples[i]) != 4 || math.Abs(samples[i].Median()-want) > 1e-12 || samples[i].Noisy() {
			t.Errorf("timer %d: %v, expected 4 times %v", i, samples[i], want)
		}
	}
	// Each settles and is timed.
	if order := c.order.String(); !strings.HasSuffix(order, "aabbccccbbaaaabbccccbbaa") {
		t.Errorf("the order is %s", order)
	}
}

// TestMeasureIsFair: a machine that is twice as slow for a while makes all
// samples noisy alike, and leaves the ratio of two alone.
func TestMeasureIsFair(t *testing.T) {
	c := fakeClock{slow: func(now time.Duration) float64 {
		if now > 60*time.Millisecond && now < 260*time.Millisecond {
			return 2
		}
		return 1
	}}
	samples, err := Measure([]Timer{c.timer("a", time.Millisecond), c.timer("b", 3*time.Millisecond)}, MeasureOptions{Repetitions: 12})
	if err != nil {
		t.Fatal(err)
	}
	if !samples[0].Noisy() || !samples[1].Noisy() {
		t.Errorf("a disturbed machine goes unnoticed: %v", samples)
	}
	if ratio := samples[1].Ratios(samples[0]); math.Abs(ratio.Median()-3) > 1e-9 || ratio.Noisy() {
		t.Errorf("ratios %v, expected 3 in nearly every round", ratio)
	}
}

// TestMeasureLengthens: repetitions come to last as long as asked, also where
// the first run was interrupted and looked long enough.
func TestMeasureLengthens(t *testing.T) {
	var runs []int
	timer := func(n int) (time.Duration, error) {
		if runs = append(runs, n); len(runs) == 1 {
			return time.Second, nil
		}
		return time.Duration(n) * time.Microsecond, nil
	}
	samples, err := Measure([]Timer{timer}, MeasureOptions{Repetitions: 9})
	if err != nil {
		t.Fatal(err)
	}
	if last := runs[len(runs)-1]; last < 2000 || last > 3000 || runs[1] != 1 {
		t.Errorf("the runs were %v, expected single ones at first, of 1 µs, and 2 ms at last", runs)
	}
	if math.Abs(samples[0].Median()-1e-6) > 1e-15 {
		t.Errorf("sample %v", samples[0])
	}
}

// TestMeasureBudget: long work is repeated less often, but often enough.
func TestMeasureBudget(t *testing.T) {
	var c fakeClock
	var told []float64
	o := MeasureOptions{Repetitions: 9, Budget: 60 * time.Millisecond, Progress: func(done float64) { told = append(told, done) }}
	samples, err := Measure([]Timer{c.timer("a", time.Second), c.timer("b", 10*time.Millisecond), c.timer("c", time.Microsecond)}, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{fewestRepetitions, 6, 9} {
		if len(samples[i]) != want {
			t.Errorf("timer %d was repeated %d times, expected %d", i, len(samples[i]), want)
		}
	}
	if len(told) != 20 || !slices.IsSorted(told) || told[19] != 1 {
		t.Errorf("progress was %v", told)
	}
}

// TestMeasureOfNoTime: a clock too coarse to see the work doesn't hang.
func TestMeasureOfNoTime(t *testing.T) {
	timer := func(n int) (time.Duration, error) { return time.Duration(n/1000) * time.Millisecond, nil }
	samples, err := Measure([]Timer{timer}, MeasureOptions{})
	if err != nil || len(samples[0]) != defaultRepetitions || !(samples[0].Median() > 0) {
		t.Errorf("%v, %v", samples, err)
	}
}

func TestMeasureFails(t *testing.T) {
	broken := errors.New("broken")
	for _, after := range []int{0, 1, 2, 3, 4} {
		calls := 0
		timer := func(n int) (time.Duration, error) {
			if calls++; calls > after {
				return 0, broken
			}
			return time.Duration(n) * time.Millisecond, nil
		}
		if _, err := Measure([]Timer{timer}, MeasureOptions{}); !errors.Is(err, broken) {
			t.Errorf("after %d calls: %v", after, err)
		}
	}
}

func TestQuartiles(t *testing.T) {
	for _, c := range []struct {
		sample               Sample
		lower, median, upper float64
		noisy                bool
	}{
		{Sample{3}, 3, 3, 3, false},
		{Sample{2, 1}, 1.25, 1.5, 1.75, true},
		{Sample{5, 1, 4, 2, 3}, 2, 3, 4, true},
		{Sample{1, 2, 3, 4}, 1.75, 2.5, 3.25, true},
		{Sample{100, 99, 101, 300, 98}, 99, 100, 101, false}, // one outlier is no noise
	} {
		before := slices.Clone(c.sample)
		lower, median, upper := c.sample.Quartiles()
		if lower != c.lower || median != c.median || upper != c.upper || c.sample.Median() != c.median {
			t.Errorf("%v: %v %v %v", c.sample, lower, median, upper)
		}
		if c.sample.Noisy() != c.noisy {
			t.Errorf("%v: noisy is %v", c.sample, !c.noisy)
		}
		if !slices.Equal(before, c.sample) {
			t.Errorf("%v became %v", before, c.sample)
		}
	}
}

func TestRatios(t *testing.T) {
	if r := (Sample{2, 9, 5}).Ratios(Sample{1, 3}); !slices.Equal(r, Sample{2, 3}) {
		t.Errorf("ratios %v", r)
	}
}
