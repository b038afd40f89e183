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
	policy *Policy // whose engine takes part in the traversal's forwards, or nil
	actor  Actor   // who else moves
	share  float64
}

// current stands for the current policy in place of an opponent's number.
const current = 0

// assign sets who decides at each live node.
func (t *traversal) assign() {
	if len(t.opponents) == 0 {
		return
	}
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

// decidedBy returns the places of the level where one decides.
func (t *traversal) decidedBy(who uint8) []int32 {
	if len(t.opponents) == 0 {
		return t.all
	}
	t.some = vec.Keep(t.some, t.all, t.by, who)
	return t.some
}

// ask lets somebody without a network move.
func (t *traversal) ask(actor Actor, places []int32) {
	t.rows, t.actions = vec.Grow(t.rows, len(places)), vec.Grow(t.actions, len(places))
	for i, place := range places {
		t.rows[i] = t.level.Live[place]
	}
	actor.Act(t.actions, t.level.State, t.rows)
	adviser, _ := actor.(Adviser)
	for i, place := range places {
		row := t.row(place)
		t.tried[place] = t.samples.replaced(row, t.actions[i])
		if adviser != nil && t.o.Algorithm == Distill {
			actions, probabilities := adviser.Advice(i)
			t.samples.advise(row, actions, probabilities)
		}
	}
}

// replaced records the action of an opponent whose policy isn't known: as if it
// had been certain. It returns the action's index in the ragged columns.
func (s *Samples) replaced(row, action int32) int32 {
	lo, hi := s.Legal(row)
	s.Role[row] = Replaces
	clear(s.Regret[lo:hi])
	clear(s.Xi[lo:hi])
	clear(s.Sigma[lo:hi])
	for k := lo; k < hi; k++ {
		if s.Act[k] == action {
			s.Xi[k], s.Sigma[k] = 1, 1
			return k
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

// OwnOpponents returns the names of those that a learner has itself.
func OwnOpponents() []string { return []string{CurrentOpponent, AverageOpponent, LeagueOpponent} }

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
		name, number, given := cutLast(text, "=")
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

// cutLast cuts a text at its last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
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
			l.against(opponent{policy: &Policy{head: Logits, engine: l.strategy.engine}, share: s.part})
		case LeagueOpponent:
			for _, oldest := range leagueAges {
				p, err := l.policy(l.current, l.o.CurrentHead(), l.frontier, 0) // no seed: it doesn't draw
				if err != nil {
					return err
				}
				l.league = append(l.league, &leaguePlayer{p, oldest})
				l.against(opponent{policy: p, share: s.part / float64(len(leagueAges))})
			}
		default:
			l.missing = append(l.missing, s.name)
		}
	}
	return nil
}

func (l *Learner) against(o opponent) { l.traversal.opponents = append(l.traversal.opponents, o) }

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
	l.against(opponent{actor: a, share: all[slices.IndexFunc(all, func(s share) bool { return s.name == name })].part})
}
