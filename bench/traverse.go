package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/nets"
	"vtrain/rules"
	"vtrain/vec"
)

// A TraverseReport is how fast games are traversed.
type TraverseReport struct {
	Machine  Machine       `json:"machine"`
	Opponent string        `json:"opponent"`
	MaxTurns int           `json:"max_turns"` // of a game, two plies each
	Rows     []TraverseRow `json:"rows"`

	levels [][]float64 // nodes of each level, mean over the traversals of a row
}

// A TraverseRow is one configuration. A state is a decision, whoever makes it.
type TraverseRow struct {
	Estimator           string         `json:"estimator"`
	Backend             string         `json:"backend"`
	Layout              string         `json:"layout"`
	Layers              string         `json:"layers"` // of the regret network
	Batch               int            `json:"batch"`  // games at once
	Cores               int            `json:"cores"`
	Clock               Clock          `json:"clock"`
	States              int            `json:"states"`       // of a traversal, mean
	MicrosPerState      float64        `json:"us_per_state"` // medians of repetitions
	MicrosQuartiles     [2]float64     `json:"us_quartiles"`
	ForwardMicros       float64        `json:"forward_us_per_state"` // in the networks, of the same traversals
	Ratio               float64        `json:"ratio"`                // end to end by that, by repetition
	RatioQuartiles      [2]float64     `json:"ratio_quartiles"`
	MeanRows            float64        `json:"mean_rows"` // of a forward of the regret network
	MaxRows             int            `json:"max_rows"`
	TraversalsPerSecond float64        `json:"traversals_per_s"` // games from deal to end
	NodesPerSecondCore  float64        `json:"nodes_per_s_core"` // states a second and core
	Nodes               int            `json:"node_budget"`
	Tight               float64        `json:"held_back"` // decisions of a traversal that would have branched, but for that
	Shares              TraverseShares `json:"shares"`
	Repetitions         int            `json:"repetitions"`
	Noisy               bool           `json:"noisy"` // quartiles of the time more than a tenth apart
}

// TraverseShares are the shares of a traversal's time by what it was spent on.
type TraverseShares struct {
	Legal   float64 `json:"legal"`
	Encode  float64 `json:"encode"`
	Forward float64 `json:"forward"`
	Match   float64 `json:"match"` // regret matching, drawing actions, and what opponents decide
	Step    float64 `json:"step"`
	Record  float64 `json:"record"`
	Backup  float64 `json:"backup"`
}

// TraverseGrid is what is timed of traversals: each estimator on each number of
// cores for each batch of games, with untrained networks.
type TraverseGrid struct {
	Rules      rules.Config
	Layout     string // as encode knows them
	Hidden     []int  // widths of all networks
	Estimators []string
	Opponent   string // of the traverser, one of those that a learner has itself
	Cores      []int
	Batches    []int  // games at once
	CPUTime    bool   // on one core, measure processor time
	Memory     uint64 // bytes that there are, 0 if unknown
}

// How external and robust branch: at one decision of a game, among the first
// plies. At each of a game as long as these they would never end.
const (
	branchPlies = 100
	branchMost  = 3 // actions that robust tries
)

// Traverse times traversals.
func Traverse(g TraverseGrid, o MeasureOptions) (*TraverseReport, error) {
	report := &TraverseReport{Machine: ThisMachine(), Opponent: g.Opponent, MaxTurns: g.Rules.MaxTurns}
	s, err := newCourses(g)
	if err != nil {
		return nil, err
	}
	defer s.close()
	limit := debug.SetMemoryLimit(-1) // which only asks
	debug.SetMemoryLimit(min(limit, g.most()))
	defer debug.SetMemoryLimit(limit)
	if err := s.measure(o); err != nil {
		return nil, err
	}
	for _, c := range s.all {
		row := c.row()
		row.Backend = report.Machine.Backend(nets.Float32)
		report.Rows = append(report.Rows, row)
		report.levels = append(report.levels, c.levels())
	}
	report.Machine.Finish()
	return report, nil
}

// Validate returns an error that names the value that can't be measured here.
func (g TraverseGrid) Validate() error {
	_, err := g.courses()
	return err
}

// A course is one configuration: its learner, while it has one, and what was
// measured of it.
type course struct {
	layout  string
	shape   nets.MLP
	options cfr.Options
	plan    cfr.Plan
	cores   int
	clock   Clock

	learner *cfr.Learner // nil when memory was needed for others
	bytes   int64        // that its traversals take: guessed, then known
	runs    uint64       // traversals so far; their seeds are 1, 2, 3 and so on
	last    tally        // of the last call of the timer
	kept    []tally      // of repetitions
}

// A tally sums up some traversals.
type tally struct {
	runs          int
	clock, wall   float64 // seconds
	states, tight int
	forwards      int
	rows, maxRows int
	levels        []int
	stages        cfr.Stages
}

// Courses are all configurations. Together they may need more memory than there
// is, so the largest make room for others and are brought back when it is their
// turn.
type courses struct {
	TraverseGrid
	layout encode.Layout
	pools  map[int]*vec.Pool
	all    []*course
}

func newCourses(g TraverseGrid) (*courses, error) {
	all, err := g.courses()
	if err != nil {
		return nil, err
	}
	s := &courses{TraverseGrid: g, layout: g.layout(), pools: map[int]*vec.Pool{}, all: all}
	for _, cores := range g.Cores {
		if s.pools[cores] == nil {
			s.pools[cores] = vec.NewPool(cores)
		}
	}
	return s, nil
}

// layout must not be asked for before its name is known to be valid.
func (g TraverseGrid) layout() encode.Layout {
	l, err := encode.New(g.Layout, g.Rules)
	if err != nil {
		panic(err)
	}
	return l
}

// courses lists the configurations in the order of the rows.
func (g TraverseGrid) courses() ([]*course, error) {
	if len(g.Estimators) == 0 || len(g.Cores) == 0 || len(g.Batches) == 0 {
		return nil, errors.New("nothing to measure: no estimator, no cores or no batch")
	}
	if err := checkCores(g.Cores); err != nil {
		return nil, err
	}
	layout, err := encode.New(g.Layout, g.Rules)
	if err != nil {
		return nil, err
	}
	game := encode.NewBatch(layout, nil)
	shape := cfr.Shape(game, g.Hidden, vec.Information)
	var all []*course
	for _, estimator := range g.Estimators {
		for _, cores := range g.Cores {
			for _, batch := range g.Batches {
				if batch < 1 || batch > maxBatch {
					return nil, fmt.Errorf("batch %d, expected 1 to %d", batch, maxBatch)
				}
				c := &course{layout: layout.Name(), shape: shape, cores: cores, clock: Grid{CPUTime: g.CPUTime}.Clock(cores)}
				if err := c.set(g, game, estimator, batch); err != nil {
					return nil, fmt.Errorf("batch %d of %s: %w", batch, estimator, err)
				}
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// forgetful learners remember nothing: they only traverse.
var forgetful = cfr.Memory{StrategyRows: 1, RegretRows: 1}

// set chooses options: as many nodes as no branching needs, and for estimators
// that branch as many as a quarter of the memory holds.
func (c *course) set(g TraverseGrid, game vec.Batch, estimator string, batch int) error {
	o := cfr.OptionsOf(cfr.DeepCFR)
	o.Estimator, o.Games, o.Opponents = estimator, batch, []string{g.Opponent}
	o.Branch, o.BranchOnce, o.BranchPlies = branchMost, true, branchPlies
	o.Nodes = batch * (game.Horizon() + 1)
	plan, err := cfr.NewPlan(game, g.Hidden, forgetful, o)
	if err != nil {
		return err
	}
	each := plan.SampleBytes / int64(plan.Nodes)
	if g.Memory > 0 && uint64(plan.SampleBytes) > g.Memory {
		return fmt.Errorf("%d nodes at most, of %d bytes each: more than the %.1f GB of memory; expected at most %d games",
			plan.Nodes, each, float64(g.Memory)/1e9, g.Memory/uint64(each)/uint64(game.Horizon()+1))
	}
	if estimator == cfr.External || estimator == cfr.Robust {
		o.Nodes = max(o.Nodes, int(min(1<<30, int64(math.MaxInt32/game.MaxLegal()), g.half()/2/each)))
		if plan, err = cfr.NewPlan(game, g.Hidden, forgetful, o); err != nil {
			return err
		}
	}
	// Untrained players end their games before half of what they may last, on average.
	c.options, c.plan, c.bytes = o, plan, plan.SampleBytes/2
	return nil
}

// half returns half of the memory, what learners may hold together.
func (g TraverseGrid) half() int64 {
	if g.Memory == 0 {
		return math.MaxInt64
	}
	return int64(g.Memory / 2)
}

// most returns the memory from which garbage is collected at all cost.
func (g TraverseGrid) most() int64 {
	if g.Memory == 0 {
		return math.MaxInt64
	}
	return int64(g.Memory / 4 * 3)
}

// measure times all, and keeps what the traversals of each repetition were
// like.
func (s *courses) measure(o MeasureOptions) error {
	var latest *course
	var timers []Timer
	for _, c := range s.all {
		timers = append(timers, func(n int) (time.Duration, error) {
			latest = c
			if err := s.bring(c); err != nil {
				return 0, err
			}
			return c.traverse(n)
		})
	}
	progress := o.Progress
	o.Progress = func(done float64) { // after each repetition
		latest.kept = append(latest.kept, latest.last)
		if progress != nil {
			progress(done)
		}
	}
	_, err := Measure(timers, o)
	return err
}

// traverse traverses n times, each time from another seed.
func (c *course) traverse(n int) (time.Duration, error) {
	c.last = tally{}
	runtime.GC() // not while something is timed
	wall, clock := Wall.now(), c.clock.now()
	for range n {
		c.runs++
		t, err := c.learner.Traverse(context.Background(), c.runs)
		if err != nil {
			return 0, err
		}
		c.last.add(t)
		c.bytes = c.size(t)
	}
	took := c.clock.now() - clock
	c.last.clock, c.last.wall = took.Seconds(), (Wall.now() - wall).Seconds()
	return took, nil
}

func (t *tally) add(r cfr.Traversed) {
	t.runs++
	t.states += r.States
	t.tight += r.Tree.Tight
	t.forwards += r.Tree.Forwards
	t.rows += r.Tree.Rows
	t.maxRows = max(t.maxRows, r.Tree.MaxRows)
	for len(t.levels) < len(r.Tree.Levels) {
		t.levels = append(t.levels, 0)
	}
	for d, n := range r.Tree.Levels {
		t.levels[d] += n
	}
	t.stages = sumStages(t.stages, r.Stages)
}

// sumStages adds up the stages of traversals.
func sumStages(a, b cfr.Stages) cfr.Stages {
	return cfr.Stages{
		Legal: a.Legal + b.Legal, Encode: a.Encode + b.Encode, Forward: a.Forward + b.Forward, Match: a.Match + b.Match,
		Step: a.Step + b.Step, Record: a.Record + b.Record, Backup: a.Backup + b.Backup,
	}
}

// bring makes the learner of a configuration unless it has one. One that is
// back from making room first grows the memory that it had: what is timed must
// not be that.
func (s *courses) bring(c *course) error {
	if c.learner != nil {
		return nil
	}
	s.makeRoom(c.bytes)
	pool := s.pools[c.cores]
	var err error
	if c.learner, err = cfr.NewLearner(encode.NewBatch(s.layout, pool), cfr.Nets{Hidden: s.Hidden}, forgetful, c.options, learnerSeed, pool); err != nil {
		return err
	}
	if c.runs > 0 {
		_, err = c.learner.Traverse(context.Background(), c.runs)
	}
	return err
}

// learnerSeed is that of the untrained networks.
const learnerSeed = 1

// size returns the bytes that a traversal takes.
func (c *course) size(t cfr.Traversed) int64 {
	return int64(t.Tree.Nodes()) * c.plan.SampleBytes / int64(c.plan.Nodes)
}

// makeRoom dismisses the largest until so many bytes more fit.
func (s *courses) makeRoom(bytes int64) {
	for {
		used, largest := bytes, (*course)(nil)
		for _, c := range s.all {
			if c.learner != nil {
				used += c.bytes
				if largest == nil || c.bytes > largest.bytes {
					largest = c
				}
			}
		}
		if used <= s.half() || largest == nil {
			return
		}
		largest.dismiss()
		runtime.GC() // before the next one asks for memory
	}
}

func (c *course) dismiss() {
	if c.learner != nil {
		c.learner.Close()
		c.learner = nil
	}
}

func (s *courses) close() {
	for _, c := range s.all {
		c.dismiss()
	}
	for _, p := range s.pools {
		p.Close()
	}
}

// row makes sense of the repetitions. Stages are known by the time that passed,
// of which the clock's is a part; so forwards have their share of it.
func (c *course) row() TraverseRow {
	var micros, forward, ratio Sample
	var sum tally
	for _, t := range c.kept {
		each := 1e6 * t.clock / float64(t.states)
		micros, forward = append(micros, each), append(forward, each*t.stages.Forward/t.wall)
		ratio = append(ratio, t.wall/t.stages.Forward)
		sum.runs, sum.states, sum.tight, sum.wall = sum.runs+t.runs, sum.states+t.states, sum.tight+t.tight, sum.wall+t.wall
		sum.forwards, sum.rows, sum.maxRows = sum.forwards+t.forwards, sum.rows+t.rows, max(sum.maxRows, t.maxRows)
		sum.stages = sumStages(sum.stages, t.stages)
	}
	lower, median, upper := scaled(micros, 1)
	ratioLower, ratioMedian, ratioUpper := scaled(ratio, 1)
	states := float64(sum.states) / float64(sum.runs)
	return TraverseRow{
		Estimator: c.options.Estimator, Layout: c.layout, Layers: c.shape.String(), Batch: c.options.Games, Cores: c.cores, Clock: c.clock,
		States: int(math.Round(states)), MicrosPerState: median, MicrosQuartiles: [2]float64{lower, upper},
		ForwardMicros: round(forward.Median()), Ratio: ratioMedian, RatioQuartiles: [2]float64{ratioLower, ratioUpper},
		MeanRows: round(float64(sum.rows) / float64(max(sum.forwards, 1))), MaxRows: sum.maxRows,
		TraversalsPerSecond: round(float64(c.options.Games) / states * 1e6 / median), NodesPerSecondCore: round(1e6 / median / float64(c.cores)),
		Nodes: c.options.Nodes, Tight: round(float64(sum.tight) / float64(sum.runs)), Shares: sharesOf(sum.stages, sum.wall),
		Repetitions: len(micros), Noisy: micros.Noisy(),
	}
}

func sharesOf(s cfr.Stages, wall float64) TraverseShares {
	return TraverseShares{
		Legal: round(s.Legal / wall), Encode: round(s.Encode / wall), Forward: round(s.Forward / wall), Match: round(s.Match / wall),
		Step: round(s.Step / wall), Record: round(s.Record / wall), Backup: round(s.Backup / wall),
	}
}

// levels returns the mean nodes of each level.
func (c *course) levels() []float64 {
	var all []float64
	runs := 0
	for _, t := range c.kept {
		runs += t.runs
		for len(all) < len(t.levels) {
			all = append(all, 0)
		}
		for d, n := range t.levels {
			all[d] += float64(n)
		}
	}
	for d := range all {
		all[d] /= float64(runs)
	}
	return all
}

// Table returns the rows for people.
func (r *TraverseReport) Table() Table {
	t := Table{Header: []string{
		"estimator", "layers", "cores", "games", "states", "µs/state", "quartiles", "forward µs", "ratio", "mean rows", "max rows", "games/s", "states/s/core",
		"legal", "encode", "forward", "match", "step", "record", "backup", "",
	}}
	for _, row := range r.Rows {
		s := row.Shares
		line := []string{
			row.Estimator, row.Layers, strconv.Itoa(row.Cores), strconv.Itoa(row.Batch), strconv.Itoa(row.States), Significant(row.MicrosPerState, 3), span(row.MicrosQuartiles),
			Significant(row.ForwardMicros, 3), Significant(row.Ratio, 3), Significant(row.MeanRows, 3), strconv.Itoa(row.MaxRows),
			Significant(row.TraversalsPerSecond, 3), Significant(row.NodesPerSecondCore, 3),
		}
		for _, share := range []float64{s.Legal, s.Encode, s.Forward, s.Match, s.Step, s.Record, s.Backup} {
			line = append(line, strconv.FormatFloat(100*share, 'f', 1, 64)+"%")
		}
		t.Rows = append(t.Rows, append(line, row.remarks()))
	}
	return t
}

// remarks says what to keep in mind with a row.
func (row TraverseRow) remarks() string {
	switch {
	case row.Tight > 0 && row.Noisy:
		return "noisy, held back"
	case row.Tight > 0:
		return "held back"
	}
	return noise(row.Noisy)
}

// Markdown returns the rows and the machine for a page.
func (r *TraverseReport) Markdown() string { return r.Table().Markdown() + r.Notes() }

// Notes says what was measured.
func (r *TraverseReport) Notes() string {
	var clocks []Clock
	heldBack := ""
	for _, row := range r.Rows {
		clocks = append(clocks, row.Clock)
		if row.Tight > 0 {
			heldBack = "Held back: nodes for this machine's memory don't allow all games to branch.\n"
		}
	}
	return Notes(r.Machine, "untrained networks, games of up to "+counted(r.MaxTurns, "turn"), "opponent "+r.Opponent, Clocks(clocks)) + heldBack
}

// Draw writes diagrams to a PNG or SVG file: the nodes of each level for each
// batch, and for each number of cores the time a state over the batch, with
// that of the networks alone.
func (r *TraverseReport) Draw(path string) error {
	panels := []Panel{r.frontiers()}
	for _, cores := range r.cores() {
		p := Panel{Title: "Traversal on " + counted(cores, "core"), X: "batch [games]", Y: "µs per state", Log: true}
		for i, estimator := range r.estimators() {
			whole, alone := Curve{Label: estimator, Color: i}, Curve{Label: estimator + ", networks alone", Color: i, Dashed: true}
			for _, row := range r.sorted() {
				if row.Estimator == estimator && row.Cores == cores {
					whole.X, whole.Y = append(whole.X, float64(row.Batch)), append(whole.Y, row.MicrosPerState)
					alone.X, alone.Y = append(alone.X, float64(row.Batch)), append(alone.Y, row.ForwardMicros)
				}
			}
			if len(whole.X) < 2 {
				return fmt.Errorf("plot %s: %w", path, ErrNothingToDraw)
			}
			p.Curves = append(p.Curves, whole, alone)
		}
		panels = append(panels, p)
	}
	return Draw(path, "", panels)
}

// frontiers shows the nodes of each level, which don't depend on the cores. A
// curve begins at its batch.
func (r *TraverseReport) frontiers() Panel {
	p := Panel{Title: "Rows at once: nodes of each level, from as many as games are dealt", X: "level, 1 being the deal", Y: "nodes", Log: true}
	for i, row := range r.Rows {
		if row.Cores != r.Rows[0].Cores {
			continue
		}
		c := Curve{Label: row.Estimator, Color: slices.Index(r.estimators(), row.Estimator), Plain: true}
		for d, n := range r.levels[i] {
			c.X, c.Y = append(c.X, float64(d+1)), append(c.Y, n)
		}
		p.Curves = append(p.Curves, c)
	}
	return p
}

// sorted returns the rows by ascending batch.
func (r *TraverseReport) sorted() []TraverseRow {
	rows := slices.Clone(r.Rows)
	slices.SortStableFunc(rows, func(a, b TraverseRow) int { return cmp.Compare(a.Batch, b.Batch) })
	return rows
}

// cores returns the numbers of cores in the order of the rows.
func (r *TraverseReport) cores() []int {
	return distinct(r.Rows, func(row TraverseRow) int { return row.Cores })
}

func (r *TraverseReport) estimators() []string {
	return distinct(r.Rows, func(row TraverseRow) string { return row.Estimator })
}

// distinct returns what rows have, each value once.
func distinct[R any, V comparable](rows []R, value func(R) V) []V {
	var all []V
	for _, row := range rows {
		if v := value(row); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}
