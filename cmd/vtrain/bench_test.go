package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vtrain/bench"
	"vtrain/cfr"
	"vtrain/cfr/run"
	"vtrain/encode"
	"vtrain/nets"
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
	mustHave(t, all[0], "precision", "backend", "layers", "batch", "us_per_state", "gflops", "states_per_s", "cores")
	if all[3]["layers"] != "5-4-2" || all[3]["batch"] != 8. || all[3]["clock"] != string(bench.Grid{CPUTime: true}.Clock(1)) {
		t.Errorf("the last row is %v", all[3])
	}
}

// TestBenchPrecisions: rows of both, in the table, the page and the figure.
func TestBenchPrecisions(t *testing.T) {
	plot, result := filepath.Join(t.TempDir(), "a.svg"), filepath.Join(t.TempDir(), "a.json")
	page := write(t, "page.md", "<!-- measured: forward-dense -->\n<!-- end -->\n")
	out := mustRun(t, "bench", "forward", "--batch", "1,8", "--layers", "7-3", "--cores", "1", "--repetitions", "1", "--precision", "float32,int8",
		"--plot", plot, "--json", result, "--markdown", page)
	mustSay(t, out, "precision", "float32", "int8")
	m := bench.ThisMachine()
	mustSay(t, read(t, page), "| 7-3 | float32 | "+m.Backend(nets.Float32)+" | 1 | 8 | ", "| 7-3 | int8 | "+m.Backend(nets.Int8)+" | 1 | 8 | ")
	mustSay(t, read(t, plot), "7-3, 1 core", "7-3 in int8, 1 core", "memory ", "peak ")
	all := rows(t, read(t, result))
	if len(all) != 4 || all[1]["precision"] != "float32" || all[3]["precision"] != "int8" || all[0]["flop_per_byte"] == nil || !strings.Contains(read(t, result), "peak_gflops") {
		t.Errorf("rows %v", all)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestBenchOutputs writes all there is at once.
func TestBenchOutputs(t *testing.T) {
	dir := t.TempDir()
	page := write(t, "page.md", "<!-- measured: forward-binary -->\n<!-- end -->\n")
	plot, result := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.json")
	out := mustRun(t, "bench", "forward", "--batch", "1,8", "--layers", "7-3", "--cores", "1", "--repetitions", "1", "--input", "binary",
		"--plot", plot, "--json", result, "--markdown", page)
	mustSay(t, out, "µs/state", "7-3", "Measured on: ", "binary inputs", "time.")
	mustSay(t, read(t, plot), "<svg", "7-3, 1 core", "no roofline")
	text := read(t, result)
	if all := rows(t, text); len(all) != 2 || all[0]["input"] != "binary" || strings.Contains(text, "peak_gflops") || strings.Contains(text, "flop_per_byte") {
		t.Errorf("results are %s", text)
	}
	mustSay(t, read(t, page), "| 7-3 | float32 | cpu ", " | 1 | 8 | ", "Measured on: ", "revision ")
}

func TestBenchTrain(t *testing.T) {
	args := []string{"bench", "train", "--batch", "1,8", "--layers", "7-3", "--cores", "1", "--repetitions", "2"}
	all := rows(t, mustRun(t, append(args, "--json", "-")...))
	if len(all) != 2 {
		t.Fatalf("%d rows", len(all))
	}
	mustHave(t, all[1], "batch", "ms_per_step", "samples_per_s", "layers", "cores", "forward_ratio")
	mustSay(t, mustRun(t, append(args, "--no-cpu-time")...), "ms/step", "7-3", "dense inputs; wall time.")
}

// recordedGames is a file of games of many small rules, tiny among them.
var recordedGames = filepath.Join("..", "..", "testdata", "games_small.jsonl.gz")

func TestBenchPrecision(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	trainSmall(t, dir, "--iterations", "1", "--set", "evaluation.games=0")
	page := write(t, "page.md", "<!-- measured: precision -->\n<!-- end -->\n")
	args := []string{"bench", "precision", "--agent", "run:" + dir, "--rows", "100", "--repetitions", "1", recordedGames}
	mustSay(t, mustRun(t, append(args, "--markdown", page)...), "mean distance", "other favourite", "average", "current", "Measured on: ", "States: 100")
	mustSay(t, read(t, page), "| average | ", "| current | ", "trained for 1 iteration", "States: 100")
	args = append(args, filepath.Join("..", "..", "testdata", "regret_matching.jsonl.gz")) // passed over
	all := rows(t, mustRun(t, append(args, "--json")...))
	if len(all) != 2 || all[0]["policy"] != "average" || all[1]["policy"] != "current" {
		t.Fatalf("rows %v", all)
	}
	mustHave(t, all[0], "layers", "mean_total_variation", "p50_total_variation", "p90_total_variation", "p99_total_variation", "max_total_variation",
		"states_of_another_favourite", "float32_us_per_state", "int8_us_per_state")
}

// TestBenchPrecisionBadInput: each mistake is one line that names it.
func TestBenchPrecisionBadInput(t *testing.T) {
	root := t.TempDir()
	tiny, missing := filepath.Join(root, "tiny"), filepath.Join(root, "missing")
	trainSmall(t, tiny, "--iterations", "1", "--set", "evaluation.games=0")
	testdata := filepath.Join("..", "..", "testdata")
	classic, matching := filepath.Join(testdata, "games_classic.jsonl.gz"), filepath.Join(testdata, "regret_matching.jsonl.gz")
	for _, k := range []struct {
		args string
		code int
		says []string
	}{
		{recordedGames, exitUsage, []string{"--agent"}},
		{"--agent run:" + tiny, exitUsage, []string{"<file>"}},
		{"--agent rule " + recordedGames, exitUsage, []string{"rule is a bot", "run:DIR"}},
		{"--agent rulle " + recordedGames, exitUsage, []string{"did you mean rule?"}},
		{"--agent run:" + tiny + "@greedy " + recordedGames, exitUsage, []string{"@greedy", "no suffix"}},
		{"--agent run:" + missing + " " + recordedGames, exitFailure, []string{"run:" + missing}},
		{"--agent run:" + root + " " + recordedGames, exitFailure, []string{root, "folder of a checkpoint or a run"}},
		{"--rows 0 --agent run:" + tiny + " " + recordedGames, exitUsage, []string{"--rows is 0"}},
		{"--rows 2000000 --agent run:" + tiny + " " + recordedGames, exitUsage, []string{"--rows is 2000000", "1000000"}},
		{"--rows 900000 --agent run:" + tiny + " " + recordedGames, exitFailure, []string{"of tiny rules", "at least 900000"}},
		{"--repetitions 0 --agent run:" + tiny + " " + recordedGames, exitUsage, []string{"--repetitions is 0"}},
		{"--markdown " + missing + " --agent run:" + tiny + " " + recordedGames, exitFailure, []string{missing}},
		{"--agent run:" + tiny + " " + missing, exitFailure, []string{missing}},
		{"--agent run:" + tiny + " " + root, exitFailure, []string{root}},
		{"--agent run:" + tiny + " " + matching, exitFailure, []string{"no recorded games", matching, "regret matching"}},
		{"--agent run:" + tiny + " " + classic, exitFailure, []string{tiny, "on tiny rules", "rules.hand is 8, expected 2"}},
	} {
		code, out, stderr := vtrain(t, append([]string{"bench", "precision"}, strings.Fields(k.args)...)...)
		if code != k.code || out != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, expected %d; output %q and %q", k.args, code, k.code, out, stderr)
		}
		mustSay(t, stderr, k.says...)
	}
}

// TestBenchTraverse: rows of an earlier system's network, in the table, the
// page and the figure, and the default agent's.
func TestBenchTraverse(t *testing.T) {
	plot, result := filepath.Join(t.TempDir(), "a.svg"), filepath.Join(t.TempDir(), "a.json")
	page := write(t, "page.md", "<!-- measured: traverse-slots-average -->\n<!-- end -->\n")
	args := []string{"bench", "traverse", "--cores", "1", "--repetitions", "1", "--hidden"}
	out := mustRun(t, append(args, "8,4", "--batch", "1,2", "--estimator", "outcome,robust", "--layout", "slots", "--opponent", "average",
		"--plot", plot, "--json", result, "--markdown", page)...)
	mustSay(t, out, "estimator", "outcome", "297-8-4-22", "Measured on: ", "untrained networks", "400 turns", "opponent average")
	mustSay(t, read(t, page), "| robust | 297-8-4-22 | 1 | 2 | ", "Measured on: ")
	mustSay(t, read(t, plot), "Traversal on 1 core", "outcome, networks alone", "nodes of each level")
	all := rows(t, read(t, result))
	if len(all) != 4 || all[3]["estimator"] != "robust" || all[3]["batch"] != 2. || all[3]["layout"] != "slots-d1s1" {
		t.Fatalf("rows %v", all)
	}
	mustHave(t, all[0], "estimator", "layout", "layers", "batch", "cores", "states", "us_per_state", "forward_us_per_state", "ratio", "mean_rows", "max_rows",
		"traversals_per_s", "nodes_per_s_core", "shares")
	mustHave(t, all[0]["shares"].(map[string]any), "legal", "encode", "forward", "match", "step", "record", "backup")

	all = rows(t, mustRun(t, append(args, "8", "--batch", "2", "--estimator", "critic", "--json", "-")...))
	if len(all) != 1 || all[0]["layers"] != "440-8-106" || all[0]["clock"] != string(bench.Grid{CPUTime: true}.Clock(1)) {
		t.Errorf("rows %v", all)
	}
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
	mustSay(t, mustRun(t, "bench", "train", "--help"), "256,1024,4096", "VTRAIN_KERNEL", "[no-]cpu-time")
	mustSay(t, mustRun(t, "bench", "traverse", "--help"), "256,1024,4096,16384", "critic,outcome,external,robust", "[no-]cpu-time")
	mustSay(t, mustRun(t, "bench", "--help"), "VTRAIN_KERNEL")
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
		{"bench", exitUsage, []string{"forward", "train", "traverse", "precision"}},
		{"bench fly", exitUsage, []string{"fly"}},
		{"bench forward --batch 1,x", exitUsage, []string{"--batch", "x"}},
		{"bench forward --batch 0", exitUsage, []string{"batch 0"}},
		{"bench train --batch 2000000", exitUsage, []string{"batch 2000000", "1048576"}},
		{"bench forward --precision float32,int4", exitUsage, []string{"--precision", "int4", "int8"}},
		{"bench forward --precision int8 --layers 1000000-3 --batch 1", exitUsage, []string{"1000000-3"}},
		{"bench train --precision int8", exitUsage, []string{"--precision"}},
		{"bench forward --layers 7", exitUsage, []string{`"7"`, "joined by -"}},
		{"bench forward --layers 64,32,8", exitUsage, []string{`"64"`, "joined by -"}},
		{"bench train --layers 7-3,wide", exitUsage, []string{`"wide"`}},
		{"bench forward --cores 0", exitUsage, []string{"0 cores", "granted"}},
		{"bench forward --cores 1000000", exitUsage, []string{"1000000 cores"}},
		{"bench forward --input sparse", exitUsage, []string{"--input", "sparse", "binary"}},
		{"bench traverse --batch 0", exitUsage, []string{"batch 0"}},
		{"bench traverse --batch 1000000", exitUsage, []string{"batch 1000000 of critic", "801000000 nodes"}},
		{"bench traverse --cores 0", exitUsage, []string{"0 cores"}},
		{"bench traverse --estimator critic,oracle", exitUsage, []string{"estimator", "oracle", "robust"}},
		{"bench traverse --layout pixels", exitUsage, []string{"pixels", "cards"}},
		{"bench traverse --hidden 256,x", exitUsage, []string{"--hidden", "x"}},
		{"bench traverse --hidden 0", exitUsage, []string{"width 0"}},
		{"bench traverse --opponent rule", exitUsage, []string{"--opponent", "rule", "average"}},
		{"bench traverse --seconds 0", exitUsage, []string{"--seconds is 0"}},
		{"bench traverse --plot a.pdf", exitUsage, []string{"a.pdf"}},
		{"bench traverse --plot a.png --batch 3,3", exitUsage, []string{"--plot", "two batches"}},
		{"bench traverse --json " + absent, exitFailure, []string{absent}},
		{"bench traverse --markdown " + page, exitFailure, []string{page, "traverse-cards-current"}},
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
