package train

import (
	"os"
	"slices"
	"strings"
	"testing"

	"vtrain/cfr"
	"vtrain/cfr/run"
)

// TestStartFromAnotherRun: with learning rates of 0 a run stays at what it
// started from, the other's current policy, and so does its average.
func TestStartFromAnotherRun(t *testing.T) {
	first := mustCreate(t, smallConfig(t))
	mustRun(t, start(t, first, &diary{}))
	f := mustCreate(t, smallConfig(t, "run.init=run:"+first.Dir, "run.iterations=1", "learner.policy_rate=0", "learner.critic_rate=0"))
	mustRun(t, start(t, f, &diary{}))
	source, err := run.LoadWeights(first.Dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run.LoadWeights(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{cfr.PolicyNet: cfr.PolicyNet, cfr.StrategyNet: cfr.PolicyNet, cfr.CriticNet: cfr.CriticNet} {
		have, _ := got.Network(name)
		want, _ := source.Network(from)
		if !slices.Equal(have.Flat(), want.Flat()) {
			t.Errorf("%s is not the %s that it started from", name, from)
		}
	}
	other := mustNew(t, smallConfig(t, "nets.hidden=9", "run.init=run:"+first.Dir), &diary{})
	if err := other.Begin(); err == nil || !strings.Contains(err.Error(), "run.init: ") || !strings.Contains(err.Error(), "of another shape") {
		t.Errorf("a run started from networks of another shape: %v", err)
	}
	if _, err := New(smallConfig(t, "learner.algorithm=deepcfr", "run.init=champion"), &diary{}); err == nil || !strings.Contains(err.Error(), "run.init is") {
		t.Errorf("Deep CFR started from a policy: %v", err)
	}
}

// TestResumeNeedsNoSource: a run that has saved something doesn't look at what
// it started from again.
func TestResumeNeedsNoSource(t *testing.T) {
	first := mustCreate(t, smallConfig(t))
	mustRun(t, start(t, first, &diary{}))
	f := mustCreate(t, smallConfig(t, "run.init=run:"+first.Dir, "run.iterations=2"))
	mustRun(t, start(t, f, &diary{}))
	f.Close()
	if err := os.RemoveAll(first.Dir); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, f.Dir)
	again.Config.Run.Iterations = 3
	mustRun(t, start(t, again, &diary{}))
}

// TestStartFromTheChampion: it fits the default agent.
func TestStartFromTheChampion(t *testing.T) {
	c := run.Default()
	c.Run.Init, c.Run.Iterations = run.Champion, 1
	if err := mustNew(t, c, &diary{}).Begin(); err != nil {
		t.Error(err)
	}
	c = smallConfig(t, "run.init=champion")
	if err := mustNew(t, c, &diary{}).Begin(); err == nil || !strings.Contains(err.Error(), "run.init: champion was trained on classic rules, the run is on tiny") {
		t.Errorf("the champion started a run on other rules: %v", err)
	}
}
