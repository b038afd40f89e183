package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// asCommand makes this test binary the command itself, so that a test has a
// process to kill.
const asCommand = "VTRAIN_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestKilled kills a training process again and again, each time at a moment
// of its own after a checkpoint, and resumes it: the last checkpoint is that
// of a run left alone.
func TestKilled(t *testing.T) {
	iterations, tries := 40, 4
	if testing.Short() {
		iterations, tries = 20, 1
	}
	root := t.TempDir()
	straight, dir := filepath.Join(root, "straight"), filepath.Join(root, "killed")
	flags := slices.Concat([]string{"train", "--iterations", strconv.Itoa(iterations)}, small, []string{"--set", "evaluation.games=4"})
	mustRun(t, slices.Concat(flags, []string{"--run", straight, "--set", "checkpoint.every=0"})...)

	args, kills := slices.Concat(flags, []string{"--run", dir, "--set", "checkpoint.every=1"}), 0
	for range tries {
		delay := time.Duration(rand.Int64N(int64(30 * time.Millisecond)))
		at, killed := killAfterCheckpoint(t, dir, delay, args...)
		t.Logf("killed: %v, %v after checkpoint %s", killed, delay, at)
		if args = []string{"train", "--resume", dir}; killed {
			kills++
		}
	}
	if kills == 0 {
		t.Error("the process always ended before it was killed")
	}
	mustRun(t, args...)
	mustEqual(t, straight, dir, iterations)
	for _, path := range []string{"metrics.jsonl", "config.yaml"} {
		if a, b := countLines(t, filepath.Join(straight, path)), countLines(t, filepath.Join(dir, path)); a != b {
			t.Errorf("%s has %d lines, expected %d", path, b, a)
		}
	}
}

// killAfterCheckpoint starts the command in a process, and kills it some time
// after it has published a checkpoint, whose name it returns. It reports false
// if the process had ended by itself.
func killAfterCheckpoint(t *testing.T, dir string, delay time.Duration, args ...string) (at string, killed bool) {
	t.Helper()
	latest := filepath.Join(dir, "checkpoints", "latest")
	before, _ := os.ReadFile(latest)
	var log bytes.Buffer
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), asCommand+"=1"), &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		now, _ := os.ReadFile(latest)
		if len(now) > 0 && !bytes.Equal(now, before) {
			at = string(bytes.TrimSpace(now))
			break
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v ended by itself: %v\n%s", args, err, log.String())
			}
			return at, false
		default:
		}
	}
	time.Sleep(delay)
	if err := cmd.Process.Kill(); err != nil {
		t.Log(err) // it has just ended
	}
	return at, <-ended != nil
}

func countLines(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

// A copier is a log that copies a folder when it is told something.
type copier struct {
	t        *testing.T
	text     string
	from, to string
}

func (c *copier) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(c.text)) {
		if err := os.CopyFS(c.to, os.DirFS(c.from)); err != nil {
			c.t.Error(err)
		}
	}
	return len(p), nil
}

// TestSecondInterrupt: it ends the process, also one that was started with
// interrupts ignored, as by a shell script in the background.
func TestSecondInterrupt(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	args := slices.Concat([]string{"-c", `trap "" INT; exec "$0" "$@"`, os.Args[0], "train", "--iterations", "1000000", "--run", filepath.Join(t.TempDir(), "run")},
		small, []string{"--set", "evaluation.games=0", "--set", "learner.games=100000"})
	cmd := exec.Command(shell, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	interrupt := func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Log(err)
		}
	}
	saved := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		switch text := lines.Text(); {
		case strings.Contains(text, "nodes an iteration"), strings.Contains(text, "interrupt again"):
			interrupt()
		case strings.Contains(text, "is saved"):
			saved = true
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || saved {
		t.Errorf("exit %d, saved: %v; expected %d at once", code, saved, exitInterrupted)
	}
}

// TestCopyOfARunInProgress: a copy whose metrics are ahead of its checkpoint
// goes on to the same bytes.
func TestCopyOfARunInProgress(t *testing.T) {
	root := t.TempDir()
	straight, copied := filepath.Join(root, "straight"), filepath.Join(root, "copied")
	args := append([]string{"train", "--run", straight, "--iterations", "5"}, small...)
	log := &copier{t, " n=4 ", straight, copied}
	if code := execute(context.Background(), args, io.Discard, log); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	if n := countLines(t, filepath.Join(copied, "metrics.jsonl")); n != 4 {
		t.Fatalf("the copy has metrics of %d iterations, expected 0 to 3", n)
	}
	checkpoint(t, copied, 2)
	mustRun(t, "train", "--resume", copied)
	mustEqual(t, straight, copied, 5)
}
