package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// A Reader reads a file of recorded lines one by one. Which of Game, Encoding,
// BotMove and Regret to call follows from Kind; each returns io.EOF after the
// last line.
type Reader struct {
	lines *lines
	kind  Kind
	ahead []byte // the first line, until it is read
}

// NewReader starts to read; name stands for the file in errors. Text that is
// empty or holds none of the kinds is an error.
func NewReader(name string, r io.Reader) (*Reader, error) {
	l, err := newLines(name, r)
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
	kind, err := KindOf(line)
	if err != nil {
		return nil, l.errorf("%w", err)
	}
	return &Reader{lines: l, kind: kind, ahead: line}, nil
}

// Kind returns what the lines hold.
func (r *Reader) Kind() Kind { return r.kind }

// Game returns the next recorded game.
func (r *Reader) Game() (*Game, error) {
	g, err := readLine(r, Games, parseGame)
	if err != nil {
		return nil, err
	}
	g.File, g.Line = r.lines.name, r.lines.n
	return g, nil
}

// Encoding returns the next recorded encoding.
func (r *Reader) Encoding() (*Encoding, error) {
	e, err := readLine(r, Encodings, parseEncoding)
	if err != nil {
		return nil, err
	}
	e.Line = r.lines.n
	return e, nil
}

// BotMove returns the next recorded decision of a bot.
func (r *Reader) BotMove() (*BotMove, error) {
	m, err := readLine(r, Bots, parseBotMove)
	if err != nil {
		return nil, err
	}
	m.Line = r.lines.n
	return m, nil
}

// Regret returns the next recorded regret matching row.
func (r *Reader) Regret() (*Regret, error) {
	g, err := readLine(r, RegretMatching, parseRegret)
	if err != nil {
		return nil, err
	}
	g.Line = r.lines.n
	return g, nil
}

func readLine[T any](r *Reader, want Kind, parse func([]byte) (*T, error)) (*T, error) {
	if r.kind != want {
		return nil, fmt.Errorf("record: %s holds %s, expected %s", r.lines.name, r.kind, want)
	}
	line := r.ahead
	r.ahead = nil
	if line == nil {
		var err error
		if line, err = r.lines.next(); err != nil {
			return nil, err
		}
	}
	row, err := parse(line)
	if err != nil {
		return nil, r.lines.errorf("%w", err)
	}
	return row, nil
}

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

// Read is ReadFile for text from elsewhere.
func Read(name string, in io.Reader) (*File, error) {
	r, err := NewReader(name, in)
	if err != nil {
		return nil, err
	}
	f := &File{Path: name, Kind: r.kind}
	switch r.kind {
	case Games:
		f.Games, err = readAll(r.Game)
	case Encodings:
		f.Encodings, err = readAll(r.Encoding)
	case Bots:
		f.Bots, err = readAll(r.BotMove)
	case RegretMatching:
		f.Regrets, err = readAll(r.Regret)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func readAll[T any](next func() (*T, error)) ([]*T, error) {
	var all []*T
	for {
		row, err := next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, row)
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
