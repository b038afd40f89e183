package main

import (
	"fmt"
	"io"

	"vtrain/cfr/verify"
	"vtrain/rules/record"
	"vtrain/vec"
)

type verifyCmd struct {
	Files []string `arg:"" name:"file" help:"Files of recorded games, encodings, bot moves or regret matching rows, plain or .gz. Encodings and bot moves find their games among the files given, or beside them."`
}

// Run prints a line for each file as it is checked; mismatches are an error.
func (c *verifyCmd) Run(s *streams) error {
	pool := vec.NewPool(0)
	defer pool.Close()
	width := len("total")
	for _, path := range c.Files {
		width = max(width, len(path))
	}
	var writing error
	reports, err := verify.Files(c.Files, pool, func(r *verify.Report) {
		if writing == nil {
			writing = printReport(s.out, width, r)
		}
	})
	if err != nil {
		return err
	}
	if writing != nil {
		return writing
	}
	lines, checked, mismatched := verify.Total(reports)
	if err := printCounts(s.out, width, "total", "", lines, checked, mismatched, ""); err != nil {
		return err
	}
	if mismatched > 0 {
		return fmt.Errorf("%d mismatches in %d items", mismatched, checked)
	}
	return nil
}

// printReport writes a file's counts and its first mismatches.
func printReport(w io.Writer, width int, r *verify.Report) error {
	precision := "exact"
	if r.Tolerance > 0 {
		precision = fmt.Sprintf("within %g relative", r.Tolerance)
	}
	if err := printCounts(w, width, r.Path, r.Kind.String(), r.Lines, r.Checked, r.Mismatched, precision); err != nil {
		return err
	}
	for _, m := range r.First {
		if _, err := fmt.Fprintf(w, "  %s\n", m); err != nil {
			return err
		}
	}
	if more := r.Mismatched - len(r.First); more > 0 {
		_, err := fmt.Fprintf(w, "  and %d more\n", more)
		return err
	}
	return nil
}

// kindWidth fits the longest name of a kind.
var kindWidth = len(record.RegretMatching.String())

func printCounts(w io.Writer, width int, name, kind string, lines, checked, mismatched int, precision string) error {
	text := fmt.Sprintf("%-*s  %-*s  %6d lines  %9d items checked  %6d mismatches", width, name, kindWidth, kind, lines, checked, mismatched)
	if precision != "" {
		text += "  " + precision
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
