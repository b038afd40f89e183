package tabular

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/cfr/internal/leduc"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

func mustBuild(t testing.TB, game vec.Enumerable) *Tree {
	t.Helper()
	tree, err := Build(game, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func lostCities(cfg rules.Config) vec.Enumerable { return encode.NewBatch(encode.NewCards(cfg), nil) }

// tiny is the preset, cut after some turns.
func tiny(turns int) vec.Enumerable {
	cfg := rules.MustPreset("tiny")
	cfg.MaxTurns = turns
	return lostCities(cfg)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.12g, expected %.12g", what, got, want)
	}
}

// always returns the policy that takes an action wherever it is legal, and the
// first one elsewhere.
func always(t *Tree, action int) []float64 {
	policy := make([]float64, t.Sequences())
	for i := range t.InformationSets() {
		lo, hi := t.Span(i)
		best := lo
		for q := lo; q < hi; q++ {
			if t.Action(q) == action {
				best = q
			}
		}
		policy[best] = 1
	}
	return policy
}

// random returns a policy without zeros.
func random(t *Tree, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	policy := make([]float64, t.Sequences())
	for q := range policy {
		policy[q] = rng.ExpFloat64() + 1e-3
	}
	t.Normalise(policy)
	return policy
}

// TestSizes counts by hand. A round of Leduc has six decisions, four ends by a
// fold and five that go on, after which there are as many boards as ranks left.
func TestSizes(t *testing.T) {
	const boards = 6*3 + 3*2 // of all deals
	for name, c := range map[string]struct {
		game                   vec.Enumerable
		histories, ends, infos int
	}{
		"kuhn":         {kuhn.NewBatch(), 6 * 9, 6 * 5, 12},
		"leduc":        {leduc.NewBatch(), 9*(6+4) + 5*boards*(6+9), 9*4 + 5*boards*9, 3*6 + 5*3*3*6},
		"tiny, a turn": {tiny(1), 420 * (1 + 4 + 4), 420 * 4, 28 * (1 + 4)},
	} {
		tree := mustBuild(t, c.game)
		if tree.Histories() != c.histories || tree.Ends() != c.ends || tree.InformationSets() != c.infos {
			t.Errorf("%s has %d histories, %d ends and %d information sets, expected %d, %d and %d", name,
				tree.Histories(), tree.Ends(), tree.InformationSets(), c.histories, c.ends, c.infos)
		}
	}
}

// TestPublishedValues holds policies to MATH's table.
func TestPublishedValues(t *testing.T) {
	tree := mustBuild(t, kuhn.NewBatch())
	near(t, "Kuhn: value of uniform play", tree.Value(tree.Uniform()), 1./8, 1e-12)
	near(t, "Kuhn: NashConv of uniform play", tree.NashConv(tree.Uniform()), 11./12, 1e-12)
	near(t, "Kuhn: NashConv of never betting or calling", tree.NashConv(always(tree, kuhn.Pass)), 2, 1e-12)
	tree = mustBuild(t, leduc.NewBatch())
	near(t, "Leduc: NashConv of uniform play", tree.NashConv(tree.Uniform()), 4.747222222, 5e-10)
}

// TestKuhnByBruteForce compares with values and best responses that package
// kuhn finds by trying all pure strategies.
func TestKuhnByBruteForce(t *testing.T) {
	tree := mustBuild(t, kuhn.NewBatch())
	for seed := range uint64(20) {
		policy := random(tree, seed)
		strategy := strategyOf(tree, policy)
		near(t, "value", tree.Value(policy), kuhn.Value(strategy), 1e-12)
		near(t, "NashConv", tree.NashConv(policy), kuhn.NashConv(strategy), 1e-12)
	}
}

// strategyOf returns a policy of Kuhn poker as its package writes it.
func strategyOf(tree *Tree, policy []float64) kuhn.Strategy {
	var s kuhn.Strategy
	states := tree.States().(*kuhn.Batch)
	for i := range tree.InformationSets() {
		history, hand := states.Node(int32(i))
		lo, _ := tree.Span(i)
		s[history][hand[tree.Mover(i)]] = policy[lo+kuhn.Bet]
	}
	return s
}

// TestBestResponseIsPlayable: the response wins what it is said to.
func TestBestResponseIsPlayable(t *testing.T) {
	for name, game := range small() {
		tree := mustBuild(t, game)
		policy := random(tree, 5)
		for player := range 2 {
			response := append([]float64(nil), policy...)
			want := tree.BestResponse(response, policy, player)
			near(t, name, tree.Value(response)*float64(1-2*player), want, 1e-9)
		}
	}
}

// small are the games that tests look at, fewer with -short, as the race
// detector runs them.
func small() map[string]vec.Enumerable {
	all := map[string]vec.Enumerable{"kuhn": kuhn.NewBatch(), "leduc": leduc.NewBatch()}
	if !testing.Short() {
		all["tiny, 2 turns"] = tiny(2)
	}
	for name, cfg := range variants {
		all[name] = lostCities(cfg)
	}
	return all
}

// TestSampledPlay compares the exact value of uniform play with the mean of
// games that are dealt and played at random.
func TestSampledPlay(t *testing.T) {
	games := 200_000
	if testing.Short() {
		games = 10_000
	}
	for name, game := range small() {
		tree := mustBuild(t, game)
		tiers := vec.NewTree(game)
		level := tiers.Deal(games, 1, 0)
		n, sum, squares := 0., 0., 0.
		for {
			var u [1]float32
			for r := range int32(level.Rows()) {
				if level.State.Finished()[r] != 0 {
					level.State.Utility(u[:], []int32{r})
					n, sum, squares = n+1, sum+float64(u[0]), squares+float64(u[0])*float64(u[0])
				}
			}
			if len(level.Live) == 0 {
				break
			}
			level = tiers.Expand(level.Live, anything(level))
		}
		mean := sum / n
		se := math.Sqrt((squares/n - mean*mean) / n)
		if want := tree.Value(tree.Uniform()); n != float64(games) || math.Abs(mean-want) > 4*se {
			t.Errorf("%s: %.0f games won %.4f ± %.4f on average, expected %.4f", name, n, mean, se, want)
		}
	}
}

// anything draws a legal action for each live row.
func anything(level *vec.Level) []int32 {
	words := vec.MaskWords(level.State.Actions())
	mask, actions := make([]uint64, len(level.Live)*words), make([]int32, len(level.Live))
	level.State.Legal(mask, level.Live)
	for i, r := range level.Live {
		legal := mask[i*words : (i+1)*words]
		stream := vec.At(vec.Derive(level.State.GameKeys()[r], "test", 0), level.State.Plies()[r])
		actions[i] = int32(vec.MaskSelect(legal, stream.Intn(vec.MaskCount(legal))))
	}
	return actions
}

// TestTooLarge: the error comes before the memory is taken, and says how far a
// game went.
func TestTooLarge(t *testing.T) {
	unlimited := lostCities(rules.MustPreset("tiny"))
	for name, c := range map[string]struct {
		game  vec.Enumerable
		limit int
		says  []string
	}{
		"classic":       {lostCities(rules.MustPreset("classic")), 1000, []string{"e+17 nodes of up to 0 plies", "1000"}},
		"no turn limit": {unlimited, 100_000, []string{" plies", "100000"}},
		"one too many":  {kuhn.NewBatch(), 53, []string{"54 nodes of up to 3 plies", "at most 53"}},
	} {
		_, err := Build(c.game, c.limit)
		var large *TooLargeError
		if !errors.As(err, &large) || large.Nodes <= float64(c.limit) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, text := range c.says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q does not say %q", name, err, text)
			}
		}
	}
	if _, err := Build(kuhn.NewBatch(), 54); err != nil {
		t.Errorf("exactly full: %v", err)
	}
}

// cheat is Kuhn poker where legal actions give a hidden card away.
type cheat struct{ *kuhn.Batch }

func (c cheat) New() vec.Batch                     { return cheat{kuhn.NewBatch()} }
func (c cheat) Gather(src vec.Batch, rows []int32) { c.Batch.Gather(src.(cheat).Batch, rows) }
func (c cheat) Scatter(at []int32, src vec.Batch, rows []int32) {
	c.Batch.Scatter(at, src.(cheat).Batch, rows)
}

func (c cheat) Legal(dst []uint64, rows []int32) {
	c.Batch.Legal(dst, rows)
	for i, r := range rows {
		if _, hand := c.Node(r); dst[i] != 0 && hand[1] == 0 {
			dst[i] = 1 << kuhn.Pass
		}
	}
}

func TestLegalActionsMustNotTell(t *testing.T) {
	defer func() {
		if recover() != badGame {
			t.Error("expected a panic")
		}
	}()
	_, _ = Build(cheat{kuhn.NewBatch()}, 1000)
}
