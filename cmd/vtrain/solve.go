package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vtrain/bench"
	"vtrain/cfr/deep"
	"vtrain/cfr/run"
	"vtrain/cfr/tabular"
	"vtrain/vec"
)

type solveCmd struct {
	Rules      string   `required:"" placeholder:"NAME" help:"Game to solve: kuhn, leduc, a preset of Lost Cities such as tiny, or a configuration file."`
	Algo       string   `default:"cfr+" help:"Exact: cfr, cfr+, lcfr (linear), dcfr (discounted). By samples: external, outcome. By networks: deepcfr, sdcfr, critic. Default ${default}."`
	Iterations int      `short:"n" default:"1000" help:"Iterations, each an update of both players. Default ${default}."`
	Turns      *int     `help:"Cut Lost Cities after so many turns; default what a file says, and for presets the turns that empty the deck at the soonest."`
	Limit      int      `default:"15000000" help:"Most nodes of a game's tree, of some 150 bytes each while it is built. Default ${default}."`
	Set        []string `short:"s" sep:"none" placeholder:"KEY=VALUE" help:"Set a key of learner, nets or memory for the algorithms with networks, such as learner.games=500; may be repeated."`
	Seed       uint64   `default:"1" help:"Seed of the algorithms that sample."`
	JSON       bool     `help:"Print one JSON object."`
	Plot       string   `placeholder:"FILE" help:"Draw NashConv by iterations and by nodes touched, .png or .svg."`
}

// An algorithm is what --algo chooses.
type algorithm struct {
	name string
	deep *deep.Algorithm // nil for one by tables
	open func(c *solveCmd, t *tabular.Tree, game vec.Batch) (tabular.Solver, func(), error)
}

// algorithms lists those by tables, then those by networks.
func algorithms() []algorithm {
	var all []algorithm
	for _, a := range tabular.Algorithms() {
		all = append(all, algorithm{a.Name, nil, func(c *solveCmd, t *tabular.Tree, _ vec.Batch) (tabular.Solver, func(), error) {
			return a.New(t, c.Seed), func() {}, nil
		}})
	}
	for _, a := range deep.Algorithms() {
		all = append(all, algorithm{a.Name, &a, func(c *solveCmd, t *tabular.Tree, game vec.Batch) (tabular.Solver, func(), error) {
			pool := vec.NewPool(0)
			s, err := deep.NewSolver(t, game, a, c.Iterations, c.Seed, pool)
			if err != nil {
				pool.Close()
				return nil, nil, err
			}
			return s, func() { s.Close(); pool.Close() }, nil
		}})
	}
	return all
}

// Run solves.
func (c *solveCmd) Run(s *streams) error {
	a, err := c.check()
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
	found, err := c.solve(s, game, a)
	if err != nil {
		return err
	}
	if err := c.print(s, found); err != nil || c.Plot == "" {
		return err
	}
	return found.draw(c.Plot)
}

// check finds what is wrong with the command line alone.
func (c *solveCmd) check() (algorithm, error) {
	var none algorithm
	all := algorithms()
	i := slices.IndexFunc(all, func(a algorithm) bool { return a.name == c.Algo })
	switch {
	case i < 0:
		return none, fmt.Errorf("--algo is %q, expected one of %s", c.Algo, strings.Join(algorithmNames(all), ", "))
	case len(c.Set) > 0 && all[i].deep == nil:
		return none, fmt.Errorf("--set is for algorithms with networks, and %s has none", c.Algo)
	case c.Iterations < 1 || c.Iterations > run.MaxIterations:
		return none, fmt.Errorf("--iterations is %d, expected 1 to %d", c.Iterations, run.MaxIterations)
	case c.Limit < 1 || c.Limit > tabular.MaxHistories:
		return none, fmt.Errorf("--limit is %d, expected 1 to %d", c.Limit, tabular.MaxHistories)
	case c.Plot != "" && c.Iterations < 2:
		return none, errors.New("--plot needs at least two iterations")
	case c.Plot != "":
		if err := bench.CanDraw(c.Plot); err != nil {
			return none, err
		}
	}
	return all[i], c.configure(all[i].deep)
}

func algorithmNames(all []algorithm) []string {
	var names []string
	for _, a := range all {
		names = append(names, a.name)
	}
	return names
}

// configure sets what --set says of an algorithm with networks.
func (c *solveCmd) configure(a *deep.Algorithm) error {
	if a == nil {
		return nil
	}
	cfg := run.Default()
	cfg.Learner, cfg.Memory, cfg.Nets = a.Options, a.Memory, run.Nets{Hidden: a.Nets.Hidden, Precision: a.Nets.Precision.String()}
	for _, text := range c.Set {
		if section, _, _ := strings.Cut(text, "."); !slices.Contains([]string{"learner", "memory", "nets"}, section) {
			return fmt.Errorf("--set %s: expected a key of learner, memory or nets", text)
		}
	}
	if err := cfg.SetAll(c.Set); err != nil {
		return err
	}
	if err := cfg.Validate(); err != nil {
		return err
	}
	a.Options, a.Memory, a.Nets = cfg.Learner, cfg.Memory, cfg.Nets.Networks()
	return nil
}

// solve builds the tree and runs the algorithm.
func (c *solveCmd) solve(s *streams, game solvable, a algorithm) (*solution, error) {
	tree, err := tabular.Build(game.batch, c.Limit)
	if err != nil {
		return nil, game.explain(err)
	}
	s.log.Info("solving", "game", game.name, "nodes", tree.Histories(), "information_sets", tree.InformationSets())
	progress := &solveProgress{s: s, iterations: c.Iterations}
	defer progress.finish()
	solver, done, err := a.open(c, tree, game.batch)
	if err != nil {
		return nil, err
	}
	defer done()
	curve, err := tree.Run(solver, c.Iterations, progress.done)
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
