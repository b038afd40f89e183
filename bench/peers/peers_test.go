package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
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
	case "kernels":
		fmt.Println(os.Getenv("OPENBLAS_NUM_THREADS"), "Zen")
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
	for mistake, says := range map[string]string{
		"dies": "no memory", "threads": "64 threads", "ends": "no answer", "babbles": `"fast"`, "kernels": "for Zen, not for Haswell",
	} {
		t.Setenv(fakeKey, mistake)
		b, err := start(os.Args[0], smallGrid(1), 1, "Haswell")
		if err == nil {
			_, err = b.timer(8)(1)
			defer b.close()
		}
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", mistake, err)
		}
	}
}

// TestIllegalInstruction: OpenBLAS runs any kernels that it is told to.
func TestIllegalInstruction(t *testing.T) {
	program := filepath.Join(t.TempDir(), "openblas")
	const script = "#!/bin/sh\necho 1 SkylakeX\nread question\nkill -ILL $$\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := start(program, smallGrid(1), 1, "skylakex")
	if err != nil {
		t.Skip(err) // no shell
	}
	if _, err = b.timer(1)(1); err == nil || !strings.Contains(err.Error(), "for SkylakeX need instructions") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

func TestCompareForwards(t *testing.T) {
	t.Setenv(fakeKey, "")
	r := newReport(limits{})
	if err := r.compareForwards(smallGrid(1), os.Args[0], "", bench.MeasureOptions{Repetitions: 2}); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 4 || len(r.Engines) != 2 || len(r.OpenBLAS) != 1 || len(r.Checks) != 0 {
		t.Fatalf("%+v", r)
	}
	for i, w := range r.Rows {
		if w.Precision != []string{"float32", "int8"}[i/2] || w.Batch != []int{1, 8}[i%2] || w.Cores != 1 || w.BLASMicros != 1000 ||
			!(w.Ratio > 0 && w.Ratio < 1) || w.Pass != nil || w.Limit != nil {
			t.Errorf("%+v", w)
		}
	}
}

// TestFill: rows and verdicts of times known beforehand, in µs: ours on one core
// and on two, then OpenBLAS's and ours in int8.
func TestFill(t *testing.T) {
	g := smallGrid(1, 2)
	g.Batches = []int{1, 1024}
	r := newReport(limitsOf("avx2", "avx2", ""))
	micros := func(ours, theirs, int8 float64) trio {
		same := func(v float64) bench.Sample { return bench.Sample{v / 1e6, v / 1e6, v / 1e6} }
		return trio{same(ours), same(theirs), same(int8)}
	}
	r.fill(g, []trio{micros(10, 10, 3), micros(20, 25, 8), micros(4, 4, 2), micros(15, 10, 5)})
	flops := bench.Flops(g.Layers[0])
	yes, no := true, false
	limit := func(v float64) *float64 { return &v }
	for i, want := range []row{
		{Cores: 1, Batch: 1, Micros: 10, Ratio: 1, Limit: limit(0.95), Pass: &no},
		{Cores: 1, Batch: 1024, Micros: 20. / 1024, Ratio: 0.8, Limit: limit(1.05), Pass: &yes},
		{Cores: 2, Batch: 1, Micros: 4, Ratio: 1},
		{Cores: 2, Batch: 1024, Micros: 15. / 1024, Ratio: 1.5},
		{Cores: 1, Batch: 1, Micros: 3, Ratio: 0.3, Limit: limit(0.4), Pass: &yes},
		{Cores: 1, Batch: 1024, Micros: 8. / 1024, Ratio: 0.32},
		{Cores: 2, Batch: 1, Micros: 2, Ratio: 0.5},
		{Cores: 2, Batch: 1024, Micros: 5. / 1024, Ratio: 0.5},
	} {
		w := r.Rows[i]
		if w.Cores != want.Cores || w.Batch != want.Batch || !near(w.Micros, want.Micros) || !near(w.Ratio, want.Ratio) ||
			!reflect.DeepEqual(w.Limit, want.Limit) || !reflect.DeepEqual(w.Pass, want.Pass) || !near(w.GFLOPS, flops/want.Micros/1e3) {
			t.Errorf("row %d is %+v, expected %+v", i, w, want)
		}
	}
	if len(r.Rows) != 8 || len(r.Checks) != 3 || r.missed() != 2 {
		t.Fatalf("%+v, %d missed", r, r.missed())
	}
	if c := r.Checks[0]; !near(c.Ratio, 20./8) || !*c.Pass || *c.Limit != 2.2 {
		t.Errorf("float32 by int8: %+v", c)
	}
	if c := r.Checks[1]; !near(c.Ratio, 20./15) || *c.Pass {
		t.Errorf("two cores: %+v", c)
	}
	if c := r.Checks[2]; !near(c.Ratio, 2.5) || c.Pass != nil || c.Limit != nil {
		t.Errorf("OpenBLAS: %+v", c)
	}
	text := r.text()
	if strings.Count(text, "FAIL") != 2 || strings.Count(text, "pass") != 3 || !strings.Contains(text, "≥ 1.8") || !strings.Contains(text, "Limits: all, for avx2") {
		t.Errorf("as a page:\n%s", text)
	}
}

// TestLimits: which apply depends on whose kernels are compared.
func TestLimits(t *testing.T) {
	type list [5]float64 // float32 at batch 1, 64 and 4096, int8 at 1, ourselves
	full := list{0.95, 0.9, 1.05, 0.4, 1}
	for _, c := range []struct {
		ours, best, coretype string
		want                 list
		says                 string
	}{
		{"avx512", "avx512", "", full, "all, for avx512"},
		{"avx512", "avx512", "skylakex", full, "all, for avx512"},
		{"avx2", "avx2", "", full, "all, for avx2"},
		{"avx2", "avx512", "haswell", list{0, 0, 1.1, 0, 1}, "avx2 against OpenBLAS's kernels for Haswell"},
		{"avx2", "avx2", "Haswell", list{0, 0, 1.1, 0, 1}, "avx2 against"},
		{"avx2", "avx512", "", list{4: 1}, "none for avx2 against the best of OpenBLAS"},
		{"avx512", "avx512", "Haswell", list{4: 1}, "none for avx512 against OpenBLAS's kernels for Haswell"},
		{"go", "avx512", "Haswell", list{}, "none, for kernels in Go"},
		{"go", "go", "", list{}, "none, for kernels in Go"},
	} {
		l := limitsOf(c.ours, c.best, c.coretype)
		got := list{
			l.forward(nets.Float32, 1, 1), l.forward(nets.Float32, 1, 64), l.forward(nets.Float32, 1, 4096), l.forward(nets.Int8, 1, 1), l.among(1),
		}
		if got != c.want || !strings.Contains(l.text, c.says) {
			t.Errorf("%+v: %v, %q", c, got, l.text)
		}
		if two := l.forward(nets.Float32, 2, 1024); two != 0 {
			t.Errorf("%+v: on two cores %v", c, two)
		}
	}
}

// near allows for the rounding of reports.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4*math.Abs(b) }

func TestNewCheck(t *testing.T) {
	for _, c := range []struct {
		ratio, limit float64
		atLeast      bool
		pass         bool
	}{{3, 3.6, false, true}, {1, 0, true, true}, {1, 0, false, true}, {4, 3.6, false, false}, {4, 5, true, false}, {5, 5, true, true}} {
		if got := newCheck("", bench.Sample{c.ratio}, c.limit, c.atLeast); (got.Pass == nil) != (c.limit == 0) || got.Pass != nil && *got.Pass != c.pass {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// TestVerdict: rows that say less than they seem to are marked.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		limit             bool
		pass, noisy, busy bool
		want              string
	}{
		{false, true, false, true, ""}, {false, true, true, false, "noisy"}, {true, true, false, false, "pass"},
		{true, false, false, true, "FAIL, busy"}, {true, false, true, true, "FAIL, noisy, busy"},
	} {
		r := report{Machine: bench.Machine{Busy: c.busy}}
		pass := &c.pass
		if !c.limit {
			pass = nil
		}
		if got := r.verdict(pass, c.noisy); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestInterleave(t *testing.T) {
	var order []int
	timer := func(i int) bench.Timer {
		return func(int) (time.Duration, error) { order = append(order, i); return 0, nil }
	}
	for _, t := range interleave([]bench.Timer{timer(0), timer(1)}, []bench.Timer{timer(2), timer(3)}, []bench.Timer{timer(4), timer(5)}) {
		_, _ = t(1)
	}
	if fmt.Sprint(order) != "[0 2 4 1 3 5]" {
		t.Errorf("order %v", order)
	}
}

func TestSetInputs(t *testing.T) {
	const rows, width = 20, 50
	few, all := fewSet(rows, width), allSet(rows, width)
	for r := range rows {
		sum := float32(0)
		for _, v := range few[r*width : (r+1)*width] {
			sum += v
		}
		if sum != ones {
			t.Errorf("row %d has %v ones", r, sum)
		}
	}
	for i, v := range all {
		if !(v > 0) {
			t.Errorf("input %d is %v", i, v)
		}
	}
}

// TestFarthest: rounds in which everything is slower say nothing, and slower or
// faster is as far.
func TestFarthest(t *testing.T) {
	batches := []int{10, 20, 40}
	for _, far := range []float64{0.8, 1.2} {
		samples := []bench.Sample{{10, 30, 10, 10}, {20, 60, 20, 20 * 1.05}, {40 * far, 120 * far, 40 * far}}
		batch, deviations := farthest(batches, samples)
		if batch != 40 || len(deviations) != 3 || !near(deviations.Median(), 0.2) {
			t.Errorf("%v: batch %d, %v", far, batch, deviations)
		}
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
		"-batches 1": "-batches", "-batch x": `"x"`, "-batch 0": "batch 0", "-batch ,": `""`, "-cores 0": "0 cores", "-layers 7": "joined by -", "-layers 64,32,8": "joined by -",
		"-layers 7-x": "7-x", "-repetitions 0": "-repetitions is 0", "-seconds NaN": "-seconds is NaN", "-seconds 0": "-seconds is 0", "more": "more",
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

// TestNoOpenBLAS: what is missing is said in a line, and told from what is
// broken by the exit code.
func TestNoOpenBLAS(t *testing.T) {
	failing := filepath.Join(t.TempDir(), "cc")
	const script = "#!/bin/sh\necho from the linker\necho \"$COMPLAINT\"\nexit 1\n"
	if err := os.WriteFile(failing, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cc, says string
		want     int
	}{
		{"no-such-compiler", "no-such-compiler", exitMissing},
		{failing, "cannot find -lopenblas: no such file", exitMissing},
		{failing, "fatal error: cblas.h: No such file or directory", exitMissing},
		{failing, "error: unknown type name", exitFailure},
	} {
		t.Setenv("CC", c.cc)
		t.Setenv("COMPLAINT", c.says)
		code, out, stderr := peers("-batch", "1", "-layers", "7-3")
		if code != c.want || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.says) {
			t.Errorf("%+v: exit %d, output %q and %q", c, code, out, stderr)
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
	if strings.Contains(out, `"limit"`) || strings.Contains(out, `"pass"`) || r.Limits != "none, they are for "+usualShape {
		t.Errorf("limits of another network: %s", out)
	}
	if len(r.Rows) != 4*len(r.OpenBLAS) || len(r.Checks) != 4 || !strings.Contains(r.OpenBLAS[0], "OpenBLAS ") {
		t.Errorf("%s", out)
	}
	code, out, stderr = peers("-batch", "1", "-layers", "7-3", "-repetitions", "1", "-cores", "1", "-strict")
	if code == exitOK == strings.Contains(out, "FAIL") || !strings.Contains(out, "gorgonia's step by ours, batch 1024") || !strings.Contains(out, "Limits: ") {
		t.Errorf("exit %d, %q\n%s", code, stderr, out)
	}
}

// TestKernelsThatOpenBLASLacks: OpenBLAS takes others and says nothing.
func TestKernelsThatOpenBLASLacks(t *testing.T) {
	if _, err := compile(t.TempDir()); err != nil {
		t.Skip(err)
	}
	code, out, stderr := peers("-batch", "1", "-layers", "7-3", "-coretype", "Hassle")
	if code != exitFailure || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "not for Hassle") {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
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
