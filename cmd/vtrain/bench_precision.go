package main

import (
	"fmt"
	"strings"

	"vtrain/bench"
	"vtrain/cfr/run"
	"vtrain/rules/record"
)

type benchPrecisionCmd struct {
	Agent string   `required:"" short:"a" placeholder:"AGENT" help:"A trained agent, run:DIR or ckpt:DIR; both of its policies are compared."`
	Files []string `arg:"" name:"file" help:"Files of recorded games, plain or .gz; those of other rules, and files of other kinds, are passed over."`
	Rows  int      `default:"10000" help:"Recorded states to compare policies in, at equal distances."`
	JSON  bool     `name:"json" help:"Print one JSON object instead of the table."`
	measureFlags
}

// precisionSection is the name of the results in a page.
const precisionSection = "precision"

// maxStates bounds the memory that two policies of all states take.
const maxStates = 1_000_000

// Run compares.
func (c *benchPrecisionCmd) Run(s *streams) error {
	name, err := c.name()
	if err != nil {
		return usageError{err}
	}
	if err := c.check(precisionSection, ""); err != nil {
		return err
	}
	saved, err := run.LoadWeights(name.Dir)
	if err != nil {
		return name.Explain(err)
	}
	games, err := c.games()
	if err != nil {
		return err
	}
	o, finish := c.options(s)
	report, err := bench.Precision(saved, games, c.Rows, o)
	finish()
	if err != nil {
		return err
	}
	json := ""
	if c.JSON {
		json = "-"
	}
	return c.write(s, precisionSection, json, report)
}

// name finds what is wrong with the command line alone.
func (c *benchPrecisionCmd) name() (run.AgentName, error) {
	n, err := run.ParseAgent(c.Agent)
	if err != nil {
		return n, err
	}
	_, dir, _ := strings.Cut(c.Agent, ":")
	switch {
	case n.Bot != "":
		return n, fmt.Errorf("--agent %s is a bot, expected run:DIR or ckpt:DIR: only trained agents have networks", c.Agent)
	case dir != n.Dir:
		return n, fmt.Errorf("--agent %s: both policies are compared, expected no suffix after %s", c.Agent, n.Dir)
	case c.Rows < 1 || c.Rows > maxStates:
		return n, fmt.Errorf("--rows is %d, expected 1 to %d", c.Rows, maxStates)
	}
	return n, nil
}

// games reads all files and returns the games that some of them hold.
func (c *benchPrecisionCmd) games() ([]*record.Game, error) {
	var games []*record.Game
	var others []string
	for _, path := range c.Files {
		f, err := record.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if f.Kind != record.Games {
			others = append(others, fmt.Sprintf("%s holds %v", path, f.Kind))
		}
		games = append(games, f.Games...)
	}
	if len(games) == 0 {
		return nil, fmt.Errorf("no recorded games: %s", strings.Join(others, ", "))
	}
	return games, nil
}
