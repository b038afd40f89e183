package cfr

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"vtrain/cfr/internal/exact"
	"vtrain/cfr/internal/kuhn"
	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// TestSameBitsForAnySplit: the samples of a game are the same bits for any
// number of workers and of other games beside it. Deals are numbered from 0, so
// that a smaller traversal has the first games of a larger one. The node budget
// is left out: all games share it.
func TestSameBitsForAnySplit(t *testing.T) {
	few, many := 256, 4096
	if testing.Short() {
		few, many = 32, 300 // still more than a worker takes at a time
	}
	for _, v := range append(slices.Clone(unbiasedVariants), variant{"ppo", func(o *Options) { o.Algorithm = PPO }}) {
		for name, game := range bitGames(v) {
			t.Run(name+"/"+v.name, func(t *testing.T) {
				alone := gamesOf(t, game, v, few, 0, nil)
				if len(alone) != few {
					t.Fatalf("samples of %d games, expected %d", len(alone), few)
				}
				for _, workers := range []int{2, 7} {
					mustMatch(t, fmt.Sprintf("%d workers", workers), gamesOf(t, game, v, few, workers, alone), alone)
				}
				mustMatch(t, fmt.Sprintf("among %d games", many), gamesOf(t, game, v, many, 2, alone), alone)
			})
		}
	}
}

// bitGames returns what makes an empty batch on a pool. Classic games are cut,
// sooner if they branch.
func bitGames(v variant) map[string]func(*vec.Pool) vec.Batch {
	cfg := rules.MustPreset("classic")
	cfg.MaxTurns = 15
	if bitOptions(v, 1).sampling().branches {
		cfg.MaxTurns = 3
	}
	return map[string]func(*vec.Pool) vec.Batch{
		"kuhn":    func(*vec.Pool) vec.Batch { return kuhn.NewBatch() },
		"classic": func(pool *vec.Pool) vec.Batch { return encode.NewBatch(encode.NewCards(cfg), pool) },
	}
}

// bitOptions branch in the first plies of a game only.
func bitOptions(v variant, games int) Options {
	o := OptionsOf(DeepCFR)
	o.Correction = true
	v.set(&o)
	o.Games, o.Nodes, o.BranchPlies = games, 1<<24, 2
	return o
}

// gamesOf traverses with that many workers, 0 for the caller alone, and returns
// the samples of each game of those in among, or of all if that is nil.
func gamesOf(t *testing.T, game func(*vec.Pool) vec.Batch, v variant, games, workers int, among map[uint64][][]byte) map[uint64][][]byte {
	t.Helper()
	var pool *vec.Pool
	if workers > 0 {
		pool = vec.NewPool(workers)
		defer pool.Close()
	}
	l, err := NewLearner(game(pool), Nets{Hidden: []int{16}}, Memory{StrategyRows: 1, RegretRows: 1}, bitOptions(v, games), 1, pool)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mustTraverse(t, l, 3)
	if l.traversal.stats.Tight > 0 {
		t.Fatal("the node budget is too small")
	}
	return byGame(&l.traversal.samples, among)
}

// byGame returns the bytes of samples by key of their game, in the order in
// which they were recorded: ply by ply, children as their parents.
func byGame(s *Samples, among map[uint64][][]byte) map[uint64][][]byte {
	all := map[uint64][][]byte{}
	columns, keys := exact.Columns(s.State.Fields()), s.State.GameKeys()
	for r := range int32(s.Rows()) {
		if _, wanted := among[keys[r]]; wanted || among == nil {
			all[keys[r]] = append(all[keys[r]], rowBytes(s, columns, r))
		}
	}
	return all
}

// rowBytes returns all that is recorded of a decision.
func rowBytes(s *Samples, columns exact.Columns, row int32) []byte {
	dst := append(columns.Append(nil, row), s.Mover[row], byte(s.Role[row]))
	dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(s.Expected[row]))
	lo, hi := s.Legal(row)
	dst, _ = binary.Append(dst, binary.LittleEndian, s.Act[lo:hi])
	for _, column := range [][]float32{s.Regret, s.Sigma, s.Q, s.Xi, s.Target} {
		dst, _ = binary.Append(dst, binary.LittleEndian, column[lo:hi])
	}
	for k := lo; k < hi; k++ {
		if s.Xi[k] > 0 { // others have no return
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(s.Return[k]))
		}
	}
	return dst
}

// mustMatch compares the games that are wanted.
func mustMatch(t *testing.T, how string, got, want map[uint64][][]byte) {
	t.Helper()
	for key, rows := range want {
		if len(got[key]) != len(rows) {
			t.Fatalf("%s: game %#x has %d samples, expected %d", how, key, len(got[key]), len(rows))
		}
		for i := range rows {
			if !bytes.Equal(got[key][i], rows[i]) {
				t.Fatalf("%s: sample %d of game %#x has other bits", how, i, key)
			}
		}
	}
}
