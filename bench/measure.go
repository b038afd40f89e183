package bench

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A Timer does its work n times, n > 0, and returns how long that took.
type Timer func(n int) (time.Duration, error)

// MeasureOptions says how often things are timed; the zero value works.
type MeasureOptions struct {
	Repetitions int                // of each timer; 0 means 15
	Shortest    time.Duration      // of a repetition, which does its work as often as that takes; 0 means 2 ms
	Budget      time.Duration      // of each timer, after which fewestRepetitions do; 0 means 2 s
	Progress    func(done float64) // told the share done, after each repetition; nil for nobody
}

const (
	defaultRepetitions = 15
	defaultShortest    = 2 * time.Millisecond
	defaultBudget      = 2 * time.Second

	// fewestRepetitions still have quartiles.
	fewestRepetitions = 5
)

func (o MeasureOptions) withDefaults() MeasureOptions {
	o.Repetitions = cmp.Or(o.Repetitions, defaultRepetitions)
	o.Shortest = cmp.Or(o.Shortest, defaultShortest)
	o.Budget = cmp.Or(o.Budget, defaultBudget)
	if o.Progress == nil {
		o.Progress = func(float64) {}
	}
	return o
}

// Measure times all timers side by side: a round takes one repetition of each,
// so that a moment in which the machine is busy elsewhere falls on all of them
// and not on one. Every other round goes backwards, so that a machine that
// slows down steadily favours none. Value i of a sample is of round i in all
// samples; timers that have spent their budget sit out the later rounds.
func Measure(timers []Timer, o MeasureOptions) ([]Sample, error) {
	o = o.withDefaults()
	cases := make([]*measured, len(timers))
	for i, t := range timers {
		cases[i] = &measured{time: t, runs: 1}
		if err := cases[i].warmUp(o.Shortest); err != nil {
			return nil, err
		}
	}
	for order := slices.Clone(cases); !allDone(cases, o); slices.Reverse(order) {
		for _, m := range order {
			if m.done(o) {
				continue
			}
			if err := m.repeat(o.Shortest); err != nil {
				return nil, err
			}
			o.Progress(share(cases, o))
		}
	}
	samples := make([]Sample, len(cases))
	for i, m := range cases {
		samples[i] = m.sample
	}
	return samples, nil
}

// measured is a timer and what is known of it.
type measured struct {
	time   Timer
	runs   int           // of the work in a repetition
	each   time.Duration // a run took lately
	spent  time.Duration
	sample Sample
}

// warmUp does the work until a repetition is long enough, which also grows
// whatever grows at first, and brings processors up to their speed.
func (m *measured) warmUp(shortest time.Duration) error {
	for {
		runs := m.runs
		took, err := m.time(runs)
		if err != nil {
			return err
		}
		if m.lengthen(took, shortest); m.runs == runs {
			m.each = took / time.Duration(runs)
			return nil
		}
	}
}

// lengthen sets the runs of the next repetition, given what the last one took.
// They never become fewer: a run may have been interrupted.
func (m *measured) lengthen(took, shortest time.Duration) {
	if took >= shortest {
		return
	}
	const most = 10 // times as many at once: the first run says little
	factor := min(float64(shortest)/float64(max(took, 1)), most)
	m.runs = max(m.runs+1, int(math.Ceil(float64(m.runs)*factor)))
}

// settling is how much longer than the shortest repetition a machine takes to
// come up to speed: a processor that has waited for another one's work runs
// vectors of 64 bytes at two thirds of its rate for some milliseconds.
const settling = 5

// repeat takes one repetition, on a machine that has settled: others have just
// had the caches, or the processor was idle. Work for which that is short
// settles by itself.
func (m *measured) repeat(shortest time.Duration) error {
	settle := settling * shortest
	if each := max(m.each, 1); each < 10*settle {
		if _, err := m.time(int((settle + each - 1) / each)); err != nil {
			return err
		}
	}
	took, err := m.time(m.runs)
	if err != nil {
		return err
	}
	m.spent += took
	m.each = took / time.Duration(m.runs)
	m.sample = append(m.sample, took.Seconds()/float64(m.runs))
	m.lengthen(took, shortest)
	return nil
}

func (m *measured) done(o MeasureOptions) bool {
	n := len(m.sample)
	return n >= o.Repetitions || n >= fewestRepetitions && m.spent >= o.Budget
}

func allDone(cases []*measured, o MeasureOptions) bool {
	return !slices.ContainsFunc(cases, func(m *measured) bool { return !m.done(o) })
}

// share returns how much of the measuring is done, in repetitions.
func share(cases []*measured, o MeasureOptions) float64 {
	done := 0
	for _, m := range cases {
		if m.done(o) {
			done += o.Repetitions
		} else {
			done += len(m.sample)
		}
	}
	return float64(done) / float64(len(cases)*o.Repetitions)
}

// A Sample is what was measured, by round: seconds for one run of some work,
// or ratios of two such.
type Sample []float64

// noisySpread is the distance of the quartiles, relative to the median, from
// which a measurement says little.
const noisySpread = 0.1

// Ratios returns s[i]/t[i] of the rounds that both have: what disturbed a
// round as a whole drops out.
func (s Sample) Ratios(t Sample) Sample {
	ratios := make(Sample, min(len(s), len(t)))
	for i := range ratios {
		ratios[i] = s[i] / t[i]
	}
	return ratios
}

// Quartiles returns the values below which a quarter, half and three quarters
// of the sample lie, linear between its values. It has to have one.
func (s Sample) Quartiles() (lower, median, upper float64) {
	sorted := slices.Sorted(slices.Values(s))
	return quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)
}

// Median returns the middle value, or the middle of two.
func (s Sample) Median() float64 {
	_, median, _ := s.Quartiles()
	return median
}

// Noisy reports whether the quartiles are far apart.
func (s Sample) Noisy() bool {
	lower, median, upper := s.Quartiles()
	return upper-lower > noisySpread*median
}

// quantile is the usual definition, number 7 of Hyndman and Fan (1996).
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
