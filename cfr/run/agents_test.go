package run

import (
	"strings"
	"testing"
)

func TestParseAgent(t *testing.T) {
	for name, want := range map[string]AgentName{
		"rule":                  {Bot: "rule", Policy: Average},
		"run:runs/a":            {Dir: "runs/a", Policy: Average},
		"run:runs/a@current":    {Dir: "runs/a", Policy: Current},
		"ckpt:c/000100@greedy":  {Dir: "c/000100", Policy: Average, Greedy: true},
		"run:a@current@greedy":  {Dir: "a", Policy: Current, Greedy: true},
		"run:a@search":          {Dir: "a", Policy: Average, Search: true},
		"run:a@greedy@search":   {Dir: "a", Policy: Average, Greedy: true, Search: true},
		"champion@search":       {Dir: "champion", Policy: Average, Search: true},
		"run:me@home/a@greedy":  {Dir: "me@home/a", Policy: Average, Greedy: true},
		"champion":              {Dir: "champion", Policy: Average},
		"champion@greedy":       {Dir: "champion", Policy: Average, Greedy: true},
		"run:champion":          {Dir: "champion", Policy: Average},
		"run:C:/runs/a@average": {Dir: "C:/runs/a", Policy: Average},
	} {
		got, err := ParseAgent(name)
		want.Text = name
		if err != nil || got != want {
			t.Errorf("%s is %+v, %v; expected %+v", name, got, err, want)
		}
	}
	for name, says := range map[string]string{
		"rulle":                 "did you mean rule?",
		"rule@greedy":           "suffixes are for trained agents, expected rule alone",
		"random@search":         "suffixes are for trained agents, expected random alone",
		"chamption":             "did you mean champion?",
		"champion@current":      "the champion has an average policy alone",
		"run:a@average@current": "@average and @current contradict each other",
	} {
		_, err := ParseAgent(name)
		mustFail(t, err, name, says)
	}
	for _, name := range []string{"", "ruel", "run:", "run:@greedy", "rule@greedy", "file:a", "champion@x", "champion:a", "champion@greedy:a"} {
		if _, err := ParseAgent(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: error %v does not name it", name, err)
		}
	}
}
