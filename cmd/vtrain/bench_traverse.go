package main

import (
	"errors"
	"slices"

	"vtrain/bench"
	"vtrain/cfr/run"
)

type benchTraverseCmd struct {
	Batch     []int    `placeholder:"LIST" default:"256,1024,4096,16384" help:"Games at once; default ${default}."`
	Estimator []string `placeholder:"LIST" default:"critic,outcome,external,robust" help:"How counterfactual values are estimated; default ${default}."`
	Layout    string   `default:"cards" help:"What networks see: cards, slots for all of an earlier system's inputs, or one of the slots layouts by name; default ${default}."`
	Hidden    []int    `placeholder:"LIST" default:"256,256" help:"Widths of the hidden layers of all networks; default ${default}."`
	Opponent  string   `enum:"current,average" default:"current" help:"Who plays against the traverser: the current or the average policy."`
	coresFlags
	measureFlags
	jsonFlag
	Plot string `placeholder:"FILE" help:"Draw the nodes of each level, and time by batch, .png or .svg."`
}

// section is the name of the results in a page.
func (c *benchTraverseCmd) section() string { return "traverse-" + c.Layout + "-" + c.Opponent }

// Run measures.
func (c *benchTraverseCmd) Run(s *streams) error {
	g, err := c.check()
	if err != nil {
		return err
	}
	o, finish := c.options(s)
	report, err := bench.Traverse(g, o)
	finish()
	if err != nil {
		return err
	}
	if c.Plot != "" {
		if err := report.Draw(c.Plot); err != nil {
			return err
		}
	}
	return c.write(s, c.section(), c.JSON, report)
}

// check returns what to measure: games of the default agent's rules.
func (c *benchTraverseCmd) check() (bench.TraverseGrid, error) {
	g := bench.TraverseGrid{
		Rules: run.Default().Rules.Config, Layout: layoutName(c.Layout), Hidden: c.Hidden, Estimators: c.Estimator, Opponent: c.Opponent,
		Cores: c.cores(), Batches: c.Batch, CPUTime: c.CPUTime, Memory: bench.ThisHost().Memory,
	}
	if err := g.Validate(); err != nil {
		return g, usageError{err}
	}
	if c.Plot != "" {
		if err := bench.CanDraw(c.Plot); err != nil {
			return g, usageError{err}
		}
		if len(slices.Compact(slices.Sorted(slices.Values(c.Batch)))) < 2 {
			return g, usageError{errors.New("--plot needs at least two batches")}
		}
		if err := bench.CheckWritable(c.Plot); err != nil {
			return g, err
		}
	}
	return g, c.measureFlags.check(c.section(), c.JSON)
}

// layoutName returns the layout that slots is short for, and others as they
// are.
func layoutName(name string) string {
	if name == "slots" {
		return "slots-d1s1"
	}
	return name
}
