package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A page marks where results go: everything between a begin mark, which names
// them, and the next end mark is measured, not written.
const (
	beginMark = "<!-- measured: "
	closeMark = " -->\n"
	endMark   = "<!-- end -->"
)

// UpdatePage replaces the results of a name in a file.
func UpdatePage(path, name, results string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	updated, err := replaceResults(string(page), name, results)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return writeFile(path, strings.NewReader(updated))
}

// CheckPage reports whether UpdatePage would find its place, before results
// are measured for it.
func CheckPage(path, name string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if _, err := replaceResults(string(page), name, ""); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return CheckWritable(path)
}

// CheckWritable reports whether a file can be written: aside, then moved into
// place, as all results are.
func CheckWritable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s: is a folder", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer os.Remove(f.Name())
	return f.Close()
}

func replaceResults(page, name, results string) (string, error) {
	mark := beginMark + name + closeMark
	head, rest, found := strings.Cut(page, mark)
	if !found {
		return "", fmt.Errorf("no %q to put results after", strings.TrimSpace(mark))
	}
	_, tail, found := strings.Cut(rest, endMark)
	if !found {
		return "", fmt.Errorf("no %q after %q", endMark, strings.TrimSpace(mark))
	}
	return head + mark + results + endMark + tail, nil
}

// Notes says under a table where, by what and how it was measured.
func Notes(m Machine, how ...string) string {
	return "\nMeasured on: " + strings.Join(append([]string{m.String()}, how...), "; ") + ".\n"
}

// Clocks says what measured rows that have these clocks.
func Clocks(all []Clock) string {
	switch {
	case !slices.Contains(all, CPU):
		return "wall time"
	case !slices.Contains(all, Wall):
		return "processor time"
	}
	return "processor time on one core, wall time on more"
}

// WriteJSON writes results as one object to a file, or to out if the path is -.
func WriteJSON(path string, out io.Writer, results any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ")
	if err := e.Encode(results); err != nil {
		return err
	}
	if path != "-" {
		return writeFile(path, &b)
	}
	_, err := b.WriteTo(out)
	return err
}
