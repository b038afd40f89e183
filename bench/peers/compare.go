package main

import (
	"fmt"
	"slices"
	"strconv"

	"vtrain/bench"
	"vtrain/nets"
	"vtrain/nets/cpu"
	"vtrain/nets/graph"
)

// A report compares the networks of this repository with those of others.
type report struct {
	Machine  bench.Machine `json:"machine"`
	Engines  []string      `json:"engines"`
	OpenBLAS []string      `json:"openblas"` // core type, configuration and threads of each process
	Rows     []row         `json:"rows"`
	Checks   []check       `json:"checks"`
}

// A row is forwards of one batch. OpenBLAS computes the bare products, this
// repository all of the network.
type row struct {
	Layers     string      `json:"layers"`
	Cores      int         `json:"cores"`
	Batch      int         `json:"batch"`
	Clock      bench.Clock `json:"clock"`
	Micros     float64     `json:"us_per_state"`
	GFLOPS     float64     `json:"gflops"`
	BLASMicros float64     `json:"openblas_us_per_state"`
	BLASGFLOPS float64     `json:"openblas_gflops"`
	Ratio      float64     `json:"ratio"`           // of times, ours by theirs, median of rounds
	Quartiles  [2]float64  `json:"ratio_quartiles"` // of the same
	Limit      float64     `json:"limit"`           // of the ratio, 0 for none
	Pass       bool        `json:"pass"`
}

// A check is another ratio that has a limit.
type check struct {
	What      string     `json:"what"`
	Ratio     float64    `json:"ratio"`
	Quartiles [2]float64 `json:"ratio_quartiles"`
	AtLeast   bool       `json:"at_least"` // the limit is the lowest, not the highest
	Limit     float64    `json:"limit"`    // 0 for none
	Pass      bool       `json:"pass"`
}

// Limits of what this repository promises of the shape 297-512-512-512-22.
const (
	speedupLimit = 1.8 // of two cores over one
	speedupFrom  = 512 // rows
	stepLimit    = 3.6 // times a forward
	graphLimit   = 5   // times our step
	stepBatch    = 1024
)

// forwardLimits of the time of a forward by OpenBLAS's products, on one core.
var forwardLimits = map[int]float64{1: 0.95, 16: 0.9, 64: 0.9, 256: 1.05, 1024: 1.05, 4096: 1.05, 16384: 1.05}

// compareForwards times our engines and OpenBLAS side by side.
func (r *report) compareForwards(g bench.Grid, program, coretype string, o bench.MeasureOptions) error {
	ours, err := bench.NewForwards(g)
	if err != nil {
		return err
	}
	defer ours.Close()
	timers := slices.Clone(ours.Timers)
	for _, cores := range g.Cores {
		b, err := start(program, g, cores, coretype)
		if err != nil {
			return err
		}
		defer b.close() // it has nothing left to say
		r.OpenBLAS = append(r.OpenBLAS, b.describe)
		for _, batch := range g.Batches {
			timers = append(timers, b.timer(batch))
		}
	}
	samples, err := bench.Measure(paired(timers), o)
	if err != nil {
		return err
	}
	r.Engines = ours.Describe()
	r.fill(g, unpaired(samples))
	return nil
}

// paired puts each timer of the first half beside its partner of the second,
// so that the two are taken one right after the other.
func paired(timers []bench.Timer) []bench.Timer {
	half := len(timers) / 2
	var all []bench.Timer
	for i := range half {
		all = append(all, timers[i], timers[half+i])
	}
	return all
}

// A pair is the samples of a configuration.
type pair struct{ ours, theirs bench.Sample }

func unpaired(samples []bench.Sample) []pair {
	var all []pair
	for i := 0; i < len(samples); i += 2 {
		all = append(all, pair{samples[i], samples[i+1]})
	}
	return all
}

// fill makes rows and checks of the samples, which are by cores and batch.
func (r *report) fill(g bench.Grid, pairs []pair) {
	n := len(g.Batches)
	for i, p := range pairs {
		cores, batch := g.Cores[i/n], g.Batches[i%n]
		r.Rows = append(r.Rows, newRow(g, cores, batch, p))
	}
	one, two := slices.Index(g.Cores, 1), slices.Index(g.Cores, 2)
	if one < 0 || two < 0 {
		return
	}
	for i, batch := range g.Batches {
		if batch >= speedupFrom {
			one, two := pairs[one*n+i], pairs[two*n+i]
			what := fmt.Sprintf("two cores by one, batch %d", batch)
			r.Checks = append(r.Checks, newCheck(what, one.ours.Ratios(two.ours), speedupLimit, true),
				newCheck("the same of OpenBLAS", one.theirs.Ratios(two.theirs), 0, true)) // what the machine gives
		}
	}
}

func newRow(g bench.Grid, cores, batch int, p pair) row {
	flops, rows := bench.Flops(g.Layers[0]), float64(batch)
	ours, theirs := p.ours.Median()/rows, p.theirs.Median()/rows
	lower, ratio, upper := p.ours.Ratios(p.theirs).Quartiles()
	w := row{
		Layers: g.Layers[0].String(), Cores: cores, Batch: batch, Clock: g.Clock(cores), Micros: 1e6 * ours, GFLOPS: flops / ours / 1e9,
		BLASMicros: 1e6 * theirs, BLASGFLOPS: flops / theirs / 1e9, Ratio: ratio, Quartiles: [2]float64{lower, upper}, Pass: true,
	}
	if cores == 1 {
		w.Limit = forwardLimits[batch]
		w.Pass = w.Limit == 0 || ratio <= w.Limit
	}
	return w
}

func newCheck(what string, ratios bench.Sample, limit float64, atLeast bool) check {
	lower, ratio, upper := ratios.Quartiles()
	pass := ratio <= limit
	if atLeast {
		pass = ratio >= limit
	}
	return check{what, ratio, [2]float64{lower, upper}, atLeast, limit, pass}
}

// compareSteps times a training step against our forward and against the same
// step of gorgonia's own operations, all on one core.
func (r *report) compareSteps(g bench.Grid, o bench.MeasureOptions) error {
	g.Cores, g.Batches = []int{1}, []int{stepBatch}
	forwards, err := bench.NewForwards(g)
	if err != nil {
		return err
	}
	defer forwards.Close()
	steps, err := bench.NewSteps(g, cpu.NewTrainer)
	if err != nil {
		return err
	}
	defer steps.Close()
	graphs, err := bench.NewSteps(g, newGraph)
	if err != nil {
		return err
	}
	defer graphs.Close()
	s, err := bench.Measure(slices.Concat(forwards.Timers, steps.Timers, graphs.Timers), o)
	if err != nil {
		return err
	}
	forward, step, graph := s[0], s[1], s[2]
	r.Checks = append(r.Checks,
		newCheck(fmt.Sprintf("step by forward, batch %d", stepBatch), step.Ratios(forward), stepLimit, false),
		newCheck(fmt.Sprintf("gorgonia's step by ours, batch %d", stepBatch), graph.Ratios(step), graphLimit, true))
	return nil
}

func newGraph(shape nets.MLP, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
	return graph.NewTrainer(shape, p, o)
}

// missed counts the limits that are not held.
func (r *report) missed() int {
	n := 0
	for _, w := range r.Rows {
		if !w.Pass {
			n++
		}
	}
	for _, c := range r.Checks {
		if !c.Pass {
			n++
		}
	}
	return n
}

// forwardTable returns the rows for people.
func (r *report) forwardTable() bench.Table {
	t := bench.Table{Header: []string{"cores", "batch", "µs/state", "GFLOP/s", "OpenBLAS µs/state", "GFLOP/s", "ratio", "quartiles", "limit", ""}}
	for _, w := range r.Rows {
		limit := ""
		if w.Limit > 0 {
			limit = "≤ " + strconv.FormatFloat(w.Limit, 'f', 2, 64)
		}
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(w.Cores), strconv.Itoa(w.Batch), bench.Significant(w.Micros, 3), bench.Significant(w.GFLOPS, 3),
			bench.Significant(w.BLASMicros, 3), bench.Significant(w.BLASGFLOPS, 3), ratio(w.Ratio), span(w.Quartiles), limit, verdict(w.Limit, w.Pass),
		})
	}
	return t
}

// checkTable returns the checks for people.
func (r *report) checkTable() bench.Table {
	t := bench.Table{Header: []string{"ratio of", "ratio", "quartiles", "limit", ""}}
	for _, c := range r.Checks {
		sign := "≤ "
		if c.AtLeast {
			sign = "≥ "
		}
		limit := ""
		if c.Limit > 0 {
			limit = sign + strconv.FormatFloat(c.Limit, 'f', 1, 64)
		}
		t.Rows = append(t.Rows, []string{c.What, ratio(c.Ratio), span(c.Quartiles), limit, verdict(c.Limit, c.Pass)})
	}
	return t
}

func ratio(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func span(q [2]float64) string { return ratio(q[0]) + "-" + ratio(q[1]) }

func verdict(limit float64, pass bool) string {
	switch {
	case limit == 0:
		return ""
	case pass:
		return "pass"
	}
	return "FAIL"
}
