package main

import (
	"errors"
	"fmt"

	"vtrain/bench"
	"vtrain/nets"
	"vtrain/nets/kernel"
)

type benchForwardCmd struct {
	networkFlags
	Batch     []int    `placeholder:"LIST" default:"1,2,4,8,16,64,256,1024,4096,16384,65536" help:"Batch sizes; default ${default}."`
	Precision []string `placeholder:"LIST" default:"float32" help:"Numbers to compute in, float32, int8 or both; default ${default}."`
	measureFlags
	jsonFlag
	Plot string `placeholder:"FILE" help:"Draw time by batch and a roofline, .png or .svg."`
}

// section is the name of the results in a page.
func (c *benchForwardCmd) section() string { return "forward-" + c.Input }

// Run measures.
func (c *benchForwardCmd) Run(s *streams) error {
	g, err := c.check()
	if err != nil {
		return err
	}
	o, finish := c.options(s)
	report, err := bench.Forward(g, o)
	finish()
	if err != nil {
		return err
	}
	if c.Plot != "" {
		if err := c.draw(report); err != nil {
			return err
		}
	}
	return c.write(s, c.section(), c.JSON, report)
}

func (c *benchForwardCmd) check() (bench.Grid, error) {
	g, err := c.grid(c.Batch)
	if err != nil {
		return g, err
	}
	for _, name := range c.Precision {
		p, err := nets.ParsePrecision(name)
		if err != nil {
			return g, usageError{fmt.Errorf("--precision: %w", err)}
		}
		g.Precisions = append(g.Precisions, p)
	}
	if err := g.Validate(); err != nil { // int8 takes more memory
		return g, usageError{err}
	}
	if c.Plot != "" {
		if err := bench.CanDraw(c.Plot); err != nil {
			return g, usageError{err}
		}
		if len(c.Batch) < 2 {
			return g, usageError{errors.New("--plot needs at least two batches")}
		}
		if err := bench.CheckWritable(c.Plot); err != nil {
			return g, err
		}
	}
	return g, c.measureFlags.check(c.section(), c.JSON)
}

// draw measures the roofs as well, which only the figure shows.
func (c *benchForwardCmd) draw(report *bench.ForwardReport) error {
	if !report.HasRoofline() {
		return report.Draw(c.Plot)
	}
	set, err := kernel.Default()
	if err != nil {
		return err
	}
	if err := report.MeasureRoofs(set.PeakGFLOPS); err != nil {
		return err
	}
	return report.Draw(c.Plot)
}
