package bench

import (
	"fmt"
	"maps"
	"slices"
)

// A RunLog is the metrics of a run, under a name for the legend.
type RunLog struct {
	Name string
	Rows []map[string]float64 // lines of metrics.jsonl
}

// RunsOptions choose what DrawRuns draws.
type RunsOptions struct {
	Policy string // of the runs: average or current
	Points bool   // mean points instead of the share of games won
	Time   bool   // over minutes instead of decisions seen
}

// DrawRuns writes the learning curves of several runs to a PNG or SVG file: a
// panel for each opponent that any of them was measured against, with a curve for
// each run.
func DrawRuns(path string, runs []RunLog, o RunsOptions) error {
	byOpponent := map[string][]Curve{}
	for i, r := range runs {
		for opponent, c := range r.curves(o) {
			if len(c.X) > 1 {
				c.Color = i
				byOpponent[opponent] = append(byOpponent[opponent], c)
			}
		}
	}
	if len(byOpponent) == 0 {
		return fmt.Errorf("plot %s: %w", path, ErrNoCurve)
	}
	var panels []Panel
	for _, opponent := range slices.Sorted(maps.Keys(byOpponent)) {
		p := Panel{Title: "against " + opponent, Y: "games won [%]", YMax: 100, Line: 50, Curves: byOpponent[opponent]}
		if o.Points {
			p.Y, p.YMax, p.Line = "points per game", 0, 0
		}
		panels = append(panels, p)
	}
	x := "decisions seen [millions]"
	if o.Time {
		x = "minutes"
	}
	return Draw(path, x, panels)
}

// curves returns the curve against each opponent.
func (r RunLog) curves(o RunsOptions) map[string]Curve {
	suffix, scale := "_win", 100.0
	if o.Points {
		suffix, scale = "_points", 1
	}
	all := map[string]Curve{}
	for _, row := range r.Rows {
		for column := range row {
			policy, opponent, ok := matched(column, suffix)
			if !ok || policy != o.Policy {
				continue
			}
			c := all[opponent]
			c.Label = r.Name
			c.append(row, column, o.at(row), scale)
			all[opponent] = c
		}
	}
	return all
}

// at returns where a row lies on the x axis.
func (o RunsOptions) at(row map[string]float64) float64 {
	if o.Time {
		return row["elapsed_seconds"] / 60
	}
	return row["states"] / 1e6
}
