package cfr

import (
	"math"
	"slices"
	"testing"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// classicGame is an empty batch of the classic game on a pool, with a turn limit.
func classicGame(pool *vec.Pool) vec.Batch {
	cfg := rules.MustPreset("classic")
	cfg.MaxTurns = 100
	return encode.NewBatch(encode.NewCards(cfg), pool)
}

// playedGames offers decisions of games that are played at random to a reservoir,
// until it has seen that many. Their values are random too.
func playedGames(r *Reservoir, rows int) {
	const games = 4096
	state, stream := r.State.New(), vec.At(vec.Key(1, 0), 0)
	all, live := vec.AllRows(nil, games), []int32(nil)
	words := vec.MaskWords(state.Actions())
	mask, actions := make([]uint64, games*words), make([]int32, games)
	s := &Samples{State: state, Off: make([]int32, games+1), Sigma: make([]float32, games*state.MaxLegal())}
	for i := range s.Sigma {
		s.Sigma[i] = stream.Float32()
	}
	for first := uint64(0); r.Seen < uint64(rows); first += games {
		state.Deal(games, 1, first)
		for live = vec.AllRows(live, games); len(live) > 0; live = vec.Keep(live, live, state.Finished(), 0) {
			state.Legal(mask, all)
			for g := range games {
				m := mask[g*words : (g+1)*words]
				n := vec.MaskCount(m)
				s.Off[g+1] = s.Off[g] + int32(n)
				if n > 0 {
					actions[g] = int32(vec.MaskSelect(m, stream.Intn(n)))
				}
			}
			wanted := live[:min(len(live), rows-int(r.Seen))]
			r.Add(s, wanted, s.Sigma[:s.Off[games]], 1+int(r.Seen/games), &stream)
			state.Step(all, actions)
		}
	}
}

// plain assembles a remembered row by itself, by the definition.
func plain(b *builder, r *Reservoir, view vec.View, row int32, now int, power float64) {
	b.size(r.State, view, r.State.Actions(), 1)
	r.State.Observe(b.x, view, []int32{row})
	r.State.Legal(b.mask, []int32{row})
	for k, a := range vec.MaskAppend(nil, b.mask) {
		b.target[a] = r.Value.Row(row)[k]
	}
	b.weight = []float32{float32(math.Pow(float64(r.Iteration.Data[row])/float64(now), power))}
}

// masked returns the targets that count.
func masked(b *builder, lo, hi int) []float32 {
	var targets []float32
	for i := lo; i < hi; i++ {
		for _, a := range vec.MaskAppend(nil, b.mask[i*b.words:(i+1)*b.words]) {
			targets = append(targets, b.target[i*b.outputs+int(a)])
		}
	}
	return targets
}

// TestBuilderRemembers compares batches with their rows assembled one by one: the
// same bits, whatever the size and the workers.
func TestBuilderRemembers(t *testing.T) {
	const now, power = 99, 2
	for _, workers := range []int{1, 2, 3} {
		pool := vec.NewPool(workers)
		r := NewReservoir(classicGame(pool), 3000)
		playedGames(r, 9000)
		var b, one builder
		b.bind(pool)
		stream := vec.At(7, 0)
		for _, n := range []int{1, 3, 1000, 64} { // memory shrinks too
			rows := r.Draw(nil, n, &stream)
			b.remembered(r, vec.Information, rows, now, power)
			for i, row := range rows {
				plain(&one, r, vec.Information, row, now, power)
				d := len(one.x)
				if !slices.Equal(b.x[i*d:(i+1)*d], one.x) || !slices.Equal(b.mask[i*b.words:(i+1)*b.words], one.mask) ||
					!slices.Equal(masked(&b, i, i+1), masked(&one, 0, 1)) || b.weight[i] != one.weight[0] {
					t.Fatalf("%d workers: row %d of %d differs from itself alone", workers, i, n)
				}
			}
			if len(b.x) != n*len(one.x) || len(b.weight) != n {
				t.Errorf("%d observations and %d weights for %d rows", len(b.x)/len(one.x), len(b.weight), n)
			}
		}
		pool.Close()
	}
}

// TestBuilderFresh: only what was set counts, whatever was in the batch before.
func TestBuilderFresh(t *testing.T) {
	pool := vec.NewPool(2)
	defer pool.Close()
	game := classicGame(pool)
	game.Deal(1000, 1, 0)
	var b builder
	b.bind(pool)
	for from := range int32(3) {
		b.fresh(&Samples{State: game}, vec.History, game.Actions(), vec.AllRows(nil, 1000), func(b *builder, i int, row int32) {
			b.set(i, from, float32(row))
			b.set(i, 70+from, -float32(row))
		})
		for i := range 1000 {
			mask, row := b.mask[i*b.words:(i+1)*b.words], float32(i)
			if got := vec.MaskAppend(nil, mask); !slices.Equal(got, []int32{from, 70 + from}) {
				t.Fatalf("actions %v count in row %d", got, i)
			}
			if got := masked(&b, i, i+1); !slices.Equal(got, []float32{row, -row}) {
				t.Fatalf("row %d has targets %v", i, got)
			}
		}
	}
}

func TestBuilderAllocatesNothing(t *testing.T) {
	pool := vec.NewPool(2)
	defer pool.Close()
	r := NewReservoir(classicGame(pool), 3000)
	playedGames(r, 3000)
	var b builder
	b.bind(pool)
	s, stream := &Samples{State: r.State}, vec.At(7, 0)
	fill := func(b *builder, i int, row int32) { b.set(i, row%100, 1) }
	rows := r.Draw(nil, 1000, &stream)
	batch := func() {
		rows = r.Draw(rows, 1000, &stream)
		b.remembered(r, vec.Information, rows, 9, 2)
		b.crossEntropy()
		b.fresh(s, vec.History, s.State.Actions(), rows, fill)
		b.squared(nil)
	}
	batch()
	const tries = 5 // a busy machine may give a worker its first rows, and so its own copies, late
	got := testing.AllocsPerRun(20, batch)
	for i := 1; i < tries && got != 0; i++ {
		got = testing.AllocsPerRun(20, batch)
	}
	if got != 0 {
		t.Errorf("%v allocations a batch, expected none", got)
	}
}
