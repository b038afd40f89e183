package main

import (
	"fmt"
	"slices"

	"vtrain/bench"
	"vtrain/nets"
)

// compareForwards times our engines, in float32 and in int8, and OpenBLAS side
// by side.
func (r *report) compareForwards(g bench.Grid, program, coretype string, o bench.MeasureOptions) error {
	g.Precisions = []nets.Precision{nets.Float32, nets.Int8}
	ours, err := bench.NewForwards(g)
	if err != nil {
		return err
	}
	defer ours.Close()
	var theirs []bench.Timer
	for _, cores := range g.Cores {
		b, err := start(program, g, cores, coretype)
		if err != nil {
			return err
		}
		defer b.close() // it has nothing left to say
		r.OpenBLAS = append(r.OpenBLAS, b.describe)
		for _, batch := range g.Batches {
			theirs = append(theirs, b.timer(batch))
		}
	}
	n := len(theirs)
	samples, err := bench.Measure(interleave(ours.Timers[:n], theirs, ours.Timers[n:]), o)
	if err != nil {
		return err
	}
	r.Engines = ours.Describe()
	r.fill(g, trios(samples))
	return nil
}

// interleave puts partners beside each other, so that they are taken one right
// after the other. All lists are equally long.
func interleave(lists ...[]bench.Timer) []bench.Timer {
	var all []bench.Timer
	for i := range lists[0] {
		for _, list := range lists {
			all = append(all, list[i])
		}
	}
	return all
}

// A trio is the samples of a configuration.
type trio struct{ float32, theirs, int8 bench.Sample }

func trios(samples []bench.Sample) []trio {
	var all []trio
	for s := range slices.Chunk(samples, 3) {
		all = append(all, trio{s[0], s[1], s[2]})
	}
	return all
}

// fill makes rows and checks of the samples, which are by cores and batch.
func (r *report) fill(g bench.Grid, all []trio) {
	n := len(g.Batches)
	at := func(cores, batch int) trio { return all[slices.Index(g.Cores, cores)*n+slices.Index(g.Batches, batch)] }
	for _, precision := range []nets.Precision{nets.Float32, nets.Int8} {
		for i, t := range all {
			r.Rows = append(r.Rows, r.newRow(g, precision, g.Cores[i/n], g.Batches[i%n], t))
		}
	}
	if !slices.Contains(g.Cores, 1) {
		return
	}
	if slices.Contains(g.Batches, int8Batch) {
		t := at(1, int8Batch)
		r.add(fmt.Sprintf("float32 by int8, batch %d", int8Batch), t.float32.Ratios(t.int8), int8Limit, true)
	}
	if !slices.Contains(g.Cores, 2) {
		return
	}
	for _, batch := range g.Batches {
		if batch >= speedupFrom {
			one, two := at(1, batch), at(2, batch)
			r.add(fmt.Sprintf("two cores by one, batch %d", batch), one.float32.Ratios(two.float32), speedupLimit, true)
			r.add("the same of OpenBLAS", one.theirs.Ratios(two.theirs), 0, true) // what the machine gives
		}
	}
}

func (r *report) newRow(g bench.Grid, precision nets.Precision, cores, batch int, t trio) row {
	flops, rows := bench.Flops(g.Layers[0]), float64(batch)
	sample := t.float32
	if precision == nets.Int8 {
		sample = t.int8
	}
	ours, theirs := sample.Median()/rows, t.theirs.Median()/rows
	ratios := sample.Ratios(t.theirs)
	lower, ratio, upper := ratios.Quartiles()
	limit, pass := verdictOf(ratio, r.limits.forward(precision, cores, batch), false)
	return row{
		Layers: g.Layers[0].String(), Precision: precision.String(), Backend: r.Machine.Backend(precision), Cores: cores, Batch: batch, Clock: g.Clock(cores),
		Micros: bench.Round(1e6 * ours), GFLOPS: bench.Round(flops / ours / 1e9),
		BLASMicros: bench.Round(1e6 * theirs), BLASGFLOPS: bench.Round(flops / theirs / 1e9),
		Ratio: bench.Round(ratio), Quartiles: rounded(lower, upper), Limit: limit, Pass: pass, Noisy: ratios.Noisy(),
	}
}

// add adds a check of a ratio among ourselves.
func (r *report) add(what string, ratios bench.Sample, limit float64, atLeast bool) {
	r.Checks = append(r.Checks, newCheck(what, ratios, r.limits.among(limit), atLeast))
}

func newCheck(what string, ratios bench.Sample, limit float64, atLeast bool) check {
	lower, ratio, upper := ratios.Quartiles()
	bound, pass := verdictOf(ratio, limit, atLeast)
	return check{what, bench.Round(ratio), rounded(lower, upper), atLeast, bound, pass, ratios.Noisy()}
}

// verdictOf returns a limit and whether a ratio holds it, nil for a limit of 0:
// there is none.
func verdictOf(ratio, limit float64, atLeast bool) (bound *float64, pass *bool) {
	if limit == 0 {
		return nil, nil
	}
	holds := ratio <= limit
	if atLeast {
		holds = ratio >= limit
	}
	return &limit, &holds
}

func rounded(lower, upper float64) [2]float64 {
	return [2]float64{bench.Round(lower), bench.Round(upper)}
}
