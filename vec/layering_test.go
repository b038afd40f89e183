package vec_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	moduleRoot = ".."
	modulePath = "vtrain/"
	guide      = "docs/architecture.md"
)

// testOnly are the modules that test files of any folder may import as well.
var testOnly = []string{"pgregory.net/rapid"}

// A layer is a top folder and what it may import besides itself and the
// standard library, tests included. Folders within it follow its rule.
type layer struct {
	folder  string
	folders []string
	modules []string
}

// layers reads the guide's table of folders, in dependency order.
func layers(t *testing.T) []layer {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, guide))
	if err != nil {
		t.Fatal(err)
	}
	table, err := parseLayers(string(text))
	if err != nil {
		t.Fatalf("%s: %v", guide, err)
	}
	return table
}

var (
	code   = regexp.MustCompile("`([^`]+)`")
	folder = regexp.MustCompile("^\\| `([a-z]+)/[a-z/]*` \\|")
)

// parseLayers finds the rows of one folder each: what a folder may import is
// what its last cell has as code, a module if it has a dot and a folder
// otherwise, and "all above", the folders of the rows before.
func parseLayers(text string) ([]layer, error) {
	_, table, _ := strings.Cut(text, "| folder | holds | may import |")
	table, _, _ = strings.Cut(table, "\n\n")
	var all []layer
	var above []string
	for row := range strings.Lines(table) {
		name := folder.FindStringSubmatch(row)
		if name == nil {
			continue
		}
		l := layer{folder: name[1]}
		cells := strings.Split(strings.Trim(row, "| \n"), "|")
		last := cells[len(cells)-1]
		if strings.Contains(last, "all above") {
			l.folders = slices.Clone(above)
		}
		for _, c := range code.FindAllStringSubmatch(last, -1) {
			switch {
			case strings.Contains(c[1], "."):
				l.modules = append(l.modules, c[1])
			case slices.Contains(above, c[1]):
				l.folders = append(l.folders, c[1])
			default:
				return nil, fmt.Errorf("%s may import %q, which is neither a module nor a folder above it", l.folder, c[1])
			}
		}
		all, above = append(all, l), append(above, l.folder)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no table of folders")
	}
	return all, nil
}

// TestLayering walks the module's Go files, whatever their build tags, and
// holds their imports to the guide: nothing imports upwards, and each folder
// only the modules it is there for.
func TestLayering(t *testing.T) {
	table, files := layers(t), 0
	err := filepath.WalkDir(moduleRoot, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return skipForeign(path, d)
		case filepath.Ext(path) != ".go":
			return nil
		}
		files++
		return checkImports(t, path, func(file, pkg string) bool { return mayImport(table, file, pkg) })
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Errorf("only %d Go files were found", files)
	}
}

// skipForeign leaves out what is no package of this module.
func skipForeign(path string, d fs.DirEntry) error {
	name := d.Name()
	if path == moduleRoot {
		return nil
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	if err == nil || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return filepath.SkipDir
	}
	return nil
}

// TestLearnerSeesOnlyBatches: what learns, package cfr itself, knows no game.
// Its tests may, to deal one.
func TestLearnerSeesOnlyBatches(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(moduleRoot, "cfr", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		err := checkImports(t, path, func(_, pkg string) bool {
			to, ours := strings.CutPrefix(pkg, modulePath)
			return !ours || topFolder(to) == "vec" || topFolder(to) == "nets"
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func checkImports(t *testing.T, path string, may func(file, pkg string) bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(moduleRoot, path)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	for _, spec := range file.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if !may(rel, to) {
			t.Errorf("%s imports %s, which %s does not allow", rel, to, guide)
		}
	}
	return nil
}

// mayImport reports whether a file of this module may import a package. A
// folder that the table does not know may import the standard library only.
func mayImport(table []layer, file, pkg string) bool {
	from := topFolder(file)
	i := slices.IndexFunc(table, func(l layer) bool { return l.folder == from })
	var l layer
	if i >= 0 {
		l = table[i]
	}
	if to, ours := strings.CutPrefix(pkg, modulePath); ours {
		return i >= 0 && topFolder(to) == from || slices.Contains(l.folders, topFolder(to))
	}
	if !strings.Contains(topFolder(pkg), ".") {
		return true // the standard library
	}
	modules := l.modules
	if strings.HasSuffix(file, "_test.go") {
		modules = slices.Concat(modules, testOnly)
	}
	return slices.ContainsFunc(modules, func(m string) bool { return pkg == m || strings.HasPrefix(pkg, m+"/") })
}

func topFolder(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

// TestMayImport holds the guide's table to the seams of the design.
func TestMayImport(t *testing.T) {
	table := layers(t)
	for _, c := range []struct {
		file, pkg string
		want      bool
	}{
		{"vec/a.go", "vtrain/vec/vectest", true},
		{"vec/a.go", "vtrain/rules", false},
		{"rules/bots/a.go", "vtrain/vec", true},
		{"encode/a.go", "vtrain/nets", false},
		{"nets/cpu/a.go", "vtrain/rules", false},
		{"nets/cpu/a.go", "vtrain/encode", false},
		{"cfr/a.go", "vtrain/bench", false},
		{"cmd/vtrain/a.go", "vtrain/bench", true},
		{"unknown/a.go", "vtrain/vec", false},
		{"unknown/a.go", "vtrain/unknown/b", false},
		{"rules/a.go", "encoding/json", true},
		{"vec/a.go", "gorgonia.org/tensor", true},
		{"vec/a.go", "gorgonia.org/tensor/native", true},
		{"vec/a.go", "gorgonia.org/tensorial", false},
		{"rules/a.go", "gorgonia.org/tensor", false},
		{"encode/a.go", "gonum.org/v1/gonum/mat", false},
		{"nets/cpu/a.go", "gonum.org/v1/gonum/blas", true},
		{"nets/graph/a.go", "gorgonia.org/gorgonia", true},
		{"nets/a.go", "gonum.org/v1/plot", false},
		{"cfr/a.go", "gorgonia.org/gorgonia", false},
		{"rules/a.go", "pgregory.net/rapid", false},
		{"rules/a_test.go", "pgregory.net/rapid", true},
		{"rules/a_test.go", "gorgonia.org/tensor", false},
	} {
		if got := mayImport(table, c.file, c.pkg); got != c.want {
			t.Errorf("%s imports %s: allowed is %v, expected %v", c.file, c.pkg, got, c.want)
		}
	}
}

func TestParseLayers(t *testing.T) {
	const head = "text | with | bars\n\n| folder | holds | may import |\n|---|---|---|\n"
	got, err := parseLayers(head + "| `a/` | b | `x.org/y` |\n| `b/` | c | `a` |\n| `c/d/` | e | all above, `z.org` |\n| `e/`, `f/` | text | |\n\n| `g/` | other | table |\n")
	want := []layer{{"a", nil, []string{"x.org/y"}}, {"b", []string{"a"}, nil}, {"c", []string{"a", "b"}, []string{"z.org"}}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, %v; expected %v", got, err, want)
	}
	for name, text := range map[string]string{
		"no table":       "| `a/` | b | |\n",
		"upwards":        head + "| `a/` | b | `b` |\n| `b/` | c | |\n",
		"to itself":      head + "| `a/` | b | `a` |\n",
		"unknown folder": head + "| `a/` | b | `z` |\n",
	} {
		if got, err := parseLayers(text); err == nil {
			t.Errorf("%s: got %v, expected an error", name, got)
		}
	}
}
