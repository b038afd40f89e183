package run

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"vtrain/cfr"
)

// metricsFile is a log of one JSON object a line. A line is one write, so that
// a reader or a killed process sees whole lines but for the last.
type metricsFile struct {
	f    *os.File
	size int64 // of the whole lines
	line []byte
}

func (m *metricsFile) open(path string) (err error) {
	if m.f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return err
	}
	m.size, err = m.f.Seek(0, io.SeekEnd)
	return err
}

func (m *metricsFile) close() error {
	if m.f == nil {
		return nil
	}
	err := m.f.Close()
	m.f = nil
	return err
}

// write appends a line. A line that doesn't fit the disk is taken back.
func (m *metricsFile) write(line []byte) error {
	n, err := m.f.WriteAt(line, m.size)
	if err != nil {
		return cmp.Or(err, m.f.Truncate(m.size))
	}
	m.size += int64(n)
	return nil
}

// Append logs one iteration: its metrics and whatever else the caller measured,
// such as results of matches. Nested metrics have both names, as critic_loss.
func (f *Folder) Append(m cfr.Metrics, extra map[string]float64) error {
	return f.append(m.Iteration, flatten(nil, "", reflect.ValueOf(m)), extra)
}

// AppendUntrained logs iteration 0, of which there is only what the caller
// measured.
func (f *Folder) AppendUntrained(extra map[string]float64) error {
	return f.append(0, []metric{{"iteration", 0}, {"states", 0}}, extra)
}

func (f *Folder) append(iteration int, values []metric, extra map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if name == "" || MetricKey(name) != name || slices.ContainsFunc(values, func(v metric) bool { return v.key == name }) {
			return fmt.Errorf("%s: extra key %q, expected a name in lower case that no metric has", f.Path(metricsName), name)
		}
		values = append(values, metric{name, extra[name]})
	}
	line, err := appendObject(f.metrics.line[:0], values)
	f.metrics.line = line
	if err == nil {
		err = f.metrics.write(line)
	}
	if err != nil {
		return fmt.Errorf("%s: iteration %d: %w", f.Path(metricsName), iteration, err)
	}
	return nil
}

// A metric is one number of an iteration. All that a learner counts fits a
// float64 exactly.
type metric struct {
	key   string
	value float64
}

// flatten appends the numbers of a struct, in the order of its fields.
func flatten(dst []metric, prefix string, v reflect.Value) []metric {
	for i := range v.NumField() {
		key, f := prefix+snake(v.Type().Field(i).Name), v.Field(i)
		switch {
		case f.Kind() == reflect.Struct:
			dst = flatten(dst, key+"_", f)
		case f.CanInt():
			dst = append(dst, metric{key, float64(f.Int())})
		case f.CanUint():
			dst = append(dst, metric{key, float64(f.Uint())})
		case f.CanFloat():
			dst = append(dst, metric{key, f.Float()})
		}
	}
	return dst
}

// snake turns CriticError into critic_error.
func snake(name string) string {
	var b strings.Builder
	last := rune('_')
	for _, r := range name {
		if unicode.IsUpper(r) && last != '_' && !unicode.IsUpper(last) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	return b.String()
}

// MetricKey joins words to a key: ("eval", "heuristic-balanced", "win") is
// eval_heuristic_balanced_win.
func MetricKey(words ...string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(strings.Join(words, "_")))
}

func appendObject(line []byte, values []metric) ([]byte, error) {
	for i, v := range values {
		if math.IsNaN(v.value) || math.IsInf(v.value, 0) {
			return line, fmt.Errorf("%s is %v, expected a finite number", v.key, v.value)
		}
		line = append(line, "{,"[min(i, 1)])
		line = append(strconv.AppendQuote(line, v.key), ':')
		line = appendNumber(line, v.value)
	}
	return append(line, '}', '\n'), nil
}

// appendNumber writes whole numbers without an exponent.
func appendNumber(line []byte, v float64) []byte {
	const exact = 1 << 53
	if v == math.Trunc(v) && math.Abs(v) <= exact {
		return strconv.AppendInt(line, int64(v), 10)
	}
	return strconv.AppendFloat(line, v, 'g', -1, 64)
}

// ReadMetrics returns the iterations that a run has logged, one map each. A
// last line without its end is one being written, and left out.
func ReadMetrics(dir string) ([]map[string]float64, error) {
	f, err := os.Open(filepath.Join(dir, metricsName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rows []map[string]float64
	_, err = scanMetrics(f, func(row map[string]float64) bool {
		rows = append(rows, row)
		return true
	})
	return rows, err
}

// scanMetrics calls yield for the rows of a log until it returns false, and
// returns the bytes of the rows that it returned true for.
func scanMetrics(f *os.File, yield func(row map[string]float64) bool) (size int64, err error) {
	r := bufio.NewReader(f)
	for line := 1; ; line++ {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return size, nil
		}
		if err != nil {
			return size, err
		}
		var row map[string]float64
		if err := json.Unmarshal(bytes.TrimSpace(text), &row); err != nil || row == nil {
			return size, fmt.Errorf("%s:%d: %.40q, expected an object of numbers", f.Name(), line, text)
		}
		if !yield(row) {
			return size, nil
		}
		size += int64(len(text))
	}
}

// keepUntil removes what was logged after an iteration.
func (m *metricsFile) keepUntil(iteration int) error {
	if _, err := m.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	size, err := scanMetrics(m.f, func(row map[string]float64) bool { return row["iteration"] <= float64(iteration) })
	if err != nil {
		return err
	}
	m.size = size
	return m.f.Truncate(size)
}
