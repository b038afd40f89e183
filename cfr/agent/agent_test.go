package agent

import (
	"path/filepath"
	"strings"
	"testing"

	"vtrain/cfr"
	"vtrain/cfr/arena"
	"vtrain/cfr/run"
	"vtrain/cfr/search"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// trained saves an untrained agent of a preset, and returns its name.
func trained(t *testing.T, preset string, settings ...string) string {
	t.Helper()
	cfg := run.Default()
	cfg.Nets.Hidden, cfg.Learner.Games, cfg.Memory.StrategyRows = []int{8}, 4, 10
	for _, s := range append(settings, "rules.preset="+preset) {
		if err := cfg.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	layout, err := encode.New(cfg.Encoding.Layout, cfg.Rules.Config)
	if err != nil {
		t.Fatal(err)
	}
	l, err := cfr.NewLearner(encode.NewBatch(layout, nil), cfg.Nets.Networks(), cfg.Memory, cfg.Learner, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := run.Create(filepath.Join(t.TempDir(), preset), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Save(l.State()); err != nil {
		t.Fatal(err)
	}
	return "run:" + f.Dir
}

func mustParse(t *testing.T, names ...string) []run.AgentName {
	t.Helper()
	parsed := make([]run.AgentName, len(names))
	for i, text := range names {
		var err error
		if parsed[i], err = run.ParseAgent(text); err != nil {
			t.Fatal(err)
		}
	}
	return parsed
}

// limited returns a preset with a turn limit.
func limited(preset string, turns int) rules.Config {
	cfg := rules.MustPreset(preset)
	cfg.MaxTurns = turns
	return cfg
}

// mustName checks that an error has all the parts.
func mustName(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not name %q", err, part)
		}
	}
}

func TestRules(t *testing.T) {
	given, tiny, mid := limited("classic", 100), trained(t, "tiny"), trained(t, "mid")
	for _, k := range []struct {
		names []string
		want  rules.Config
	}{
		{[]string{"rule", "random"}, given},
		{[]string{"rule", tiny}, limited("tiny", 400)},
		{[]string{mid + "@current", mid}, limited("mid", 400)},
	} {
		if got, err := Rules(given, mustParse(t, k.names...)...); err != nil || got != k.want {
			t.Errorf("%v: rules %+v, %v; expected %+v", k.names, got, err, k.want)
		}
	}
	_, err := Rules(given, mustParse(t, tiny, mid)...)
	mustName(t, err, tiny, mid, "rules.hand is 4, expected 2")
	nowhere := "run:" + filepath.Join(t.TempDir(), "nowhere")
	_, err = Rules(given, mustParse(t, "rule", nowhere)...)
	mustName(t, err, "nowhere")
}

// TestOpenOnOtherRules: a trained agent only plays what it was trained on, cut
// at any turn.
func TestOpenOnOtherRules(t *testing.T) {
	tiny := mustParse(t, trained(t, "tiny"))[0]
	a, err := Open(tiny, limited("tiny", 7), 10, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Close(a); err != nil {
		t.Error(err)
	}
	_, err = Open(tiny, limited("mid", 400), 10, 1, nil)
	mustName(t, err, tiny.Text, "on tiny", "on mid", "rules.hand is 2, expected 4")
}

// TestOpen: every kind of agent plays a match, and can be closed.
func TestOpen(t *testing.T) {
	cfg, dir := limited("tiny", 100), trained(t, "tiny")
	small := trained(t, "tiny", "nets.precision=int8")
	for _, name := range mustParse(t, "discard-only", dir, dir+"@current", dir+"@greedy", dir+"@search", dir+"@greedy@search", small, small+"@current") {
		a, err := Open(name, cfg, 10, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := arena.Play(cfg, a, a, arena.Options{Games: 10, Seed: 1})
		if err != nil || r.Agent != name.Text || r.PliesPerGame < 2 {
			t.Errorf("%s: %+v, %v", name.Text, r, err)
		}
		if err := Close(a); err != nil {
			t.Error(err)
		}
	}
}

// TestAdviceInTheLayoutsActions: of the rows that were asked about, whichever
// those are, a learner hears what search says, in its own layout's actions.
func TestAdviceInTheLayoutsActions(t *testing.T) {
	cfg := limited("mid", 40)
	a, err := Open(mustParse(t, trained(t, "mid")+"@search")[0], cfg, 10, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(a)
	layout, err := encode.New("cards-sorted", cfg)
	if err != nil {
		t.Fatal(err)
	}
	who, ok := AsActor(a, layout).(cfr.Adviser)
	if !ok {
		t.Fatal("search doesn't advise")
	}
	games := rules.NewGames(cfg, nil)
	games.Deal(9, 1, 0)
	renamed := 0
	for range 6 {
		rows := []int32{1, 4, 5, 8}
		chosen := make([]int32, len(rows))
		who.Act(chosen, encode.Wrap(layout, games), rows)
		for i, row := range rows {
			actions, p := who.Advice(i)
			want, _ := a.(*search.Agent).Advice(i)
			sum, best := float32(0), 0
			for k := range actions {
				back := make([]int32, 1)
				layout.RulesActions(back, games, []int32{row}, actions[k:k+1])
				if back[0] != want[k] {
					t.Errorf("row %d: action %d is the rules' %d, search said %d", row, actions[k], back[0], want[k])
				}
				if actions[k] != want[k] {
					renamed++
				}
				if sum += p[k]; p[k] > p[best] {
					best = k
				}
			}
			if sum < .999 || sum > 1.001 || actions[best] != chosen[i] {
				t.Errorf("row %d: advice %v with %v, chosen %d", row, actions, p, chosen[i])
			}
		}
		all := vec.AllRows(nil, 9)
		moves := make([]int32, 9)
		a.Act(moves, games, all)
		games.Step(all, moves)
	}
	if renamed == 0 {
		t.Error("the layout called every action as the rules do: nothing was tested")
	}
}

// TestPolicyOnAnotherBatch: an agent follows whoever asks it to other games.
func TestPolicyOnAnotherBatch(t *testing.T) {
	cfg := limited("tiny", 100)
	a, err := Open(mustParse(t, trained(t, "tiny"))[0], cfg, 10, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(a)
	for _, n := range []int{3, 5} {
		games := rules.NewGames(cfg, nil)
		games.Deal(n, 1, 0)
		actions := make([]int32, n)
		a.Act(actions, games, vec.AllRows(nil, n))
		games.Step(vec.AllRows(nil, n), actions)
		for _, made := range games.Made.Data {
			if made != 1 {
				t.Errorf("%d plies made, expected 1", made)
			}
		}
	}
}
