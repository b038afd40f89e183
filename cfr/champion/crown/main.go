// Crown makes a run's average policy the champion that is built into vtrain. It
// plays it against the bots, itself and the present champion, refuses one that
// doesn't beat that by more than two standard errors, and writes the files of
// cfr/champion/data.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"vtrain/cfr"
	"vtrain/cfr/agent"
	"vtrain/cfr/arena"
	"vtrain/cfr/champion"
	"vtrain/cfr/run"
	"vtrain/vec"
)

func main() {
	var c crowning
	flag.StringVar(&c.command, "command", "", "command that trained the run")
	flag.StringVar(&c.out, "out", filepath.Join("cfr", "champion", "data"), "folder to write")
	flag.IntVar(&c.games, "games", 4000, "games of each match")
	flag.BoolVar(&c.force, "force", false, "crown it whatever it wins against the present one")
	flag.Parse()
	if flag.NArg() != 1 || c.command == "" {
		fmt.Fprintln(os.Stderr, "usage: crown -command 'vtrain train …' RUN")
		os.Exit(2)
	}
	if err := c.crown(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "crown:", err)
		os.Exit(1)
	}
}

type crowning struct {
	command, out string
	games        int
	force        bool
	pool         *vec.Pool
}

func (c *crowning) crown(dir string) error {
	c.pool = vec.NewPool(0)
	defer c.pool.Close()
	saved, err := run.LoadWeights(dir)
	if err != nil {
		return err
	}
	report, err := c.describe(dir, saved)
	if err != nil {
		return err
	}
	if err := c.judge(saved, "run:"+dir, &report); err != nil {
		return err
	}
	return c.write(saved, report)
}

// describe fills in how the run was made.
func (c *crowning) describe(dir string, saved *run.Checkpoint) (champion.Report, error) {
	rows, err := run.ReadMetrics(dir)
	if err != nil {
		return champion.Report{}, err
	}
	for _, name := range networks {
		if _, ok := saved.Network(name); !ok {
			return champion.Report{}, fmt.Errorf("%s has no %s network", dir, name)
		}
	}
	r := champion.Report{
		Command: c.command, Seed: saved.Config.Run.Seed, Date: time.Now().UTC().Format(time.DateOnly), Iterations: saved.State.Iteration,
		States: saved.State.Decisions, Machine: saved.Manifest.Machine,
	}
	for _, row := range rows {
		r.Minutes = row["elapsed_seconds"] / 60
	}
	return r, nil
}

// judge plays the matches.
func (c *crowning) judge(saved *run.Checkpoint, name string, report *champion.Report) error {
	opponents := []string{"heuristic-balanced", "heuristic-cautious", "heuristic-aggressive", "heuristic-noisy", "rule", "random"}
	former, err := champion.Load()
	switch {
	case err == nil:
		r, err := c.match(saved, name, champion.Name)
		if err != nil {
			return err
		}
		report.Former = &r
		if margin := 2 * r.SEPoints; !c.force && r.MeanPoints <= margin {
			return fmt.Errorf("it wins %+.1f ± %.1f points a game from the present champion, after iteration %d; expected more than %.1f",
				r.MeanPoints, r.SEPoints, former.State.Iteration, margin)
		}
	case !c.force && !errors.Is(err, fs.ErrNotExist): // the first one replaces nobody
		return err
	}
	for _, opponent := range append(opponents, name) {
		r, err := c.match(saved, name, opponent)
		if err != nil {
			return err
		}
		report.Results = append(report.Results, r)
	}
	return nil
}

func (c *crowning) match(saved *run.Checkpoint, names ...string) (arena.Result, error) {
	var players [2]arena.Agent
	for i, text := range names {
		name, err := run.ParseAgent(text)
		if err != nil {
			return arena.Result{}, err
		}
		if players[i], err = agent.Open(name, saved.Config.Rules.Config, arena.DefaultBatch, uint64(i), c.pool); err != nil {
			return arena.Result{}, err
		}
		defer agent.Close(players[i])
	}
	r, err := arena.Play(saved.Config.Rules.Config, players[0], players[1], arena.Options{Games: c.games, Seed: 1, Pool: c.pool})
	if err != nil {
		return r, err
	}
	fmt.Printf("%-24s won %5.1f%% ± %.1f, %+6.1f ± %.1f points, %.1f plies, %.2f useless draws, %d capped\n",
		names[1], 100*r.WinRate, 100*r.SEWin, r.MeanPoints, r.SEPoints, r.PliesPerGame, r.UselessDraws, r.Capped)
	r.Agent = champion.Name
	if names[0] == names[1] {
		r.Opponent = champion.Name
	}
	return r, nil
}

// networks are what a training is to go on from: the average policy, and the
// critic.
var networks = []string{cfr.CriticNet, cfr.StrategyNet}

// write replaces the files one by one; what an interruption leaves is refused
// when it is loaded, and the former ones are under version control.
func (c *crowning) write(saved *run.Checkpoint, report champion.Report) error {
	saved.Config.Run.Init = "" // a folder of this machine
	if err := run.SaveWeights(c.out, saved, networks...); err != nil {
		return err
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.out, champion.ReportName), append(text, '\n'), 0o644)
}
