package cfr

import (
	"fmt"
	"slices"

	"vtrain/nets"
	"vtrain/vec"
)

// snapshots are regret or policy networks of earlier iterations, at most so many: the
// current policies that the average policy is made of (SD-CFR, Steinberger
// 2019), and what a league plays against. When all places are taken, those of
// odd multiples of the distance between them are given up and the distance is
// doubled: what is left is evenly spaced over the whole run.
type snapshots struct {
	most   int
	every  int // iterations from one to the next
	at     []int
	params []nets.Params
}

func newSnapshots(most int) snapshots { return snapshots{most: most, every: 1} }

// add takes a copy of the parameters of an iteration, if it is one to be kept.
func (s *snapshots) add(iteration int, p nets.Params) {
	if s.most == 0 || iteration%s.every != 0 {
		return
	}
	if len(s.at) == s.most {
		s.thin()
		if iteration%s.every != 0 {
			return
		}
	}
	s.at, s.params = append(s.at, iteration), append(s.params, p.Clone())
}

// restore takes copies of snapshots, of networks like one. The first is always as
// far from the run's beginning as all are from each other.
func (s *snapshots) restore(all []Snapshot, like nets.Params) error {
	if len(all) > s.most {
		return fmt.Errorf("cfr: the state has %d snapshots, expected at most %d", len(all), s.most)
	}
	*s = newSnapshots(s.most)
	for i, shot := range all {
		if shot.Params.Len() != like.Len() || shot.Iteration < 1 || i > 0 && shot.Iteration <= s.at[i-1] {
			return fmt.Errorf("cfr: snapshot %d of the state, of iteration %d, has %d parameters, expected ascending iterations and %d parameters",
				i, shot.Iteration, shot.Params.Len(), like.Len())
		}
		p := like.Clone()
		copy(p.Flat(), shot.Params.Flat())
		s.at, s.params = append(s.at, shot.Iteration), append(s.params, p)
	}
	if len(s.at) > 0 {
		s.every = s.at[0]
	}
	return nil
}

// thin gives up every other snapshot.
func (s *snapshots) thin() {
	s.every *= 2
	kept := 0
	for i, at := range s.at {
		if at%s.every == 0 {
			s.at[kept], s.params[kept] = at, s.params[i]
			kept++
		}
	}
	clear(s.params[kept:])
	s.at, s.params = s.at[:kept], s.params[:kept]
}

// A Snapshot is the network of an iteration that its current policy was made of.
type Snapshot struct {
	Iteration int
	Params    nets.Params
}

// Snapshots returns those that are kept, oldest first.
func (l *Learner) Snapshots() []Snapshot {
	var all []Snapshot
	for i, at := range l.snapshots.at {
		all = append(all, Snapshot{at, l.snapshots.params[i]})
	}
	return all
}

// leagueAges are the shares of the run so far, from the newest snapshot back,
// that one player of the league each is drawn from: recent ones as often as all
// others.
var leagueAges = []float64{0.125, 0.25, 0.5, 1}

// A leaguePlayer is an opponent who plays a snapshot, another in each iteration.
type leaguePlayer struct {
	*Policy
	oldest float64 // the share of the run that it is drawn from
}

// drawLeague gives the players of the league snapshots of their ages. Before there
// are any they play the current policy.
func (l *Learner) drawLeague(seed uint64) {
	for i, p := range l.league {
		params := l.current.trainer.Params()
		if s := &l.snapshots; len(s.at) > 0 {
			stream := vec.At(vec.Derive(seed, "league", uint64(i)), 0)
			from := int(float64(l.iteration) * (1 - p.oldest))
			first, _ := slices.BinarySearch(s.at, from)
			first = min(first, len(s.at)-1)
			params = s.params[first+stream.Intn(len(s.at)-first)]
		}
		p.Load(params)
	}
}
