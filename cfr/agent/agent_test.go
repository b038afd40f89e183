package agent

import (
	"strings"
	"testing"

	"vtrain/rules"
	"vtrain/vec"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]Spec{
		"rule":                  {Bot: "rule", Policy: Average},
		"run:runs/a":            {Dir: "runs/a", Policy: Average},
		"run:runs/a@current":    {Dir: "runs/a", Policy: Current},
		"ckpt:c/000100@greedy":  {Dir: "c/000100", Policy: Average, Greedy: true},
		"run:a@current@greedy":  {Dir: "a", Policy: Current, Greedy: true},
		"run:me@home/a@greedy":  {Dir: "me@home/a", Policy: Average, Greedy: true},
		"run:C:/runs/a@average": {Dir: "C:/runs/a", Policy: Average},
	} {
		got, err := Parse(name)
		want.name = name
		if err != nil || got != want {
			t.Errorf("%s is %+v, %v; expected %+v", name, got, err, want)
		}
	}
	for _, name := range []string{"", "ruel", "run:", "run:@greedy", "rule@greedy", "file:a"} {
		if _, err := Parse(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: error %v does not name it", name, err)
		}
	}
}

func TestCommonRules(t *testing.T) {
	bot, err := Parse("rule")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := CommonRules("mid", bot, bot)
	want := rules.MustPreset("mid")
	want.MaxTurns = 400
	if err != nil || cfg != want {
		t.Errorf("rules of two bots are %+v, %v; expected %+v", cfg, err, want)
	}
	if _, err := CommonRules("", bot, Spec{name: "run:nowhere", Dir: t.TempDir()}); err == nil {
		t.Error("the rules of a run that isn't there were found")
	}
}

func TestOpenBot(t *testing.T) {
	s, err := Parse("discard-only")
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Open(rules.MustPreset("tiny"), 10, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	games := rules.NewGames(rules.MustPreset("tiny"), nil)
	games.Deal(3, 1, 0)
	actions := make([]int32, 3)
	a.Act(actions, games, vec.AllRows(nil, 3))
	games.Step(vec.AllRows(nil, 3), actions)
	for _, made := range games.Made.Data {
		if made != 1 {
			t.Errorf("%d plies made, expected 1", made)
		}
	}
}
