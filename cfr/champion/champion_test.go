package champion

import (
	"io/fs"
	"testing"

	"vtrain/cfr"
)

// TestEmbedded: what is built in loads, is of the size that was agreed on, and
// its report is of the same checkpoint.
func TestEmbedded(t *testing.T) {
	k, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{cfr.StrategyNet, cfr.CriticNet} {
		if _, ok := k.Network(name); !ok {
			t.Errorf("there is no %s network", name)
		}
	}
	r, err := ReadReport()
	if err != nil {
		t.Fatal(err)
	}
	if r.Iterations != k.State.Iteration || r.States != k.State.Decisions || r.Seed != k.Config.Run.Seed {
		t.Errorf("the report is of %d iterations, %d states, seed %d; the checkpoint of %d, %d and %d",
			r.Iterations, r.States, r.Seed, k.State.Iteration, k.State.Decisions, k.Config.Run.Seed)
	}
	if k.Config.Run.Init != "" {
		t.Errorf("run.init is %q, a folder that nobody else has", k.Config.Run.Init)
	}
	const least = 4000
	for _, result := range r.Results {
		if result.Games < least {
			t.Errorf("%d games against %s, expected at least %d", result.Games, result.Opponent, least)
		}
	}
	var size int64
	err = fs.WalkDir(files(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		return err
	})
	if most := int64(4_000_000); err != nil || size > most {
		t.Errorf("%d bytes, %v; expected at most %d", size, err, most)
	}
}
