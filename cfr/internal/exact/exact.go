// Package exact computes the advantages that a policy has by definition, to
// hold estimates of them to: from the policy's probabilities and all that chance
// may do, in float64, by recursion over the states of a small game. It shares
// nothing with the traversal that it judges but the game.
package exact

import (
	"encoding/binary"
	"fmt"
	"slices"

	"vtrain/vec"
)

// A Policy sets dst [len(rows),A] to its probabilities in live games.
type Policy interface {
	Probabilities(dst []float32, state vec.Batch, rows []int32)
}

// Columns are those of a batch; a row's bytes tell it from others.
type Columns []vec.Field

// States are the columns of a batch that make up a game's state: all but the key
// of its random numbers.
func States(b vec.Batch) Columns {
	return slices.DeleteFunc(b.Fields(), func(f vec.Field) bool { return f.Name == "keys" })
}

// Append appends the bytes of a row.
func (c Columns) Append(dst []byte, row int32) []byte {
	for _, f := range c {
		lo, hi := int(row)*f.W, int(row+1)*f.W
		switch data := f.Data.(type) {
		case []uint8:
			dst = append(dst, data[lo:hi]...)
		case []uint16:
			dst, _ = binary.Append(dst, binary.LittleEndian, data[lo:hi])
		case []uint32:
			dst, _ = binary.Append(dst, binary.LittleEndian, data[lo:hi])
		case []uint64:
			dst, _ = binary.Append(dst, binary.LittleEndian, data[lo:hi])
		default:
			panic(fmt.Sprintf("exact: column %s is %T", f.Name, data))
		}
	}
	return dst
}

// Advantages returns those of both players' policy in every state where
// somebody has to move, in the mover's frame and in units of scale: by the bytes
// of the state, for its legal actions in ascending order. The state is enough:
// the policy is a function of what the mover observes, so how the game came there
// doesn't matter.
func Advantages(game vec.Enumerable, policy Policy, scale float64) map[string][]float64 {
	e := &solver{policy: policy, scale: scale, advantages: map[string][]float64{}, values: map[string]float64{}}
	for range game.Horizon() + 1 {
		e.depths = append(e.depths, game.New().(vec.Enumerable))
	}
	deals := game.New().(vec.Enumerable)
	deals.DealEach(make([]vec.Outcome, int(deals.Deals())))
	for r := range int32(deals.Rows()) {
		e.depths[0].Gather(deals, []int32{r})
		e.value(0)
	}
	return e.advantages
}

type solver struct {
	policy     Policy
	scale      float64
	advantages map[string][]float64
	values     map[string]float64 // for player 0
	depths     []vec.Enumerable   // [plies] the state being looked at, one row each
}

// first is the row of depths.
var first = []int32{0}

// value returns what player 0 wins on average from depths[d] on.
func (e *solver) value(d int) float64 {
	state := e.depths[d]
	key := string(States(state).Append(nil, 0))
	if v, known := e.values[key]; known {
		return v
	}
	if state.Finished()[0] != 0 {
		var u [1]float32
		state.Utility(u[:], first)
		e.values[key] = float64(u[0]) / e.scale
	} else {
		e.values[key] = e.decision(d, key)
	}
	return e.values[key]
}

// decision is value where somebody has to move. It notes the advantages.
func (e *solver) decision(d int, key string) float64 {
	state := e.depths[d]
	mask, mover := make([]uint64, vec.MaskWords(state.Actions())), []uint8{0}
	sigma := make([]float32, state.Actions())
	state.Legal(mask, first)
	state.ToMove(mover, first)
	e.policy.Probabilities(sigma, state, first)
	legal := vec.MaskAppend(nil, mask)
	after, v := make([]float64, len(legal)), 0.0
	for k, a := range legal {
		after[k] = e.after(d, a)
		v += float64(sigma[a]) * after[k]
	}
	frame := 1 - 2*float64(mover[0])
	for k := range after {
		after[k] = frame * (after[k] - v)
	}
	e.advantages[key] = after
	return v
}

// after returns player 0's value of an action, on average over chance.
func (e *solver) after(d int, action int32) float64 {
	ways, v := []int32{0}, 0.0
	e.depths[d].Outcomes(ways, first, []int32{action})
	for way := range ways[0] {
		var outcome [1]vec.Outcome
		e.depths[d+1].Gather(e.depths[d], first)
		e.depths[d+1].StepTo(outcome[:], first, []int32{action}, []int32{way})
		v += outcome[0].P * e.value(d+1)
	}
	return v
}
