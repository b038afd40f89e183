package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vtrain/rules/record"
	"vtrain/vec/vectest"
)

// An object is a recorded line to be changed.
type object map[string]any

func (m object) list(key string) []any { return m[key].([]any) }

func number(n int) json.Number { return json.Number(fmt.Sprint(n)) }

func set(key string, value any) func(object) bool {
	return func(m object) bool { m[key] = value; return true }
}

func write(t *testing.T, path string, text []byte) string {
	t.Helper()
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// readLines returns the lines of a recorded file.
func readLines(t *testing.T, name string) [][]byte {
	t.Helper()
	all := vectest.Unzip(t, filepath.Join(testdata, name+".gz"))
	return bytes.Split(bytes.TrimSpace([]byte(all)), []byte("\n"))
}

func parse(t *testing.T, line []byte) object {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber() // numbers stay as they were written
	var m object
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

func all(object) bool { return true }

func smallMoves(m object) bool { return m["games"] == "small" }

// copyLines writes the lines to keep of a recorded file to a folder, changing
// each if there is a change.
func copyLines(t *testing.T, dir, name string, keep, change func(object) bool) string {
	t.Helper()
	var out bytes.Buffer
	for _, line := range readLines(t, name) {
		m := parse(t, line)
		if !keep(m) {
			continue
		}
		if change != nil && change(m) {
			line, _ = json.Marshal(m)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return write(t, filepath.Join(dir, name), out.Bytes())
}

// changed makes a file of the first line that the change applies to, and a few
// others before it, with all games beside.
func changed(name string, change func(object) bool) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		for _, games := range []string{"games_classic.jsonl.gz", "games_small.jsonl.gz"} {
			path, err := filepath.Abs(filepath.Join(testdata, games))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path, filepath.Join(dir, games)); err != nil {
				t.Fatal(err)
			}
		}
		path, ok := changeFirst(t, dir, name, change)
		if !ok {
			t.Fatalf("%s: there is no line to change", name)
		}
		return path
	}
}

func changeFirst(t *testing.T, dir, name string, change func(object) bool) (path string, ok bool) {
	t.Helper()
	const before = 3
	lines := readLines(t, name)
	for i, line := range lines {
		m := parse(t, line)
		if !change(m) {
			continue
		}
		bad, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		kept := append(slices.Clone(lines[max(0, i-before):i]), bad, nil)
		return write(t, filepath.Join(dir, name), bytes.Join(kept, []byte("\n"))), true
	}
	return "", false
}

// value changes one number of a list, which may lie in an object.
func value(path string, i int, to string) func(object) bool {
	return func(m object) bool {
		keys := strings.Split(path, ".")
		for _, k := range keys[:len(keys)-1] {
			m = object(m[k].(map[string]any))
		}
		m.list(keys[len(keys)-1])[i] = json.Number(to)
		return true
	}
}

// of applies a change only to lines in which a field has a value.
func of(key string, is any, change func(object) bool) func(object) bool {
	return func(m object) bool { return m[key] == is && change(m) }
}

// both and alone say which form of the code must object.
const (
	both  = true
	alone = false // the scalar one only
)

// corruptions each change one fact of one line.
var corruptions = []struct {
	name   string
	file   string
	change func(object) bool
	what   string // in the first mismatch
	both   bool
}{
	{"a score", "games_small.jsonl", func(m object) bool { m.list("plies")[3].([]any)[4] = number(7); return true }, "score of player 0 is 0, recorded 7", both},
	{"a final score", "games_small.jsonl", value("final", 1, "7"), "final score of player 1 is -31, recorded 7", both},
	{"an action", "games_small.jsonl", func(m object) bool { m.list("plies")[0].([]any)[3] = number(4); return true }, "slot action 4: ", both},

	{"d0s0", "encodings_small.jsonl", value("enc.d0s0", 2, "0.5"), "slots-d0s0 of player 0: feature 2 (player to move) is 0, recorded 0.5", both},
	{"d0s1", "encodings_small.jsonl", value("enc.d0s1", 4, "0.5"), "slots-d0s1 of player 0: feature 4 (deck) is 0, recorded 0.5", both},
	{"d1s0", "encodings_small.jsonl", value("enc.d1s0", 6, "0.500001"), "slots-d1s0 of player 0: feature 6 (hand[0]: (colour+1) / colours) is 0.5, recorded 0.500001", both},
	{"d1s1", "encodings_small.jsonl", value("enc.d1s1", 90, "0.125"), "slots-d1s1 of player 0: feature 90 (", both},
	{"a value more", "encodings_small.jsonl", func(m object) bool {
		enc := object(m["enc"].(map[string]any))
		enc["d0s0"] = append(enc.list("d0s0"), number(0))
		return true
	}, "slots-d0s0: number of features is ", both},
	{"a value less", "encodings_small.jsonl", func(m object) bool {
		enc := object(m["enc"].(map[string]any))
		enc["d1s1"] = enc.list("d1s1")[1:]
		return true
	}, "slots-d1s1 of player 0: feature ", both},
	{"the observer", "encodings_small.jsonl", set("player", number(1)), "slots-d0s0 of player 1: feature 3 (observing player) is 1, recorded 0", both},
	{"the player to move", "encodings_small.jsonl", set("current_player", number(1)), "the player to move is 0, recorded 1", both},
	{"the ply", "encodings_small.jsonl", set("ply", number(2)), "the player to move is 1, recorded 0", both},

	{"another card", "bots.jsonl", of("bot", "discard-only", of("action", json.Number("1"), set("action", number(3)))), "bots: discard-only: recorded discard ", both},
	{"a draw for a card", "bots.jsonl", of("phase", json.Number("0"), set("action", number(16))), "is not legal", both},
	{"a card for a draw", "bots.jsonl", of("phase", json.Number("1"), set("action", number(0))), "is not legal", both},
	{"no slot", "bots.jsonl", set("action", number(60)), "slot action 60, expected 0 to 21", both},
	{"no slot of the other", "bots.jsonl", of("bot", "heuristic-noisy", set("balanced_action", number(60))), "slot action 60, expected 0 to 21", both},
	{"the other's draw", "bots.jsonl", of("bot", "heuristic-noisy", of("phase", json.Number("0"), set("balanced_action", number(16)))), "bots: heuristic-noisy: action ", both},
	{"the phase", "bots.jsonl", of("phase", json.Number("1"), set("phase", number(0))), "the phase is 1, recorded 0", both},
	{"after the end", "bots.jsonl", of("game", json.Number("100"), of("games", "small", func(m object) bool { m["ply"] = number(lastPly); return true })), "the game is over", both},

	{"cython", "regret_matching.jsonl", value("cython_uniform", 0, "0.16667"), "cython_uniform of action 0 is 0.16666667, recorded 0.16667", both},
	{"python", "regret_matching.jsonl", value("py_uniform", 1, "0.16667"), "py_uniform of action 1 is", both},
	{"argmax", "regret_matching.jsonl", value("py_argmax", 2, "1"), "py_argmax of action 2 is 0, recorded 1", both},
	{"sampling", "regret_matching.jsonl", of("kind", "mixed", value("sampling_eps005_of_uniform", 1, "0.3")), "sampling_eps005_of_uniform of action 1 is", both},
	{"softmax", "regret_matching.jsonl", value("masked_softmax", 0, "0.1683549"), "masked_softmax of action 0 is 0.16835463, recorded 0.1683549", both},
	{"an illegal action", "regret_matching.jsonl", value("masked_softmax", 3, "1e-9"), "masked_softmax of action 3 is 0, recorded 1e-09", both},
	{"an advantage", "regret_matching.jsonl", value("advantages", 0, "1"), "fallback is false, recorded true", both},
	{"a legal action", "regret_matching.jsonl", value("legal", 0, "0"), "cython_uniform of action 0 is 0, recorded", both},
	{"where nothing is legal", "regret_matching.jsonl", of("kind", "no_legal", value("cython_uniform", 0, "1")), "cython_uniform of action 0 is 0, recorded 1", both},
	{"the fallback", "regret_matching.jsonl", set("fallback", false), "fallback is true, recorded false", alone},
	{"the ties", "regret_matching.jsonl", set("tie_size", number(2)), "tie size is 1, recorded 2", alone},
	{"a full tie", "regret_matching.jsonl", set("full_tie", true), "tie size of a full tie is 1, recorded 6", alone},
	{"epsilon", "regret_matching.jsonl", of("kind", "tiny_positive", set("epsilon", json.Number("0.01"))), "fallback is true, recorded false", alone},
}

// lastPly is the length of game 100 of games_small.
const lastPly = 24

// TestCorruptions holds each kind of file to finding each kind of mistake.
func TestCorruptions(t *testing.T) {
	for i, c := range corruptions {
		if testing.Short() && i%4 != 0 {
			continue
		}
		t.Run(c.file+"/"+c.name, func(t *testing.T) {
			reports, err := Files([]string{changed(c.file, c.change)(t, t.TempDir())}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := reports[0]
			if r.Mismatched == 0 || !strings.Contains(r.First[0].What, c.what) {
				t.Fatalf("%d mismatches %v, expected %q", r.Mismatched, r.First, c.what)
			}
			inLockstep := false
			for i, m := range r.First {
				if m.File != r.Path || m.Line != r.Lines {
					t.Errorf("mismatch %d is %q, expected it in line %d", i, m, r.Lines)
				}
				inLockstep = inLockstep || m.Code == record.Lockstep
			}
			if inLockstep != c.both {
				t.Errorf("found in lockstep: %v, expected %v: %v", inLockstep, c.both, r.First)
			}
		})
	}
}
