package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"vtrain/cfr"
	"vtrain/cfr/run"
	"vtrain/encode"
	"vtrain/nets"
	"vtrain/nets/cpu"
	"vtrain/rules"
	"vtrain/rules/record"
	"vtrain/vec"
)

// A PrecisionReport is what evaluating an agent's networks in int8 changes.
type PrecisionReport struct {
	Machine    Machine        `json:"machine"`
	Agent      string         `json:"agent"` // folder of the checkpoint
	Iterations int            `json:"iterations"`
	Decisions  int64          `json:"decisions"` // that it has seen in training
	States     int            `json:"states"`    // that policies are compared in
	Engines    []string       `json:"engines"`
	Rows       []PrecisionRow `json:"rows"`
}

// A PrecisionRow is one policy. Distances are total variations: half the sum
// of the differences of probabilities, which is the share of decisions that
// change, at least.
type PrecisionRow struct {
	Policy    string  `json:"policy"` // run.Average or run.Current
	Layers    string  `json:"layers"`
	Mean      float64 `json:"mean_total_variation"`
	Median    float64 `json:"p50_total_variation"`
	P90       float64 `json:"p90_total_variation"`
	P99       float64 `json:"p99_total_variation"`
	Max       float64 `json:"max_total_variation"`
	Far       float64 `json:"states_above_tenth"`          // share of states whose distance is above 0.1
	Likeliest float64 `json:"states_of_another_favourite"` // share of states whose likeliest action is another
	Batch     int     `json:"batch"`
	Clock     Clock   `json:"clock"`
	Backend   string  `json:"backend"` // in float32
	InBytes   string  `json:"int8_backend"`
	Float32   float64 `json:"float32_us_per_state"` // on one core
	Int8      float64 `json:"int8_us_per_state"`
	Noisy     bool    `json:"noisy"`
}

// precisionBatch is the most rows of a forward.
const precisionBatch = 1024

// Precision compares the policies of an agent in float32 and in int8, in that
// many states at equal distances in recorded games of the rules that it was
// trained on, and times both.
func Precision(saved *run.Checkpoint, games []*record.Game, states int, o MeasureOptions) (*PrecisionReport, error) {
	layout, err := encode.New(saved.Config.Encoding.Layout, saved.Config.Rules.Config)
	if err != nil {
		return nil, err
	}
	recorded, err := spread(saved, games, states)
	if err != nil {
		return nil, err
	}
	c := &comparison{saved: saved, state: encode.Wrap(layout, recorded), options: o}
	// From new games: recorded ones can't be dealt again.
	c.calibration = cfr.Calibration(encode.NewBatch(layout, nil), vec.Information, nets.Int8, saved.Config.Run.Seed)
	r := &PrecisionReport{
		Machine: ThisMachine(), Agent: saved.Dir, Iterations: saved.State.Iteration, Decisions: saved.State.Decisions, States: states,
	}
	learner := saved.Config.Learner
	for _, p := range []struct {
		name, network string
		head          cfr.Head
	}{{run.Average, cfr.StrategyNet, cfr.Logits}, {run.Current, learner.CurrentNet(), learner.CurrentHead()}} {
		row, engines, err := c.row(p.network, p.head)
		if err != nil {
			return nil, err
		}
		row.Policy, row.Backend, row.InBytes = p.name, r.Machine.Backend(nets.Float32), r.Machine.Backend(nets.Int8)
		r.Rows, r.Engines = append(r.Rows, row), append(r.Engines, engines...)
	}
	r.Machine.Finish()
	return r, nil
}

// spread returns states at equal distances in the games that an agent can play.
func spread(saved *run.Checkpoint, games []*record.Game, states int) (*rules.Games, error) {
	var all []record.Spot
	own, differ := saved.Config.Rules.Config, errors.New("there are none")
	for _, g := range games {
		if differ = run.SameRules(g.Config, own); differ != nil {
			continue
		}
		for ply := range g.Plies {
			all = append(all, record.Spot{Game: g, Ply: ply})
		}
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%s was trained on %s rules, none of the recorded games is: %w", saved.Dir, own.Name(), differ)
	case states < 1 || len(all) < states:
		return nil, fmt.Errorf("%d recorded states of %s rules, expected at least %d", len(all), own.Name(), max(states, 1))
	}
	spots := make([]record.Spot, states)
	for i := range spots {
		spots[i] = all[i*len(all)/states]
	}
	return record.Batch(spots, nil)
}

// A comparison is an agent and the states that it is looked at in.
type comparison struct {
	saved       *run.Checkpoint
	state       *encode.Batch
	calibration []float32
	options     MeasureOptions
}

// network is one network.
type network struct {
	shape  nets.MLP
	params nets.Params
}

func (c *comparison) row(name string, head cfr.Head) (PrecisionRow, []string, error) {
	params, ok := c.saved.Network(name)
	if !ok {
		return PrecisionRow{}, nil, fmt.Errorf("%s: has no %s network", c.saved.Dir, name)
	}
	n := network{cfr.Shape(c.state, c.saved.Config.Nets.Hidden, vec.Information), params}
	row := PrecisionRow{Layers: n.shape.String()}
	if err := c.distances(&row, n, head); err != nil {
		return row, nil, err
	}
	engines, err := c.time(&row, n)
	return row, engines, err
}

// distances compares the policies of all states.
func (c *comparison) distances(row *PrecisionRow, n network, head cfr.Head) error {
	rows, actions := vec.AllRows(nil, c.state.Rows()), c.state.Actions()
	var policies [2][]float32
	for i, precision := range []nets.Precision{nets.Float32, nets.Int8} {
		fallback, err := cfr.ParseFallback(c.saved.Config.Learner.Fallback)
		if err != nil {
			return err
		}
		p, err := cfr.NewPolicy(n.shape, n.params, precision, c.calibration, head, fallback, precisionBatch, 0, nil)
		if err != nil {
			return err
		}
		policies[i] = make([]float32, len(rows)*actions)
		p.Probabilities(policies[i], c.state, rows)
		p.Close()
	}
	row.compare(policies[0], policies[1], actions)
	return nil
}

// compare sets what two policies [states,A] differ in.
func (r *PrecisionRow) compare(a, b []float32, actions int) {
	const far = 0.1
	states := float64(len(a) / actions)
	var distances []float64
	for ; len(a) > 0; a, b = a[actions:], b[actions:] {
		d := distance(a[:actions], b[:actions])
		distances = append(distances, d)
		r.Mean += d / states
		if d > far {
			r.Far += 1 / states
		}
		if favourite(a[:actions]) != favourite(b[:actions]) {
			r.Likeliest += 1 / states
		}
	}
	slices.Sort(distances)
	r.Median, r.P90, r.P99 = round(quantile(distances, 0.5)), round(quantile(distances, 0.9)), round(quantile(distances, 0.99))
	r.Mean, r.Max = round(r.Mean), round(distances[len(distances)-1])
}

// distance returns the total variation between two policies in a state.
func distance(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += math.Abs(float64(a[i])-float64(b[i])) / 2
	}
	return sum
}

// favourite returns the first of the likeliest actions.
func favourite(p []float32) int { return slices.Index(p, slices.Max(p)) }

// time times forwards of observed rows on one core, and returns what the
// engines say of themselves.
func (c *comparison) time(row *PrecisionRow, n network) ([]string, error) {
	rows := vec.AllRows(nil, min(precisionBatch, c.state.Rows()))
	row.Batch, row.Clock = len(rows), Grid{CPUTime: true}.Clock(1)
	x, y := make([]float32, len(rows)*n.shape.In()), make([]float32, len(rows)*n.shape.Out())
	c.state.Observe(x, vec.Information, rows)
	var timers []Timer
	var names []string
	for _, precision := range []nets.Precision{nets.Float32, nets.Int8} {
		e, err := cpu.NewEngine(n.shape, nets.EngineOptions{Buckets: []int{precisionBatch}, Workers: 1, Precision: precision, Calibration: c.calibration})
		if err != nil {
			return nil, err
		}
		defer e.Close()
		e.Load(n.params)
		e.Seal()
		names = append(names, e.Describe())
		timers = append(timers, row.Clock.Timed(func() error {
			e.Forward(y, x, len(rows))
			return nil
		}))
	}
	samples, err := Measure(timers, c.options)
	if err != nil {
		return nil, err
	}
	_, row.Float32, _ = scaled(samples[0], 1e6/float64(len(rows)))
	_, row.Int8, _ = scaled(samples[1], 1e6/float64(len(rows)))
	row.Noisy = samples[0].Noisy() || samples[1].Noisy()
	return names, nil
}

// Table returns the rows for people.
func (r *PrecisionReport) Table() Table {
	t := Table{Header: []string{
		"policy", "layers", "mean distance", "50%", "90%", "99%", "max", "above 0.1", "other favourite", "backend", "float32 µs/state", "int8 backend", "int8 µs/state", "times", "",
	}}
	for _, row := range r.Rows {
		line := []string{row.Policy, row.Layers}
		for _, v := range []float64{row.Mean, row.Median, row.P90, row.P99, row.Max} {
			line = append(line, strconv.FormatFloat(v, 'f', 4, 64))
		}
		for _, v := range []float64{row.Far, row.Likeliest} {
			line = append(line, strconv.FormatFloat(100*v, 'f', 1, 64)+"%")
		}
		t.Rows = append(t.Rows, append(line,
			row.Backend, Significant(row.Float32, 3), row.InBytes, Significant(row.Int8, 3), Significant(row.Float32/row.Int8, 3), noise(row.Noisy)))
	}
	return t
}

// Markdown returns the rows, the agent and the machine for a page.
func (r *PrecisionReport) Markdown() string {
	return r.Table().Markdown() + r.Notes()
}

// Notes says what was measured, and of whom.
func (r *PrecisionReport) Notes() string {
	var clocks []Clock
	for _, row := range r.Rows {
		clocks = append(clocks, row.Clock)
	}
	return Notes(r.Machine, "recorded states", Clocks(clocks)) +
		fmt.Sprintf("Agent: trained for %s, %.1f million decisions. States: %d.\n", counted(r.Iterations, "iteration"), float64(r.Decisions)/1e6, r.States)
}
