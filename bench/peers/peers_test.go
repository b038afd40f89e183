package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vtrain/bench"
	"vtrain/nets"
)

// fakeKey makes this test's program play OpenBLAS's part, with a mistake.
const fakeKey = "FAKE_OPENBLAS"

func TestMain(m *testing.M) {
	if mistake, fake := os.LookupEnv(fakeKey); fake {
		fakeBLAS(mistake)
		return
	}
	os.Exit(m.Run())
}

// fakeBLAS answers like openblas.c: a forward takes a millisecond a row.
func fakeBLAS(mistake string) {
	switch mistake {
	case "dies":
		fmt.Fprintln(os.Stderr, "no memory")
		os.Exit(1)
	case "threads":
		fmt.Println("64 Fake")
	default:
		fmt.Println(os.Getenv("OPENBLAS_NUM_THREADS"), os.Getenv("OPENBLAS_CORETYPE"), strings.Join(os.Args[1:], " "))
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var batch, runs int
		if _, err := fmt.Sscan(lines.Text(), &batch, &runs); err != nil || mistake == "ends" {
			return
		}
		if mistake == "babbles" {
			fmt.Println("fast")
			continue
		}
		fmt.Println(float64(batch) / 1000)
	}
}

func smallGrid(cores ...int) bench.Grid {
	return bench.Grid{Layers: []nets.MLP{{7, 5, 3}}, Cores: cores, Batches: []int{1, 8}, Input: bench.Dense}
}

func TestProtocol(t *testing.T) {
	t.Setenv(fakeKey, "")
	b, err := start(os.Args[0], smallGrid(1), 2, "Haswell")
	if err != nil {
		t.Fatal(err)
	}
	if b.describe != "Haswell wall 8 7 5 3, 2 threads" {
		t.Errorf("started as %q", b.describe)
	}
	for _, c := range []struct{ batch, runs int }{{8, 1}, {1, 50}} {
		if took, err := b.timer(c.batch)(c.runs); err != nil || took != time.Duration(c.batch*c.runs)*time.Millisecond {
			t.Errorf("%+v took %v, %v", c, took, err)
		}
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
}

// TestBrokenPeer: each way to fail is one line.
func TestBrokenPeer(t *testing.T) {
	for mistake, says := range map[string]string{"dies": "no memory", "threads": "64 threads", "ends": "no answer", "babbles": `"fast"`} {
		t.Setenv(fakeKey, mistake)
		b, err := start(os.Args[0], smallGrid(1), 1, "")
		if err == nil {
			_, err = b.timer(8)(1)
			defer b.close()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", mistake, err)
		}
	}
}

func TestCompareForwards(t *testing.T) {
	t.Setenv(fakeKey, "")
	r := &report{Machine: bench.ThisMachine()}
	if err := r.compareForwards(smallGrid(1), os.Args[0], "", bench.MeasureOptions{Repetitions: 2}); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2 || len(r.Engines) != 1 || len(r.OpenBLAS) != 1 || len(r.Checks) != 0 {
		t.Fatalf("%+v", r)
	}
	for i, w := range r.Rows {
		if w.Batch != []int{1, 8}[i] || w.Cores != 1 || w.BLASMicros != 1000 || !(w.Ratio > 0 && w.Ratio < 1) || !w.Pass {
			t.Errorf("%+v", w)
		}
	}
}

// TestFill: rows and verdicts of times known beforehand. One core of ours takes
// 10 and 20 µs, two take 4 and 10; OpenBLAS takes 10 and 25, then 4 and 10.
func TestFill(t *testing.T) {
	same := func(seconds float64) bench.Sample { return bench.Sample{seconds, seconds, seconds} }
	g := smallGrid(1, 2)
	g.Batches = []int{1, 1024}
	r := &report{}
	r.fill(g, []pair{{same(10e-6), same(10e-6)}, {same(20e-6), same(25e-6)}, {same(4e-6), same(4e-6)}, {same(15e-6), same(10e-6)}})
	flops := bench.Flops(g.Layers[0])
	for i, want := range []row{
		{Cores: 1, Batch: 1, Micros: 10, Ratio: 1, Limit: 0.95},
		{Cores: 1, Batch: 1024, Micros: 20. / 1024, Ratio: 0.8, Limit: 1.05, Pass: true},
		{Cores: 2, Batch: 1, Micros: 4, Ratio: 1, Pass: true},
		{Cores: 2, Batch: 1024, Micros: 15. / 1024, Ratio: 1.5, Pass: true},
	} {
		w := r.Rows[i]
		if w.Cores != want.Cores || w.Batch != want.Batch || !near(w.Micros, want.Micros) || !near(w.Ratio, want.Ratio) ||
			w.Limit != want.Limit || w.Pass != want.Pass || !near(w.GFLOPS, flops/want.Micros/1e3) {
			t.Errorf("row %d is %+v, expected %+v", i, w, want)
		}
	}
	if len(r.Checks) != 2 || !near(r.Checks[0].Ratio, 20./15) || r.Checks[0].Pass || r.missed() != 2 {
		t.Errorf("checks %+v, %d missed", r.Checks, r.missed())
	}
	if c := r.Checks[1]; !near(c.Ratio, 2.5) || !c.Pass || c.Limit != 0 {
		t.Errorf("OpenBLAS: %+v", c)
	}
	if text := r.text(); strings.Count(text, "FAIL") != 2 || strings.Count(text, "pass") != 1 || !strings.Contains(text, "≥ 1.8") {
		t.Errorf("as a page:\n%s", text)
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

func TestNewCheck(t *testing.T) {
	for _, c := range []struct {
		ratio, limit float64
		atLeast      bool
		pass         bool
	}{{3, 3.6, false, true}, {1, 0, true, true}, {4, 3.6, false, false}, {4, 5, true, false}, {5, 5, true, true}} {
		if got := newCheck("", bench.Sample{c.ratio}, c.limit, c.atLeast); got.Pass != c.pass {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

func TestPaired(t *testing.T) {
	var order []int
	timer := func(i int) bench.Timer {
		return func(int) (time.Duration, error) { order = append(order, i); return 0, nil }
	}
	for _, t := range paired([]bench.Timer{timer(0), timer(1), timer(2), timer(3)}) {
		_, _ = t(1)
	}
	if fmt.Sprint(order) != "[0 2 1 3]" {
		t.Errorf("order %v", order)
	}
}

// peers runs a command line.
func peers(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = execute(args, &out, &err)
	return code, out.String(), err.String()
}

// TestBadInput: each mistake is one line that names it.
func TestBadInput(t *testing.T) {
	for args, says := range map[string]string{
		"-batches 1": "-batches", "-batch x": `"x"`, "-batch 0": "batch 0", "-batch ,": `""`, "-cores 0": "0 cores", "-layers 7": "layers [7]",
		"-layers 7-x": "7-x", "-repetitions 0": "0 repetitions", "-seconds NaN": "NaN seconds", "more": "more",
	} {
		code, out, stderr := peers(strings.Fields(args)...)
		if code != exitUsage || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d, output %q and %q", args, code, out, stderr)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing.md")
	if code, _, stderr := peers("-markdown", missing); code != exitFailure || !strings.Contains(stderr, missing) {
		t.Errorf("exit %d, %q", code, stderr)
	}
	if code, out, stderr := peers("-h"); code != exitOK || !strings.Contains(out, "-coretype") || stderr != "" {
		t.Errorf("help: exit %d, %q, %q", code, out, stderr)
	}
}

// TestNoOpenBLAS: what is missing is said in a line.
func TestNoOpenBLAS(t *testing.T) {
	failing := filepath.Join(t.TempDir(), "cc")
	const script = "#!/bin/sh\necho from the linker\necho cannot find -lopenblas: no such file\nexit 1\n"
	if err := os.WriteFile(failing, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for cc, says := range map[string]string{"no-such-compiler": "no-such-compiler", failing: "cannot find -lopenblas"} {
		t.Setenv("CC", cc)
		code, out, stderr := peers("-batch", "1", "-layers", "7-3")
		if code != exitFailure || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d, output %q and %q", cc, code, out, stderr)
		}
	}
}

// TestPeers runs the whole comparison on a small network, where there is
// OpenBLAS.
func TestPeers(t *testing.T) {
	if _, err := compile(t.TempDir()); err != nil {
		t.Skip(err)
	}
	args := []string{"-batch", "1,8", "-layers", "7-3", "-repetitions", "2", "-json", "-"}
	code, out, stderr := peers(args...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2*len(r.OpenBLAS) || len(r.Checks) != 2 || !strings.Contains(r.OpenBLAS[0], "OpenBLAS ") {
		t.Errorf("%s", out)
	}
	code, out, stderr = peers("-batch", "1", "-layers", "7-3", "-repetitions", "1", "-cores", "1", "-strict")
	if code == exitOK == strings.Contains(out, "FAIL") || !strings.Contains(out, "gorgonia's step by ours, batch 1024") {
		t.Errorf("exit %d, %q\n%s", code, stderr, out)
	}
}

// TestSourceEnds: the C program refuses questions that it can't answer.
func TestSourceEnds(t *testing.T) {
	program, err := compile(t.TempDir())
	if err != nil {
		t.Skip(err)
	}
	for _, question := range []string{"9 1\n", "0 1\n", "8 0\n"} {
		cmd := exec.Command(program, "cpu", "8", "7", "3")
		cmd.Stdin = strings.NewReader(question)
		if out, err := cmd.Output(); err == nil || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%q is answered %q, %v", question, out, err)
		}
	}
	if err := exec.Command(program, "cpu", "8", "7").Run(); err == nil {
		t.Error("no network is accepted")
	}
}
