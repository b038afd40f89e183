package encode_test

import (
	"reflect"
	"slices"
	"testing"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// A batch played to the end by the layout's own actions is the scalar games
// played by what those actions mean.
func TestBatchPlaysTheRules(t *testing.T) {
	for _, name := range []string{"tiny", "mid", "classic"} {
		cfg := rules.MustPreset(name)
		cfg.MaxTurns = 30
		for _, l := range layouts(cfg) {
			t.Run(name+"/"+l.Name(), func(t *testing.T) { playBatch(t, l) })
		}
	}
}

func playBatch(t *testing.T, l encode.Layout) {
	const n, seed, first = 40, 6, 1000
	b := encode.NewBatch(l, nil).New()
	b.Deal(n, seed, first)
	rows := vec.AllRows(nil, n)
	var games []*rules.Game
	for i := range n {
		games = append(games, rules.NewGame(l.Config(), seed, first+uint64(i)))
	}
	actions := make([]int32, n)
	for ply := range b.Horizon() + 1 { // one more: nothing happens to finished games
		checkBatch(t, b, l, games, rows)
		for i, g := range games {
			legal := l.LegalGame(g)
			actions[i] = 0
			if len(legal) == 0 {
				continue
			}
			stream := vec.At(g.Key()+2, uint32(ply))
			actions[i] = legal[stream.Intn(len(legal))]
			mustStep(g, l.RulesAction(g, actions[i]))
		}
		b.Step(rows, actions)
	}
	if slices.Contains(b.Finished(), 0) {
		t.Error("games go on after the horizon")
	}
}

func checkBatch(t *testing.T, b vec.Batch, l encode.Layout, games []*rules.Game, rows []int32) {
	t.Helper()
	player, utility := make([]uint8, len(rows)), make([]float32, len(rows))
	mask := make([]uint64, len(rows)*vec.MaskWords(b.Actions()))
	b.ToMove(player, rows)
	b.Utility(utility, rows)
	b.Legal(mask, rows)
	info := poisoned(len(rows) * b.Width(vec.Information))
	history := poisoned(len(rows) * b.Width(vec.History))
	b.Observe(info, vec.Information, rows)
	b.Observe(history, vec.History, rows)
	for i, g := range games {
		if int(player[i]) != g.Player() || (b.Finished()[i] != 0) != g.Done() || int(b.Plies()[i]) != g.Plies() || b.GameKeys()[i] != g.Key() {
			t.Fatalf("game %d, ply %d: columns differ from the scalar game", i, g.Plies())
		}
		if want := float32(g.Score(0) - g.Score(1)); utility[i] != want {
			t.Fatalf("game %d, ply %d: utility %v, expected %v", i, g.Plies(), utility[i], want)
		}
		w := vec.MaskWords(b.Actions())
		legal := vec.MaskAppend(nil, mask[i*w:(i+1)*w])
		if !slices.Equal(legal, l.LegalGame(g)) || len(legal) > b.MaxLegal() {
			t.Fatalf("game %d, ply %d: legal %v, expected %v and at most %d", i, g.Plies(), legal, l.LegalGame(g), b.MaxLegal())
		}
		a, c := make([]float32, l.Width()), make([]float32, b.Width(vec.History))
		l.ObserveGame(a, g, g.Player())
		encode.NewCritic(l).ObserveOpenGame(c, g, g.Player())
		if firstDifference(info[i*len(a):(i+1)*len(a)], a) >= 0 || firstDifference(history[i*len(c):(i+1)*len(c)], c) >= 0 {
			t.Fatalf("game %d, ply %d: observation differs from the scalar game's", i, g.Plies())
		}
	}
}

func TestBatchGatherScatter(t *testing.T) {
	l := encode.NewCards(rules.MustPreset("mid"))
	a := encode.NewBatch(l, nil)
	a.Deal(5, 1, 0)
	keys := slices.Clone(a.GameKeys())
	b := a.New()
	b.Gather(a, []int32{0, 0, 3})
	if !slices.Equal(b.GameKeys(), []uint64{keys[0], keys[0], keys[3]}) {
		t.Error("Gather did not copy the rows asked for")
	}
	b.Scatter([]int32{1}, a, []int32{4})
	if !slices.Equal(b.GameKeys(), []uint64{keys[0], keys[4], keys[3]}) {
		t.Error("Scatter did not copy the rows asked for")
	}
	b.Resize(2)
	if b.Rows() != 2 || b.RowBytes() != a.Games().RowBytes() || b.Horizon() != 0 || len(b.Fields()) == 0 {
		t.Error("size, horizon or fields are not the games'")
	}
}

// TestBatchLimit: a batch that may have 100 rows never holds the memory of
// more, and what is made from it has no limit.
func TestBatchLimit(t *testing.T) {
	l := encode.NewCards(rules.MustPreset("tiny"))
	src := encode.NewBatch(l, nil)
	src.Deal(101, 1, 0)
	b := src.New()
	b.Limit(100)
	for _, n := range []int{60, 61, 100} {
		b.Gather(src, vec.AllRows(nil, n))
		for _, f := range b.Fields() {
			if held := reflect.ValueOf(f.Data).Cap(); held > 100*f.W {
				t.Errorf("%d rows: column %s holds %d values of %d a row", n, f.Name, held, f.W)
			}
		}
	}
	expectPanic(t, "vec: more rows than the limit", func() { b.Gather(src, vec.AllRows(nil, 101)) })
	b.New().Resize(101)
}

// otherBatch is a batch of another kind.
type otherBatch struct{ vec.Batch }

func TestCallersMistakesPanic(t *testing.T) {
	classic, mid := rules.MustPreset("classic"), rules.MustPreset("mid")
	g := rules.NewGames(classic, nil)
	g.Deal(1, 1, 0)
	one := rules.NewGame(classic, 1, 0)
	other := rules.NewGame(mid, 1, 0)
	row := []int32{0}
	for _, l := range layouts(classic) {
		c := encode.NewCritic(l)
		const length, game, player = "encode: slice length mismatch", "encode: games of another configuration", "encode: player is neither 0 nor 1"
		small := rules.NewGames(mid, nil)
		small.Deal(1, 1, 0)
		dst, open := make([]float32, l.Width()), make([]float32, c.Width())
		expectPanic(t, length, func() { l.Observe(dst[1:], g, row) })
		expectPanic(t, length, func() { l.ObserveGame(dst[1:], one, 0) })
		expectPanic(t, length, func() { c.ObserveOpen(open[1:], g, row) })
		expectPanic(t, length, func() { c.ObserveOpenGame(open[1:], one, 0) })
		expectPanic(t, length, func() { l.RulesActions(nil, g, row, row) })
		expectPanic(t, game, func() { l.Observe(dst, small, row) })
		expectPanic(t, game, func() { l.ObserveGame(dst, other, 0) })
		expectPanic(t, game, func() { c.ObserveOpenGame(open, other, 0) })
		expectPanic(t, game, func() { l.Legal(make([]uint64, l.MaskWords()), small, row) })
		expectPanic(t, game, func() { encode.Wrap(l, small) })
		expectPanic(t, player, func() { l.ObserveAs(dst, g, 2, row) })
		expectPanic(t, player, func() { l.ObserveGame(dst, one, -1) })
		expectPanic(t, player, func() { c.ObserveOpenAs(open, g, -1, row) })
		expectPanic(t, "encode: batch of another kind", func() { encode.Wrap(l, g).Gather(otherBatch{}, nil) })
	}
	s := encode.NewSlots(classic, encode.SlotOptions{})
	expectPanic(t, "encode: action out of range", func() { s.RulesActions(row, g, row, []int32{22}) })
	expectPanic(t, "encode: action out of range", func() { s.LayoutActions(row, g, row, []int32{106}) })
	expectPanic(t, "encode: action of a card that is not in the hand", func() {
		for x := range classic.Types() {
			s.LayoutActions([]int32{0}, g, row, []int32{int32(x)})
		}
	})
	mustStep(one, one.Legal()[0])
	g.Step(row, []int32{int32(rules.NewGame(classic, 1, 0).Legal()[0])})
	expectPanic(t, "encode: action of an empty hand slot", func() { s.RulesActions([]int32{0}, g, row, []int32{14}) })
	expectPanic(t, "encode: action of an empty hand slot", func() { s.RulesAction(one, 14) })
}

func TestUnknownLayout(t *testing.T) {
	if _, err := encode.New("slots", rules.MustPreset("classic")); err == nil {
		t.Error("a layout of no known name")
	}
	if _, err := encode.New("cards", rules.Config{}); err == nil {
		t.Error("a layout of an impossible configuration")
	}
}

// One layout serves several batches at the same time.
func TestLayoutIsSafeForConcurrentUse(t *testing.T) {
	l := encode.NewCards(rules.MustPreset("mid"))
	done := make(chan bool)
	for range 4 {
		go func() {
			p := deal(l.Config(), nil, 300, 4)
			same := true
			first := make([]float32, 300*l.Width())
			again := make([]float32, 300*l.Width())
			l.Observe(first, p.games, p.rows)
			for range 20 {
				l.Observe(again, p.games, p.rows)
				same = same && slices.Equal(first, again)
			}
			done <- same
		}()
	}
	for range 4 {
		if !<-done {
			t.Error("observations differ between concurrent users")
		}
	}
}
