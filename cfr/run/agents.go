package run

import (
	"fmt"
	"slices"
	"strings"

	"vtrain/rules/bots"
)

// The policies of a trained agent.
const (
	Average = "average"
	Current = "current"
)

var policies = []string{Average, Current}

// An AgentName is what a player is called, taken apart: a bot's name, or
// run:DIR or ckpt:DIR with the suffixes @average, @current and @greedy.
type AgentName struct {
	Text   string // as it was given
	Bot    string // name of a bot, or empty
	Dir    string // run folder or checkpoint of a trained agent, or empty
	Policy string // Average or Current
	Greedy bool   // plays its likeliest action
}

// ParseAgent reads an agent's name. The folder need not exist.
func ParseAgent(text string) (AgentName, error) {
	n := AgentName{Text: text, Policy: Average}
	kind, dir, trained := strings.Cut(text, ":")
	switch {
	case !trained && slices.Contains(bots.Names(), text):
		n.Bot = text
		return n, nil
	case kind != "run" && kind != "ckpt", !trained:
		return n, unknownAgent(text)
	}
	for {
		at := strings.LastIndexByte(dir, '@')
		if at < 0 || !n.suffix(dir[at+1:]) {
			break
		}
		dir = dir[:at]
	}
	if n.Dir = dir; dir == "" {
		return n, unknownAgent(text)
	}
	return n, nil
}

// suffix applies a suffix, and reports whether there is one of that name. A
// folder's name may hold an @ too.
func (n *AgentName) suffix(name string) bool {
	switch name {
	case Average, Current:
		n.Policy = name
	case "greedy":
		n.Greedy = true
	default:
		return false
	}
	return true
}

func unknownAgent(text string) error {
	return fmt.Errorf("unknown agent %q, expected run:DIR, ckpt:DIR or one of %s", text, strings.Join(bots.Names(), ", "))
}
