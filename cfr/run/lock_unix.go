//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package run

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// acquire takes the exclusive lock of a file, which it creates. The system
// drops the lock when its holder ends, however it ends.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s: held by another process, expected that one at a time trains in a run's folder", path)
	}
	return nil, fmt.Errorf("%s: can't be locked: %w", path, err)
}

// release gives the lock back. The file stays: removing it would let two
// processes hold locks of two files of one name.
func release(f *os.File) error { return f.Close() }

// syncFolder makes the entries of a folder durable.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
