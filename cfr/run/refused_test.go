package run

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vtrain/cfr"
	"vtrain/encode"
)

// TestOtherRowsAreRefused: decisions that were recorded under other rules, in
// another encoding or scale, or in a format that this program doesn't know, are
// never taken for its own. The error has both sides.
func TestOtherRowsAreRefused(t *testing.T) {
	f, _ := saved(t)
	configured := func(setting string) func(check func()) {
		return func(check func()) {
			c := f.Config
			if err := c.Set(setting); err != nil {
				t.Fatal(err)
			}
			rewrite(t, f.Path(configName), func([]byte) []byte { return c.Marshal() }, check)
		}
	}
	recorded := func(change func(m *Manifest)) func(check func()) {
		return func(check func()) { reseal(t, f, change, check) }
	}
	for name, c := range map[string]struct {
		under func(check func())
		both  string
	}{
		"rules":           {configured("rules.min_rank=3"), "rules.min_rank is 2, expected 3"},
		"scale":           {configured("learner.scale=2.5"), "learner.scale is 1, expected 2.5"},
		"layout":          {configured("encoding.layout=slots-d0s0"), "encoding.layout is cards-sorted, expected slots-d0s0"},
		"encoding":        {recorded(func(m *Manifest) { m.Encoding.Version = 77 }), fmt.Sprintf("encoding is cards-sorted version 77, expected cards-sorted version %d", encode.SortedVersion)},
		"newer format":    {recorded(func(m *Manifest) { m.Format = 88 }), fmt.Sprintf("format 88, expected at most %d", formatVersion)},
		"no known format": {recorded(func(m *Manifest) { m.Format = -1 }), fmt.Sprintf("format -1, expected 1 to %d", formatVersion)},
	} {
		t.Run(name, func(t *testing.T) {
			c.under(func() {
				_, err := Load(f.Dir)
				mustFail(t, err, f.Dir, c.both)
				_, err = f.Resume()
				mustFail(t, err, f.Dir, c.both)
			})
		})
	}
	if ck, err := f.Resume(); err != nil || ck == nil {
		t.Errorf("what wasn't changed gives %v, %v", ck, err)
	}
}

// TestFormat1: its reservoir is read under the names of now; under a format of
// now the old name is that of another column.
func TestFormat1(t *testing.T) {
	f := mustCreate(t, kuhnConfig())
	l := newLearner(t, f.Config, 1)
	train(t, l, 3)
	s := l.State()
	for i := range s.Memory.Fields {
		s.Memory.Fields[i].Name = strings.Replace(s.Memory.Fields[i].Name, "value", "policy", 1)
	}
	mustSave(t, f, s)
	restored := func() ([]float32, error) {
		ck, err := Load(f.Dir)
		if err != nil {
			t.Fatal(err)
		}
		m := newLearner(t, f.Config, 1)
		err = m.Restore(ck.State)
		return m.Memory().Value.Data, err
	}
	_, err := restored()
	mustFail(t, err, "column is policy of width 2, expected value of width 2")
	reseal(t, f, func(m *Manifest) { m.Format = 1 }, func() {
		if got, err := restored(); err != nil || !slices.Equal(got, l.Memory().Value.Data) {
			t.Errorf("restored %v (%v), expected %v", got, err, l.Memory().Value.Data)
		}
	})
}

// TestBeforeAlgorithms: a run whose files don't name an algorithm, since there
// was but one, is of Deep CFR: it is played by and resumed as it was.
func TestBeforeAlgorithms(t *testing.T) {
	f, l := saved(t)
	older := func(text []byte) []byte {
		var kept []string
		for line := range strings.Lines(string(text)) {
			key, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			if !slices.Contains([]string{"init", "algorithm", "surrogate", "entropy", "policy_rate"}, key) {
				kept = append(kept, line)
			}
		}
		return []byte(strings.Join(kept, ""))
	}
	var config []byte
	rewrite(t, f.Path(checkpointsName, "000003", configName), func(text []byte) []byte { config = older(text); return config }, func() {
		entry := FileEntry{configName, int64(len(config)), fmt.Sprintf("%x", sha256.Sum256(config))}
		reseal(t, f, func(m *Manifest) {
			m.Files[slices.IndexFunc(m.Files, func(e FileEntry) bool { return e.Name == configName })] = entry
		}, func() {
			rewrite(t, f.Path(configName), older, func() {
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				again, err := Open(f.Dir)
				if err != nil {
					t.Fatal(err)
				}
				defer again.Close()
				ck, err := again.Resume()
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range []Config{again.Config, ck.Config} {
					if c.Learner.Algorithm != cfr.DeepCFR || c.Learner.CurrentNet() != cfr.RegretNet {
						t.Errorf("algorithm is %s, expected %s", c.Learner.Algorithm, cfr.DeepCFR)
					}
				}
				resumed := newLearner(t, again.Config, 1)
				if err := resumed.Restore(ck.State); err != nil {
					t.Fatal(err)
				}
				train(t, resumed, 4)
				train(t, l, 4)
				for i, n := range l.State().Networks {
					if !slices.Equal(n.Params.Flat(), resumed.State().Networks[i].Params.Flat()) {
						t.Errorf("%s differs from that of an uninterrupted run", n.Name)
					}
				}
			})
		})
	})
}
