package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"vtrain/rules"
	"vtrain/rules/record"
	"vtrain/vec"
)

const testdata = "../../testdata"

// recordings are all recorded files, and what there is to compare in them.
var recordings = []struct {
	name    string
	kind    record.Kind
	lines   int
	checked int
}{
	// Items depend on the games' lengths; rules/record tests what they are.
	{"games_classic.jsonl.gz", record.Games, 155, 485190},
	{"games_small.jsonl.gz", record.Games, 225, 213856},
	// Player to move and four observations, in both forms.
	{"encodings_classic.jsonl.gz", record.Encodings, 372, 372 * 5 * 2},
	{"encodings_small.jsonl.gz", record.Encodings, 133, 133 * 5 * 2},
	// Phase and move, in both forms.
	{"bots.jsonl.gz", record.Bots, 1670, 1670 * 2 * 2},
	// Five policies in both forms, two facts, and a third of four full ties.
	{"regret_matching.jsonl.gz", record.RegretMatching, 180, 180*(5*2+2) + 4},
}

// clean reports whether something was checked and nothing differs.
func clean(r *Report) bool { return r.Checked > 0 && r.Mismatched == 0 }

// TestRecordings checks all files, on one worker and on three. The games come
// last, so that what refers to them must look ahead.
func TestRecordings(t *testing.T) {
	var paths []string
	for i := range recordings {
		paths = append(paths, filepath.Join(testdata, recordings[len(recordings)-1-i].name))
	}
	pool := vec.NewPool(3)
	defer pool.Close()
	var done []*Report
	reports, err := Files(paths, pool, func(r *Report) { done = append(done, r) })
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range recordings {
		r := reports[len(reports)-1-i]
		if !clean(r) || r.Kind != want.kind || r.Lines != want.lines || r.Checked != want.checked {
			t.Errorf("%s: %+v, expected %+v", want.name, r, want)
		}
	}
	if !reflect.DeepEqual(done, reports) {
		t.Error("not every report was announced, in order")
	}
	lines, checked, mismatched := Total(reports)
	if lines != 2735 || checked != 712940 || mismatched != 0 {
		t.Errorf("total: %d lines, %d items, %d mismatches", lines, checked, mismatched)
	}
	if testing.Short() {
		return // the same again
	}
	alone, err := Files(paths, nil, nil)
	if err != nil || !reflect.DeepEqual(alone, reports) {
		t.Errorf("one worker reports otherwise: %v", err)
	}
}

// TestGamesBeside checks a file whose games nobody gave.
func TestGamesBeside(t *testing.T) {
	reports, err := Files([]string{filepath.Join(testdata, "bots.jsonl.gz")}, nil, nil)
	if err != nil || len(reports) != 1 || !clean(reports[0]) {
		t.Errorf("%v, %v", reports, err)
	}
}

// TestGamesGiven: games found in another folder serve a file unless its own
// folder has some.
func TestGamesGiven(t *testing.T) {
	good, bad := filepath.Join(testdata, "games_small.jsonl.gz"), t.TempDir()
	moved := copyLines(t, bad, "bots.jsonl", smallMoves, nil)
	if reports, err := Files([]string{moved, good}, nil, nil); err != nil || !clean(reports[0]) {
		t.Errorf("games of another folder: %v, %v", reports, err)
	}
	broken := copyLines(t, bad, "games_small.jsonl", all, func(m object) bool {
		m.list("plies")[0].([]any)[3] = number(40)
		return true
	})
	for _, order := range [][]string{{moved, good, broken}, {moved, broken, good}, {moved}} {
		reports, err := Files(order, nil, nil)
		// A few lines are about the deal, which is as good as before.
		if err != nil || reports[0].Mismatched < reports[0].Lines*9/10 {
			t.Fatalf("broken games beside: %v, %v", reports, err)
		}
		if first := reports[0].First; len(first) == 0 || !strings.Contains(first[0].What, "can't be reached: record: "+broken) {
			t.Errorf("broken games beside: %v", first)
		}
	}
}

// TestLockstepUnreachable pretends that the lockstep rules refuse what the
// scalar ones play.
func TestLockstepUnreachable(t *testing.T) {
	games, err := record.ReadGames(filepath.Join(testdata, "games_small.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	refused := *games[0]
	refused.Plies = append([]record.Ply(nil), refused.Plies...)
	refused.Plies[0].Action = 40
	replay, err := record.Spot{Game: games[0], Ply: 1}.Replay()
	if err != nil {
		t.Fatal(err)
	}
	r := &Report{Path: "x"}
	b := batches(r, []*state{{at: record.Where{Line: 3, Game: 5, Ply: 1}, spot: record.Spot{Game: &refused, Ply: 1}, replay: replay}}, nil)
	if len(b) != 1 || b[0].games != nil || r.Mismatched != 1 || !strings.Contains(r.First[0].String(), "x, line 3: game 5, ply 1, lockstep: the state can't be reached") {
		t.Errorf("%+v", r)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string) string
		want string // DIR stands for the folder
	}{
		{"no such file", func(_ *testing.T, dir string) string { return filepath.Join(dir, "x.jsonl") }, "record: open DIR/x.jsonl: no such file or directory"},
		{"a folder", func(_ *testing.T, dir string) string { return dir }, "record: DIR: read DIR: is a directory"},
		{"empty", text(""), "record: DIR/f: empty, expected lines of games, encodings, bots or regret matching"},
		{"foreign", text("name,score\n"), `record: DIR/f, line 1: foreign file: it starts with "name,score"`},
		{"another object", text("{\"a\":1}\n"), `record: DIR/f, line 1: foreign file: a JSON object without "plies"`},
		{"truncated", truncated, "record: DIR/games.gz, line 1: the gzip stream is truncated"},
		{"no games", func(t *testing.T, dir string) string { return copyLines(t, dir, "bots.jsonl", smallMoves, nil) },
			`verify: DIR/bots.jsonl, line 1: record: no games "small": expected games_small.jsonl.gz among the files given or in DIR`},
		{"no such game", changed("encodings_small.jsonl", set("game", number(999))),
			`verify: DIR/encodings_small.jsonl, line 1: record: there is no game 999 among the games "small"`},
		{"no such ply", changed("encodings_small.jsonl", set("ply", number(999))), "ply 999: no such ply, expected 0 to "},
		{"unknown bot", changed("bots.jsonl", set("bot", "bold")), `verify: DIR/bots.jsonl, line 1: bots: unknown bot "bold", expected one of random, `},
		{"a wide row", text(wideRow(rules.MaxActions + 1)), `record: DIR/f, line 1: field "advantages" has 282 values, expected at most 281`},
		{"noise without balance", changed("bots.jsonl", func(m object) bool {
			_, ok := m["balanced_action"]
			delete(m, "balanced_action")
			return ok
		}), `no field "balanced_action", expected one for heuristic-noisy`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			reports, err := Files([]string{c.make(t, dir)}, nil, func(*Report) { t.Error("a report was announced") })
			if want := strings.ReplaceAll(c.want, "DIR", dir); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, expected %s", err, want)
			}
			if len(reports) > 0 || err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("reports %v and error %q, expected one line", reports, err)
			}
		})
	}
}

// TestErrorKeepsReports: what was checked before an error is reported.
func TestErrorKeepsReports(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(testdata, "regret_matching.jsonl.gz")
	reports, err := Files([]string{good, copyLines(t, dir, "bots.jsonl", smallMoves, nil)}, nil, nil)
	if err == nil || len(reports) != 1 || !clean(reports[0]) {
		t.Errorf("%v, %v", reports, err)
	}
}

func text(s string) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string { return write(t, filepath.Join(dir, "f"), []byte(s)) }
}

// wideRow is a regret matching row of as many actions.
func wideRow(actions int) string {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", actions), ",") + "]"
	fields := `{"kind":"k","epsilon":0,"fallback":false,"tie_size":0`
	for _, f := range []string{"advantages", "legal", "cython_uniform", "py_uniform", "py_argmax", "sampling_eps005_of_uniform", "masked_softmax"} {
		fields += fmt.Sprintf(",%q:%s", f, list)
	}
	return fields + "}\n"
}

// TestWidestRow: as many actions as any configuration has are compared.
func TestWidestRow(t *testing.T) {
	path := text(wideRow(rules.MaxActions))(t, t.TempDir())
	reports, err := Files([]string{path}, nil, nil)
	if err != nil || reports[0].Lines != 1 || reports[0].Mismatched == 0 { // a policy is no row of ones
		t.Errorf("%+v, %v", reports, err)
	}
}

func truncated(t *testing.T, dir string) string {
	whole, err := os.ReadFile(filepath.Join(testdata, "games_small.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return write(t, filepath.Join(dir, "games.gz"), whole[:300])
}
