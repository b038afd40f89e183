package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"

	"vtrain/bench"
	"vtrain/cfr/tabular"
)

// A solution is what solve has found.
type solution struct {
	Rules string          `json:"rules"`
	Turns int             `json:"turns,omitempty"` // after which Lost Cities is cut
	Algo  string          `json:"algo"`
	Curve []tabular.Point `json:"curve"`

	title     string
	low, high float64 // what the average policy proves of the game's value
}

// write prints the curve and what it came to.
func (f *solution) write(w io.Writer) error {
	if _, err := fmt.Fprintln(w, f.title); err != nil {
		return err
	}
	t := bench.Table{Header: []string{"iterations", "nodes touched", "NashConv", "seconds"}}
	for _, p := range f.Curve {
		t.Rows = append(t.Rows, []string{strconv.Itoa(p.Iteration), strconv.FormatInt(p.Nodes, 10),
			fmt.Sprintf("%.6g", p.NashConv), fmt.Sprintf("%.3g", p.Seconds)})
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "value of the game for player 0: %.9g to %.9g\n", f.low, f.high)
	return err
}

// draw draws the curve, without points where rounding leaves nothing above 0.
func (f *solution) draw(path string) error {
	var iterations, nodes, gap []float64
	for _, p := range f.Curve {
		if p.NashConv > 0 {
			iterations, nodes, gap = append(iterations, float64(p.Iteration)), append(nodes, float64(p.Nodes)), append(gap, p.NashConv)
		}
	}
	if len(gap) < 2 {
		return fmt.Errorf("plot %s: %d points with a NashConv above 0, expected at least two", path, len(gap))
	}
	panel := func(x string, values []float64) bench.Panel {
		return bench.Panel{X: x, Y: "NashConv", Log: true, Curves: []bench.Curve{{Label: f.Algo, X: values, Y: gap}}}
	}
	panels := []bench.Panel{panel("iterations", iterations), panel("nodes touched", nodes)}
	panels[0].Title = f.title
	return bench.Draw(path, "", panels)
}

// solveProgress shows a run that takes its time: a bar on a terminal, log lines
// elsewhere.
type solveProgress struct {
	s          *streams
	iterations int
	bar        *progressbar.ProgressBar
	shown      time.Time // when something last was, or the first iteration was done
}

// done is told of the iterations done. Most take microseconds.
func (p *solveProgress) done(iteration int) {
	if iteration == 1 {
		p.shown = time.Now()
	}
	pause := 3 * time.Second
	if p.bar != nil {
		pause /= 30
	}
	if time.Since(p.shown) < pause {
		return
	}
	p.shown = time.Now()
	if w, ok := terminal(p.s.err); ok && p.bar == nil {
		p.bar = newBar(w, p.iterations)
		p.bar.Describe("iterations")
	}
	if p.bar != nil {
		_ = p.bar.Set(iteration) // a bar that can't be drawn stops nothing
		return
	}
	p.s.log.Info("solving", "iteration", iteration, "of", p.iterations)
}

func (p *solveProgress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
