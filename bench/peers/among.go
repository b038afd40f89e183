package main

import (
	"fmt"
	"math"
	"slices"

	"vtrain/bench"
	"vtrain/nets"
	"vtrain/nets/cpu"
	"vtrain/nets/graph"
	"vtrain/vec"
)

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
	r.add(fmt.Sprintf("step by forward, batch %d", stepBatch), step.Ratios(forward), stepLimit, false)
	r.add(fmt.Sprintf("gorgonia's step by ours, batch %d", stepBatch), graph.Ratios(step), graphLimit, true)
	return nil
}

func newGraph(shape nets.MLP, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
	return graph.NewTrainer(shape, p, o)
}

// The first layer of the default agent, which sees some 45 ones among 440
// inputs.
var firstLayer = nets.MLP{440, 256}

const (
	ones       = 45
	sparseRows = 1024
)

// compareSparse times the first layer on rows with few inputs set, whose
// weights are added, against rows with all of them set, which are multiplied.
func (r *report) compareSparse(g bench.Grid, o bench.MeasureOptions) error {
	e, err := cpu.NewEngine(firstLayer, nets.EngineOptions{Buckets: []int{sparseRows}, Workers: 1})
	if err != nil {
		return err
	}
	defer e.Close()
	p := firstLayer.NewParams()
	firstLayer.Init(p, 1)
	e.Load(p)
	e.Seal()
	y := make([]float32, sparseRows*firstLayer.Out())
	timer := func(x []float32) bench.Timer {
		return g.Clock(1).Timed(func() error { e.Forward(y, x, sparseRows); return nil })
	}
	s, err := bench.Measure([]bench.Timer{timer(allSet(sparseRows, firstLayer.In())), timer(fewSet(sparseRows, firstLayer.In()))}, o)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("first layer %v: dense by sparse (%d of %d set), batch %d", firstLayer, ones, firstLayer.In(), sparseRows)
	r.add(what, s[0].Ratios(s[1]), sparseLimit, true)
	return nil
}

// allSet returns rows of numbers none of which is zero.
func allSet(rows, width int) []float32 {
	x := make([]float32, rows*width)
	s := vec.At(vec.Key(1, 0), 0)
	for i := range x {
		x[i] = 1 - s.Float32()/2
	}
	return x
}

// fewSet returns rows of zeros and a few ones in random places.
func fewSet(rows, width int) []float32 {
	x := make([]float32, rows*width)
	s := vec.At(vec.Key(2, 0), 0)
	for r := range rows {
		row := x[r*width : (r+1)*width]
		for set := 0; set < ones; {
			if i := s.Intn(width); row[i] == 0 {
				row[i] = 1
				set++
			}
		}
	}
	return x
}

// flatBatches take the same time a row, whatever the caches hold.
var flatBatches = []int{1024, 4096, 16384, 65536}

// compareBatches times forwards on one core against each other.
func (r *report) compareBatches(g bench.Grid, o bench.MeasureOptions) error {
	g.Cores, g.Batches = []int{1}, flatBatches
	forwards, err := bench.NewForwards(g)
	if err != nil {
		return err
	}
	defer forwards.Close()
	samples, err := bench.Measure(forwards.Timers, o)
	if err != nil {
		return err
	}
	batch, deviations := farthest(g.Batches, samples)
	r.add(fmt.Sprintf("flatness: µs/state at batch %d away from the median of %d…%d", batch, flatBatches[0], flatBatches[len(flatBatches)-1]),
		deviations, flatLimit, false)
	return nil
}

// farthest returns the batch whose time a row is the farthest from the median
// of all batches, and how far it is in each round, relative to that median. In
// most rounds that is positive, on whichever side of the median it lies.
func farthest(batches []int, samples []bench.Sample) (batch int, deviations bench.Sample) {
	for i, of := range deviationsOf(batches, samples) {
		if median := of.Median(); deviations == nil || math.Abs(median) > deviations.Median() {
			batch, deviations = batches[i], of
			if median < 0 {
				for k := range deviations {
					deviations[k] = -deviations[k]
				}
			}
		}
	}
	return batch, deviations
}

// deviationsOf returns for each batch, by round, how much longer than the median
// of all batches a row takes.
func deviationsOf(batches []int, samples []bench.Sample) []bench.Sample {
	all := make([]bench.Sample, len(batches))
	rounds := len(slices.MinFunc(samples, func(a, b bench.Sample) int { return len(a) - len(b) }))
	row := make(bench.Sample, len(batches)) // seconds, of one round
	for k := range rounds {
		for i, s := range samples {
			row[i] = s[k] / float64(batches[i])
		}
		median := row.Median()
		for i, t := range row {
			all[i] = append(all[i], t/median-1)
		}
	}
	return all
}
