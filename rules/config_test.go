package rules

import (
	"math/bits"
	"slices"
	"testing"
)

func TestPresets(t *testing.T) {
	for name, want := range map[string][5]int{ // cards, deck, types, actions, top face
		"classic":  {60, 44, 50, 106, 10},
		"classic6": {72, 56, 60, 127, 10},
		"tiny":     {8, 4, 8, 19, 4},
		"mid":      {18, 10, 18, 40, 5},
		"nowager":  {45, 29, 50, 106, 10},
	} {
		cfg, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := cfg.Validate(); err != nil {
			t.Error(err)
		}
		got := [5]int{cfg.Cards(), cfg.DeckSize(), cfg.Types(), cfg.Actions(), cfg.TopFace()}
		if got != want {
			t.Errorf("%s: cards, deck, types, actions, top face are %v, expected %v", name, got, want)
		}
		cfg.MaxTurns = 400
		if cfg.Name() != name {
			t.Errorf("%s with a turn limit is named %s", name, cfg.Name())
		}
		cfg.Bonus++
		if cfg.Name() != "custom" {
			t.Errorf("%s with another bonus is named %s", name, cfg.Name())
		}
	}
	if len(Presets()) != 5 {
		t.Errorf("presets are %v", Presets())
	}
	_, err := Preset("clasic")
	if want := `rules: unknown preset "clasic", expected one of classic, classic6, tiny, mid, nowager`; err == nil || err.Error() != want {
		t.Errorf("got %v, expected %s", err, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("MustPreset of an unknown name did not panic")
		}
	}()
	MustPreset("clasic")
}

// TestValidate makes each value of the classic game impossible in turn.
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		change func(c *Config)
		want   string
	}{
		{func(c *Config) { c.Colors = 0 }, "colors is 0, expected 1 to 8"},
		{func(c *Config) { c.Colors = 9 }, "colors is 9, expected 1 to 8"},
		{func(c *Config) { c.Ranks = 0 }, "ranks is 0, expected at least 1"},
		{func(c *Config) { c.Wagers = -1 }, "wagers is -1, expected at least 0"},
		{func(c *Config) { c.Ranks = 14 }, "wagers + ranks is 17, expected at most 16 cards a colour"},
		{func(c *Config) { c.Wagers = 8 }, "wagers + ranks is 17, expected at most 16 cards a colour"},
		{func(c *Config) { c.MinRank = -1 }, "min_rank is -1, expected 0 to 1000"},
		{func(c *Config) { c.MinRank = 1001 }, "min_rank is 1001, expected 0 to 1000"},
		{func(c *Config) { c.Hand = 0 }, "hand is 0, expected at least 1"},
		{func(c *Config) { c.Hand = 31 }, "colors × (wagers + ranks) is 60, expected at least two hands (62 cards)"},
		{func(c *Config) { c.Hand = 1 << 62 }, "colors × (wagers + ranks) is 60, expected at least two hands (9223372036854775808 cards)"},
		{func(c *Config) { c.Penalty = 1 }, "penalty is 1, expected -100000 to 0"},
		{func(c *Config) { c.Penalty = -100001 }, "penalty is -100001, expected -100000 to 0"},
		{func(c *Config) { c.BonusAt = 0 }, "bonus_at is 0, expected at least 1"},
		{func(c *Config) { c.Bonus = -1 }, "bonus is -1, expected 0 to 100000"},
		{func(c *Config) { c.Bonus = 100001 }, "bonus is 100001, expected 0 to 100000"},
		{func(c *Config) { c.MaxTurns = -1 }, "max_turns is -1, expected 0 (no limit) to 1073741824"},
		{func(c *Config) { c.MaxTurns = 1<<30 + 1 }, "max_turns is 1073741825, expected 0 (no limit) to 1073741824"},
	} {
		cfg := MustPreset("classic")
		c.change(&cfg)
		err := cfg.Validate()
		if err == nil || err.Error() != "rules: "+c.want {
			t.Errorf("got %v, expected %s", err, c.want)
		}
	}
	if err := (Config{}).Validate(); err == nil {
		t.Error("the zero value is accepted")
	}
	for name, cfg := range variants() {
		if err := cfg.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvalidConfigurationsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"NewGame":        func() { NewGame(Config{}, 1, 1) },
		"NewGames":       func() { NewGames(Config{}, nil) },
		"NewOrderedGame": func() { NewOrderedGames(Config{}, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
	if _, err := NewGameFrom(Config{}, nil, 0, 0); err == nil {
		t.Error("NewGameFrom accepts the zero configuration")
	}
}

func TestCheckDeck(t *testing.T) {
	cfg := MustPreset("tiny")
	pack := cfg.Pack()
	for _, c := range []struct {
		name string
		deck []Card
		want string // "" where the deck is fine
	}{
		{"the pack", pack, ""},
		{"another order", []Card{7, 0, 6, 1, 5, 2, 4, 3}, ""},
		{"short", pack[1:], "the deck has 7 cards, expected 8"},
		{"long", append(cfg.Pack(), 0), "the deck has 9 cards, expected 8"},
		{"none", nil, "the deck has 0 cards, expected 8"},
		{"twice", []Card{0, 1, 2, 3, 3, 5, 6, 7}, "the deck is not a permutation of the pack: wrong number of cards of type 3"},
		{"foreign", []Card{0, 1, 2, 3, 4, 5, 6, 8}, "the deck is not a permutation of the pack: wrong number of cards of type 7"},
	} {
		err := cfg.CheckDeck(c.deck)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || err.Error() != "rules: "+c.want):
			t.Errorf("%s: got %v, expected %s", c.name, err, c.want)
		}
	}
}

// workedScores are the examples of the rules page, with faces; 0 is a wager.
var workedScores = []struct {
	cards []int
	want  int
}{
	{[]int{}, 0},
	{[]int{5, 8, 10}, 3},
	{[]int{0}, -40},
	{[]int{0, 3, 5, 7}, -10},
	{[]int{0, 0, 2, 3, 5, 7, 8, 10}, 65},
	{[]int{0, 0, 0}, -80},
	{[]int{0, 2}, -36},
	{[]int{2, 3, 4, 5, 6}, 0},
	{[]int{0, 0, 0, 2, 3, 4, 5, 6}, 20},
	{[]int{0, 0, 6, 8, 10}, 12},
	{[]int{0, 0, 5, 6, 7, 8, 9, 10}, 95},
	{[]int{0, 0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 156},
}

// TestWorkedScores scores each example four ways: the formula, the table, the
// scalar game and a row of a batch, the last two in every colour.
func TestWorkedScores(t *testing.T) {
	cfg := MustPreset("classic")
	for _, e := range workedScores {
		wagers, faces := 0, 0
		for _, face := range e.cards {
			if faces += face; face == 0 {
				wagers++
			}
		}
		if got := cfg.Score(wagers, faces, len(e.cards)); got != e.want {
			t.Errorf("%v: Config.Score is %d, expected %d", e.cards, got, e.want)
		}
		for color := range cfg.Colors {
			cards := cardsOf(cfg, color, e.cards)
			g, games := withExpedition(cfg, color, cards)
			if got := games.SetScore(setOf(games.Tables, cards, color)); int(got) != e.want {
				t.Errorf("%v: SetScore is %d, expected %d", e.cards, got, e.want)
			}
			scores := make([]int32, 2)
			games.Score(scores, []int32{0})
			got := [4]int{g.Score(1), g.ExpeditionScore(1, color), int(scores[1]), int(scores[0])}
			if got != [4]int{e.want, e.want, e.want, 0} {
				t.Errorf("%v in colour %d: scores %v, expected %d", e.cards, color, got, e.want)
			}
		}
	}
}

func cardsOf(cfg Config, color int, faces []int) []Card {
	var cards []Card
	for _, face := range faces {
		rank := 0
		if face > 0 {
			rank = face - cfg.MinRank + 1
		}
		cards = append(cards, cfg.Card(color, rank))
	}
	return cards
}

// withExpedition returns a game in both forms in which player 1 holds one
// expedition; where the cards came from is of no interest to the score.
func withExpedition(cfg Config, color int, cards []Card) (*Game, *Games) {
	g := NewGame(cfg, 1, 1)
	g.exp[1][color] = cards
	games := NewGames(cfg, nil)
	games.Deal(1, 1, 1)
	games.Exp.Row(0)[cfg.Colors+color] = setOf(games.Tables, cards, color)
	return g, games
}

// TestExtremeScores searches all sets for the best and the worst expedition.
func TestExtremeScores(t *testing.T) {
	tables := NewTables(MustPreset("classic"))
	best, worst := int32(0), int32(0)
	for set := range 1 << tables.PerColor() {
		wagers := uint16(set) & tables.wagerSet
		if wagers&(wagers+1) != 0 {
			continue // not a thermometer
		}
		best, worst = max(best, tables.SetScore(uint16(set))), min(worst, tables.SetScore(uint16(set)))
	}
	if best != 156 || worst != -80 {
		t.Errorf("an expedition is worth %d to %d, expected -80 to 156", worst, best)
	}
	if total := 5 * best; total != 780 {
		t.Errorf("five expeditions are worth %d, expected 780", total)
	}
	if total := 5 * worst; total != -400 {
		t.Errorf("the worst total is %d, expected -400", total)
	}
}

// TestExtremeTotals scores whole sides: all cards, and nothing but wagers.
func TestExtremeTotals(t *testing.T) {
	cfg := MustPreset("classic")
	games := NewGames(cfg, nil)
	games.Deal(1, 1, 1)
	g := NewGame(cfg, 1, 1)
	for c := range cfg.Colors {
		full := games.AppendSet(nil, c, games.fullSet)
		g.exp[0][c], g.exp[1][c] = full, full[:cfg.Wagers]
		games.Exp.Row(0)[c], games.Exp.Row(0)[cfg.Colors+c] = games.fullSet, games.wagerSet
	}
	scores := make([]int32, 2)
	games.Score(scores, []int32{0})
	if got := [4]int{g.Score(0), g.Score(1), int(scores[0]), int(scores[1])}; got != [4]int{780, -400, 780, -400} {
		t.Errorf("best and worst totals are %v", got)
	}
}

// TestTables compares the tables' set arithmetic with lists of cards.
func TestTables(t *testing.T) {
	for name, cfg := range variants() {
		tables := NewTables(cfg)
		for i := range 200 {
			set := uint16(i*2654435761>>7) & tables.fullSet
			set = set&^tables.wagerSet | thermometer(bits.OnesCount16(set&tables.wagerSet))
			cards := tables.AppendSet(nil, cfg.Colors-1, set)
			if got := setOf(tables, cards, cfg.Colors-1); got != set {
				t.Fatalf("%s: set %b holds %v, which are %b", name, set, cards, got)
			}
			top, sum := 0, 0
			for _, x := range cards {
				top = max(top, cfg.Rank(x))
				sum += cfg.Face(cfg.Rank(x))
			}
			if tables.TopRank(set) != top || tables.FaceSum(set) != sum {
				t.Fatalf("%s: set %b has top %d and sum %d, expected %d and %d", name, set, tables.TopRank(set), tables.FaceSum(set), top, sum)
			}
		}
	}
}

func thermometer(n int) uint16 { return 1<<n - 1 }

// TestFits compares the cards an expedition can take with the scalar rule.
func TestFits(t *testing.T) {
	cfg := MustPreset("classic")
	tables := NewTables(cfg)
	for _, e := range workedScores {
		cards := cardsOf(cfg, 2, e.cards)
		g, _ := withExpedition(cfg, 2, cards)
		fits := tables.AppendSet(nil, 2, tables.Fits(tables.fullSet, setOf(tables, cards, 2)))
		for rank := range cfg.Ranks + 1 {
			x := cfg.Card(2, rank)
			if got := slices.Contains(fits, x); got != g.Fits(1, x) {
				t.Errorf("%s on %v: %v, expected %v", cfg.CardName(x), e.cards, got, g.Fits(1, x))
			}
		}
	}
}
