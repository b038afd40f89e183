package vec_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers lists the folders in dependency order, and the others that each may
// import, tests included. Folders within a folder follow its rule.
var layers = []struct {
	folder string
	may    []string
}{
	{"vec", nil},
	{"rules", []string{"vec"}},
	{"encode", []string{"vec", "rules"}},
	{"nets", []string{"vec"}},
	{"cfr", []string{"vec", "rules", "encode", "nets"}},
	{"bench", []string{"vec", "rules", "encode", "nets", "cfr"}},
	{"cmd", []string{"vec", "rules", "encode", "nets", "cfr", "bench"}},
}

const (
	moduleRoot = ".."
	modulePath = "vtrain/"
)

// TestLayering walks the module's Go files, whatever their build tags, and
// holds their imports to the table: nothing imports upwards.
func TestLayering(t *testing.T) {
	files := 0
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
		return checkImports(t, path)
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

func checkImports(t *testing.T, path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(moduleRoot, path)
	if err != nil {
		return err
	}
	from := topFolder(filepath.ToSlash(rel))
	for _, spec := range file.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if to, ours := strings.CutPrefix(to, modulePath); ours && !mayImport(from, topFolder(to)) {
			t.Errorf("%s imports %s%s: %s may not import %s", rel, modulePath, to, from, topFolder(to))
		}
	}
	return nil
}

func topFolder(path string) string {
	folder, _, _ := strings.Cut(path, "/")
	return folder
}

func mayImport(from, to string) bool {
	for _, l := range layers {
		if l.folder == from {
			return to == from || slices.Contains(l.may, to)
		}
	}
	return false // a folder that the table does not know may import none
}

// TestLayersAreOrdered: each row of the table names only rows above it.
func TestLayersAreOrdered(t *testing.T) {
	for i, l := range layers {
		for _, to := range l.may {
			if !slices.ContainsFunc(layers[:i], func(above struct {
				folder string
				may    []string
			}) bool {
				return above.folder == to
			}) {
				t.Errorf("%s may import %s, which is not above it", l.folder, to)
			}
		}
	}
}

func TestMayImport(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"vec", "vec"}: true, {"vec", "rules"}: false, {"rules", "vec"}: true, {"nets", "rules"}: false,
		{"cmd", "bench"}: true, {"encode", "nets"}: false, {"unknown", "vec"}: false, {"cfr", "bench"}: false,
	} {
		if got := mayImport(pair[0], pair[1]); got != want {
			t.Errorf("%s to %s: %v, expected %v", pair[0], pair[1], got, want)
		}
	}
}
