package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vtrain/cfr"
	"vtrain/cfr/run"
	"vtrain/encode"
	"vtrain/vec"
)

// rows reads what a benchmark wrote with --json.
func rows(t *testing.T, text string) []map[string]any {
	t.Helper()
	var read struct {
		Machine map[string]any
		Rows    []map[string]any
	}
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	if read.Machine["go"] == nil {
		t.Errorf("no machine in %s", text)
	}
	return read.Rows
}

func mustHave(t *testing.T, row map[string]any, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if _, ok := row[key]; !ok {
			t.Errorf("no %s in %v", key, row)
		}
	}
}

func TestBenchForward(t *testing.T) {
	all := rows(t, mustRun(t, "bench", "forward", "--batch", "1,8", "--layers", "7-3,5-4-2", "--cores", "1", "--repetitions", "2", "--json", "-"))
	if len(all) != 4 {
		t.Fatalf("%d rows", len(all))
	}
	mustHave(t, all[0], "backend", "layers", "batch", "us_per_state", "gflops", "states_per_s", "cores")
	if all[3]["layers"] != "5-4-2" || all[3]["batch"] != 8. || all[3]["clock"] != "wall" {
		t.Errorf("the last row is %v", all[3])
	}
}

// TestBenchOutputs writes all there is at once.
func TestBenchOutputs(t *testing.T) {
	dir := t.TempDir()
	page := write(t, "page.md", "<!-- measured: forward-binary -->\n<!-- end -->\n")
	plot, result := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.json")
	out := mustRun(t, "bench", "forward", "--batch", "1,8", "--layers", "7-3", "--cores", "1", "--repetitions", "1", "--input", "binary",
		"--plot", plot, "--json", result, "--markdown", page)
	mustSay(t, out, "µs/state", "7-3")
	var text [3]string
	for i, path := range []string{plot, result, page} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text[i] = string(b)
	}
	mustSay(t, text[0], "<svg", "7-3, 1 core", "memory ", "peak ")
	if all := rows(t, text[1]); len(all) != 2 || all[0]["input"] != "binary" || !strings.Contains(text[1], "peak_gflops") {
		t.Errorf("results are %s", text[1])
	}
	mustSay(t, text[2], "| 7-3 | 1 | 8 | ", "Measured on: ")
}

func TestBenchTrain(t *testing.T) {
	args := []string{"bench", "train", "--batch", "1,8", "--layers", "7-3", "--cores", "1", "--repetitions", "2"}
	all := rows(t, mustRun(t, append(args, "--json", "-")...))
	if len(all) != 2 {
		t.Fatalf("%d rows", len(all))
	}
	mustHave(t, all[1], "batch", "ms_per_step", "samples_per_s", "layers", "cores", "forward_ratio")
	mustSay(t, mustRun(t, append(args, "--cpu-time")...), "ms/step", "7-3")
}

// TestBenchDefaults: the networks of the default grid are of use.
func TestBenchDefaults(t *testing.T) {
	cfg := run.Default()
	layout, err := encode.New(cfg.Encoding.Layout, cfg.Rules.Config)
	if err != nil {
		t.Fatal(err)
	}
	agent := cfr.Shape(encode.NewBatch(layout, nil), cfg.Nets.Hidden, vec.Information).String()
	mustSay(t, mustRun(t, "bench", "forward", "--help"), "297-512-512-512-22,"+agent, "1,2,4,8,16,64,256,1024,4096,16384,65536")
	mustSay(t, mustRun(t, "bench", "train", "--help"), "256,1024,4096")
}

// TestBenchBadInput: each mistake is one line that names it, before anything is
// measured.
func TestBenchBadInput(t *testing.T) {
	dir := t.TempDir()
	absent := filepath.Join(dir, "absent", "file.png")
	page := write(t, "page.md", "# Speed\n")
	for _, k := range []struct {
		args string
		code int
		says []string
	}{
		{"bench", exitUsage, []string{"forward", "train"}},
		{"bench fly", exitUsage, []string{"fly"}},
		{"bench forward --batch 1,x", exitUsage, []string{"--batch", "x"}},
		{"bench forward --batch 0", exitUsage, []string{"batch 0"}},
		{"bench train --batch 2000000", exitUsage, []string{"batch 2000000", "1048576"}},
		{"bench forward --layers 7", exitUsage, []string{"layers [7]"}},
		{"bench train --layers 7-3,wide", exitUsage, []string{`"wide"`}},
		{"bench forward --cores 0", exitUsage, []string{"0 cores", "granted"}},
		{"bench forward --cores 1000000", exitUsage, []string{"1000000 cores"}},
		{"bench forward --input sparse", exitUsage, []string{"--input", "sparse", "binary"}},
		{"bench forward --repetitions 0", exitUsage, []string{"--repetitions is 0"}},
		{"bench train --seconds nan", exitUsage, []string{"--seconds is NaN"}},
		{"bench forward --plot a.pdf", exitUsage, []string{"a.pdf", ".svg"}},
		{"bench forward --plot a.png --batch 3", exitUsage, []string{"--plot", "two batches"}},
		{"bench forward --plot " + absent, exitFailure, []string{absent}},
		{"bench train --json " + absent, exitFailure, []string{absent}},
		{"bench train --json " + dir, exitFailure, []string{dir, "folder"}},
		{"bench forward --markdown " + absent, exitFailure, []string{absent}},
		{"bench train --markdown " + page, exitFailure, []string{page, "train-dense"}},
	} {
		code, out, stderr := vtrain(t, strings.Fields(k.args)...)
		if code != k.code || out != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, expected %d; output %q and %q", k.args, code, k.code, out, stderr)
		}
		mustSay(t, stderr, k.says...)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}
