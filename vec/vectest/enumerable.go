package vectest

import (
	"fmt"
	"math"
	"testing"

	"vtrain/vec"
	"vtrain/vec/vectest/chance"
)

// Enumerable holds what a game says of its chance to what it does when it is
// dealt and played at random.
func Enumerable(t *testing.T, game vec.Enumerable) {
	t.Run("deals", func(t *testing.T) { checkDeals(t, game) })
	t.Run("outcomes", func(t *testing.T) { checkOutcomes(t, game) })
}

// checkDeals compares random deals with the list of all.
func checkDeals(t *testing.T, game vec.Enumerable) {
	deals := make([]vec.Outcome, int(game.Deals()))
	game.DealEach(deals)
	if game.Rows() != len(deals) {
		t.Fatalf("%d rows of %d deals", game.Rows(), len(deals))
	}
	weights, number := make([]float64, len(deals)), map[string]int{}
	for i, text := range histories(game) {
		weights[i], number[text] = deals[i].P, i
	}
	mustBeOne(t, "the probabilities of all deals", weights)
	if len(number) != len(deals) {
		t.Fatalf("%d different deals, expected %d", len(number), len(deals))
	}
	random, counts := game.New(), make([]int, len(deals))
	random.Deal(40*len(deals), 1, 0)
	for _, text := range histories(random) {
		i, ok := number[text]
		if !ok {
			t.Fatal("a random deal is not among all")
		}
		counts[i]++
	}
	chance.Fair(t, "random deals", counts, weights)
}

func mustBeOne(t *testing.T, what string, p []float64) {
	t.Helper()
	sum := 0.0
	for _, x := range p {
		sum += x
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("%s sum to %v, expected 1", what, sum)
	}
}

// histories returns what can be told apart of a batch's rows: of games that
// have ended only the result, for chance may have left out the rest.
func histories(b vec.Batch) []string {
	rows := vec.AllRows(nil, b.Rows())
	width := b.Width(vec.History)
	x, utility := make([]float32, len(rows)*width), make([]float32, len(rows))
	b.Observe(x, vec.History, rows)
	b.Utility(utility, rows)
	all := make([]string, len(rows))
	for i := range rows {
		if b.Finished()[i] != 0 {
			all[i] = fmt.Sprint("ended with ", utility[i])
		} else {
			all[i] = fmt.Sprint(x[i*width : (i+1)*width])
		}
	}
	return all
}

// checkOutcomes plays random games. What a step led to must be one of the
// outcomes, and the first of them as often as it says.
func checkOutcomes(t *testing.T, game vec.Enumerable) {
	const games, most = 300, 60
	b := game.New().(vec.Enumerable)
	b.Deal(games, 2, 0)
	all := vec.AllRows(nil, games)
	first, expected, variance := 0.0, 0.0, 0.0
	for live := all; len(live) > 0 && b.Plies()[live[0]] < most; live = vec.Keep(nil, live, b.Finished(), 0) {
		actions := randomActions(b, live)
		ways := make([]int32, len(live))
		b.Outcomes(ways, live, actions)
		before := b.New()
		before.Gather(b, live)
		b.Step(live, actions)
		after := histories(b)
		for i, r := range live {
			p, taken := taken(t, before, int32(i), actions[i], ways[i], after[r])
			if len(p) > 1 {
				expected += p[0]
				variance += p[0] * (1 - p[0])
				if taken == 0 {
					first++
				}
			}
		}
	}
	if math.Abs(first-expected) > 5*math.Sqrt(variance) {
		t.Errorf("the first outcome was taken %.0f times, expected %.1f ± %.1f", first, expected, math.Sqrt(variance))
	}
	b.Outcomes(make([]int32, games), all, make([]int32, games)) // finished rows are legal arguments
	b.StepTo(make([]vec.Outcome, games), all, make([]int32, games), make([]int32, games))
}

// taken makes an action with every outcome, and returns their probabilities
// and which of them has led to a history.
func taken(t *testing.T, state vec.Batch, row, action, ways int32, history string) (p []float64, way int) {
	t.Helper()
	each := state.New().(vec.Enumerable)
	rows := vec.AllRows(nil, int(ways))
	from, actions := make([]int32, ways), make([]int32, ways)
	for i := range from {
		from[i], actions[i] = row, action
	}
	each.Gather(state, from)
	outcomes := make([]vec.Outcome, ways)
	each.StepTo(outcomes, rows, actions, rows)
	way = -1
	for i, text := range histories(each) {
		p = append(p, outcomes[i].P)
		if text == history {
			way = i
		}
	}
	mustBeOne(t, "the probabilities of outcomes", p)
	if way < 0 {
		t.Fatalf("action %d led to none of its %d outcomes", action, ways)
	}
	return p, way
}

func randomActions(b vec.Batch, rows []int32) []int32 {
	words := vec.MaskWords(b.Actions())
	mask, actions := make([]uint64, len(rows)*words), make([]int32, len(rows))
	b.Legal(mask, rows)
	for i, r := range rows {
		legal := mask[i*words : (i+1)*words]
		stream := vec.At(vec.Derive(b.GameKeys()[r], "test", 0), b.Plies()[r])
		actions[i] = int32(vec.MaskSelect(legal, stream.Intn(vec.MaskCount(legal))))
	}
	return actions
}
