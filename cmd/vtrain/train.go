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

// defaultMinutes is the budget of a run that was given none.
const defaultMinutes = 15

type trainCmd struct {
	configFlags
	Run_       string  `name:"run" placeholder:"DIR" help:"Folder of the new run; default runs/ and the run's name or the time."`
	Minutes    float64 `help:"Stop after so many minutes of training, evaluations included."`
	Iterations int     `help:"Stop after so many iterations; then results don't depend on the machine's speed."`
	Resume     string  `type:"existingdir" placeholder:"DIR" help:"Continue a run from its newest checkpoint. --minutes and --iterations then are totals, earlier parts included."`
}

// Run trains.
func (c *trainCmd) Run(ctx context.Context, s *streams) error {
	folder, err := c.open()
	if err != nil {
		return err
	}
	defer folder.Close()
	report := newReporter(s, folder)
	defer report.finish()
	session, err := train.New(folder, report)
	if err != nil {
		return err
	}
	defer session.Close()
	report.start(session)
	ctx, stop := stopOnSignal(ctx, report)
	defer stop()
	if err := session.Run(ctx); err != nil {
		return err
	}
	report.finish()
	return report.result()
}

// open returns the folder of a new run or of one to continue.
func (c *trainCmd) open() (*run.Folder, error) {
	if c.Resume != "" {
		return c.resume()
	}
	cfg, err := c.resolve()
	if err != nil {
		return nil, err
	}
	if err := c.budget(&cfg); err != nil {
		return nil, err
	}
	return run.Create(c.folder(cfg), cfg)
}

func (c *trainCmd) resume() (*run.Folder, error) {
	if c.Config != "" || len(c.Set) > 0 || c.Run_ != "" {
		return nil, usageError{errors.New("--resume continues a run as it was configured: --config, --set and --run don't go with it")}
	}
	folder, err := run.Open(c.Resume)
	if err != nil {
		return nil, err
	}
	cfg := folder.Config
	if err = c.budget(&cfg); err == nil {
		err = folder.Reconfigure(cfg)
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	return folder, nil
}

// budget sets how long to train: what the flags say, or else the configuration,
// or else the default.
func (c *trainCmd) budget(cfg *run.Config) error {
	if c.Minutes < 0 || c.Iterations < 0 {
		return usageError{fmt.Errorf("--minutes is %v and --iterations %d, expected positive numbers", c.Minutes, c.Iterations)}
	}
	if c.Minutes > 0 && c.Iterations > 0 {
		return usageError{errors.New("--minutes and --iterations don't go together: one of them ends the run")}
	}
	if c.Minutes > 0 || c.Iterations > 0 {
		cfg.Run.Minutes, cfg.Run.Iterations = c.Minutes, c.Iterations
	}
	if cfg.Run.Minutes == 0 && cfg.Run.Iterations == 0 {
		cfg.Run.Minutes = defaultMinutes
	}
	return cfg.Validate()
}

func (c *trainCmd) folder(cfg run.Config) string {
	switch {
	case c.Run_ != "":
		return c.Run_
	case cfg.Run.Name != "":
		return filepath.Join("runs", cfg.Run.Name)
	}
	return filepath.Join("runs", time.Now().Format("20060102-150405"))
}

// stopOnSignal returns a context that the first interrupt or SIGTERM cancels.
// The second has its usual effect: the process ends at once.
func stopOnSignal(ctx context.Context, report *reporter) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			report.stopping()
			cancel()
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, cancel
}

// draw updates the run's plot; there is none before the second evaluation.
func draw(folder *run.Folder) error {
	rows, err := run.ReadMetrics(folder.Dir)
	if err != nil {
		return err
	}
	title := "training of " + filepath.Base(folder.Dir)
	err = bench.DrawTraining(filepath.Join(folder.Plots(), "training.png"), title, rows)
	if errors.Is(err, bench.ErrNoCurve) {
		return nil
	}
	return err
}
