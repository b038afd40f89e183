package main

import (
	"fmt"
	"io"
	"math"
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
	narrow bool                     // the terminal has no room for a bar

	mu      sync.Mutex // stopping comes from another goroutine
	started time.Time
	first   float64   // progress when this reporter began
	logged  time.Time // when the last iteration was logged
}

// barSteps is the resolution of the bar.
const barSteps = 1000

// start says what is about to be trained, and bounds of what that takes.
func (r *reporter) start(folder *run.Folder, job *train.Session, resumed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	cfg, l := folder.Config, job.Learner()
	r.folder, r.started, r.first = folder, time.Now(), job.Progress()
	budget := fmt.Sprintf("%g minutes", cfg.Run.Minutes)
	if cfg.Run.Iterations > 0 {
		budget = counted(int64(cfg.Run.Iterations), "iteration")
	}
	r.s.log.Info("training", "run", folder.Dir, "rules", cfg.Rules.Name(), "layout", cfg.Encoding.Layout,
		"hidden", fmt.Sprint(cfg.Nets.Hidden), "precision", cfg.Nets.Precision, "seed", cfg.Run.Seed, "budget", budget)
	r.limits(job.Plan())
	switch {
	case l.Iteration() > 0:
		r.s.log.Info("resumed", "iteration", l.Iteration(), "states", l.Decisions())
	case resumed:
		r.s.log.Info("no checkpoint yet: starting from the first iteration")
	}
	if w, ok := terminal(r.s.err); ok {
		r.bar, r.narrow = newBar(w, barSteps), isNarrow(w)
	}
}

func newBar(w *os.File, steps int) *progressbar.ProgressBar {
	width := 24
	if isNarrow(w) {
		width = 0 // the words matter more
	}
	return progressbar.NewOptions(steps, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(width),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionClearOnFinish())
}

// isNarrow reports whether a terminal has no room for a bar beside the words.
func isNarrow(w *os.File) bool {
	const columns = 60
	width, _, err := term.GetSize(int(w.Fd()))
	return err == nil && width < columns
}

// limits prints the bounds of an iteration's nodes and of memory.
func (r *reporter) limits(p cfr.Plan) {
	r.s.log.Info(fmt.Sprintf("memory: at most %s an iteration, %s for the reservoir; at most %d nodes an iteration",
		megabytes(p.SampleBytes), megabytes(p.ReservoirBytes), p.Nodes))
}

// megabytes writes a size in the unit that suits it.
func megabytes(n int64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", math.Ceil(float64(n)/1e3))
	case n < 1e10:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f GB", float64(n)/1e9)
}

// states writes a number of states as people say it.
func states(n int64) string {
	if n < 1e6 {
		return counted(n, "state")
	}
	return fmt.Sprintf("%.2f million states", float64(n)/1e6)
}

// counted writes a number with its noun.
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
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
		text := fmt.Sprintf("iteration %d, %s, %.1f k/s, %s left", m.Iteration, states(m.States), m.StatesPerSecond/1e3, left)
		if r.narrow {
			text = fmt.Sprintf("iteration %d, %s left", m.Iteration, left)
		}
		r.bar.Describe(text)
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

// left estimates the time left from the pace since it began.
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
	fmt.Fprintf(&b, "trained %s, %s\n", counted(int64(l.Iteration()), "iteration"), states(l.Decisions()))
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

// matchProgress shows a match that takes its time: a bar on a terminal, log
// lines elsewhere.
type matchProgress struct {
	s     *streams
	games int
	bar   *progressbar.ProgressBar
	shown time.Time // when something last was, or the match began
}

func newMatchProgress(s *streams, games int) *matchProgress {
	return &matchProgress{s: s, games: games, shown: time.Now()}
}

// played is told of the games finished.
func (p *matchProgress) played(games int) {
	const patience = 3 * time.Second
	if p.bar == nil && time.Since(p.shown) < patience {
		return
	}
	p.shown = time.Now()
	if w, ok := terminal(p.s.err); ok && p.bar == nil {
		p.bar = newBar(w, p.games)
		p.bar.Describe("games played")
	}
	if p.bar != nil {
		_ = p.bar.Set(games) // a bar that can't be drawn must not stop a match
		return
	}
	p.s.log.Info("match", "games", games, "of", p.games)
}

func (p *matchProgress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// length says how long games were and what made them long, if that is known:
// points against a fixed opponent can be had by stalling.
func length(r arena.Result) string {
	var b strings.Builder
	if r.PliesPerGame > 0 {
		fmt.Fprintf(&b, ", %.0f plies", r.PliesPerGame)
	}
	if r.UselessDraws > 0 {
		fmt.Fprintf(&b, ", %.1f useless draws", r.UselessDraws)
	}
	if r.Capped > 0 {
		fmt.Fprintf(&b, ", %d capped", r.Capped)
	}
	return b.String()
}

type tableLine struct{ policy, text string }

// table returns a line for each policy, with its results against all.
func table(results []arena.Result) []tableLine {
	var lines []tableLine
	for _, r := range results {
		text := fmt.Sprintf("%.1f%% (%+.1f%s) against %s", 100*r.WinRate, r.MeanPoints, length(r), r.Opponent)
		if n := len(lines); n > 0 && lines[n-1].policy == r.Agent {
			lines[n-1].text += ", " + text
			continue
		}
		lines = append(lines, tableLine{r.Agent, text})
	}
	return lines
}
