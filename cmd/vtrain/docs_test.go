package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vtrain/cfr"
)

var (
	link = regexp.MustCompile(`\]\(([^)#]+)\)`)
	// Names of files in code marks, if they have a folder in them.
	named = regexp.MustCompile("`([a-z]+/[a-z_/]+\\.[a-z]+)`")
)

// TestDocumentsNameWhatExists follows the relative links of all pages, and the
// paths that they name.
func TestDocumentsNameWhatExists(t *testing.T) {
	root := filepath.Join("..", "..")
	pages := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		pages++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(m[1], "://") {
				mustExist(t, path, filepath.Join(filepath.Dir(path), m[1]))
			}
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			mustExist(t, path, filepath.Join(root, m[1]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 6 {
		t.Errorf("%d pages found", pages)
	}
}

func mustExist(t *testing.T, page, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%s: %v", page, err)
	}
}

// TestConfigurations: there is a file of each algorithm, as config prints it.
func TestConfigurations(t *testing.T) {
	for _, algorithm := range []string{cfr.PPO, cfr.DeepCFR, cfr.Distill} {
		path := filepath.Join("..", "..", "docs", "configurations", algorithm+".yaml")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"config", "--set", "learner.algorithm=" + algorithm}
		if _, out, _ := vtrain(t, args...); out != string(text) {
			t.Errorf("%s is not what vtrain %s prints", path, strings.Join(args, " "))
		}
	}
}
