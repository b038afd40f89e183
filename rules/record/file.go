package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// File is a whole file; the rows of its kind are set, the others empty.
type File struct {
	Path      string
	Kind      Kind
	Games     []*Game
	Encodings []*Encoding
	Bots      []*BotMove
	Regrets   []*Regret
}

// ReadFile reads a file of any kind.
func ReadFile(path string) (*File, error) {
	in, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return Read(path, in)
}

// Read is ReadFile for text from elsewhere; name stands for the file in
// errors. Text that is empty or holds none of the kinds is an error.
func Read(name string, in io.Reader) (*File, error) {
	l, err := newLines(name, in)
	if err != nil {
		return nil, err
	}
	line, err := l.next()
	if err == io.EOF {
		return nil, fmt.Errorf("record: %s: empty, expected lines of %s", name, kindNames())
	}
	if err != nil {
		return nil, err
	}
	f := &File{Path: name}
	if f.Kind, err = kindOf(line); err != nil {
		return nil, l.errorf("%w", err)
	}
	switch f.Kind {
	case Games:
		f.Games, err = readAll(l, line, parseGame)
	case Encodings:
		f.Encodings, err = readAll(l, line, parseEncoding)
	case Bots:
		f.Bots, err = readAll(l, line, parseBotMove)
	case RegretMatching:
		f.Regrets, err = readAll(l, line, parseRegret)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// A place is where a line stands.
type place struct {
	file string
	line int // counted from 1
}

// readAll parses a line that has been read, and all that follow.
func readAll[T any](l *lines, line []byte, parse func(at place, line []byte) (*T, error)) ([]*T, error) {
	var all []*T
	for {
		row, err := parse(place{l.name, l.n}, line)
		if err != nil {
			return nil, l.errorf("%w", err)
		}
		all = append(all, row)
		line, err = l.next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// ReadGames reads a file that must hold games.
func ReadGames(path string) ([]*Game, error) {
	f, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	if f.Kind != Games {
		return nil, fmt.Errorf("record: %s holds %s, expected %s", path, f.Kind, Games)
	}
	return f.Games, nil
}

// A Library finds the games that lines of other files refer to by the name of
// a games file and the number of a game.
type Library struct {
	games map[string]map[int]*Game
}

// SetName returns the name by which other files refer to a games file:
// "classic" for dir/games_classic.jsonl.gz.
func SetName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	name = strings.TrimSuffix(name, filepath.Ext(name))
	return strings.TrimPrefix(name, "games_")
}

// Add makes the games of a file known; a file of another kind adds nothing.
func (l *Library) Add(f *File) {
	if f.Kind != Games {
		return
	}
	if l.games == nil {
		l.games = make(map[string]map[int]*Game)
	}
	set := make(map[int]*Game, len(f.Games))
	for _, g := range f.Games {
		set[g.Index] = g
	}
	l.games[SetName(f.Path)] = set
}

// Need makes sure of a set of games: unless it is known already, it is read
// from games_<name>.jsonl.gz or games_<name>.jsonl in a folder.
func (l *Library) Need(dir, name string) error {
	if _, ok := l.games[name]; ok {
		return nil
	}
	if strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("record: %q is no name of a games file", name)
	}
	for _, ext := range []string{".jsonl.gz", ".jsonl"} {
		path := filepath.Join(dir, "games_"+name+ext)
		games, err := ReadGames(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		l.Add(&File{Path: path, Kind: Games, Games: games})
		return nil
	}
	return fmt.Errorf("record: no games %q: expected games_%s.jsonl.gz among the files given or in %s", name, name, dir)
}

// Spot returns the state of a known game after its first ply actions.
func (l *Library) Spot(name string, game, ply int) (Spot, error) {
	g, ok := l.games[name][game]
	if !ok {
		return Spot{}, fmt.Errorf("record: there is no game %d among the games %q", game, name)
	}
	s := Spot{g, ply}
	return s, s.check()
}
