package run

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/rules"
)

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// mustFail checks that an error is one line and has all the parts.
func mustFail(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range append(parts, "") {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q, want one line with %q", err, part)
		}
	}
}

func mustLoad(t *testing.T, text string) Config {
	t.Helper()
	c, err := LoadConfig(writeFile(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaultIsValid(t *testing.T) {
	c := Default()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if c.Rules.MaxTurns != defaultTurns || c.Encoding.Layout != encode.Names()[0] {
		t.Errorf("default is %+v", c)
	}
}

func TestEveryKeyHasANote(t *testing.T) {
	c, seen := Default(), map[string]bool{}
	for _, k := range keysOf(&c) {
		seen[k.name] = true
		if notes[k.name] == "" {
			t.Errorf("%s has no note", k.name)
		}
	}
	for name := range notes {
		if !seen[name] {
			t.Errorf("note of %s, which is no key", name)
		}
	}
}

func TestPartialFilesKeepDefaults(t *testing.T) {
	want := Default()
	for _, text := range []string{"", "# nothing\n", "rules: {preset: classic}", "rules:\n", "learner: {}\nnets:\n  # hidden: [3]\n"} {
		if got := mustLoad(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: differs from the default: %v", text, Diff(want, got))
		}
	}
	want.Learner.Epsilon, want.Nets.Hidden, want.Evaluation.Opponents = 1, []int{64}, []string{"rule"}
	want.Run.Seed, want.Run.Name, want.Memory.StrategyRows = math.MaxUint64, "a b", 2_000_000
	text := "learner: {epsilon: 1}\nnets:\n  hidden:\n    - 64\nevaluation: {opponents: ['rule']}\nrun: {seed: 18446744073709551615, name: a b}\nmemory: {strategy_rows: 2e6}\n"
	if got := mustLoad(t, text); !reflect.DeepEqual(got, want) {
		t.Errorf("differs: %v", Diff(want, got))
	}
}

func TestPresetAndOverrides(t *testing.T) {
	tiny := rules.MustPreset("tiny")
	tiny.MaxTurns, tiny.Hand = defaultTurns, 3
	for _, text := range []string{"rules: {preset: tiny, hand: 3}", "rules:\n  hand: 3\n  preset: tiny\n"} {
		if got := mustLoad(t, text).Rules; got != (Rules{customPreset, tiny}) {
			t.Errorf("%q gives %+v", text, got)
		}
	}
	c := mustLoad(t, "rules: {hand: 3, max_turns: 7}")
	if err := c.Set("rules.preset=mid"); err != nil {
		t.Fatal(err)
	}
	if want := rules.MustPreset("mid"); c.Rules.Hand != want.Hand || c.Rules.MaxTurns != 7 {
		t.Errorf("preset set afterwards gives %+v", c.Rules)
	}
	if !strings.Contains(string(c.Marshal()), "  hand: 4 ") {
		t.Errorf("resolved configuration lacks the preset's values:\n%s", c.Marshal())
	}
}

// TestAlgorithmSetsTheLearner: an algorithm brings the settings it was tuned to,
// wherever it is written, and others change them.
func TestAlgorithmSetsTheLearner(t *testing.T) {
	for _, algorithm := range []string{cfr.DeepCFR, cfr.PPO, cfr.Distill} {
		want := cfr.OptionsOf(algorithm)
		want.Games = 99
		c := mustLoad(t, "learner: {games: 99, algorithm: "+algorithm+"}")
		if !reflect.DeepEqual(c.Learner, want) {
			t.Errorf("%s in a file gives %+v, expected %+v", algorithm, c.Learner, want)
		}
		c = Default()
		if err := c.SetAll([]string{"learner.games=99", "learner.algorithm=" + algorithm}); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(c.Learner, want) {
			t.Errorf("%s set gives %+v, expected %+v", algorithm, c.Learner, want)
		}
	}
	mustFail(t, func() error {
		c := mustLoad(t, "learner: {algorithm: dqn}")
		return c.Validate()
	}(), `learner.algorithm is "dqn", expected deepcfr, ppo or distill`)
}

// TestNamesOfPresets: a configuration names the preset that it is.
func TestNamesOfPresets(t *testing.T) {
	for text, want := range map[string]string{
		"rules: {wagers: 0}": "nowager", "rules: {hand: 7}": "custom", "rules: {preset: mid, max_turns: 9}": "mid", "rules: {preset: custom}": "classic",
		"rules: {preset: custom, colors: 4}": "custom", "rules: {preset: custom, wagers: 0}": "nowager", "rules: {preset: mid, colors: 4}": "custom",
	} {
		c := mustLoad(t, text)
		if again := mustLoad(t, string(c.Marshal())); again.Rules.Preset != want || again.Rules.Config != c.Rules.Config {
			t.Errorf("%s: read back as %+v, expected %s", text, again.Rules, want)
		}
	}
}

// TestForgottenValues: who changes the preset of a printed file alone is told.
func TestForgottenValues(t *testing.T) {
	text := strings.Replace(string(Default().Marshal()), "preset: classic", "preset: mid", 1)
	path := writeFile(t, text)
	_, err := LoadConfig(path)
	mustFail(t, err, path+":9: rules.preset is mid, but all values that it would set are given, and are those of classic: delete them or change the preset")
	if c := mustLoad(t, "rules: {preset: classic, wagers: 0}"); c.Rules.Preset != "nowager" {
		t.Errorf("a preset with one other value is %s, expected nowager", c.Rules.Preset)
	}
}

// TestSetAll: the order doesn't matter to a preset, nor does a file's.
func TestSetAll(t *testing.T) {
	for _, all := range [][]string{{"rules.colors=4", " rules.preset = mid"}, {"rules.preset=tiny", "rules.preset=mid", "rules.colors=4"}} {
		c := mustLoad(t, "rules: {hand: 3}")
		if err := c.SetAll(all); err != nil || c.Rules.Colors != 4 || c.Rules.Hand != rules.MustPreset("mid").Hand {
			t.Errorf("%q gives %+v, %v", all, c.Rules, err)
		}
	}
}

func TestFileErrors(t *testing.T) {
	for _, tt := range []struct {
		text  string
		parts []string
	}{
		{"run:\n  seed: 3\nlearner:\n  epsilom: 0.2\n", []string{"agent.yaml:4: ", "learner.epsilom", "did you mean learner.epsilon?"}},
		{"lerner: {epsilon: 1}", []string{":1: ", "unknown key lerner, did you mean learner?"}},
		{"epsilon: 1", []string{"did you mean learner.epsilon?"}},
		{"nets: {epsilon: 1}", []string{"unknown key nets.epsilon, did you mean learner.epsilon?"}},
		{"rules: {presett: tiny}", []string{"did you mean rules.preset?"}},
		{"run: {seed: -1}", []string{":1: ", "run.seed is -1, expected a whole number of at least 0"}},
		{"\nrun: {iterations: 1.5}", []string{":2: ", "run.iterations is 1.5, expected a whole number"}},
		{"run: {iterations: '5'}", []string{`run.iterations is "5", expected a whole number`}},
		{"run: {iterations: many}", []string{`run.iterations is "many", expected a whole number`}},
		{"run: {iterations: 99999999999999999999}", []string{"run.iterations is \"99999999999999999999\", expected a whole number"}},
		{"run: {name: 5}", []string{"run.name is 5, expected a text"}},
		{"run: {name: }", []string{"run.name is empty, expected a text"}},
		{"learner: {epsilon: .nan}", []string{"learner.epsilon is .nan, expected a number"}},
		{"learner: {epsilon: 1e999}", []string{"learner.epsilon is", "expected a number"}},
		{"learner: {epsilon: {a: 1}}", []string{"learner.epsilon is a section, expected a number"}},
		{"learner: {correction: 1}", []string{"learner.correction is 1, expected true or false"}},
		{"learner: {correction: yes}", []string{`learner.correction is "yes", expected true or false`}},
		{"nets: {hidden: 256}", []string{"nets.hidden is 256, expected a list of whole numbers"}},
		{"nets: {hidden: [256, x]}", []string{`nets.hidden[1] is "x", expected a whole number`}},
		{"nets: {hidden: [[1]]}", []string{"nets.hidden[0] is a list, expected a whole number"}},
		{"learner: 5", []string{"learner is 5, expected keys with values"}},
		{"- 5", []string{"the file is a list, expected keys with values"}},
		{"run: {seed: 1}\nrun: {seed: 2}", []string{"agent.yaml:2: "}},
		{"run: {seed: 1, seed: 2}", []string{"agent.yaml:1: "}},
		{"run.seed: 1\nrun: {seed: 2}", []string{"agent.yaml:2: run.seed is given twice"}},
		{"run: {seed: 1", []string{"agent.yaml:1: not YAML"}},
		{"run: {seed: &a 1}", []string{"run.seed is an anchor, alias or tag, expected a whole number"}},
		{"run: {seed: 1}\n---\nrun: {seed: 1}", []string{"2 documents, expected one"}},
		{"rules: {preset: huge}", []string{`agent.yaml:1: rules.preset is "huge", expected one of classic, `}},
	} {
		_, err := LoadConfig(writeFile(t, tt.text))
		mustFail(t, err, tt.parts...)
	}
	_, err := LoadConfig("/nowhere/agent.yaml")
	mustFail(t, err, "/nowhere/agent.yaml")
	_, err = LoadConfig(writeFile(t, strings.Repeat("#\n", maxConfigSize)))
	mustFail(t, err, "agent.yaml: more than")
}

func TestSet(t *testing.T) {
	c := Default()
	before := c.Nets.Hidden
	for _, s := range []string{"nets.hidden=128,128", "learner.epsilon = 0.25", "run.name=\"x\"", "evaluation.opponents=[rule, random]", "evaluation.policies=", "learner.correction=true", "run.iterations=1e3"} {
		if err := c.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	want := Default()
	want.Nets.Hidden, want.Learner.Epsilon, want.Run.Name, want.Run.Iterations = []int{128, 128}, 0.25, "x", 1000
	want.Evaluation.Opponents, want.Evaluation.Policies, want.Learner.Correction = []string{"rule", "random"}, []string{}, true
	if !reflect.DeepEqual(c, want) {
		t.Errorf("differs: %v", Diff(want, c))
	}
	if before[0] != 256 {
		t.Error("a copy's list has changed")
	}
	if err := c.Set("nets.hidden=[64]"); err != nil || !slices.Equal(c.Nets.Hidden, []int{64}) {
		t.Errorf("hidden is %v, %v", c.Nets.Hidden, err)
	}
}

func TestSetErrors(t *testing.T) {
	for s, parts := range map[string][]string{
		"learner.epsilom=1":      {"set learner.epsilom=1: unknown key learner.epsilom, did you mean learner.epsilon?"},
		"learner.epsilon=x":      {`learner.epsilon is "x", expected a number`},
		"learner.epsilon=NaN":    {`learner.epsilon is "NaN", expected a number`},
		"learner.epsilon=":       {`learner.epsilon is "", expected a number`},
		"learner=1":              {"learner is a section, expected one of its keys, such as learner.algorithm"},
		"learner.epsilon":        {`set "learner.epsilon": expected section.key=value`},
		"=1":                     {"expected section.key=value"},
		"nets.hidden=128,x":      {`nets.hidden[1] is "x", expected a whole number`},
		"nets.hidden=128,":       {`nets.hidden[1] is "", expected a whole number`},
		"rules.preset=huge":      {`rules.preset is "huge", expected one of classic, `},
		"run.seed=-1":            {`run.seed is "-1", expected a whole number of at least 0`},
		"learner.correction=yes": {`learner.correction is "yes", expected true or false`},
	} {
		c := Default()
		mustFail(t, c.Set(s), parts...)
		if d := Diff(Default(), c); len(d) > 0 {
			t.Errorf("%s changed %v", s, d)
		}
	}
}

func TestImpossibleConfigurations(t *testing.T) {
	for s, parts := range map[string][]string{
		"rules.hand=0":           {"rules.hand is 0, expected at least 1"},
		"rules.hand=31":          {"60, expected at least two hands (62 cards)"},
		"rules.ranks=14":         {"17, expected at most 16 cards a colour"},
		"run.name=../x":          {`run.name is "../x"`},
		"run.name=.x":            {`run.name is ".x"`},
		"run.minutes=-1":         {"run.minutes is -1, expected 0 to"},
		"run.workers=-1":         {"run.workers is -1"},
		"run.iterations=-1":      {"run.iterations is -1"},
		"encoding.layout=pixels": {`encoding.layout is "pixels", expected one of cards-sorted, `},
		"nets.hidden=256,0":      {"nets.hidden[1] is 0, expected 1 to 8192"},
		"nets.hidden=9000":       {"nets.hidden[0] is 9000, expected 1 to 8192"},
		"nets.precision=int4":    {`nets.precision is "int4", expected float32 or int8`},
		"nets.hidden=" + "1" + strings.Repeat(",1", 16): {"nets.hidden has 17 layers, expected at most 16"},
		"learner.epsilon=2":                             {"learner.epsilon is 2, expected 0 to 1"},
		"memory.strategy_rows=3e9":                      {"memory.strategy_rows is 3000000000, expected 1 to"},
		"memory.strategy_rows=0":                        {"memory.strategy_rows is 0, expected 1 to"},
		"evaluation.games=1":                            {"evaluation.games is 1, expected 0 for no matches, or an even number from 4 to"},
		"evaluation.games=2":                            {"evaluation.games is 2,"},
		"evaluation.games=21":                           {"evaluation.games is 21,"},
		"evaluation.games=-2":                           {"evaluation.games is -2,"},
		"evaluation.games=1e9":                          {"evaluation.games is 1000000000,"},
		"evaluation.every=-1":                           {"evaluation.every is -1"},
		"run.init=run:a@average":                        {`run.init is "run:a@average", expected a trained agent without suffixes`},
		"run.init=rule":                                 {`run.init is "rule", expected a trained agent without suffixes`},
		"evaluation.opponents=rule,nobody":              {`evaluation.opponents[1]: unknown agent "nobody", expected champion, run:DIR, ckpt:DIR or one of random, `},
		"evaluation.opponents=run:":                     {`evaluation.opponents[0]: unknown agent "run:"`},
		"rules.max_turns=0":                             {"rules.max_turns is 0, expected at least 1: "},
		"evaluation.policies=best":                      {`evaluation.policies[0] is "best", expected average or current`},
		"checkpoint.every=-1":                           {"checkpoint.every is -1"},
		"checkpoint.keep=0":                             {"checkpoint.keep is 0, expected 1 to"},
	} {
		c := Default()
		if err := c.Set(s); err != nil {
			t.Fatal(err)
		}
		mustFail(t, c.Validate(), parts...)
	}
	c := Default()
	c.Rules.Preset = "huge"
	mustFail(t, c.Validate(), `rules.preset is "huge"`)
	c = Default()
	c.Run.Minutes, c.Run.Iterations = 1.5, 7
	mustFail(t, c.Validate(), "run.minutes is 1.5 and run.iterations 7, expected one of them to be 0")
	c = Default()
	c.Evaluation.Games = 0
	if err := c.Validate(); err != nil {
		t.Errorf("no matches: %v", err)
	}
}

// drawConfig returns any values of the right types, most of them impossible.
func drawConfig(t *rapid.T) Config {
	c := Default()
	for _, k := range keysOf(&c) {
		v := k.value
		switch v.Interface().(type) {
		case string:
			v.SetString(drawText(t, k.name))
		case bool:
			v.SetBool(rapid.Bool().Draw(t, k.name))
		case int:
			v.SetInt(rapid.Int64().Draw(t, k.name))
		case uint64:
			v.SetUint(rapid.Uint64().Draw(t, k.name))
		case float64:
			v.SetFloat(rapid.Float64().Filter(func(f float64) bool { return f-f == 0 }).Draw(t, k.name))
		case []int:
			v.Set(reflect.ValueOf(rapid.SliceOfN(rapid.Int(), 0, 5).Draw(t, k.name)))
		case []string:
			n := rapid.IntRange(0, 4).Draw(t, k.name)
			list := make([]string, n)
			for i := range list {
				list[i] = drawText(t, k.name)
			}
			v.Set(reflect.ValueOf(list))
		default:
			t.Fatalf("%s has no generator", k.name)
		}
	}
	if rapid.Bool().Draw(t, "preset") {
		c.Rules.Config = rules.MustPreset(rapid.SampledFrom(rules.Presets()).Draw(t, "rules"))
	}
	c.Rules.Preset = c.Rules.Name()
	return c
}

func drawText(t *rapid.T, name string) string {
	return rapid.OneOf(
		rapid.StringMatching(`[ -~]{0,12}`),
		rapid.SampledFrom([]string{"true", "no", "null", "~", "1e5", "a: b", "# x", "- x", "ü", "\t", "a\nb", "run:runs/x"}),
	).Draw(t, name)
}

func TestMarshalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		text := c.Marshal()
		got, err := parseConfig("x.yaml", text, Default())
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !reflect.DeepEqual(got, c) {
			t.Fatalf("differs: %q in\n%s", Diff(c, got), text)
		}
	})
}

func TestDiff(t *testing.T) {
	a, b := Default(), Default()
	if d := Diff(a, b); len(d) > 0 {
		t.Errorf("equal configurations differ: %v", d)
	}
	b.Learner.Epsilon, b.Nets.Hidden, b.Rules.Preset = 0.2, []int{64}, "mid"
	want := []Difference{{"nets.hidden", "[256, 256]", "[64]"}, {"learner.epsilon", "0.1", "0.2"}}
	if d := Diff(a, b); !slices.Equal(d, want) {
		t.Errorf("diff is %q, want %q", d, want)
	}
	if text := want[1].String(); text != "learner.epsilon is 0.1, expected 0.2" {
		t.Errorf("a difference is %q", text)
	}
	c := a
	c.Run.Name, c.Run.Workers, c.Run.Minutes, c.Checkpoint.Every = "other", 7, 3, 1
	if d := Diff(c.Core(), a.Core()); len(d) > 0 {
		t.Errorf("core depends on what doesn't matter: %v", d)
	}
	c.Run.Seed = 2
	if d := Diff(c.Core(), a.Core()); len(d) != 1 {
		t.Errorf("cores of two seeds: %v", d)
	}
}

func TestSameRules(t *testing.T) {
	a, b := rules.MustPreset("mid"), rules.MustPreset("mid")
	b.MaxTurns = 50
	if err := SameRules(a, b); err != nil {
		t.Errorf("another turn limit: %v", err)
	}
	b.Hand, b.Bonus = 3, 6
	if err := SameRules(a, b); err == nil || err.Error() != "rules.hand is 4, expected 3; rules.bonus is 5, expected 6" {
		t.Errorf("other rules: %v", err)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add(string(Default().Marshal()))
	f.Add("rules: {preset: tiny}\nnets: {hidden: [1]}")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig("x.yaml", []byte(text), Default())
		if err != nil {
			return
		}
		if again, err := parseConfig("x.yaml", c.Marshal(), Default()); err != nil || len(Diff(again, c)) > 0 {
			t.Fatalf("does not read back: %v, %v", Diff(again, c), err)
		}
	})
}
