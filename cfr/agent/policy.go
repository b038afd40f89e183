// Package agent makes players of policies and of names: what the command line
// calls an agent.
package agent

import (
	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/rules"
)

// A PolicyAgent plays Lost Cities by a policy; it implements arena.Agent.
type PolicyAgent struct {
	name   string
	policy *cfr.Policy
	layout encode.Layout
	games  *rules.Games  // the games that view wraps
	view   *encode.Batch // games as the policy sees them
}

// NewPolicyAgent returns a player that owns the policy, which must have been
// trained with the layout.
func NewPolicyAgent(name string, policy *cfr.Policy, layout encode.Layout) *PolicyAgent {
	return &PolicyAgent{name: name, policy: policy, layout: layout}
}

// Name returns what reports call the agent.
func (a *PolicyAgent) Name() string { return a.name }

// Act implements arena.Agent.
func (a *PolicyAgent) Act(dst []int32, g *rules.Games, rows []int32) {
	if a.games != g {
		a.games, a.view = g, encode.Wrap(a.layout, g)
	}
	a.policy.Act(dst, a.view, rows)
	a.layout.RulesActions(dst, g, rows, dst)
}

// Close frees the policy; it implements io.Closer.
func (a *PolicyAgent) Close() error {
	a.policy.Close()
	return nil
}
