package main

import "vtrain/bench"

type benchTrainCmd struct {
	networkFlags
	Batch []int `placeholder:"LIST" default:"256,1024,4096" help:"Batch sizes; default ${default}."`
	measureFlags
	jsonFlag
}

// section is the name of the results in a page.
func (c *benchTrainCmd) section() string { return "train-" + c.Input }

// Run measures.
func (c *benchTrainCmd) Run(s *streams) error {
	g, err := c.grid(c.Batch)
	if err != nil {
		return err
	}
	if err := c.check(c.section(), c.JSON); err != nil {
		return err
	}
	o, finish := c.options(s)
	report, err := bench.Train(g, o)
	finish()
	if err != nil {
		return err
	}
	return c.write(s, c.section(), c.JSON, report)
}
