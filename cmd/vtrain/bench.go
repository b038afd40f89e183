package main

import (
	"fmt"
	"io"
	"time"

	"vtrain/bench"
	"vtrain/nets/kernel"
)

// benchCmd has a command for each thing to measure.
type benchCmd struct {
	Forward   benchForwardCmd   `cmd:"" help:"Time the forward of networks by batch size."`
	Train     benchTrainCmd     `cmd:"" help:"Time training steps: forward, backward and optimiser."`
	Traverse  benchTraverseCmd  `cmd:"" help:"Time traversals of games, and the networks' part in them, by games at once."`
	Precision benchPrecisionCmd `cmd:"" help:"Compare an agent's policies in int8 with those in float32."`
}

// Help is about all of them.
func (benchCmd) Help() string { return kernelHelp }

const kernelHelp = "The variable " + kernel.Environment + "=avx512, avx2 or go forces the kernels that run; vtrain info says which those are."

// measureFlags say how often things are timed, and which page shows results.
type measureFlags struct {
	Repetitions int     `default:"15" help:"Repetitions of each configuration; they take turns."`
	Seconds     float64 `default:"2" help:"Time for each configuration, after which five repetitions do."`
	Markdown    string  `placeholder:"FILE" help:"Update the results in a page such as docs/performance.md."`
}

// Help is that of the commands that measure.
func (measureFlags) Help() string { return kernelHelp }

// jsonFlag is the file of commands whose other results are files too.
type jsonFlag struct {
	JSON string `name:"json" placeholder:"FILE" help:"Write results as one JSON object; - for standard output, instead of the table."`
}

const (
	maxRepetitions = 10_000
	maxSeconds     = 3600
)

// check finds what is wrong before anything is measured. The error is about the
// world, and usageError about the command line.
func (f measureFlags) check(section, json string) error {
	switch {
	case f.Repetitions < 1 || f.Repetitions > maxRepetitions:
		return usageError{fmt.Errorf("--repetitions is %d, expected 1 to %d", f.Repetitions, maxRepetitions)}
	case !(f.Seconds > 0 && f.Seconds <= maxSeconds):
		return usageError{fmt.Errorf("--seconds is %v, expected more than 0 and at most %d", f.Seconds, maxSeconds)}
	}
	if json != "" && json != "-" {
		if err := bench.CheckWritable(json); err != nil {
			return err
		}
	}
	if f.Markdown != "" {
		return bench.CheckPage(f.Markdown, section)
	}
	return nil
}

// options returns how to measure, with a bar on a terminal until finish.
func (f measureFlags) options(s *streams) (o bench.MeasureOptions, finish func()) {
	o = bench.MeasureOptions{Repetitions: f.Repetitions, Budget: time.Duration(f.Seconds * float64(time.Second))}
	w, ok := terminal(s.err)
	if !ok {
		return o, func() {}
	}
	bar := newBar(w, barSteps)
	bar.Describe("measuring")
	o.Progress = func(done float64) { _ = bar.Set(int(done * barSteps)) } // a bar that can't be drawn stops nothing
	return o, func() { _ = bar.Clear() }
}

// report is what a benchmark has found.
type report interface {
	Table() bench.Table
	Markdown() string
	Notes() string // below the table: where and how
}

// write puts a report into the page, and into a file or the output.
func (f measureFlags) write(s *streams, section, json string, r report) error {
	if f.Markdown != "" {
		if err := bench.UpdatePage(f.Markdown, section, r.Markdown()); err != nil {
			return err
		}
	}
	if json != "" {
		if err := bench.WriteJSON(json, s.out, r); err != nil || json == "-" {
			return err
		}
	}
	if err := r.Table().Write(s.out); err != nil {
		return err
	}
	_, err := io.WriteString(s.out, r.Notes())
	return err
}

// networkFlags select the networks of a grid.
type networkFlags struct {
	Layers []string `placeholder:"LIST" default:"297-512-512-512-22,440-256-256-106" help:"Shapes of networks; default ${default}, the second being the default agent's."`
	Input  string   `enum:"dense,binary" default:"dense" help:"Elements of the inputs: random numbers (dense), or a tenth ones among zeros (binary), as agents see."`
	coresFlags
}

// coresFlags select the cores, and what time is on one of them.
type coresFlags struct {
	Cores   []int `placeholder:"LIST" help:"Numbers of cores; default 1, 2, 4 and so on to those granted."`
	CPUTime bool  `name:"cpu-time" default:"true" negatable:"" help:"On one core, measure processor time: what others do there then doesn't count."`
}

// cores returns the numbers of cores.
func (f coresFlags) cores() []int {
	if len(f.Cores) == 0 {
		return bench.SomeCores()
	}
	return f.Cores
}

// grid returns what to measure, checked.
func (f networkFlags) grid(batches []int) (bench.Grid, error) {
	g := bench.Grid{Cores: f.cores(), Batches: batches, Input: bench.Input(f.Input), CPUTime: f.CPUTime}
	for _, text := range f.Layers {
		shape, err := bench.ParseLayers(text)
		if err != nil {
			return g, usageError{err}
		}
		g.Layers = append(g.Layers, shape)
	}
	if err := g.Validate(); err != nil {
		return g, usageError{err}
	}
	return g, nil
}
