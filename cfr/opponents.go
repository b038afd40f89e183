package cfr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vtrain/vec"
)

// An Actor moves for a player: a policy, a scripted bot. It sets dst[i] to the
// action of the mover in row rows[i], which depends on nothing but the position,
// the game's key and the ply.
type Actor interface {
	Act(dst []int32, state vec.Batch, rows []int32)
}

// An opponent plays against the traverser, in place of the current policy, in a
// share of the games.
type opponent struct {
	actor Actor
	share float64
}

// current stands for the current policy in place of an opponent's number.
const current = 0

// assign sets who decides at each live node.
func (t *traversal) assign() {
	t.by = vec.Grow(t.by, len(t.level.Live))
	keys, seed := t.level.State.GameKeys(), vec.Derive(t.seed, "opponents", 0)
	for i, b := range t.level.Live {
		t.by[i] = current
		if !t.traverses(b, t.row(int32(i))) {
			stream := vec.At(vec.Key(seed, keys[b]), 0)
			t.by[i] = t.opponentAt(stream.Float64())
		}
	}
}

// opponentAt returns who holds the share of the games in which u lies.
func (t *traversal) opponentAt(u float64) uint8 {
	for i, o := range t.opponents {
		if u -= o.share; u < 0 {
			return uint8(i + 1)
		}
	}
	return current
}

// ask lets an opponent move where it decides.
func (t *traversal) ask(opponent int) {
	t.theirs = vec.Keep(t.theirs, t.all, t.by, uint8(opponent+1))
	if len(t.theirs) == 0 {
		return
	}
	t.rows, t.actions = vec.Grow(t.rows, len(t.theirs)), vec.Grow(t.actions, len(t.theirs))
	for i, place := range t.theirs {
		t.rows[i] = t.level.Live[place]
	}
	t.opponents[opponent].actor.Act(t.actions, t.level.State, t.rows)
	for i, place := range t.theirs {
		t.samples.replaced(t.row(place), t.actions[i])
	}
}

// replaced records the action of an opponent whose policy isn't known: as if it
// had been certain.
func (s *Samples) replaced(row, action int32) {
	lo, hi := s.Legal(row)
	s.Role[row] = Replaces
	clear(s.Regret[lo:hi])
	clear(s.Xi[lo:hi])
	clear(s.Sigma[lo:hi])
	for k := lo; k < hi; k++ {
		if s.Act[k] == action {
			s.Xi[k], s.Sigma[k] = 1, 1
			return
		}
	}
	panic("cfr: an opponent made an action that isn't legal")
}

// Names of opponents that a learner has itself; others are the caller's.
const (
	CurrentOpponent = "current" // the current policy
	AverageOpponent = "average" // the average policy, by the strategy network
	LeagueOpponent  = "league"  // earlier current policies, young and old ones alike
)

// A share is how often a name plays.
type share struct {
	name string
	part float64 // of the games
}

// shares reads the opponents. Those without a share have what the others leave,
// in equal parts.
func (o Options) shares() ([]share, error) {
	var all []share
	left, open := 1.0, 0
	for i, text := range o.Opponents {
		name, number, given := strings.Cut(text, "=")
		s := share{name, -1}
		if given {
			part, err := strconv.ParseFloat(number, 64)
			if err != nil || !(part >= 0 && part <= 1) {
				return nil, fmt.Errorf("learner.opponents[%d] is %q, expected a share from 0 to 1 after the =", i, text)
			}
			s.part = part
			left -= part
		} else {
			open++
		}
		all = append(all, s)
	}
	const rounding = 1e-9
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("learner.opponents is empty, expected at least one, such as %s", CurrentOpponent)
	case left < -rounding || open == 0 && left > rounding:
		return nil, fmt.Errorf("learner.opponents have %g of all games, expected 1", 1-left)
	}
	for i := range all {
		if all[i].part < 0 {
			all[i].part = max(left, 0) / float64(open)
		}
	}
	return all, nil
}

// meets reports whether an opponent of that name plays.
func (o Options) meets(name string) bool {
	all, _ := o.shares() // none of invalid options
	return slices.ContainsFunc(all, func(s share) bool { return s.name == name && s.part > 0 })
}

// meet sets up the opponents that the learner has itself, and notes who is
// missing.
func (l *Learner) meet() error {
	all, err := l.o.shares()
	if err != nil {
		return err
	}
	for _, s := range all {
		switch s.name {
		case CurrentOpponent:
		case AverageOpponent:
			l.against(s.part, &Policy{head: Logits, engine: l.strategy.engine, seed: vec.Derive(l.seed, s.name, 0)})
		case LeagueOpponent:
			for i, oldest := range leagueAges {
				p, err := l.policy(l.regret, Matching, l.frontier, vec.Derive(l.seed, s.name, uint64(i)))
				if err != nil {
					return err
				}
				l.league = append(l.league, &leaguePlayer{p, oldest})
				l.against(s.part/float64(len(leagueAges)), p)
			}
		default:
			l.missing = append(l.missing, s.name)
		}
	}
	return nil
}

func (l *Learner) against(part float64, a Actor) {
	l.traversal.opponents = append(l.traversal.opponents, opponent{a, part})
}

// Missing returns the opponents of the options that the learner doesn't have
// itself. Enter brings them.
func (l *Learner) Missing() []string { return l.missing }

// Enter brings an opponent that is missing.
func (l *Learner) Enter(name string, a Actor) {
	all, _ := l.o.shares()
	i := slices.Index(l.missing, name)
	if i < 0 {
		panic("cfr: an opponent enters that isn't missing")
	}
	l.missing = slices.Delete(l.missing, i, i+1)
	l.against(all[slices.IndexFunc(all, func(s share) bool { return s.name == name })].part, a)
}
