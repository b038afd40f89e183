package verify

import (
	"fmt"

	"vtrain/rules"
	"vtrain/rules/record"
	"vtrain/vec"
)

// A line is what a line of a file says of the state it is about.
type line struct {
	number    int
	games     string // name of a games file
	game, ply int
}

// A state is that state, reached by the scalar rules.
type state struct {
	at     record.Where
	index  int // of the line within the file, from 0
	spot   record.Spot
	replay *record.Replay
}

// game returns the scalar game.
func (s *state) game() *rules.Game { return s.replay.State }

// states reaches the states of all lines. One whose game breaks our rules on
// the way there is a mismatch, and is left out.
func (c *checker) states(r *Report, lines []line) ([]*state, error) {
	r.Lines = len(lines)
	var states []*state
	for i, l := range lines {
		s := &state{at: record.Where{Line: l.number, Game: l.game, Ply: l.ply}, index: i}
		var err error
		if s.spot, err = c.spot(r.Path, l); err != nil {
			return nil, err
		}
		if s.replay, err = s.spot.Replay(); err != nil {
			r.count(s.at, record.Scalar, unreachable(err))
			continue
		}
		states = append(states, s)
	}
	return states, nil
}

func unreachable(err error) string { return fmt.Sprintf("the state can't be reached: %v", err) }

// A batch is states of one configuration in lockstep: row i is states[i].
type batch struct {
	cfg    rules.Config
	states []*state
	games  *rules.Games // nil if the lockstep rules can't reach the states
}

// batches makes one batch of each configuration.
func batches(r *Report, states []*state, pool *vec.Pool) []*batch {
	var all []*batch
	of := make(map[rules.Config]*batch)
	for _, s := range states {
		cfg := s.spot.Game.Config
		b := of[cfg]
		if b == nil {
			b = &batch{cfg: cfg}
			of[cfg] = b
			all = append(all, b)
		}
		b.states = append(b.states, s)
	}
	for _, b := range all {
		b.play(r, pool)
	}
	return all
}

// play brings the states into lockstep. The scalar rules have reached all of
// them, so an error is a mismatch of every one.
func (b *batch) play(r *Report, pool *vec.Pool) {
	spots := make([]record.Spot, len(b.states))
	for i, s := range b.states {
		spots[i] = s.spot
	}
	games, err := record.Batch(spots, pool)
	if err == nil {
		b.games = games
		return
	}
	for _, s := range b.states {
		r.count(s.at, record.Lockstep, unreachable(err))
	}
}

// rowsOf returns the rows of the states for which keep holds, ascending.
func (b *batch) rowsOf(keep func(*state) bool) []int32 {
	var rows []int32
	for i, s := range b.states {
		if keep(s) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}
