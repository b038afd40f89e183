// Package deep runs the learner with networks as a solver of small games, so
// that its policies are held to the same exact measures as tables are.
package deep

import (
	"context"

	"vtrain/cfr"
	"vtrain/cfr/tabular"
	"vtrain/vec"
)

// An Algorithm is a learner's settings, and what its average policy is made of.
type Algorithm struct {
	Name      string
	Options   cfr.Options
	Memory    cfr.Memory
	Nets      cfr.Nets
	Snapshots bool // average the regret networks themselves, not by a strategy network
}

// Algorithms returns settings that work for small games of utilities of about 1 to
// 10; docs/decisions/0005 has how they were found. Players take turns: an
// iteration traverses for one of them.
func Algorithms() []Algorithm {
	deep := cfr.OptionsOf(cfr.DeepCFR)
	deep.Estimator, deep.Accumulate, deep.Refit, deep.Alternate, deep.Decay = cfr.External, cfr.Reservoired, cfr.Scratch, true, true
	deep.Games, deep.Nodes, deep.Batch, deep.RegretSteps, deep.StrategySteps = 1000, 1<<24, 256, 2000, 2000
	deep.Scale, deep.Averaging, deep.Anneal = 3, 1, 1
	deep.RegretRate, deep.StrategyRate = 1e-2, 2e-3
	// One action is tried where external tries all, so games cost less and there are
	// more. What the critic has yet to learn of a policy is made up for by what
	// happened, with weights that exploration keeps small enough to need no clip.
	critic := deep
	critic.Estimator, critic.Correction, critic.Clip, critic.Epsilon = cfr.Critic, true, 100, .6
	critic.Games, critic.Passes, critic.CriticRate = 2000, 4, 4e-3
	critic.RegretSteps, critic.StrategySteps = 1000, 1000
	memory := cfr.Memory{StrategyRows: 1_000_000, RegretRows: 1_000_000, Snapshots: 1000}
	nets := cfr.Nets{Hidden: []int{64, 64}}

	// Every regret network plays in the average, so their fits take the time; the
	// strategy network is asked for nothing, and 0 steps would mean whole passes.
	snapshots := deep
	snapshots.Batch, snapshots.RegretSteps, snapshots.StrategySteps, snapshots.RegretRate = 512, 4000, 1, 5e-3
	return []Algorithm{
		{Name: "deepcfr", Options: deep, Memory: memory, Nets: nets},
		{Name: "sdcfr", Options: snapshots, Memory: memory, Nets: cfr.Nets{Hidden: []int{64, 64, 64}}, Snapshots: true},
		{Name: "critic", Options: critic, Memory: memory, Nets: nets},
	}
}

// A Solver is a learner as a tabular.Solver.
type Solver struct {
	tree      *tabular.Tree
	learner   *cfr.Learner
	algorithm Algorithm
	total     int // iterations planned: learning rates may fall with them
	nodes     int64
	table     table
}

// NewSolver returns a solver that has done nothing yet, of the game that the
// tree is of.
func NewSolver(t *tabular.Tree, game vec.Batch, a Algorithm, iterations int, seed uint64, pool *vec.Pool) (*Solver, error) {
	l, err := cfr.NewLearner(game, a.Nets, a.Memory, a.Options, seed, pool)
	if err != nil {
		return nil, err
	}
	return &Solver{tree: t, learner: l, algorithm: a, total: iterations, table: newTable(t)}, nil
}

// Close frees what the solver holds.
func (s *Solver) Close() { s.learner.Close() }

// Iterate implements tabular.Solver.
func (s *Solver) Iterate() error {
	m, err := s.learner.Iterate(context.Background(), float64(s.learner.Iteration())/float64(s.total))
	s.nodes += int64(m.Nodes)
	return err
}

// Nodes implements tabular.Solver.
func (s *Solver) Nodes() int64 { return s.nodes }

// Average implements tabular.Solver.
func (s *Solver) Average(dst []float64) error {
	if s.algorithm.Snapshots {
		return s.mean(dst)
	}
	p, err := s.learner.Average(s.table.rows(), 0)
	if err != nil {
		return err
	}
	defer p.Close()
	s.table.read(dst, p)
	return nil
}

// mean sets dst to the policy of playing, for a whole game, a snapshot drawn
// with a probability that grows with its iteration as the options say.
func (s *Solver) mean(dst []float64) error {
	clear(dst)
	policy := make([]float64, len(dst))
	p, err := s.learner.Current(s.table.rows(), 0)
	if err != nil {
		return err
	}
	defer p.Close()
	for _, shot := range s.learner.Snapshots() {
		p.Load(shot.Params)
		s.table.read(policy, p)
		s.tree.AddPlan(dst, policy, s.algorithm.Options.Weight(shot.Iteration))
	}
	s.tree.Normalise(dst)
	return nil
}

// A table reads the probabilities of networks at all information sets.
type table struct {
	tree  *tabular.Tree
	all   []int32
	probs []float32 // [part,A]
}

// part is the information sets that a network reads at a time.
const part = 4096

func newTable(t *tabular.Tree) table {
	all := vec.AllRows(nil, t.InformationSets())
	return table{t, all, make([]float32, min(part, len(all))*t.States().Actions())}
}

// rows returns the most rows that read takes at a time.
func (t *table) rows() int { return min(part, len(t.all)) }

// read sets dst, [Q], to a policy.
func (t *table) read(dst []float64, p *cfr.Policy) {
	states, actions := t.tree.States(), t.tree.States().Actions()
	dst[0], dst[1] = 1, 1
	for from := 0; from < len(t.all); from += part {
		infos := t.all[from:min(from+part, len(t.all))]
		probs := t.probs[:len(infos)*actions]
		p.Probabilities(probs, states, infos)
		for i, info := range infos {
			lo, hi := t.tree.Span(int(info))
			for q := lo; q < hi; q++ {
				dst[q] = float64(probs[i*actions+t.tree.Action(q)])
			}
		}
	}
}
