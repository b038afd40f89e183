package encode_test

import (
	"slices"
	"testing"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
	"vtrain/vec/vectest"
)

// checkRows compares the rows of a batch to observations of every game.
func checkRows(t *testing.T, v view, g *rules.Games, rows []int32, want []float32) {
	t.Helper()
	got := poisoned(len(rows) * v.width)
	v.rows(got, g, rows)
	for i, b := range rows {
		w := want[int(b)*v.width : int(b+1)*v.width]
		if at := firstDifference(got[i*v.width:(i+1)*v.width], w); at >= 0 {
			t.Fatalf("%s, row %d of %d, feature %d: %v, scalar %v", v.name, b, len(rows), at, got[i*v.width+at], w[at])
		}
	}
}

func observeAll(v view, games []*rules.Game) []float32 {
	want := poisoned(len(games) * v.width)
	for i, g := range games {
		v.one(want[i*v.width:(i+1)*v.width], g)
	}
	return want
}

func TestRowsMatchGames(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg rules.Config) {
		pool := vec.NewPool(3)
		defer pool.Close()
		p := deal(cfg, pool, fewer(24, 8), 11)
		all := layouts(cfg)
		for ply := 0; ; ply++ {
			if ply < 40 || ply%13 == 0 || p.done() {
				for _, l := range all {
					for _, v := range views(l) {
						checkRows(t, v, p.games, p.rows, observeAll(v, p.one))
					}
				}
			}
			if p.done() || ply == 400 {
				break
			}
			p.step()
		}
	})
}

func TestRowsMatchGamesAtEverySize(t *testing.T) {
	for _, name := range rules.Presets() {
		t.Run(name, func(t *testing.T) {
			p := deal(rules.MustPreset(name), nil, slices.Max(vectest.Sizes()), 5)
			for _, ply := range []int{17, 38} {
				p.stepTo(ply)
				var all []view
				for _, layout := range []string{"cards", "slots-d1s1"} {
					l, _ := encode.New(layout, p.cfg)
					all = append(all, views(l)[:2]...)
				}
				var want [][]float32
				for _, v := range all {
					want = append(want, observeAll(v, p.one))
				}
				vectest.Run(t, func(t *testing.T, c vectest.Case) {
					g := rules.NewGames(p.cfg, c.Pool)
					g.Gather(p.games, p.rows[:c.Size])
					for i, v := range all {
						checkRows(t, v, g, c.Live, want[i])
					}
				})
			}
		})
	}
}

func TestLegalAndTranslation(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg rules.Config) {
		p := deal(cfg, nil, 16, 3)
		for ply := 0; ply < 120 && !p.done(); ply++ {
			for _, l := range layouts(cfg) {
				checkLegal(t, l, p)
			}
			p.step()
		}
	})
}

func checkLegal(t *testing.T, l encode.Layout, p *pair) {
	t.Helper()
	w := l.MaskWords()
	masks := make([]uint64, len(p.rows)*w)
	for i := range masks {
		masks[i] = ^uint64(0)
	}
	l.Legal(masks, p.games, p.rows)
	for i, g := range p.one {
		row := []int32{int32(i)}
		legal := l.LegalGame(g)
		if got := vec.MaskAppend(nil, masks[i*w:(i+1)*w]); !slices.Equal(got, legal) {
			t.Fatalf("%s, game %d, ply %d: legal %v, scalar %v", l.Name(), i, g.Plies(), got, legal)
		}
		var reached []rules.Action
		for _, a := range legal {
			move := l.RulesAction(g, a)
			reached = append(reached, move)
			got := []int32{0}
			l.RulesActions(got, p.games, row, []int32{a})
			if rules.Action(got[0]) != move {
				t.Fatalf("%s: action %d means %d, scalar %d", l.Name(), a, got[0], move)
			}
			l.LayoutActions(got, p.games, row, []int32{int32(move)})
			back := l.LayoutAction(g, move)
			if got[0] != back || back > a || l.RulesAction(g, back) != move || !slices.Contains(legal, back) {
				t.Fatalf("%s: rules action %d is %d, scalar %d, from %d", l.Name(), move, got[0], back, a)
			}
		}
		slices.Sort(reached)
		if reached = slices.Compact(reached); !slices.Equal(reached, g.Legal()) {
			t.Fatalf("%s: legal actions mean %v, rules say %v", l.Name(), reached, g.Legal())
		}
	}
}

func TestSlotActionNumbers(t *testing.T) {
	cfg := rules.MustPreset("classic")
	s := encode.NewSlots(cfg, encode.SlotOptions{})
	for name, want := range map[string]int32{
		"play slot 0": 0, "discard slot 0": 1, "play slot 7": 14, "discard slot 7": 15,
		"draw from the deck": 16, "draw from the yellow pile": 17, "draw from the red pile": 21,
	} {
		if got := s.ActionName(want); got != name {
			t.Errorf("action %d is %q, want %q", want, got, name)
		}
	}
	if s.Actions() != 22 || s.Play(7) != 14 || s.Discard(7) != 15 || s.DrawDeck() != 16 || s.DrawPile(4) != 21 {
		t.Error("slot actions are numbered otherwise")
	}
}

func TestObserveAllocatesNothing(t *testing.T) {
	for _, workers := range []int{1, 3} {
		pool := vec.NewPool(workers)
		p := deal(rules.MustPreset("classic"), pool, 700, 1)
		p.stepTo(20)
		for _, l := range layouts(p.cfg) {
			b := encode.Wrap(l, p.games)
			dst := make([]float32, 700*b.Width(vec.Information))
			open := make([]float32, 700*b.Width(vec.History))
			mask := make([]uint64, 700*l.MaskWords())
			actions := make([]int32, 700)
			for i, g := range p.one {
				actions[i] = l.LegalGame(g)[0]
			}
			moves, utility, player := make([]int32, 700), make([]float32, 700), make([]uint8, 700)
			other := b.New()
			n := testing.AllocsPerRun(10, func() {
				b.Observe(dst, vec.Information, p.rows)
				b.Observe(open, vec.History, p.rows)
				b.Legal(mask, p.rows)
				l.RulesActions(moves, p.games, p.rows, actions)
				l.LayoutActions(moves, p.games, p.rows, moves)
				b.ToMove(player, p.rows)
				b.Utility(utility, p.rows)
				other.Gather(b, p.rows)
				other.Step(p.rows, actions)
			})
			if n != 0 {
				t.Errorf("%s, %d workers: %v allocations", l.Name(), workers, n)
			}
		}
		pool.Close()
	}
}
