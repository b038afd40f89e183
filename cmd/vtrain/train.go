package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"vtrain/bench"
	"vtrain/cfr/run"
	"vtrain/cfr/train"
)

type trainCmd struct {
	configFlags
	Dir        string   `name:"run" placeholder:"DIR" help:"Folder of the new run; default runs/ and the run's name or the time."`
	Minutes    *float64 `help:"Stop after so many minutes of training, evaluations included."`
	Iterations *int     `help:"Stop after so many iterations; then results don't depend on the machine's speed."`
	Resume     string   `type:"existingdir" placeholder:"DIR" help:"Continue a run from its newest checkpoint. --minutes and --iterations then are totals, earlier parts included."`
}

// Run trains.
func (c *trainCmd) Run(ctx context.Context, s *streams) error {
	if err := c.check(); err != nil {
		return usageError{err}
	}
	if c.Resume != "" {
		return c.resume(ctx, s)
	}
	return c.begin(ctx, s)
}

// check finds what is wrong with the command line alone.
func (c *trainCmd) check() error {
	switch {
	case c.Resume != "" && (c.Config != "" || len(c.Set) > 0 || c.Dir != ""):
		return errors.New("--resume continues a run as it was configured: --config, --set and --run don't go with it")
	case c.Minutes != nil && c.Iterations != nil:
		return errors.New("--minutes and --iterations don't go together: one of them ends the run")
	case c.Minutes != nil && !(*c.Minutes > 0 && *c.Minutes <= run.MaxMinutes):
		return fmt.Errorf("--minutes is %v, expected more than 0 and at most %d", *c.Minutes, run.MaxMinutes)
	case c.Iterations != nil && (*c.Iterations < 1 || *c.Iterations > run.MaxIterations):
		return fmt.Errorf("--iterations is %d, expected 1 to %d", *c.Iterations, run.MaxIterations)
	}
	return nil
}

// budget sets how long to train: what the flags say, or else the configuration,
// or else the default.
func (c *trainCmd) budget(r *run.Run) {
	switch {
	case c.Minutes != nil:
		r.Minutes, r.Iterations = *c.Minutes, 0
	case c.Iterations != nil:
		r.Minutes, r.Iterations = 0, *c.Iterations
	case r.Minutes == 0 && r.Iterations == 0:
		r.Minutes = run.DefaultMinutes
	}
}

// begin trains in a new folder, which is made once everything else is known to
// work.
func (c *trainCmd) begin(ctx context.Context, s *streams) error {
	cfg, err := c.resolve(train.Check)
	if err != nil {
		return err
	}
	c.budget(&cfg.Run)
	return session(ctx, s, cfg, false, func() (*run.Folder, error) { return run.Create(c.folder(cfg), cfg) })
}

// resume trains on in the folder of an earlier run.
func (c *trainCmd) resume(ctx context.Context, s *streams) error {
	folder, err := run.Open(c.Resume)
	if err != nil {
		return err
	}
	defer folder.Close()
	cfg := folder.Config
	c.budget(&cfg.Run)
	return session(ctx, s, cfg, true, func() (*run.Folder, error) { return folder, nil })
}

// session trains from here to the end of the budget, or to an interrupt. The
// folder is opened last.
func session(ctx context.Context, s *streams, cfg run.Config, resumed bool, open func() (*run.Folder, error)) error {
	report := &reporter{s: s}
	defer report.finish()
	ctx, stop := stopOnSignal(ctx, report)
	defer stop()
	job, err := train.New(cfg, report)
	if err != nil {
		return err
	}
	defer job.Close()
	if !resumed { // before there is a folder
		if err := job.Begin(); err != nil {
			return err
		}
	}
	folder, err := open()
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := job.Attach(folder); err != nil {
		return err
	}
	if job.Done() {
		s.log.Info("nothing to do: " + job.Spent() + " are done")
		return printResult(s.out, folder, job)
	}
	if resumed { // a run with nothing left to do keeps its configuration
		if err := folder.Reconfigure(cfg); err != nil {
			return err
		}
	}
	report.start(folder, job, resumed)
	if err := job.Run(ctx); err != nil {
		return err
	}
	report.finish()
	return printResult(s.out, folder, job)
}

func (c *trainCmd) folder(cfg run.Config) string {
	switch {
	case c.Dir != "":
		return c.Dir
	case cfg.Run.Name != "":
		return filepath.Join("runs", cfg.Run.Name)
	}
	return filepath.Join("runs", time.Now().Format("20060102-150405"))
}

// stopOnSignal returns a context that the first interrupt or SIGTERM cancels.
// The second ends the process at once, by itself: where interrupts were ignored
// when it began, their usual effect is none.
func stopOnSignal(ctx context.Context, report *reporter) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for first := true; ; first = false {
			select {
			case <-signals:
			case <-done:
				return
			}
			if !first {
				os.Exit(exitInterrupted)
			}
			cancel()
			report.stopping()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

// plotPath is where draw draws.
func plotPath(folder *run.Folder) string { return filepath.Join(folder.Plots(), "training.png") }

// draw updates the run's plot; there is none before the second evaluation.
func draw(folder *run.Folder) error {
	rows, err := run.ReadMetrics(folder.Dir)
	if err != nil {
		return err
	}
	title := "training of " + filepath.Base(folder.Dir)
	err = bench.DrawTraining(plotPath(folder), title, rows)
	if errors.Is(err, bench.ErrNoCurve) {
		return nil
	}
	return err
}
