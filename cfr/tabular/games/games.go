// Package games names the games that exact solvers can be tried on, besides
// small variants of Lost Cities.
package games

import (
	"vtrain/cfr/internal/kuhn"
	"vtrain/cfr/internal/leduc"
	"vtrain/vec"
)

var all = []struct {
	name string
	open func() vec.Enumerable
}{
	{"kuhn", func() vec.Enumerable { return kuhn.NewBatch() }},
	{"leduc", func() vec.Enumerable { return leduc.NewBatch() }},
}

// Names returns the names that Open knows.
func Names() []string {
	var names []string
	for _, g := range all {
		names = append(names, g.name)
	}
	return names
}

// Open returns an empty batch of a game, nil if there is none of that name.
func Open(name string) vec.Enumerable {
	for _, g := range all {
		if g.name == name {
			return g.open()
		}
	}
	return nil
}
