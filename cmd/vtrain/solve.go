package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vtrain/bench"
	"vtrain/cfr/run"
	"vtrain/cfr/tabular"
)

type solveCmd struct {
	Rules      string `required:"" placeholder:"NAME" help:"Game to solve: kuhn, leduc, a preset of Lost Cities such as tiny, or a configuration file."`
	Algo       string `default:"cfr+" help:"Exact: cfr, cfr+, lcfr (linear), dcfr (discounted). By samples: external, outcome. Default ${default}."`
	Iterations int    `short:"n" default:"1000" help:"Iterations, each an update of both players. Default ${default}."`
	Turns      *int   `help:"Cut Lost Cities after so many turns; default what a file says, and for presets the turns that empty the deck at the soonest."`
	Limit      int    `default:"15000000" help:"Most nodes of a game's tree, of some 150 bytes each while it is built. Default ${default}."`
	Seed       uint64 `default:"1" help:"Seed of the algorithms that sample."`
	JSON       bool   `help:"Print one JSON object."`
	Plot       string `placeholder:"FILE" help:"Draw NashConv by iterations and by nodes touched, .png or .svg."`
}

// algorithms are what --algo chooses from.
var algorithms = tabular.Algorithms()

// Run solves.
func (c *solveCmd) Run(s *streams) error {
	algorithm, err := c.check()
	if err != nil {
		return usageError{err}
	}
	game, err := c.game()
	if err != nil {
		return err
	}
	if c.Plot != "" {
		if err := bench.CheckWritable(c.Plot); err != nil {
			return err
		}
	}
	found, err := c.solve(s, game, algorithm)
	if err != nil {
		return err
	}
	if err := c.print(s, found); err != nil || c.Plot == "" {
		return err
	}
	return found.draw(c.Plot)
}

// check finds what is wrong with the command line alone.
func (c *solveCmd) check() (tabular.Algorithm, error) {
	var none tabular.Algorithm
	i := slices.IndexFunc(algorithms, func(a tabular.Algorithm) bool { return a.Name == c.Algo })
	switch {
	case i < 0:
		return none, fmt.Errorf("--algo is %q, expected one of %s", c.Algo, strings.Join(algorithmNames(), ", "))
	case c.Iterations < 1 || c.Iterations > run.MaxIterations:
		return none, fmt.Errorf("--iterations is %d, expected 1 to %d", c.Iterations, run.MaxIterations)
	case c.Limit < 1 || c.Limit > tabular.MaxHistories:
		return none, fmt.Errorf("--limit is %d, expected 1 to %d", c.Limit, tabular.MaxHistories)
	case c.Plot != "" && c.Iterations < 2:
		return none, errors.New("--plot needs at least two iterations")
	case c.Plot != "":
		return algorithms[i], bench.CanDraw(c.Plot)
	}
	return algorithms[i], nil
}

func algorithmNames() []string {
	var names []string
	for _, a := range algorithms {
		names = append(names, a.Name)
	}
	return names
}

// solve builds the tree and runs the algorithm.
func (c *solveCmd) solve(s *streams, game solvable, algorithm tabular.Algorithm) (*solution, error) {
	tree, err := tabular.Build(game.batch, c.Limit)
	if err != nil {
		return nil, game.explain(err)
	}
	s.log.Info("solving", "game", game.name, "nodes", tree.Histories(), "information_sets", tree.InformationSets())
	progress := &solveProgress{s: s, iterations: c.Iterations}
	defer progress.finish()
	curve, err := tree.Run(algorithm.New(tree, c.Seed), c.Iterations, progress.done)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", game.name, err)
	}
	return &solution{
		Rules: c.Rules, Turns: game.turns, Algo: c.Algo, Curve: curve.Points,
		title: fmt.Sprintf("%s by %s: %d nodes, %d information sets", game.name, c.Algo, tree.Histories(), tree.InformationSets()),
		low:   -tree.BestResponse(nil, curve.Policy, 1),
		high:  tree.BestResponse(nil, curve.Policy, 0),
	}, nil
}

func (c *solveCmd) print(s *streams, found *solution) error {
	if c.JSON {
		return json.NewEncoder(s.out).Encode(found)
	}
	return found.write(s.out)
}
