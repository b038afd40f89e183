package record

import (
	"cmp"
	"fmt"
	"slices"

	"vtrain/rules"
	"vtrain/vec"
)

// A Spot names a state: that of a recorded game after its first Ply actions.
type Spot struct {
	Game *Game
	Ply  int
}

func (s Spot) check() error {
	if s.Ply < 0 || s.Ply > len(s.Game.Plies) {
		return s.Game.errorf(s.Ply, "no such ply, expected 0 to %d", len(s.Game.Plies))
	}
	return nil
}

// Replay returns a replay that stands at the spot: its State is the scalar
// game, its Hand the hands in arrival order.
func (s Spot) Replay() (*Replay, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r, err := s.Game.Replay()
	for err == nil && r.Ply() < s.Ply {
		err = r.Step()
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Batch returns the states of spots, row i that of spots[i], at whatever plies
// they are. All games must be of one configuration, and play by our rules. The
// scalar game of a spot's Replay has the same streams as its row.
func Batch(spots []Spot, pool *vec.Pool) (*rules.Games, error) {
	if len(spots) == 0 {
		return nil, fmt.Errorf("record: a batch of no states")
	}
	games, rowOf, err := rosterOf(spots)
	if err != nil {
		return nil, err
	}
	play, err := newLockstep(games, pool)
	if err != nil {
		return nil, err
	}
	out := play.state.New()
	out.Resize(len(spots))
	return out, play.collect(out, spots, rowOf)
}

// rosterOf lists the games of spots, each once and only up to the last ply
// that is asked for, and the index of each.
func rosterOf(spots []Spot) (games []*Game, rowOf map[*Game]int32, err error) {
	rowOf = make(map[*Game]int32)
	for _, s := range spots {
		if err := s.check(); err != nil {
			return nil, nil, err
		}
		if s.Game.Config != spots[0].Game.Config {
			return nil, nil, s.Game.errorf(s.Ply, "a batch of two configurations: this is %q, another %q", s.Game.ConfigName, spots[0].Game.ConfigName)
		}
		if _, ok := rowOf[s.Game]; !ok {
			rowOf[s.Game] = int32(len(games))
			short := *s.Game
			short.Plies = nil
			games = append(games, &short)
		}
		short := games[rowOf[s.Game]]
		short.Plies = s.Game.Plies[:max(s.Ply, len(short.Plies))]
	}
	return games, rowOf, nil
}

// collect plays to the last ply asked for, copying each spot's row to out when
// its ply comes.
func (l *lockstep) collect(out *rules.Games, spots []Spot, rowOf map[*Game]int32) error {
	order := vec.AllRows(nil, len(spots))
	slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(spots[i].Ply, spots[j].Ply) })
	for ply := 0; len(order) > 0; ply++ {
		n := 0
		for n < len(order) && spots[order[n]].Ply == ply {
			n++
		}
		from := make([]int32, n)
		for i, at := range order[:n] {
			from[i] = rowOf[spots[at].Game]
		}
		out.Scatter(order[:n], l.state, from)
		if order = order[n:]; len(order) == 0 {
			break
		}
		l.keepLive()
		if err := l.step(); err != nil {
			return err
		}
	}
	return nil
}
