package record

import (
	"bytes"
	"fmt"
	"strings"
)

// Kind is what the lines of a file hold.
type Kind uint8

// The kinds of recorded files.
const (
	Games Kind = iota
	Encodings
	Bots
	RegretMatching
)

// kinds lists each kind's name and the field that only its lines have.
var kinds = [...]struct{ name, field string }{
	Games:          {"games", "plies"},
	Encodings:      {"encodings", "enc"},
	Bots:           {"bots", "bot"},
	RegretMatching: {"regret matching", "advantages"},
}

// String returns the kind's name.
func (k Kind) String() string { return kinds[k].name }

// kindOf tells from a file's first line what the file holds.
func kindOf(line []byte) (Kind, error) {
	keys, err := objectKeys(line)
	if err != nil {
		if bytes.HasPrefix(line, []byte("{")) {
			return 0, err
		}
		return 0, fmt.Errorf("foreign file: it starts with %s, expected lines of %s", abbreviate(line), kindNames())
	}
	for k, kind := range kinds {
		if _, ok := keys[kind.field]; ok {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("foreign file: a JSON object without %s, expected lines of %s", kindFields(), kindNames())
}

func kindNames() string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

func kindFields() string {
	fields := make([]string, len(kinds))
	for i, k := range kinds {
		fields[i] = fmt.Sprintf("%q", k.field)
	}
	return strings.Join(fields, ", ")
}
