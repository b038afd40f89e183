package run

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
)

// replaceFile writes a file aside, syncs and renames it, so that its path holds
// the old or the new text at any time.
func replaceFile(path string, text []byte) error {
	aside := filepath.Join(filepath.Dir(path), asidePrefix+filepath.Base(path))
	err := writeSynced(aside, text)
	if err == nil {
		err = os.Rename(aside, path)
	}
	if err != nil {
		os.Remove(aside)
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// asidePrefix begins the names of what is still being written, or removed.
const asidePrefix = ".tmp-"

// writeSynced writes a whole file and makes its content durable.
func writeSynced(path string, text []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return cmp.Or(err, finish(f))
}

// finish syncs and closes a file.
func finish(f *os.File) error { return cmp.Or(f.Sync(), f.Close()) }

// sweep removes what a killed process left aside in a folder.
func sweep(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), asidePrefix) {
			err = cmp.Or(err, os.RemoveAll(filepath.Join(folder, e.Name())))
		}
	}
	return err
}
