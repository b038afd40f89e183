package verify

import (
	"fmt"

	"vtrain/rules/record"
)

// keepMismatches is how many mismatches a report describes.
const keepMismatches = 10

// A Report counts what was compared with one file.
type Report struct {
	Path       string
	Kind       record.Kind
	Lines      int
	Checked    int      // items
	Mismatched int      // items that differ
	First      []string // the first few of those, a line each
	Tolerance  float64  // relative difference up to which numbers count as equal: 0 means exact
}

// OK reports whether something was checked and nothing differs.
func (r *Report) OK() bool { return r.Checked > 0 && r.Mismatched == 0 }

// Total sums reports.
func Total(reports []*Report) (lines, checked, mismatched int) {
	for _, r := range reports {
		lines += r.Lines
		checked += r.Checked
		mismatched += r.Mismatched
	}
	return lines, checked, mismatched
}

// The two forms of the code that are compared.
const (
	scalar   = "scalar"
	lockstep = "lockstep"
)

// A place says what an item belongs to.
type place struct {
	line int
	of   string // "game 3, ply 7"
}

// count counts an item. The difference says what is wrong with it; it is empty
// if nothing is.
func (r *Report) count(at place, code, difference string) {
	r.Checked++
	if difference == "" {
		return
	}
	r.Mismatched++
	if len(r.First) < keepMismatches {
		r.First = append(r.First, fmt.Sprintf("%s, line %d: %s, %s: %s", r.Path, at.line, at.of, code, difference))
	}
}

// differs describes a value that is not the recorded one.
func differs[T comparable](what string, got, recorded T) string {
	if got == recorded {
		return ""
	}
	return fmt.Sprintf("%s is %v, recorded %v", what, got, recorded)
}

// problem is the text of an error, empty for nil.
func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
