package record

import (
	"fmt"
	"strings"
)

// keepMismatches is how many mismatches a report describes.
const keepMismatches = 10

// A Report counts the items compared with a recording.
type Report struct {
	Lines      int        // lines looked at: games, encodings and so on
	Checked    int        // items compared
	Mismatched int        // items that differ
	First      []Mismatch // the first few of them
}

// Where says what an item belongs to.
type Where struct {
	File string
	Line int
	Game int
	Ply  int
	Code string // which code was compared: "scalar" or "lockstep"
}

// A Mismatch is an item that differs from the recording.
type Mismatch struct {
	Where
	What      string // the item
	Got, Want string // ours, the recording's
}

// String returns one line of text.
func (m Mismatch) String() string {
	return fmt.Sprintf("%s, line %d: game %d, ply %d, %s: %s is %s, recorded %s", m.File, m.Line, m.Game, m.Ply, m.Code, m.What, m.Got, m.Want)
}

// Check counts one item, and reports whether ours equals the recording's.
func Check[T comparable](r *Report, at Where, what string, got, want T) bool {
	r.Checked++
	if got == want {
		return true
	}
	r.fail(at, what, fmt.Sprint(got), fmt.Sprint(want))
	return false
}

// Fail counts one item as checked and wrong.
func (r *Report) Fail(at Where, what, got, want string) {
	r.Checked++
	r.fail(at, what, got, want)
}

func (r *Report) fail(at Where, what, got, want string) {
	r.Mismatched++
	if len(r.First) < keepMismatches {
		r.First = append(r.First, Mismatch{at, what, got, want})
	}
}

// Merge adds another report's counts.
func (r *Report) Merge(o *Report) {
	r.Lines += o.Lines
	r.Checked += o.Checked
	r.Mismatched += o.Mismatched
	room := min(len(o.First), keepMismatches-len(r.First))
	r.First = append(r.First, o.First[:room]...)
}

// OK reports whether something was checked and nothing differs.
func (r *Report) OK() bool { return r.Checked > 0 && r.Mismatched == 0 }

// String returns the counts and the first mismatches, a line each.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d lines, %d items checked, %d mismatching", r.Lines, r.Checked, r.Mismatched)
	for _, m := range r.First {
		fmt.Fprintf(&b, "\n%s", m)
	}
	return b.String()
}
