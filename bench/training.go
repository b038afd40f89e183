package bench

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// ErrNoCurve is returned where there is nothing to draw: a curve needs two
// evaluations.
var ErrNoCurve = errors.New("no curve to draw before the second evaluation")

// DrawTraining writes the learning curves of a run to a PNG file: share of
// games won and mean points against each opponent, over decisions seen. Rows
// are lines of metrics.jsonl; solid lines are the average policy, dashed ones
// the current.
func DrawTraining(path, title string, rows []map[string]float64) error {
	wins, points := curves(rows, "_win", 100), curves(rows, "_points", 1)
	if len(wins) == 0 || len(wins[0].X) < 2 {
		return fmt.Errorf("plot %s: %w", path, ErrNoCurve)
	}
	return Draw(path, "decisions seen [millions]", []Panel{
		{Title: title, Y: "games won [%]", Curves: wins, YMin: 0, YMax: 100, Line: 50},
		{Y: "points per game", Curves: points, Line: 0},
	})
}

// curves collects the columns eval_POLICY_OPPONENT with a suffix.
func curves(rows []map[string]float64, suffix string, scale float64) []Curve {
	byColumn := map[string]*Curve{}
	for _, row := range rows {
		for column := range row {
			policy, opponent, ok := matched(column, suffix)
			if !ok {
				continue
			}
			name := policy + "_" + opponent
			c := byColumn[name]
			if c == nil {
				c = &Curve{Label: policy + " - " + opponent, Dashed: policy != "average"}
				byColumn[name] = c
			}
			c.append(row, column, row["states"]/1e6, scale)
		}
	}
	return ordered(byColumn)
}

// matched takes a column eval_POLICY_OPPONENT with a suffix apart.
func matched(column, suffix string) (policy, opponent string, ok bool) {
	name, isMatch := strings.CutPrefix(column, "eval_")
	name, isThis := strings.CutSuffix(name, suffix)
	policy, opponent, _ = strings.Cut(name, "_")
	return policy, strings.ReplaceAll(opponent, "_", "-"), isMatch && isThis
}

// append adds a row's value of a column, with its standard error.
func (c *Curve) append(row map[string]float64, column string, x, scale float64) {
	c.X = append(c.X, x)
	c.Y = append(c.Y, row[column]*scale)
	c.Error = append(c.Error, row[column+"_se"]*scale)
}

// ordered returns the curves by label, one color for each opponent.
func ordered(byColumn map[string]*Curve) []Curve {
	var all []Curve
	color := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(byColumn)) {
		c := *byColumn[name]
		_, opponent, _ := strings.Cut(name, "_")
		if _, ok := color[opponent]; !ok {
			color[opponent] = len(color)
		}
		c.Color = color[opponent]
		if !slices.ContainsFunc(c.Y, math.IsNaN) {
			all = append(all, c)
		}
	}
	return all
}
