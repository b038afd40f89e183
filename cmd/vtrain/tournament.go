package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"vtrain/bench"
	"vtrain/cfr/arena"
	"vtrain/cfr/run"
	"vtrain/rules"
)

type tournamentCmd struct {
	Agents []string `arg:"" optional:"" name:"agent" help:"Two or more of: a bot's name, champion, run:DIR or ckpt:DIR, with suffixes @current, @average (default), @greedy, @search."`
	matchFlags
}

// Run plays all pairs.
func (c *tournamentCmd) Run(s *streams) error {
	names, err := c.check(c.Agents...)
	if err == nil {
		err = differ(names)
	}
	if err != nil {
		return usageError{err}
	}
	report := standings{Agents: c.Agents, Games: c.Games, Seed: c.Seed}
	err = c.play(s, names, func(cfg rules.Config, agents []arena.Agent, o arena.Options) (err error) {
		report.Tournament, err = arena.PlayAll(cfg, agents, o)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(s.out).Encode(report)
	}
	return report.write(s.out)
}

// differ refuses a tournament of fewer than two players, or of one twice,
// however its name is spelt.
func differ(names []run.AgentName) error {
	if len(names) < 2 {
		return fmt.Errorf("tournament: agents given: %d, expected at least two", len(names))
	}
	for i, n := range names {
		for _, other := range names[:i] {
			if player(n) == player(other) {
				return fmt.Errorf("tournament: %s and %s are the same player, expected different ones", other.Text, n.Text)
			}
		}
	}
	return nil
}

// player returns a name without what spellings of it may differ in.
func player(n run.AgentName) run.AgentName {
	switch {
	case n.BuiltIn():
		n.Text = run.Champion // a folder may have that name, too
	case n.Dir != "":
		n.Text, n.Dir = "", filepath.Clean(n.Dir)
	}
	return n
}

// standings are what a tournament came to.
type standings struct {
	Agents []string `json:"agents"` // as they were given
	Games  int      `json:"games"`  // of a pair
	Seed   uint64   `json:"seed"`
	arena.Tournament
}

// write prints the ratings, best first, and the matches behind them. Points
// against a fixed opponent can be had by stalling, so that both tables show how
// games went.
func (t standings) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d agents, %d games of each pair (%d deals, the same for all, each from both seats)\n\n",
		len(t.Agents), t.Games, t.Games/2)
	if err != nil {
		return err
	}
	if err := t.ratings().Write(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := t.matches().Write(w); err != nil {
		return err
	}
	_, err = fmt.Fprint(w, `
(± is one standard error; points, plies and useless draws are those of a game;
useless: drawn from a pile, and discarded at the next turn; capped: games cut by the turn limit)
`)
	return err
}

// ratings lists the agents with their means over all their matches.
func (t standings) ratings() bench.Table {
	elo := slices.Clone(t.Elo)
	slices.SortStableFunc(elo, func(a, b arena.Rating) int { return cmp.Compare(b.Elo, a.Elo) })
	table := bench.Table{Header: []string{"agent", "Elo", "won %", "drawn %", "points", "plies", "useless", "capped"}}
	for _, r := range elo {
		m := t.mean(r.Agent)
		table.Rows = append(table.Rows, []string{r.Agent, signed(r.Elo, 0) + fmt.Sprintf(" ± %.0f", r.SE),
			percent(m.WinRate), percent(m.DrawRate), signed(m.MeanPoints, 1), fmt.Sprintf("%.1f", m.PliesPerGame),
			fmt.Sprintf("%.2f", m.UselessDraws), strconv.Itoa(m.Capped)})
	}
	alignLeft(table, 0)
	return table
}

// mean returns an agent's matches as one. Errors are left out.
func (t standings) mean(agent string) arena.Result {
	m, matches := arena.Result{Agent: agent}, float64(len(t.Agents)-1)
	for _, r := range t.Rows {
		switch agent {
		case r.Agent:
			m.WinRate += r.WinRate / matches
			m.MeanPoints += r.MeanPoints / matches
			m.UselessDraws += r.UselessDraws / matches
		case r.Opponent:
			m.WinRate += lost(r) / matches
			m.MeanPoints -= r.MeanPoints / matches
			m.UselessDraws += r.OpponentUselessDraws / matches
		default:
			continue
		}
		m.Games += r.Games
		m.DrawRate += r.DrawRate / matches
		m.PliesPerGame += r.PliesPerGame / matches
		m.Capped += r.Capped
	}
	return m
}

// matches lists the pairs, in the order of the agents.
func (t standings) matches() bench.Table {
	table := bench.Table{Header: []string{"agent", "opponent", "won %", "drawn %", "points", "plies", "useless", "opponent's", "capped"}}
	for _, r := range t.Rows {
		table.Rows = append(table.Rows, []string{r.Agent, r.Opponent,
			percent(r.WinRate) + " ± " + percent(r.SEWin), percent(r.DrawRate),
			signed(r.MeanPoints, 1) + fmt.Sprintf(" ± %.1f", r.SEPoints), fmt.Sprintf("%.1f", r.PliesPerGame),
			fmt.Sprintf("%.2f", r.UselessDraws), fmt.Sprintf("%.2f", r.OpponentUselessDraws), strconv.Itoa(r.Capped)})
	}
	alignLeft(table, 0)
	alignLeft(table, 1)
	return table
}

func percent(share float64) string { return fmt.Sprintf("%.1f", 100*share) }

// signed writes a number with its sign, and 0 never as -0.
func signed(x float64, decimals int) string {
	unit := math.Pow10(decimals)
	return fmt.Sprintf("%+.*f", decimals, math.Round(x*unit)/unit+0)
}

// alignLeft pads a column's cells to one width.
func alignLeft(t bench.Table, column int) {
	lines := append([][]string{t.Header}, t.Rows...)
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(line[column]))
	}
	for _, line := range lines {
		line[column] += strings.Repeat(" ", width-utf8.RuneCountInString(line[column]))
	}
}
