package bench

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Table is results for people. Rows are as long as the header.
type Table struct {
	Header []string
	Rows   [][]string
}

// Write prints the table in columns aligned to the right.
func (t Table) Write(w io.Writer) error {
	lines := append([][]string{t.Header}, t.Rows...)
	width := make([]int, len(t.Header))
	for _, line := range lines {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		var b strings.Builder
		for i, cell := range line {
			fmt.Fprintf(&b, "%*s  ", width[i], cell)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// Markdown returns the table as documents have it.
func (t Table) Markdown() string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.Header)
	b.WriteString(strings.Repeat("|---:", len(t.Header)) + "|\n")
	for _, row := range t.Rows {
		line(row)
	}
	return b.String()
}
