package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vtrain/cfr"
	"vtrain/cfr/internal/kuhn"
	"vtrain/vec"
)

// kuhnConfig is a small run. Its rules and encoding are those of another game,
// which nothing here minds: only a game knows its inputs and actions.
func kuhnConfig() Config {
	c := Default()
	c.Learner = cfr.OptionsOf(cfr.DeepCFR) // which has memories
	c.Nets.Hidden = []int{16, 16}
	c.Learner.Games, c.Learner.Batch, c.Learner.Scale = 64, 32, 1
	c.Memory.StrategyRows = 300 // fewer than are seen: rows get replaced
	c.Checkpoint.Keep = 2
	return c
}

func newLearner(t testing.TB, c Config, workers int) *cfr.Learner {
	t.Helper()
	pool := vec.NewPool(workers)
	l, err := cfr.NewLearner(kuhn.NewBatch(), c.Nets.Networks(), c.Memory, c.Learner, c.Run.Seed, pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		pool.Close()
	})
	return l
}

// train goes on to an iteration.
func train(t testing.TB, l *cfr.Learner, until int) {
	t.Helper()
	for l.Iteration() < until {
		if _, err := l.Iterate(t.Context(), float64(l.Iteration())/10); err != nil {
			t.Fatal(err)
		}
	}
}

func mustSave(t testing.TB, f *Folder, s cfr.State) {
	t.Helper()
	if err := f.Save(s); err != nil {
		t.Fatal(err)
	}
}

// saved returns a folder with one checkpoint, of iteration 3.
func saved(t *testing.T) (*Folder, *cfr.Learner) {
	t.Helper()
	f := mustCreate(t, kuhnConfig())
	l := newLearner(t, f.Config, 1)
	train(t, l, 3)
	mustSave(t, f, l.State())
	return f, l
}

// compared are the files of a checkpoint.
var compared = []string{manifestName, configName, weightsName, optimiserName, memoryName}

func mustEqualCheckpoints(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range compared {
		x, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x, y) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestResumeToTheBit(t *testing.T) {
	straight := mustCreate(t, kuhnConfig())
	l := newLearner(t, straight.Config, 1)
	train(t, l, 5)
	mustSave(t, straight, l.State())

	halted, _ := saved(t)
	halted = mustReopen(t, halted)
	ck, err := halted.Resume()
	if err != nil {
		t.Fatal(err)
	}
	if ck.Manifest.Machine != ThisMachine() || ck.Manifest.Iteration != 3 || len(Diff(ck.Config, halted.Config.Core())) > 0 {
		t.Errorf("loaded %+v", ck.Manifest)
	}
	m := newLearner(t, halted.Config, 2)
	if err := m.Restore(ck.State); err != nil {
		t.Fatal(err)
	}
	train(t, m, 5)
	mustSave(t, halted, m.State())
	mustEqualCheckpoints(t, straight.Path(checkpointsName, "000005"), halted.Path(checkpointsName, "000005"))
}

// TestInt8ResumesToTheBit: what int8 is calibrated by is made anew, and is what
// it was.
func TestInt8ResumesToTheBit(t *testing.T) {
	c := kuhnConfig()
	c.Nets.Precision = "int8"
	straight, halted := mustCreate(t, c), mustCreate(t, c)
	l := newLearner(t, c, 1)
	train(t, l, 2)
	mustSave(t, halted, l.State())
	train(t, l, 4)
	mustSave(t, straight, l.State())

	halted = mustReopen(t, halted)
	ck, err := halted.Resume()
	if err != nil {
		t.Fatal(err)
	}
	m := newLearner(t, halted.Config, 3)
	if err := m.Restore(ck.State); err != nil {
		t.Fatal(err)
	}
	train(t, m, 4)
	mustSave(t, halted, m.State())
	mustEqualCheckpoints(t, straight.Path(checkpointsName, "000004"), halted.Path(checkpointsName, "000004"))
}

func TestSameBytesOnAnyPool(t *testing.T) {
	var dirs []string
	for workers := range 3 {
		c := kuhnConfig()
		// None of this may show in a checkpoint.
		c.Run.Name, c.Run.Workers, c.Checkpoint.Every = fmt.Sprint("run", workers), workers, 1+workers
		f := mustCreate(t, c)
		l := newLearner(t, c, workers+1)
		train(t, l, 3)
		if err := f.Save(l.State()); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, f.Path(checkpointsName, "000003"))
	}
	mustEqualCheckpoints(t, dirs[0], dirs[1])
	mustEqualCheckpoints(t, dirs[0], dirs[2])
	entries, _ := os.ReadDir(dirs[0])
	if len(entries) != len(compared) {
		t.Errorf("the checkpoint holds %v", entries)
	}
}

func TestLoadReturnsTheState(t *testing.T) {
	f, l := saved(t)
	want := l.State()
	for _, dir := range []string{f.Dir, f.Path(checkpointsName, "000003")} {
		ck, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := ck.State
		if got.Iteration != want.Iteration || got.Decisions != want.Decisions || !reflect.DeepEqual(got.Memory, want.Memory) {
			t.Errorf("state differs")
		}
		for i, n := range want.Networks {
			g := got.Networks[i]
			if g.Name != n.Name || !g.Params.Same(n.Params) || !slices.Equal(g.Params.Flat(), n.Params.Flat()) || !reflect.DeepEqual(g.State, n.State) {
				t.Errorf("%s differs", n.Name)
			}
		}
	}
}

func TestWeightsNeedNothingElse(t *testing.T) {
	f, l := saved(t)
	dir := filepath.Join(t.TempDir(), "agent") // away from its run
	if err := os.CopyFS(dir, os.DirFS(f.Path(checkpointsName, "000003"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{memoryName, optimiserName} { // last read first
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		_, err := Load(dir)
		mustFail(t, err, name)
	}
	ck, err := LoadWeights(dir)
	if err != nil {
		t.Fatal(err)
	}
	params, ok := ck.Network(cfr.StrategyNet)
	if want := l.State().Networks[2].Params; !ok || !slices.Equal(params.Flat(), want.Flat()) {
		t.Error("weights differ")
	}
	if _, ok := ck.Network("other"); ok {
		t.Error("knows a network that isn't there")
	}
}

// rewrite changes a file of the checkpoint and puts it back afterwards.
func rewrite(t *testing.T, path string, change func(text []byte) []byte, check func()) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(slices.Clone(old)), 0o644); err != nil {
		t.Fatal(err)
	}
	check()
	if err := os.WriteFile(path, old, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEveryByteMatters(t *testing.T) {
	f, _ := saved(t)
	dir := f.Path(checkpointsName, "000003")
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range compared {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		size := int(info.Size())
		at := []int{0, 7, 8, 9, size / 2, size - 2, size - 1}
		for range 40 {
			at = append(at, random.IntN(size))
		}
		for _, i := range at {
			bit := byte(1) << random.IntN(8)
			rewrite(t, path, func(text []byte) []byte { text[i] ^= bit; return text }, func() {
				_, err := Load(f.Dir)
				mustFail(t, err, "000003", name)
			})
		}
		for _, n := range []int{0, 1, 7, 8, 9, size / 2, size - 1} {
			rewrite(t, path, func(text []byte) []byte { return text[:n] }, func() {
				_, err := Load(f.Dir)
				mustFail(t, err, "000003", name)
			})
		}
		rewrite(t, path, func(text []byte) []byte { return append(text, '\n') }, func() {
			_, err := Load(f.Dir)
			mustFail(t, err, "000003", name)
		})
		if err := os.Rename(path, path+".gone"); err != nil {
			t.Fatal(err)
		}
		_, err = Load(dir)
		mustFail(t, err, name)
		if err := os.Rename(path+".gone", path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(f.Dir); err != nil {
		t.Fatal(err)
	}
}

// reseal changes the manifest as a careful forger would.
func reseal(t *testing.T, f *Folder, change func(m *Manifest), check func()) {
	t.Helper()
	rewrite(t, f.Path(checkpointsName, "000003", manifestName), func(text []byte) []byte {
		var m Manifest
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		change(&m)
		text, err := seal(m)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}, check)
}

func TestForgedManifests(t *testing.T) {
	f, _ := saved(t)
	huge := math.MaxInt32
	for i, tt := range []struct {
		change func(m *Manifest)
		parts  []string
	}{
		{func(m *Manifest) { m.Format = 3 }, []string{"manifest.json: format 3, expected at most 2"}},
		{func(m *Manifest) { m.Format = 0 }, []string{"format 0, expected 1 to 2"}},
		{func(m *Manifest) { m.Encoding.Layout = "slots-d0s0" }, []string{"encoding is slots-d0s0 version", "expected cards-sorted version"}},
		{func(m *Manifest) { m.Encoding.Version = 99 }, []string{"encoding is cards-sorted version 99, expected cards-sorted version"}},
		{func(m *Manifest) { m.Networks[0].Tensors[0].Shape, m.Networks[0].Moments = []int{7, 8}, 0 }, []string{"hidden layers of the critic network are [8 16], expected [16 16]"}},
		{func(m *Manifest) { m.Networks[0].Tensors[0].Shape[0]++ }, []string{"impossible"}},
		{func(m *Manifest) { m.Networks[0].Tensors[0].Shape = []int{huge, huge} }, []string{"impossible"}},
		{func(m *Manifest) { m.Networks[0].Tensors[1].Name = m.Networks[0].Tensors[0].Name }, []string{"impossible"}},
		{func(m *Manifest) { m.Networks[0].Moments, m.Networks[0].Tensors[0].Shape[0] = 0, 100 }, []string{weightsName, "tensor critic.layers.0.weight is", "[100 16]"}},
		{func(m *Manifest) { m.Networks[0].Name = "other" }, []string{weightsName, "no tensor other.layers.0.weight"}},
		{func(m *Manifest) { m.Networks = m.Networks[1:] }, []string{weightsName, "tensors, expected"}},
		{func(m *Manifest) { m.Networks[0].Moments = 0 }, []string{optimiserName, "critic.m is"}},
		{func(m *Manifest) { m.Memory.Rows = -1 }, []string{"impossible"}},
		{func(m *Manifest) { m.Memory.Rows, m.Memory.Seen = huge, 1<<40 }, []string{memoryName, "expected"}},
		{func(m *Manifest) { m.Memory.Columns[0].Type = "F16" }, []string{"impossible"}},
		{func(m *Manifest) { m.Memory.Columns[0].Type = "F32" }, []string{memoryName, "expected F32"}},
		{func(m *Manifest) { m.Memory.Columns[0].Width = huge }, []string{memoryName, "expected"}},
		{func(m *Manifest) { m.Files[1].Size = 5 }, []string{weightsName, "bytes, expected 5"}},
		{func(m *Manifest) { m.Files = m.Files[:3] }, []string{"no memory.safetensors among the files"}},
	} {
		reseal(t, f, tt.change, func() {
			_, err := Load(f.Dir)
			if err == nil {
				t.Errorf("case %d was accepted", i)
				return
			}
			mustFail(t, err, append(tt.parts, "000003")...)
		})
	}
}

func TestOtherRunsCheckpoint(t *testing.T) {
	f, _ := saved(t)
	for s, parts := range map[string][]string{
		"rules.hand=7":               {"rules.hand is 8, expected 7"},
		"rules.preset=tiny":          {"rules.colors is 5, expected 2"},
		"encoding.layout=slots-d1s1": {"encoding.layout is cards-sorted, expected slots-d1s1"},
		"learner.scale=3":            {"learner.scale is 1, expected 3"},
		"nets.hidden=16":             {"nets.hidden is [16, 16], expected [16]"},
		"run.seed=2":                 {"run.seed is 1, expected 2"},
		"memory.strategy_rows=5":     {"memory.strategy_rows is 300, expected 5"},
	} {
		c := f.Config
		if err := c.Set(s); err != nil {
			t.Fatal(err)
		}
		rewrite(t, f.Path(configName), func([]byte) []byte { return c.Marshal() }, func() {
			for _, read := range []func(string) (*Checkpoint, error){Load, LoadWeights, LoadHead} {
				_, err := read(f.Dir)
				mustFail(t, err, append(parts, "000003", f.Path(configName))...)
			}
		})
	}
}

func TestKilledWhileSaving(t *testing.T) {
	f, l := saved(t)
	folder := f.Path(checkpointsName)
	train(t, l, 4)
	mustSave(t, f, l.State())
	want, err := os.ReadFile(f.Path(checkpointsName, "000004", weightsName))
	if err != nil {
		t.Fatal(err)
	}
	// Killed before the last rename: 000004 is whole, the latest is 000003.
	if err := replaceFile(filepath.Join(folder, latestName), []byte("000003\n")); err != nil {
		t.Fatal(err)
	}
	// Killed before that, in writing 000005, latest and the removal of 000002.
	for _, name := range []string{"000005", "old-000002"} {
		if err := os.Mkdir(filepath.Join(folder, asidePrefix+name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, asidePrefix+name, memoryName), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, asidePrefix+latestName), []byte("0000"), 0o644); err != nil {
		t.Fatal(err)
	}
	f = mustReopen(t, f)
	if left, _ := filepath.Glob(filepath.Join(folder, asidePrefix+"*")); len(left) > 0 {
		t.Errorf("left aside: %v", left)
	}
	ck, err := f.Resume()
	if err != nil || ck.Manifest.Iteration != 3 {
		t.Fatalf("resumed from %+v, %v", ck, err)
	}
	m := newLearner(t, f.Config, 1)
	if err := m.Restore(ck.State); err != nil {
		t.Fatal(err)
	}
	train(t, m, 4)
	mustSave(t, f, m.State())
	if got, _ := os.ReadFile(f.Path(checkpointsName, "000004", weightsName)); !bytes.Equal(got, want) {
		t.Error("000004 differs")
	}
}

// TestKilledBeforeTheFirstLatest: a checkpoint is whole but no latest names it.
func TestKilledBeforeTheFirstLatest(t *testing.T) {
	f, l := saved(t)
	if err := os.Remove(f.Path(checkpointsName, latestName)); err != nil {
		t.Fatal(err)
	}
	ck, err := f.Resume()
	if err != nil || ck != nil {
		t.Fatalf("resumed from %v, %v; expected none", ck, err)
	}
	mustSave(t, f, l.State())
	if ck, err := Load(f.Dir); err != nil || ck.State.Iteration != 3 {
		t.Errorf("loaded %v, %v", ck, err)
	}
}

// TestLostLatest: without the file that names one of them, checkpoints are not
// taken for what a killed process left.
func TestLostLatest(t *testing.T) {
	f, l := saved(t)
	train(t, l, 4)
	mustSave(t, f, l.State())
	if err := os.Remove(f.Path(checkpointsName, latestName)); err != nil {
		t.Fatal(err)
	}
	_, err := f.Resume()
	mustFail(t, err, f.Dir, "no "+filepath.Join(checkpointsName, latestName), "000004")
	if left, _ := Checkpoints(f.Dir); len(left) != 2 {
		t.Errorf("left %v, expected both", left)
	}
}

func TestKeep(t *testing.T) {
	f, l := saved(t)
	for i := 4; i <= 7; i++ {
		train(t, l, i)
		mustSave(t, f, l.State())
	}
	if got, err := Checkpoints(f.Dir); err != nil || !slices.Equal(got, []int{6, 7}) {
		t.Errorf("kept %v, %v", got, err)
	}
}

func TestResumeForgets(t *testing.T) {
	f, l := saved(t)
	for i := 0; i <= 5; i++ {
		if err := f.Append(cfr.Metrics{Iteration: i}, nil); err != nil {
			t.Fatal(err)
		}
	}
	train(t, l, 5)
	mustSave(t, f, l.State())
	mustResume := func(iteration, lines int) {
		t.Helper()
		ck, err := f.Resume()
		if err != nil || iteration > 0 && ck.Manifest.Iteration != iteration {
			t.Fatalf("resumed from %v, %v; expected %d", ck, err, iteration)
		}
		if rows, err := ReadMetrics(f.Dir); err != nil || len(rows) != lines {
			t.Errorf("%d lines of metrics, expected %d (%v)", len(rows), lines, err)
		}
	}
	mustResume(5, 6)
	latest := f.Path(checkpointsName, latestName)
	if err := replaceFile(latest, []byte("000003\n")); err != nil {
		t.Fatal(err)
	}
	mustResume(3, 4)
	if err := os.Remove(latest); err != nil {
		t.Fatal(err)
	}
	mustResume(0, 1)
	if left, _ := Checkpoints(f.Dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestSaveTwice(t *testing.T) {
	f, l := saved(t)
	mustFail(t, f.Save(l.State()), "000003")
	if left, _ := filepath.Glob(f.Path(checkpointsName, asidePrefix+"*")); len(left) > 0 {
		t.Errorf("left aside: %v", left)
	}
	if _, err := Load(f.Dir); err != nil {
		t.Error(err)
	}
}

func TestNaNIsNotSaved(t *testing.T) {
	f, l := saved(t)
	train(t, l, 4)
	s := l.State()
	s.Networks[1].Params.Flat()[5] = float32(math.NaN())
	mustFail(t, f.Save(s), "000004", "parameter 5 of the regret network is NaN")
	s.Networks[1].Params.Flat()[5] = 0
	s.Networks[2].State.V[0] = float32(math.Inf(1))
	mustFail(t, f.Save(s), "second moment 0 of the strategy network is +Inf")
	if ck, err := Load(f.Dir); err != nil || ck.Manifest.Iteration != 3 {
		t.Errorf("loaded %v, %v", ck, err)
	}
}

func TestSaveErrors(t *testing.T) {
	f, l := saved(t)
	s := l.State()
	s.Iteration = 4
	type named uint8
	s.Memory.Fields = append(s.Memory.Fields, vec.Field{Name: "x", W: 1, Data: make([]named, s.Memory.Rows)})
	mustFail(t, f.Save(s), "memory column x is a []run.named")
	s.Memory.Fields[len(s.Memory.Fields)-1].Data = make([]uint8, 1)
	mustFail(t, f.Save(s), memoryName, "tensor x of shape")
	if err := os.RemoveAll(f.Path(checkpointsName)); err != nil {
		t.Fatal(err)
	}
	mustFail(t, f.Save(l.State()), f.Path(checkpointsName))
}

func TestLoadErrors(t *testing.T) {
	f, _ := saved(t)
	latest := f.Path(checkpointsName, latestName)
	for text, parts := range map[string][]string{
		"000009\n":                 {"000009", manifestName},
		"../../etc\n":              {latest, "expected the name of a checkpoint"},
		"":                         {latest, "expected the name of a checkpoint"},
		strings.Repeat("0", 1<<10): {latest},
	} {
		rewrite(t, latest, func([]byte) []byte { return []byte(text) }, func() {
			_, err := Load(f.Dir)
			mustFail(t, err, parts...)
		})
	}
	_, err := Load(t.TempDir())
	mustFail(t, err, "neither manifest.json nor checkpoints")
	_, err = Load("/nowhere")
	if mustFail(t, err, "/nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}

func TestRestoreIntoAnotherShape(t *testing.T) {
	f, _ := saved(t)
	ck, err := Load(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	c := f.Config
	c.Nets.Hidden = []int{8}
	mustFail(t, newLearner(t, c, 1).Restore(ck.State), "critic")
}

// deepConfig remembers all that a learner can.
func deepConfig() Config {
	c := kuhnConfig()
	c.Learner.Estimator, c.Learner.Accumulate = cfr.External, cfr.Reservoired
	c.Learner.Opponents = []string{"league=.4", "average=.1", "current"}
	c.Memory.RegretRows, c.Memory.Snapshots = 200, 3
	return c
}

// TestEverythingIsRemembered: a learner that goes on from a checkpoint computes
// the bits of one that never stopped.
func TestEverythingIsRemembered(t *testing.T) {
	f := mustCreate(t, deepConfig())
	straight, first, second := newLearner(t, f.Config, 1), newLearner(t, f.Config, 1), newLearner(t, f.Config, 2)
	train(t, first, 5)
	mustSave(t, f, first.State())
	k, err := Load(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Restore(k.State); err != nil {
		t.Fatal(err)
	}
	train(t, second, 9)
	train(t, straight, 9)
	if got, want := digest(second.State()), digest(straight.State()); got != want {
		t.Errorf("after a restart the state is %s, expected %s", got, want)
	}
	c := f.Config
	c.Learner.Accumulate = cfr.Window
	if err := newLearner(t, c, 1).Restore(k.State); err == nil || !strings.Contains(err.Error(), "reservoir of regrets") {
		t.Errorf("error %v, expected one about the reservoir of regrets", err)
	}
}

// digest names all that a state holds.
func digest(s cfr.State) string {
	h := sha256.New()
	for _, n := range s.Networks {
		fmt.Fprint(h, n.Name, n.Params.Flat(), n.State)
	}
	memories := []cfr.MemoryState{s.Memory}
	if s.Regrets != nil {
		memories = append(memories, *s.Regrets)
	}
	for _, m := range memories {
		fmt.Fprint(h, m.Rows, m.Seen)
		for _, f := range m.Fields {
			fmt.Fprint(h, f.Name, f.Data)
		}
	}
	for _, shot := range s.Snapshots {
		fmt.Fprint(h, shot.Iteration, shot.Params.Flat())
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
