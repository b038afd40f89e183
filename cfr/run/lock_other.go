//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// acquire creates the lock file, which must not exist. Without advisory locks
// a killed process leaves it behind, so the error says what to do.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s: exists, expected that one process at a time trains in a run's folder; remove it if none does", path)
	}
	return f, err
}

// release gives the lock back.
func release(f *os.File) error {
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// syncFolder does nothing: folders can't be synced here.
func syncFolder(string) error { return nil }
