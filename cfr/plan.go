package cfr

import (
	"errors"
	"fmt"
	"math"

	"vtrain/nets"
	"vtrain/vec"
)

// A Plan bounds what a learner will use, before it uses it.
type Plan struct {
	Nodes          int   // of an iteration's tree at most, if every game lasts to its last ply
	Frontier       int   // of those, at one depth
	SampleBytes    int64 // of those decisions
	ReservoirBytes int64 // of what is remembered, when full
	SnapshotBytes  int64 // of earlier regret or policy networks, when there are as many as may be
	Parameters     int   // of all networks
}

// NewPlan computes the bounds. Errors are about options and shapes, and about
// games that nothing bounds.
func NewPlan(game vec.Batch, hidden []int, memory Memory, o Options) (Plan, error) {
	if err := o.Validate(); err != nil {
		return Plan{}, err
	}
	if game.Horizon() == 0 {
		return Plan{}, errors.New("rules.max_turns is 0: games have no bound on their plies, expected a turn limit")
	}
	if err := memory.Validate(); err != nil {
		return Plan{}, err
	}
	if o.meets(LeagueOpponent) && memory.Snapshots == 0 {
		return Plan{}, errors.New("memory.snapshots is 0, expected 1 or more for the league of learner.opponents")
	}
	least := float64(o.Games) * float64(game.Horizon()+1)
	if o.Nodes > 0 && least > float64(o.Nodes) {
		return Plan{}, fmt.Errorf("learner.nodes is %d, expected at least %.0f: %d games of up to %d plies", o.Nodes, least, o.Games, game.Horizon())
	}
	tree, width := o.largestTree(game)
	nodes := int(min(o.budget(game), float64(o.Games)*tree))
	if legal := nodes * game.MaxLegal(); legal > math.MaxInt32 {
		return Plan{}, fmt.Errorf("learner.games is %d: with up to %d plies, %d nodes in all, and %d actions each that is up to %d numbers an iteration, expected at most %d",
			o.Games, game.Horizon(), nodes, game.MaxLegal(), legal, math.MaxInt32)
	}
	p := Plan{Nodes: nodes, Frontier: int(min(float64(nodes), float64(o.Games)*width)), ReservoirBytes: int64(memory.rows(o)) * int64(NewReservoir(game, 1).RowBytes())}
	// A decision is a state, seven numbers for each legal action, and nine of its own
	// and of its node. Two levels have states beside it.
	p.SampleBytes = int64(nodes)*int64(game.RowBytes()+28*game.MaxLegal()+36) + 2*int64(p.Frontier)*int64(game.RowBytes())
	views := []vec.View{vec.Information, vec.Information} // regret and strategy
	if o.sampling().hasCritic() {
		views = append(views, vec.History)
	}
	for _, view := range views {
		shape := o.Shape(game, hidden, view)
		if err := shape.Validate(); err != nil {
			return Plan{}, err
		}
		p.Parameters += parameters(shape)
	}
	p.SnapshotBytes = 4 * int64(memory.Snapshots) * int64(parameters(Shape(game, hidden, vec.Information)))
	return p, nil
}

// rows returns the rows of all reservoirs.
func (m Memory) rows(o Options) int {
	switch {
	case o.Algorithm == PPO:
		return 0
	case o.remembersRegrets():
		return m.StrategyRows + m.RegretRows
	}
	return m.StrategyRows
}

// remembersRegrets reports whether there is a reservoir of regrets.
func (o Options) remembersRegrets() bool {
	return o.Algorithm == DeepCFR && o.Accumulate == Reservoired
}

// budget returns the most nodes of an iteration.
func (o Options) budget(game vec.Batch) float64 {
	if o.Nodes > 0 {
		return float64(o.Nodes)
	}
	const usual = 8
	return usual * float64(o.Games) * float64(game.Horizon()+1)
}

// largestTree bounds the nodes of one game's tree and of one of its levels, as if all actions were always
// legal and the traverser, who has half of all plies, moved first.
func (o Options) largestTree(game vec.Batch) (nodes, width float64) {
	s := o.sampling()
	nodes, width = 1, 1
	for ply := range game.Horizon() {
		if s.branches && ply <= (game.Horizon()-1)/2 && ply < s.plies {
			if tried := float64(min(s.most, game.MaxLegal())); s.once {
				width = tried
			} else {
				width *= tried
			}
		}
		nodes += width
	}
	return nodes, width
}

func parameters(shape nets.MLP) int {
	n := 0
	for l := range shape.Layers() {
		n += (shape[l] + 1) * shape[l+1]
	}
	return n
}
