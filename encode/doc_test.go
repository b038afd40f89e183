package encode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"vtrain/encode/internal/doctables"
)

func TestDocIsUpToDate(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "lost-cities.md"))
	if err != nil {
		t.Fatal(err)
	}
	updated, err := doctables.Update(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page, updated) {
		t.Error("docs/lost-cities.md is stale: run go generate ./encode")
	}
}

func TestUpdateNamesWhatIsMissing(t *testing.T) {
	for _, page := range []string{"", "<!-- generated: sizes -->\n"} {
		if _, err := doctables.Update([]byte(page)); err == nil {
			t.Errorf("page %q was updated", page)
		}
	}
}
