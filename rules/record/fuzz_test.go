package record

import (
	"strings"
	"testing"
)

// FuzzRead: whatever the text, reading it ends in rows that can be verified or
// in an error of one line.
func FuzzRead(f *testing.F) {
	game := gameText(f)
	for _, text := range []string{
		"", game, game + "\n" + game, game[:100], zipped(game), zipped(game)[:40], regretText,
		firstLine(f, "../../testdata/bots.jsonl.gz"), firstLine(f, "../../testdata/encodings_small.jsonl.gz"),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Read("f", strings.NewReader(string(text)))
		if err != nil {
			if s := err.Error(); !strings.HasPrefix(s, "record: f") || strings.Contains(s, "\n") {
				t.Errorf("error %q", s)
			}
			return
		}
		Verify(file.Games, nil)
	})
}
