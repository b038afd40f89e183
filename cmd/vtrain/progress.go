package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"vtrain/cfr"
	"vtrain/cfr/arena"
	"vtrain/cfr/run"
	"vtrain/cfr/train"
)

// reporter shows a training run: a bar on a terminal, log lines elsewhere.
// Evaluations are lines in both, and redraw the run's plot.
type reporter struct {
	s      *streams
	folder *run.Folder
	bar    *progressbar.ProgressBar // nil without a terminal

	mu      sync.Mutex // stopping comes from another goroutine
	started time.Time
	first   float64   // progress when this session began
	logged  time.Time // when the last iteration was logged
}

// barSteps is the resolution of the bar.
const barSteps = 1000

// start says what is about to be trained, and bounds of what that takes.
func (r *reporter) start(folder *run.Folder, job *train.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	cfg, l := folder.Config, job.Learner()
	r.folder, r.started, r.first = folder, time.Now(), job.Progress()
	budget := fmt.Sprintf("%g minutes", cfg.Run.Minutes)
	if cfg.Run.Iterations > 0 {
		budget = fmt.Sprintf("%d iterations", cfg.Run.Iterations)
	}
	r.s.log.Info("training", "run", folder.Dir, "rules", cfg.Rules.Name(), "layout", cfg.Encoding.Layout,
		"hidden", fmt.Sprint(cfg.Nets.Hidden), "seed", cfg.Run.Seed, "budget", budget)
	r.limits(cfg, job.Plan())
	if l.Iteration() > 0 {
		r.s.log.Info("resumed", "iteration", l.Iteration(), "states", l.Decisions())
	}
	if w, ok := terminal(r.s.err); ok {
		r.bar = progressbar.NewOptions(barSteps, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionClearOnFinish())
	}
}

// limits prints the bounds of an iteration's nodes and of memory.
func (r *reporter) limits(cfg run.Config, p cfr.Plan) {
	games := cfg.Learner.Games
	r.s.log.Info("bound of an iteration", "games", games, "plies", p.Nodes/games, "nodes", p.Nodes, "bytes", p.SampleBytes)
	r.s.log.Info("bound of the reservoir", "rows", cfg.Memory.StrategyRows, "bytes", p.ReservoirBytes)
}

// terminal returns the file of a writer that is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// Iteration implements train.Reporter.
func (r *reporter) Iteration(m cfr.Metrics, progress float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.left(progress)
	if r.bar == nil && !r.worthALine(m.Iteration) {
		return
	}
	if r.bar != nil {
		r.bar.Describe(fmt.Sprintf("iteration %d, %.2f M states, %.1f k/s, %s left", m.Iteration, float64(m.States)/1e6, m.StatesPerSecond/1e3, left))
		_ = r.bar.Set(int(progress * barSteps)) // a bar that can't be drawn must not stop a run
		return
	}
	r.s.log.Info("iteration", "n", m.Iteration, "states", m.States, "states_per_s", int(m.StatesPerSecond),
		"plies", fmt.Sprintf("%.0f", m.Plies), "entropy", fmt.Sprintf("%.2f", m.Entropy),
		"critic_error", fmt.Sprintf("%.3f", m.CriticError), "done", fmt.Sprintf("%.0f%%", 100*progress), "left", left)
}

// worthALine thins out the log: the first iterations, then one in some seconds.
func (r *reporter) worthALine(iteration int) bool {
	const first, pause = 5, 5 * time.Second
	if iteration > first && time.Since(r.logged) < pause {
		return false
	}
	r.logged = time.Now()
	return true
}

// left estimates the time left from this session's pace.
func (r *reporter) left(progress float64) string {
	if progress <= r.first {
		return "?"
	}
	rest := time.Duration(float64(time.Since(r.started)) * (1 - progress) / (progress - r.first))
	return rest.Round(time.Second).String()
}

// Evaluation implements train.Reporter.
func (r *reporter) Evaluation(iteration int, results []arena.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(func() {
		for _, line := range table(results) {
			r.s.log.Info("evaluation", "iteration", iteration, "policy", line.policy, "won", line.text)
		}
	})
	if err := draw(r.folder); err != nil {
		r.print(func() { r.s.log.Warn("no plot", "error", err) })
	}
}

// Checkpoint implements train.Reporter.
func (r *reporter) Checkpoint(iteration int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bar == nil {
		r.s.log.Info("checkpoint", "iteration", iteration)
	}
}

func (r *reporter) stopping() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(func() { r.s.log.Info("stopping after this iteration or match; interrupt again to leave at once") })
}

// print writes lines where the bar is, which moves below them.
func (r *reporter) print(lines func()) {
	if r.bar != nil {
		_ = r.bar.Clear()
	}
	lines()
	if r.bar != nil {
		_ = r.bar.RenderBlank()
	}
}

// finish removes the bar.
func (r *reporter) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bar != nil {
		_ = r.bar.Clear()
		r.bar = nil
	}
}

// printResult prints what came out, and what to do with it. A run that was
// continued after its end has results, too.
func printResult(w io.Writer, folder *run.Folder, job *train.Session) error {
	rows, err := run.ReadMetrics(folder.Dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	l := job.Learner()
	fmt.Fprintf(&b, "trained %d iterations, %.2f million states\n", l.Iteration(), float64(l.Decisions())/1e6)
	at, results := train.LastEvaluation(folder.Config.Evaluation, rows)
	if len(results) > 0 && at != l.Iteration() {
		fmt.Fprintf(&b, "evaluated after iteration %d:\n", at)
	}
	for _, line := range table(results) {
		fmt.Fprintf(&b, "  %-8s won %s\n", line.policy, line.text)
	}
	if plot := plotPath(folder); isFile(plot) {
		fmt.Fprintf(&b, "curves: %s\n", plot)
	}
	fmt.Fprintf(&b, "measure it: vtrain eval --agent run:%s --opponent rule\n", folder.Dir)
	_, err = io.WriteString(w, b.String())
	return err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

type tableLine struct{ policy, text string }

// table returns a line for each policy, with its results against all.
func table(results []arena.Result) []tableLine {
	var lines []tableLine
	for _, r := range results {
		text := fmt.Sprintf("%.1f%% (%+.1f) against %s", 100*r.WinRate, r.MeanPoints, r.Opponent)
		if n := len(lines); n > 0 && lines[n-1].policy == r.Agent {
			lines[n-1].text += ", " + text
			continue
		}
		lines = append(lines, tableLine{r.Agent, text})
	}
	return lines
}
