package main

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"vtrain/bench"
)

//go:embed openblas/openblas.c
var source []byte

// missingError is the lack of what this repository doesn't need elsewhere.
type missingError struct{ error }

// compile makes the program that times OpenBLAS in a folder, and returns its
// path. The error is a line, a missingError where there is no OpenBLAS.
func compile(dir string) (string, error) {
	cc, err := exec.LookPath(cmp.Or(os.Getenv("CC"), "gcc"))
	if err != nil {
		return "", missingError{fmt.Errorf("no C compiler to call OpenBLAS with: %w", err)}
	}
	file, program := filepath.Join(dir, "openblas.c"), filepath.Join(dir, "openblas")
	if err := os.WriteFile(file, source, 0o644); err != nil {
		return "", err
	}
	build := exec.Command(cc, "-O2", "-o", program, file, "-lopenblas")
	build.Env = append(os.Environ(), "LC_ALL=C") // for complaint
	if out, err := build.CombinedOutput(); err != nil {
		says := complaint(out, err)
		if strings.Contains(says, "cblas.h") || strings.Contains(says, "-lopenblas") {
			return "", missingError{fmt.Errorf("no OpenBLAS to compare with (Debian has it as libopenblas-dev): %s says %q", cc, says)}
		}
		return "", fmt.Errorf("%s can't compile the program that calls OpenBLAS: %q", cc, says)
	}
	return program, nil
}

// complaint returns the line of a compiler's output that names what is wrong.
func complaint(out []byte, err error) string {
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "error") || strings.Contains(line, "cannot find") {
			return strings.TrimSpace(line)
		}
	}
	return err.Error()
}

// A blas is a process that times OpenBLAS on a number of cores.
type blas struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	errors   bytes.Buffer
	core     string // whose kernels it runs
	describe string
}

// start runs the program for the first network of a grid and all its batches.
func start(program string, g bench.Grid, cores int, coretype string) (*blas, error) {
	args := []string{string(g.Clock(cores)), strconv.Itoa(slices.Max(g.Batches))}
	for _, width := range g.Layers[0] {
		args = append(args, strconv.Itoa(width))
	}
	b := &blas{cmd: exec.Command(program, args...)}
	// Idle threads spin for 2²² cycles: long enough from one layer to the next,
	// and then not for long.
	b.cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS="+strconv.Itoa(cores), "OPENBLAS_THREAD_TIMEOUT=22")
	if coretype != "" {
		b.cmd.Env = append(b.cmd.Env, "OPENBLAS_CORETYPE="+coretype)
	}
	b.cmd.Stderr = &b.errors
	in, err := b.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.in, b.out = in, bufio.NewReader(out)
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	return b, b.greet(cores, coretype)
}

// greet reads what the program says of itself: threads and kernels must be those
// asked for, whereas OpenBLAS is silent about a name that it doesn't know. On an
// error the process has ended.
func (b *blas) greet(cores int, coretype string) error {
	line, err := b.read()
	if err != nil {
		return err
	}
	threads, rest, _ := strings.Cut(line, " ")
	b.core, _, _ = strings.Cut(rest, " ")
	b.describe = rest + ", " + threads + " threads"
	switch {
	case threads != strconv.Itoa(cores):
		return b.refuse(fmt.Errorf("OpenBLAS runs %s threads, expected %d", threads, cores))
	case coretype != "" && !strings.EqualFold(b.core, coretype):
		return b.refuse(fmt.Errorf("OpenBLAS runs its kernels for %s, not for %s: it knows none of that name that this processor could run", b.core, coretype))
	}
	return nil
}

// refuse ends the process because of an error.
func (b *blas) refuse(err error) error {
	if closing := b.close(); closing != nil {
		return fmt.Errorf("%w; then %w", err, closing)
	}
	return err
}

// read returns the next line, or why there is none: then the process has ended.
func (b *blas) read() (string, error) {
	line, err := b.out.ReadString('\n')
	if err == nil {
		return strings.TrimSpace(line), nil
	}
	closing := b.close()
	if closing != nil && strings.Contains(closing.Error(), "illegal instruction") {
		return "", fmt.Errorf("OpenBLAS's kernels for %s need instructions that this processor doesn't have", b.core)
	}
	return "", fmt.Errorf("OpenBLAS gave no answer: %w, %v %s", err, closing, strings.TrimSpace(b.errors.String()))
}

// timer returns a timer of forwards, which the process times itself.
func (b *blas) timer(batch int) bench.Timer {
	return func(n int) (time.Duration, error) {
		if _, err := fmt.Fprintf(b.in, "%d %d\n", batch, n); err != nil {
			return 0, fmt.Errorf("OpenBLAS takes no question: %w", err)
		}
		line, err := b.read()
		if err != nil {
			return 0, err
		}
		seconds, err := strconv.ParseFloat(line, 64)
		if err != nil || !(seconds >= 0) {
			return 0, fmt.Errorf("OpenBLAS answered %q, expected seconds", line)
		}
		return time.Duration(seconds * float64(n) * 1e9), nil
	}
}

// close ends the process.
func (b *blas) close() error {
	return errors.Join(b.in.Close(), b.cmd.Wait())
}
