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
	Nodes          int   // decisions of an iteration, if every game lasts to its last ply
	SampleBytes    int64 // of those decisions
	ReservoirBytes int64 // of the average strategy's memory, when full
	Parameters     int   // of all networks
}

// NewPlan computes the bounds. Errors are about options and shapes, and about
// games that nothing bounds.
func NewPlan(game vec.Batch, hidden []int, memory int, o Options) (Plan, error) {
	if err := o.Validate(); err != nil {
		return Plan{}, err
	}
	if game.Horizon() == 0 {
		return Plan{}, errors.New("rules.max_turns is 0: games have no bound on their plies, expected a turn limit")
	}
	if memory < 1 || memory > math.MaxInt32 {
		return Plan{}, fmt.Errorf("memory.strategy_rows is %d, expected 1 to %d", memory, math.MaxInt32)
	}
	nodes := o.Games * game.Horizon()
	if legal := nodes * game.MaxLegal(); legal > math.MaxInt32 {
		return Plan{}, fmt.Errorf("learner.games is %d: of %d plies and %d actions each that is up to %d numbers an iteration, expected at most %d",
			o.Games, game.Horizon(), game.MaxLegal(), legal, math.MaxInt32)
	}
	p := Plan{Nodes: nodes, ReservoirBytes: int64(memory) * int64(NewReservoir(game, memory).RowBytes())}
	// A state is held by its level and by the samples, beside five numbers for
	// each legal action, and six for the decision.
	p.SampleBytes = int64(nodes) * int64(2*game.RowBytes()+20*game.MaxLegal()+24)
	for _, view := range []vec.View{vec.History, vec.Information, vec.Information} {
		shape := Shape(game, hidden, view)
		if err := shape.Validate(); err != nil {
			return Plan{}, err
		}
		p.Parameters += parameters(shape)
	}
	return p, nil
}

func parameters(shape nets.MLP) int {
	n := 0
	for l := range shape.Layers() {
		n += (shape[l] + 1) * shape[l+1]
	}
	return n
}
