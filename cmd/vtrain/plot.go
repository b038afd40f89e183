package main

import (
	"fmt"
	"path/filepath"

	"vtrain/bench"
	"vtrain/cfr/run"
)

type plotCmd struct {
	Runs   []string `arg:"" name:"run" type:"existingdir" help:"Folders of runs."`
	Out    string   `short:"O" default:"runs.png" help:"File to draw, .png or .svg; default ${default}."`
	Policy string   `default:"average" enum:"average,current" help:"Policy of the runs: average (default) or current."`
	Points bool     `help:"Draw points a game instead of the share of games won."`
	Time   bool     `help:"Draw over minutes instead of decisions seen."`
}

// Run draws the runs on shared axes.
func (c *plotCmd) Run(s *streams) error {
	if err := bench.CanDraw(c.Out); err != nil {
		return usageError{err}
	}
	var runs []bench.RunLog
	for _, dir := range c.Runs {
		rows, err := run.ReadMetrics(dir)
		if err != nil {
			return fmt.Errorf("run folder %s: %w", dir, err)
		}
		runs = append(runs, bench.RunLog{Name: filepath.Base(dir), Rows: rows})
	}
	if err := bench.DrawRuns(c.Out, runs, bench.RunsOptions{Policy: c.Policy, Points: c.Points, Time: c.Time}); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.out, c.Out)
	return err
}
