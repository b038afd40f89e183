package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"vtrain/vec/vectest"
)

// gameText is the first recorded game of the small configurations.
func gameText(t testing.TB) string { return firstLine(t, "../../testdata/games_small.jsonl.gz") }

func firstLine(t testing.TB, path string) string {
	t.Helper()
	text, _, _ := strings.Cut(vectest.Unzip(t, path), "\n")
	return text
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

func TestKindsAreTold(t *testing.T) {
	for path, want := range map[string]Kind{
		"games_classic.jsonl.gz":     Games,
		"encodings_classic.jsonl.gz": Encodings,
		"encodings_small.jsonl.gz":   Encodings,
		"bots.jsonl.gz":              Bots,
	} {
		f, err := ReadFile(filepath.Join("../../testdata", path))
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind != want {
			t.Errorf("%s holds %s, expected %s", path, f.Kind, want)
		}
		if rows := len(f.Games) + len(f.Encodings) + len(f.Bots); rows < 100 {
			t.Errorf("%s: %d rows", path, rows)
		}
	}
	f, err := Read("r", strings.NewReader(regretText+"\n"+regretText))
	if err != nil {
		t.Fatal(err)
	}
	if f.Kind != RegretMatching || len(f.Regrets) != 2 || f.Regrets[1].Line != 2 || f.Regrets[0].Advantages[1] != -.5 {
		t.Errorf("read %+v", f)
	}
}

const regretText = `{"kind":"k","epsilon":1e-08,"advantages":[1,-0.5],"legal":[1,1],"cython_uniform":[1,0],` +
	`"py_uniform":[1,0],"py_argmax":[1,0],"fallback":false,"tie_size":1,"sampling_eps005_of_uniform":[0.975,0.025],"masked_softmax":[0.8,0.2]}`

// TestPlainEqualsZipped reads one game both ways.
func TestPlainEqualsZipped(t *testing.T) {
	for _, text := range []string{gameText(t), gameText(t) + "\n", zipped(gameText(t) + "\n")} {
		f, err := Read("x", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if r := Verify(f.Games, nil); !clean(r) || r.Lines != 1 {
			t.Error(r)
		}
	}
}

const tinyConfig = `{"name":"tiny","n_colors":2,"n_ranks":3,"min_rank":2,"n_handshakes":1,"hand_size":2,` +
	`"expedition_penalty":-20,"bonus_threshold":8,"bonus_amount":20}`

// TestBrokenTextIsRefused replaces one part of a valid line.
func TestBrokenTextIsRefused(t *testing.T) {
	game := gameText(t)
	bot := firstLine(t, "../../testdata/bots.jsonl.gz")
	enc := firstLine(t, "../../testdata/encodings_small.jsonl.gz")
	for _, c := range []struct{ name, line, old, new, want string }{
		{"unknown field", game, `"game":0`, `"game":0,"gmae":0`, `unknown field "gmae"`},
		{"missing field", game, `"terminal":true,`, ``, `missing field "terminal"`},
		{"another case", game, `"terminal"`, `"Terminal"`, `missing field "terminal"`},
		{"field twice", game, `"game":0`, `"game":0,"game":0`, `field "game" is there twice`},
		{"missing inner field", game, `"min_rank":2,`, ``, `missing field "config.min_rank"`},
		{"unknown inner field", game, `"min_rank":2,`, `"min_rank":2,"max_turns":4,`, `unknown field "config.max_turns"`},
		{"null", game, `"terminal":true`, `"terminal":null`, `holds null`},
		{"null in a list", game, `"final":[0,`, `"final":[null,`, `holds null`},
		{"string for integer", game, `"game":0`, `"game":"0"`, `field "game": got string, expected an integer`},
		{"fraction for integer", game, `"game":0`, `"game":0.5`, `field "game": got number 0.5, expected an integer`},
		{"integer for boolean", game, `"terminal":true`, `"terminal":1`, `field "terminal": got number, expected true or false`},
		{"integer for object", game, `"config":{`, `"config":3,"x":{`, `unknown field "x"`},
		{"list for object", game, tinyConfig, `[]`, `field "config": got array, expected an object`},
		{"negative game", game, `"game":0`, `"game":-1`, `field "game" is -1, expected 0 to 2147483647`},
		{"short final", game, `"final":[0,-31]`, `"final":[0]`, `field "final" has 1 values, expected 2`},
		{"one bot", game, `["uniform","uniform"]`, `["uniform"]`, `field "bots" has 1 values, expected 2`},
		{"short deck", game, `"deck":[4,`, `"deck":[`, `field "deck" has 7 values, expected 8`},
		{"no card", game, `"deck":[4,`, `"deck":[8,`, `field "deck" is 8, expected 0 to 7`},
		{"short ply", game, `[0,0,15,3,0,0,4]`, `[0,0,15,3,0,0]`, `field "plies[0]" has 6 values, expected 7`},
		{"long ply", game, `[0,0,15,3,0,0,4]`, `[0,0,15,3,0,0,4,4]`, `field "plies[0]" has 8 values, expected 7`},
		{"text in a ply", game, `[0,0,15,3,0,0,4]`, `[0,0,15,"3",0,0,4]`, `field "plies" holds`},
		{"third player", game, `[0,0,15,3,0,0,4]`, `[2,0,15,3,0,0,4]`, `field "plies[0] player" is 2, expected 0 to 1`},
		{"negative mask", game, `[0,0,15,3,0,0,4]`, `[0,0,-15,3,0,0,4]`, `has the mask -15`},
		{"impossible configuration", game, `"n_colors":2`, `"n_colors":9`, `rules: colors is 9, expected 1 to 8`},
		{"huge hand", game, `"n_colors":2,"n_ranks":3,"min_rank":2,"n_handshakes":1,"hand_size":2`, `"n_colors":8,"n_ranks":9,"min_rank":2,"n_handshakes":7,"hand_size":32`, `73 slot actions do not fit a mask`},
		{"another game's name", game, `"name":"tiny"`, `"name":"mid"`, `not the values of "mid"`},
		{"more text", game, `{"game"`, `{} {"game"`, `more text after the JSON object`},
		{"encoding without a layout", enc, `"d1s0"`, `"d1s9"`, `missing field "enc.d1s0"`},
		{"encoding without a place", enc, `"games":"small"`, `"games":""`, `field "games" is empty`},
		{"encoding's player", enc, `"player":0`, `"player":2`, `field "player" is 2`},
		{"bot's phase", bot, `"phase":1`, `"phase":2`, `field "phase" is 2`},
		{"bot's ply", bot, `"ply":13`, `"ply":-13`, `field "ply" is -13`},
		{"regret's length", regretText, `"legal":[1,1]`, `"legal":[1]`, `field "legal" has 1 values, expected 2`},
		{"regret's flag", regretText, `"legal":[1,1]`, `"legal":[1,2]`, `field "legal" is 2, expected 0 to 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Count(c.line, c.old) < 1 {
				t.Fatalf("%s is not in the line", c.old)
			}
			_, err := Read("f.jsonl", strings.NewReader(strings.Replace(c.line, c.old, c.new, 1)))
			expectError(t, err, "record: f.jsonl, line 1: ", c.want)
		})
	}
}

func expectError(t *testing.T, err error, prefix, part string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, expected %q", part)
	}
	if s := err.Error(); !strings.HasPrefix(s, prefix) || !strings.Contains(s, part) || strings.Contains(s, "\n") {
		t.Errorf("error %q, expected %q and %q", s, prefix, part)
	}
}

// TestForeignTextIsRefused reads what is no recording at all, or half of one.
func TestForeignTextIsRefused(t *testing.T) {
	game := gameText(t)
	whole := zipped(vectest.Unzip(t, "../../testdata/games_small.jsonl.gz"))
	damaged := []byte(zipped(game))
	damaged[len(damaged)-6] ^= 1 // the checksum
	for _, c := range []struct{ name, text, prefix, want string }{
		{"empty", "", "record: f: ", "empty, expected lines of games, encodings, bots or regret matching"},
		{"empty zip", zipped(""), "record: f: ", "empty"},
		{"other JSON", `{"a":1}` + "\n", "record: f, line 1: ", "foreign file: a JSON object without"},
		{"list", "[1,2]", "record: f, line 1: ", `foreign file: it starts with "[1,2]"`},
		{"prose", "Once upon a time there was a text that went on and on", "record: f, line 1: ", "foreign file: it starts with"},
		{"binary", "\x89PNG\x00\x01", "record: f, line 1: ", "foreign file"},
		{"truncated first line", game[:len(game)/2], "record: f, line 1: ", "the JSON is truncated"},
		{"truncated second line", game + "\n" + game[:len(game)/2], "record: f, line 2: ", "the JSON is truncated"},
		{"broken second line", game + "\n" + strings.Replace(game, ":", ";", 1), "record: f, line 2: ", "broken JSON at byte"},
		{"empty second line", game + "\n\n" + game, "record: f, line 2: ", "empty, expected a JSON object"},
		{"another kind", game + "\n" + regretText, "record: f, line 2: ", `missing field "game"`},
		{"zip's head", whole[:7], "record: f, line 1: ", "the gzip stream is truncated"},
		{"half a zip", whole[:len(whole)/2], "record: f, line ", "the gzip stream is truncated"},
		{"zip without its end", whole[:len(whole)-3], "record: f, line ", "the gzip stream is truncated"},
		{"damaged zip", string(damaged), "record: f, line ", "the gzip stream is damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read("f", strings.NewReader(c.text))
			expectError(t, err, c.prefix, c.want)
		})
	}
}

// TestLinesAreNumbered: rows and errors name their line.
func TestLinesAreNumbered(t *testing.T) {
	game := gameText(t)
	f, err := Read("f", strings.NewReader(game+"\n"+game))
	if err != nil || len(f.Games) != 2 || f.Games[0].Line != 1 || f.Games[1].Line != 2 || f.Games[1].File != "f" {
		t.Fatalf("%+v, %v", f, err)
	}
	_, err = Read("f", strings.NewReader(game+"\n"+game+"\n"+game[:40]))
	expectError(t, err, "record: f, line 3: ", "the JSON is truncated")
}

func TestMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.jsonl")
	_, err := ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	_, err = ReadGames("../../testdata/bots.jsonl.gz")
	if err == nil || !strings.Contains(err.Error(), "holds bots, expected games") {
		t.Errorf("got %v", err)
	}
}
