package verify

import (
	"fmt"
	"path/filepath"

	"vtrain/rules/record"
	"vtrain/vec"
)

// Files checks recorded files of any kind, plain or gzip-compressed, and
// returns a report for each, in their order. Encodings and bots' moves find
// their games among the files given, or else in their own folder. All files
// are read before the first is checked; done, unless nil, is called as each
// report is ready. After an error the reports are those of the files before
// the one it names. A nil pool means the calling goroutine only.
func Files(paths []string, pool *vec.Pool, done func(*Report)) ([]*Report, error) {
	c := &checker{pool: pool, libraries: make(map[string]*record.Library)}
	for _, path := range paths {
		f, err := record.ReadFile(path)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f)
	}
	var reports []*Report
	for _, f := range c.files {
		r, err := c.check(f)
		if err != nil {
			return reports, err
		}
		reports = append(reports, r)
		if done != nil {
			done(r)
		}
	}
	return reports, nil
}

// A checker checks files that may need one another.
type checker struct {
	pool      *vec.Pool
	files     []*record.File
	libraries map[string]*record.Library // by folder
}

func (c *checker) check(f *record.File) (*Report, error) {
	r := &Report{Path: f.Path, Kind: f.Kind}
	var err error
	switch f.Kind {
	case record.Games:
		c.games(r, f.Games)
	case record.Encodings:
		err = c.encodings(r, f.Encodings)
	case record.Bots:
		err = c.bots(r, f.Bots)
	case record.RegretMatching:
		err = c.regrets(r, f.Regrets)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// games compares whole games, ply by ply.
func (c *checker) games(r *Report, games []*record.Game) {
	r.Report = *record.Verify(games, c.pool)
}

// library returns the games known to the files of a folder. Of two games files
// given under one name, the one in the same folder is meant.
func (c *checker) library(dir string) *record.Library {
	if l := c.libraries[dir]; l != nil {
		return l
	}
	l := new(record.Library)
	for _, beside := range []bool{false, true} {
		for _, f := range c.files {
			if f.Kind == record.Games && (filepath.Dir(f.Path) == dir) == beside {
				l.Add(f)
			}
		}
	}
	c.libraries[dir] = l
	return l
}

// spot returns the state that a line names.
func (c *checker) spot(path string, l line) (record.Spot, error) {
	dir := filepath.Dir(path)
	library := c.library(dir)
	if err := library.Need(dir, l.games); err != nil {
		return record.Spot{}, fmt.Errorf("verify: %s, line %d: %w", path, l.number, err)
	}
	s, err := library.Spot(l.games, l.game, l.ply)
	if err != nil {
		return record.Spot{}, fmt.Errorf("verify: %s, line %d: %w", path, l.number, err)
	}
	return s, nil
}
