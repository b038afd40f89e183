package run

import (
	"fmt"
	"os"
	"testing"

	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/nets"
	"vtrain/rules"
	"vtrain/vec"
)

// bigState is a state of the default agent with a full reservoir of that many
// rows, without having trained for it.
func bigState(b *testing.B, rows int) (Config, cfr.State) {
	c := Default()
	c.Learner = cfr.OptionsOf(cfr.DeepCFR)
	layout, err := encode.New(c.Encoding.Layout, c.Rules.Config)
	if err != nil {
		b.Fatal(err)
	}
	s := cfr.State{Iteration: 1}
	for i, name := range []string{cfr.CriticNet, cfr.RegretNet, cfr.StrategyNet} {
		shape := nets.MLP{layout.Width(), 256, 256, layout.Actions()}
		p := shape.NewParams()
		shape.Init(p, uint64(i))
		s.Networks = append(s.Networks, cfr.NetworkState{Name: name, Params: p, State: nets.State{
			Step: 1, M: make([]float32, p.Len()), V: make([]float32, p.Len()),
		}})
	}
	games := rules.NewGames(c.Rules.Config, nil)
	games.Deal(rows, 1, 0)
	var more vec.Arena
	var value vec.Column[float32]
	var iteration vec.Column[uint32]
	vec.Attach(&more, "value", &value, layout.MaxLegal())
	vec.Attach(&more, "iteration", &iteration, 1)
	more.Resize(rows)
	s.Memory = cfr.MemoryState{Rows: rows, Seen: uint64(rows), Fields: append(games.Arena.Fields(), more.Fields()...)}
	return c, s
}

func BenchmarkCheckpoint(b *testing.B) {
	const rows = 1_000_000
	c, s := bigState(b, rows)
	f, err := Create(b.TempDir(), c)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	mustSave(b, f, s)
	size := func() int64 {
		total := int64(0)
		for _, name := range []string{weightsName, optimiserName, memoryName} {
			info, err := os.Stat(f.Path(checkpointsName, checkpointName(s.Iteration), name))
			if err != nil {
				b.Fatal(err)
			}
			total += info.Size()
		}
		return total
	}
	b.Run(fmt.Sprintf("Save/rows=%d", rows), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Iteration++
			mustSave(b, f, s)
		}
		b.SetBytes(size())
	})
	b.Run(fmt.Sprintf("Load/rows=%d", rows), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Load(f.Dir); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(size())
	})
	b.Run("LoadWeights", func(b *testing.B) {
		for b.Loop() {
			if _, err := LoadWeights(f.Dir); err != nil {
				b.Fatal(err)
			}
		}
	})
}
