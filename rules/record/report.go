package record

import "fmt"

// keepMismatches is how many mismatches a report describes.
const keepMismatches = 10

// A Report counts the items compared with a recording.
type Report struct {
	Lines      int        // lines looked at: games, encodings and so on
	Checked    int        // items compared
	Mismatched int        // items that differ
	First      []Mismatch // the first few of them
}

// The two forms of the code that are compared with a recording.
const (
	Scalar   = "scalar"
	Lockstep = "lockstep"
)

// Where says what an item belongs to.
type Where struct {
	File string
	Line int
	Game int
	Ply  int
	Row  string // what the line is instead of a state of a game, or ""
	Code string // Scalar or Lockstep
}

// A Mismatch is an item that differs from the recording.
type Mismatch struct {
	Where
	What string // the item and what is wrong with it
}

// String returns one line of text.
func (m Mismatch) String() string {
	of := m.Row
	if of == "" {
		of = fmt.Sprintf("game %d, ply %d", m.Game, m.Ply)
	}
	return fmt.Sprintf("%s, line %d: %s, %s: %s", m.File, m.Line, of, m.Code, m.What)
}

// Count counts an item. The difference says what is wrong with it; it is empty
// if nothing is.
func (r *Report) Count(at Where, difference string) {
	r.Checked++
	if difference == "" {
		return
	}
	r.Mismatched++
	if len(r.First) < keepMismatches {
		r.First = append(r.First, Mismatch{at, difference})
	}
}

// Differs describes a value that is not the recorded one.
func Differs[T comparable](what string, got, recorded T) string {
	if got == recorded {
		return ""
	}
	return fmt.Sprintf("%s is %v, recorded %v", what, got, recorded)
}
