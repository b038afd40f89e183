package bench

import (
	"runtime"
	"slices"
	"strconv"

	"vtrain/nets"
	"vtrain/nets/cpu"
	"vtrain/vec"
)

// A TrainReport is how fast networks are trained.
type TrainReport struct {
	Machine  Machine    `json:"machine"`
	Trainers []string   `json:"trainers"` // as they describe themselves
	Rows     []TrainRow `json:"rows"`
}

// A TrainRow is one configuration. A step is forward, backward by the squared
// error of all outputs, and AdamW.
type TrainRow struct {
	Backend          string     `json:"backend"`
	Layers           string     `json:"layers"`
	Cores            int        `json:"cores"`
	Batch            int        `json:"batch"`
	Input            Input      `json:"input"`
	Clock            Clock      `json:"clock"`
	MillisPerStep    float64    `json:"ms_per_step"` // median of repetitions
	MillisQuartiles  [2]float64 `json:"ms_quartiles"`
	SamplesPerSecond float64    `json:"samples_per_s"`
	GFLOPS           float64    `json:"gflops"`        // of the products, forward and backward
	ForwardRatio     float64    `json:"forward_ratio"` // a step by an engine's forward of the same batch, by round
	ForwardQuartiles [2]float64 `json:"forward_quartiles"`
	Repetitions      int        `json:"repetitions"`
	Noisy            bool       `json:"noisy"` // quartiles of the time more than a tenth apart
}

// Train times steps, and forwards to compare them with.
func Train(g Grid, o MeasureOptions) (*TrainReport, error) {
	g.Precisions = nil // there is no training in others
	report := &TrainReport{Machine: ThisMachine()}
	steps, err := NewSteps(g, cpu.NewTrainer)
	if err != nil {
		return nil, err
	}
	defer steps.Close()
	forwards, err := NewForwards(g)
	if err != nil {
		return nil, err
	}
	defer forwards.Close()
	samples, err := Measure(slices.Concat(steps.Timers, forwards.Timers), o)
	if err != nil {
		return nil, err
	}
	report.Trainers = steps.Describe()
	n := len(steps.Timers)
	for i, c := range g.settings() {
		row := g.trainRow(c, samples[i], samples[n+i])
		row.Backend = report.Machine.Backend(c.precision)
		report.Rows = append(report.Rows, row)
	}
	report.Machine.Finish()
	return report, nil
}

// Steps are the trainers of a grid.
type Steps struct {
	Timers   []Timer // of each configuration: by layers, cores, batch
	trainers []nets.Trainer
}

// restingRate lets steps do all their work and leave the parameters where they
// are, to their rounding: what is timed must not depend on how often.
const restingRate = 1e-9

// NewTrainer makes a trainer, as the packages that have them do.
type NewTrainer func(nets.MLP, nets.Params, nets.TrainerOptions) (nets.Trainer, error)

// NewSteps makes trainers that step on the same rows each time.
func NewSteps(g Grid, newTrainer NewTrainer) (*Steps, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	s := &Steps{}
	for _, shape := range g.Layers {
		x, loss := g.inputs(shape.In()), &nets.SquaredError{Target: g.targets(shape.Out())}
		for _, cores := range g.Cores {
			t, err := newTrainer(shape, fresh(shape), nets.TrainerOptions{Rate: restingRate, Workers: cores})
			if err != nil {
				s.Close()
				return nil, err
			}
			s.trainers = append(s.trainers, t)
			for _, rows := range g.Batches {
				s.Timers = append(s.Timers, g.Clock(cores).Timed(func() error {
					_, err := t.Step(x, rows, loss)
					return err
				}))
			}
		}
	}
	runtime.GC() // not while something is timed
	return s, nil
}

// Describe returns what each trainer says of itself.
func (s *Steps) Describe() []string {
	var all []string
	for _, t := range s.trainers {
		all = append(all, t.Describe())
	}
	return all
}

// Close frees the trainers.
func (s *Steps) Close() {
	for _, t := range s.trainers {
		t.Close()
	}
}

// targets returns numbers for the outputs of the largest batch.
func (g Grid) targets(width int) []float32 {
	y := make([]float32, slices.Max(g.Batches)*width)
	s := vec.At(vec.Key(targetSeed, 0), 0)
	for i := range y {
		y[i] = s.Float32()
	}
	return y
}

func (g Grid) trainRow(c setting, step, forward Sample) TrainRow {
	lower, median, upper := scaled(step, 1e3)
	ratioLower, ratio, ratioUpper := scaled(step.Ratios(forward), 1)
	return TrainRow{
		Layers: c.shape.String(), Cores: c.cores, Batch: c.batch, Input: g.Input, Clock: g.Clock(c.cores),
		MillisPerStep: median, MillisQuartiles: [2]float64{lower, upper},
		SamplesPerSecond: round(float64(c.batch) / median * 1e3), GFLOPS: round(rate(float64(c.batch)*stepFlops(c.shape), median/1e3)),
		ForwardRatio: ratio, ForwardQuartiles: [2]float64{ratioLower, ratioUpper}, Repetitions: len(step), Noisy: step.Noisy(),
	}
}

// stepFlops returns the operations of a row's products in a step: forward, and
// backward by weights and by inputs, of which the network's own have no use.
func stepFlops(shape nets.MLP) float64 {
	return 3*Flops(shape) - 2*float64(shape[0])*float64(shape[1])
}

// Table returns the rows for people.
func (r *TrainReport) Table() Table {
	t := Table{Header: []string{"layers", "backend", "cores", "batch", "ms/step", "quartiles", "GFLOP/s", "samples/s", "forwards", ""}}
	for _, row := range r.Rows {
		t.Rows = append(t.Rows, []string{
			row.Layers, row.Backend, strconv.Itoa(row.Cores), strconv.Itoa(row.Batch), Significant(row.MillisPerStep, 3), span(row.MillisQuartiles),
			Significant(row.GFLOPS, 3), Significant(row.SamplesPerSecond, 3), Significant(row.ForwardRatio, 3), noise(row.Noisy),
		})
	}
	return t
}

// Markdown returns the rows and the machine for a page.
func (r *TrainReport) Markdown() string { return r.Table().Markdown() + r.Notes() }

// Notes says what was measured.
func (r *TrainReport) Notes() string {
	var clocks []Clock
	for _, row := range r.Rows {
		clocks = append(clocks, row.Clock)
	}
	return Notes(r.Machine, string(r.Rows[0].Input)+" inputs", Clocks(clocks))
}
