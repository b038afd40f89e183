package bench

import (
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"vtrain/nets"
	"vtrain/nets/cpu"
)

// A ForwardReport is how fast networks are evaluated.
type ForwardReport struct {
	Machine Machine      `json:"machine"`
	Engines []string     `json:"engines"` // as they describe themselves
	Rows    []ForwardRow `json:"rows"`
	Roofs   []Roof       `json:"roofs,omitempty"`
}

// A ForwardRow is one configuration.
type ForwardRow struct {
	Backend         string     `json:"backend"`
	Layers          string     `json:"layers"`
	Precision       string     `json:"precision"`
	Cores           int        `json:"cores"`
	Batch           int        `json:"batch"`
	Input           Input      `json:"input"`
	Clock           Clock      `json:"clock"`
	MicrosPerState  float64    `json:"us_per_state"` // median of repetitions
	MicrosQuartiles [2]float64 `json:"us_quartiles"`
	GFLOPS          float64    `json:"gflops"` // of the products 2·in·out, whatever zeros save
	StatesPerSecond float64    `json:"states_per_s"`
	Intensity       float64    `json:"flop_per_byte,omitempty"` // not of binary inputs, for which most of the first layer isn't read
	Repetitions     int        `json:"repetitions"`
	Noisy           bool       `json:"noisy"` // quartiles more than a tenth apart
}

// Forward times forwards.
func Forward(g Grid, o MeasureOptions) (*ForwardReport, error) {
	report := &ForwardReport{Machine: ThisMachine()}
	f, err := NewForwards(g)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	samples, err := Measure(f.Timers, o)
	if err != nil {
		return nil, err
	}
	report.Engines = f.Describe()
	for i, c := range g.settings() {
		row := g.forwardRow(c, samples[i])
		row.Backend = report.Machine.Backend(c.precision)
		report.Rows = append(report.Rows, row)
	}
	report.Machine.Finish()
	return report, nil
}

// Forwards are the engines of a grid.
type Forwards struct {
	Timers  []Timer // of each configuration: by layers, precision, cores, batch
	engines []nets.Engine
}

// NewForwards makes engines on which every batch of the grid is one request.
// The rows are the same each time, and stay in the cache if they fit.
func NewForwards(g Grid) (*Forwards, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	f := &Forwards{}
	for _, shape := range g.Layers {
		x, y := g.inputs(shape.In()), make([]float32, slices.Max(g.Batches)*shape.Out())
		for _, precision := range g.precisions() {
			for _, cores := range g.Cores {
				e, err := g.engine(shape, precision, cores)
				if err != nil {
					f.Close()
					return nil, err
				}
				f.add(g, e, g.Clock(cores), x, y)
			}
		}
	}
	runtime.GC() // not while something is timed
	return f, nil
}

// engine returns an engine of the grid's batches, ready to run.
func (g Grid) engine(shape nets.MLP, precision nets.Precision, cores int) (nets.Engine, error) {
	o := nets.EngineOptions{Buckets: g.buckets(), Workers: cores, Precision: precision}
	if precision == nets.Int8 {
		o.Calibration = g.calibration(shape.In())
	}
	e, err := cpu.NewEngine(shape, o)
	if err != nil {
		return nil, err
	}
	e.Load(fresh(shape))
	e.Seal()
	return e, nil
}

// add takes an engine and makes the timers of its batches.
func (f *Forwards) add(g Grid, e nets.Engine, clock Clock, x, y []float32) {
	f.engines = append(f.engines, e)
	for _, rows := range g.Batches {
		f.Timers = append(f.Timers, clock.Timed(func() error {
			e.Forward(y, x, rows)
			return nil
		}))
	}
}

// fresh returns the parameters of an untrained network.
func fresh(shape nets.MLP) nets.Params {
	p := shape.NewParams()
	shape.Init(p, 1)
	return p
}

// Describe returns what each engine says of itself.
func (f *Forwards) Describe() []string {
	var all []string
	for _, e := range f.engines {
		all = append(all, e.Describe())
	}
	return all
}

// Close frees the engines.
func (f *Forwards) Close() {
	for _, e := range f.engines {
		e.Close()
	}
}

func (g Grid) forwardRow(c setting, s Sample) ForwardRow {
	lower, median, upper := scaled(s, 1e6/float64(c.batch))
	row := ForwardRow{
		Layers: c.shape.String(), Precision: c.precision.String(), Cores: c.cores, Batch: c.batch, Input: g.Input, Clock: g.Clock(c.cores),
		MicrosPerState: median, MicrosQuartiles: [2]float64{lower, upper},
		GFLOPS: round(rate(Flops(c.shape), median/1e6)), StatesPerSecond: round(1e6 / median),
		Repetitions: len(s), Noisy: s.Noisy(),
	}
	if g.Input != Binary {
		row.Intensity = round(intensity(c.shape, c.precision, c.batch))
	}
	return row
}

// Table returns the rows for people.
func (r *ForwardReport) Table() Table { return forwardTable(r.Rows) }

func forwardTable(rows []ForwardRow) Table {
	t := Table{Header: []string{"layers", "precision", "backend", "cores", "batch", "µs/state", "quartiles", "GFLOP/s", "states/s", ""}}
	for _, row := range rows {
		t.Rows = append(t.Rows, []string{
			row.Layers, row.Precision, row.Backend, strconv.Itoa(row.Cores), strconv.Itoa(row.Batch), Significant(row.MicrosPerState, 3), span(row.MicrosQuartiles),
			Significant(row.GFLOPS, 3), Significant(row.StatesPerSecond, 3), noise(row.Noisy),
		})
	}
	return t
}

// span writes the quartiles.
func span(q [2]float64) string { return Significant(q[0], 3) + "-" + Significant(q[1], 3) }

func noise(noisy bool) string {
	if noisy {
		return "noisy"
	}
	return ""
}

// ErrNothingToDraw is returned where a curve would have one point.
var ErrNothingToDraw = errors.New("nothing to draw: a curve needs two batches")

// Markdown returns a table for each precision, and the machine, for a page.
func (r *ForwardReport) Markdown() string {
	var precisions []string
	tables := map[string][]ForwardRow{}
	for _, row := range r.Rows {
		if tables[row.Precision] == nil {
			precisions = append(precisions, row.Precision)
		}
		tables[row.Precision] = append(tables[row.Precision], row)
	}
	var all []string
	for _, p := range precisions {
		all = append(all, forwardTable(tables[p]).Markdown())
	}
	return strings.Join(all, "\n") + r.Notes()
}

// Notes says what was measured.
func (r *ForwardReport) Notes() string {
	var clocks []Clock
	for _, row := range r.Rows {
		clocks = append(clocks, row.Clock)
	}
	return Notes(r.Machine, string(r.input())+" inputs", Clocks(clocks))
}

// input is that of all rows.
func (r *ForwardReport) input() Input { return r.Rows[0].Input }
