package run

import (
	"fmt"
	"path/filepath"
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

// Champion is the name of the agent that is built into the program.
const Champion = "champion"

// An AgentName is what a player is called, taken apart: a bot's name, or
// champion, run:DIR or ckpt:DIR with the suffixes @average, @current, @greedy and
// @search. A champion has but the one policy.
type AgentName struct {
	Text   string // as it was given
	Bot    string // name of a bot, or empty
	Dir    string // run folder or checkpoint of a trained agent, or champion, or empty
	Policy string // Average or Current
	Greedy bool   // plays its likeliest action
	Search bool   // tries its likeliest actions out; a Greedy one is so in its playouts
}

// ParseAgent reads an agent's name. The folder need not exist.
func ParseAgent(text string) (AgentName, error) {
	n := AgentName{Text: text, Policy: Average}
	kind, dir, trained := strings.Cut(text, ":")
	bot, _, suffixed := strings.Cut(text, "@")
	switch {
	case !trained && slices.Contains(bots.Names(), text):
		n.Bot = text
		return n, nil
	case !trained && suffixed && slices.Contains(bots.Names(), bot):
		return n, fmt.Errorf("agent %q: suffixes are for trained agents, expected %s alone", text, bot)
	case !trained && bot == Champion:
		dir = text
	case kind != "run" && kind != "ckpt", !trained:
		return n, unknownAgent(text)
	}
	chosen := "" // policy that a suffix has named
	for {
		at := strings.LastIndexByte(dir, '@')
		if at < 0 || !n.suffix(dir[at+1:]) {
			break
		}
		if name := dir[at+1:]; slices.Contains(policies, name) {
			if chosen != "" && chosen != name {
				return n, fmt.Errorf("agent %q: @%s and @%s contradict each other, expected one of them", text, name, chosen)
			}
			chosen = name
		}
		dir = dir[:at]
	}
	n.Dir = dir
	if n.BuiltIn() && chosen == Current {
		return n, fmt.Errorf("agent %q: the champion has an average policy alone, expected no @%s", text, Current)
	}
	if dir == "" || !trained && !n.BuiltIn() {
		return n, unknownAgent(text)
	}
	return n, nil
}

// BuiltIn reports whether the agent is the champion.
func (n AgentName) BuiltIn() bool { return n.Dir == Champion && !strings.Contains(n.Text, ":") }

// Explain adds to an error of loading the agent whose it is, and which suffixes
// there are if its folder seems to end in one.
func (n AgentName) Explain(err error) error {
	base := filepath.Base(n.Dir)
	if at := strings.LastIndexByte(base, '@'); at >= 0 && !exists(n.Dir) {
		return fmt.Errorf("%s: %w; if @%s is meant as a suffix: there are @%s, @%s, @greedy and @search", n.Text, err, base[at+1:], Average, Current)
	}
	return fmt.Errorf("%s: %w", n.Text, err)
}

// suffix applies a suffix, and reports whether there is one of that name. A
// folder's name may hold an @ too.
func (n *AgentName) suffix(name string) bool {
	switch name {
	case Average, Current:
		n.Policy = name
	case "greedy":
		n.Greedy = true
	case "search":
		n.Search = true
	default:
		return false
	}
	return true
}

func unknownAgent(text string) error {
	hint := ""
	const typos = 2
	for _, name := range append(bots.Names(), Champion) {
		if !strings.Contains(text, ":") && distance(text, name) <= typos {
			hint = fmt.Sprintf("did you mean %s? ", name)
		}
	}
	return fmt.Errorf("unknown agent %q, %sexpected %s, run:DIR, ckpt:DIR or one of %s", text, hint, Champion, strings.Join(bots.Names(), ", "))
}
