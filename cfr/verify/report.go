package verify

import "vtrain/rules/record"

// A Report counts what was compared with one file.
type Report struct {
	record.Report
	Path      string
	Kind      record.Kind
	Tolerance float64 // relative difference up to which numbers count as equal: 0 means exact
}

// Total sums reports.
func Total(reports []*Report) (lines, checked, mismatched int) {
	for _, r := range reports {
		lines += r.Lines
		checked += r.Checked
		mismatched += r.Mismatched
	}
	return lines, checked, mismatched
}

// count counts an item of one form of the code.
func (r *Report) count(at record.Where, code, difference string) {
	at.File, at.Code = r.Path, code
	r.Count(at, difference)
}

// problem is the text of an error, empty for nil.
func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
