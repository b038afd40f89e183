package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"vtrain/bench"
)

// A report compares the networks of this repository with those of others.
type report struct {
	Machine  bench.Machine `json:"machine"`
	Engines  []string      `json:"engines"`
	OpenBLAS []string      `json:"openblas"` // core type, configuration and threads of each process
	Limits   string        `json:"limits"`   // which apply
	Rows     []row         `json:"rows"`
	Checks   []check       `json:"checks"`

	limits limits
}

// A row is forwards of one batch. OpenBLAS computes the bare products, this
// repository all of the network.
type row struct {
	Layers     string      `json:"layers"`
	Precision  string      `json:"precision"`
	Backend    string      `json:"backend"` // ours
	Cores      int         `json:"cores"`
	Batch      int         `json:"batch"`
	Clock      bench.Clock `json:"clock"`
	Micros     float64     `json:"us_per_state"`
	GFLOPS     float64     `json:"gflops"`
	BLASMicros float64     `json:"openblas_us_per_state"`
	BLASGFLOPS float64     `json:"openblas_gflops"`
	Ratio      float64     `json:"ratio"`           // of times, ours by theirs, median of rounds
	Quartiles  [2]float64  `json:"ratio_quartiles"` // of the same
	Limit      *float64    `json:"limit,omitempty"` // of the ratio, nil for none
	Pass       *bool       `json:"pass,omitempty"`
	Noisy      bool        `json:"noisy"` // quartiles more than a tenth apart
}

// A check is another ratio that has a limit.
type check struct {
	What      string     `json:"what"`
	Ratio     float64    `json:"ratio"`
	Quartiles [2]float64 `json:"ratio_quartiles"`
	AtLeast   bool       `json:"at_least"`        // the limit is the lowest, not the highest
	Limit     *float64   `json:"limit,omitempty"` // nil for none
	Pass      *bool      `json:"pass,omitempty"`
	Noisy     bool       `json:"noisy"`
}

// newReport returns a report without results.
func newReport(l limits) *report {
	return &report{Machine: bench.ThisMachine(), Limits: l.text, limits: l}
}

// missed counts the limits that are not held.
func (r *report) missed() int {
	n := 0
	for _, w := range r.Rows {
		if w.Pass != nil && !*w.Pass {
			n++
		}
	}
	for _, c := range r.Checks {
		if c.Pass != nil && !*c.Pass {
			n++
		}
	}
	return n
}

// forwardTable returns the rows for people.
func (r *report) forwardTable() bench.Table {
	t := bench.Table{Header: []string{"precision", "backend", "cores", "batch", "µs/state", "GFLOP/s", "OpenBLAS µs/state", "GFLOP/s", "ratio", "quartiles", "limit", ""}}
	for _, w := range r.Rows {
		limit := ""
		if w.Limit != nil {
			limit = "≤ " + strconv.FormatFloat(*w.Limit, 'f', 2, 64)
		}
		t.Rows = append(t.Rows, []string{
			w.Precision, w.Backend, strconv.Itoa(w.Cores), strconv.Itoa(w.Batch), bench.Significant(w.Micros, 3), bench.Significant(w.GFLOPS, 3),
			bench.Significant(w.BLASMicros, 3), bench.Significant(w.BLASGFLOPS, 3), ratio(w.Ratio), span(w.Quartiles), limit, r.verdict(w.Pass, w.Noisy),
		})
	}
	return t
}

// checkTable returns the checks for people.
func (r *report) checkTable() bench.Table {
	t := bench.Table{Header: []string{"ratio of", "ratio", "quartiles", "limit", ""}}
	for _, c := range r.Checks {
		sign := "≤ "
		if c.AtLeast {
			sign = "≥ "
		}
		limit := ""
		if c.Limit != nil {
			limit = sign + strconv.FormatFloat(*c.Limit, 'f', 1, 64)
		}
		t.Rows = append(t.Rows, []string{c.What, ratio(c.Ratio), span(c.Quartiles), limit, r.verdict(c.Pass, c.Noisy)})
	}
	return t
}

func ratio(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func span(q [2]float64) string { return ratio(q[0]) + "-" + ratio(q[1]) }

// verdict says whether a limit is held, and what makes the row worth less.
func (r *report) verdict(pass *bool, noisy bool) string {
	var words []string
	switch {
	case pass == nil: // no limit
	case *pass:
		words = append(words, "pass")
	default:
		words = append(words, "FAIL")
	}
	if noisy {
		words = append(words, "noisy")
	}
	if pass != nil && r.Machine.Busy {
		words = append(words, "busy")
	}
	return strings.Join(words, ", ")
}

// write puts the report where the flags want it.
func (r *report) write(o options, stdout io.Writer) error {
	if o.markdown != "" {
		if err := bench.UpdatePage(o.markdown, o.section(), r.text()); err != nil {
			return err
		}
	}
	if o.json != "" {
		if err := bench.WriteJSON(o.json, stdout, r); err != nil || o.json == "-" {
			return err
		}
	}
	if err := r.forwardTable().Write(stdout); err != nil {
		return err
	}
	fmt.Fprintln(stdout)
	if err := r.checkTable().Write(stdout); err != nil {
		return err
	}
	_, err := io.WriteString(stdout, r.notes())
	return err
}

// applicable says which limits there are.
func (r *report) applicable() string { return "Limits: " + r.Limits + "." }

// text returns the report for a page.
func (r *report) text() string {
	return r.forwardTable().Markdown() + "\n" + r.checkTable().Markdown() + r.notes()
}

// notes says under the tables what was measured.
func (r *report) notes() string {
	var clocks []bench.Clock
	for _, w := range r.Rows {
		clocks = append(clocks, w.Clock)
	}
	return bench.Notes(r.Machine, string(bench.Dense)+" inputs", bench.Clocks(clocks)) +
		"OpenBLAS: " + strings.Join(r.OpenBLAS, "; ") + ".\n" + r.applicable() + "\n"
}
