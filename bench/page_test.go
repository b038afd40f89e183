package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const page = `# Speed
<!-- measured: forward -->
old
<!-- end -->
text between
<!-- measured: train -->
<!-- end -->
rest
`

func TestUpdatePage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "page.md")
	if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, step := range [][2]string{{"train", "trained\n"}, {"forward", "new\nlines\n"}, {"forward", "newest\n"}} {
		if err := CheckPage(path, step[0]); err != nil {
			t.Fatal(err)
		}
		if err := UpdatePage(path, step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Replace(strings.Replace(page, "old\n", "newest\n", 1), "train -->\n", "train -->\ntrained\n", 1)
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
}

// TestPageWithoutAPlace: what can't be updated is said before and after
// measuring, and left as it is.
func TestPageWithoutAPlace(t *testing.T) {
	for name, text := range map[string]string{
		"no mark": "# Speed\n", "no end": "<!-- measured: forward -->\nold\n", "another": "<!-- measured: forward-binary -->\n<!-- end -->\n",
	} {
		path := filepath.Join(t.TempDir(), "page.md")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{CheckPage(path, "forward"), UpdatePage(path, "forward", "new")} {
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	if err := CheckPage(filepath.Join(t.TempDir(), "absent.md"), "forward"); err == nil {
		t.Error("an absent page can be updated")
	}
}

func TestNotes(t *testing.T) {
	m := Machine{Busy: true}
	for want, all := range map[string][]Clock{
		"wall time": {Wall, Wall}, "processor time": {CPU}, "processor time on one core, wall time on more": {CPU, Wall},
	} {
		if got := Notes(m, "dense inputs", Clocks(all)); got != "\nMeasured on: "+m.String()+"; dense inputs; "+want+".\n" {
			t.Errorf("%v: %q", all, got)
		}
	}
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	if err := CheckWritable(filepath.Join(dir, "new.json")); err != nil {
		t.Error(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "absent", "new.json")} {
		if err := CheckWritable(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
}

func TestWriteJSON(t *testing.T) {
	var out bytes.Buffer
	path := filepath.Join(t.TempDir(), "a.json")
	for _, to := range []string{"-", path} {
		if err := WriteJSON(to, &out, map[string]int{"a": 1}); err != nil {
			t.Fatal(err)
		}
	}
	const want = "{\n \"a\": 1\n}\n"
	if got, err := os.ReadFile(path); err != nil || string(got) != want || out.String() != want {
		t.Errorf("%q, %q, %v", got, out.String(), err)
	}
	if err := WriteJSON(filepath.Join(path, "b.json"), &out, 1); err == nil {
		t.Error("a file in a file was written")
	}
}

func TestTable(t *testing.T) {
	table := Table{Header: []string{"µs", "a", ""}, Rows: [][]string{{"1000", "b", "noisy"}, {"2", "c", ""}}}
	var b strings.Builder
	if err := table.Write(&b); err != nil || b.String() != "  µs  a\n1000  b  noisy\n   2  c\n" {
		t.Errorf("%v\n%s", err, b.String())
	}
	if m := table.Markdown(); m != "| µs | a |  |\n|---:|---:|---:|\n| 1000 | b | noisy |\n| 2 | c |  |\n" {
		t.Error(m)
	}
}
