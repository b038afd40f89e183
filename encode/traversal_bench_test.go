//go:build unix

package encode_test

import (
	"fmt"
	"syscall"
	"testing"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// BenchmarkParts times what a traversal asks of a batch of classic games at a
// ply, part by part, in processor time on one core.
func BenchmarkParts(b *testing.B) {
	for _, n := range []int{256, 4096} {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) { benchParts(b, n) })
	}
}

func benchParts(b *testing.B, n int) {
	p := benchGames(n)
	l := encode.NewCards(p.cfg)
	batch, below, samples := encode.Wrap(l, p.games), encode.NewBatch(l, nil), encode.NewBatch(l, nil)
	samples.Resize(64 * n) // 34 MB of rows: written cold, as a traversal does
	x := make([]float32, n*l.Width())
	mask, actions, mover := make([]uint64, n*l.MaskWords()), make([]int32, n), make([]uint8, n)
	for i, g := range p.one {
		if legal := g.Legal(); len(legal) > 0 {
			actions[i] = int32(legal[g.Key()%uint64(len(legal))])
		}
	}
	at, turn := make([]int32, n), 0
	scatter := func() {
		for i := range at {
			at[i] = int32(turn%64*n + i)
		}
		turn++
		samples.Scatter(at, batch, p.rows)
	}
	for range 64 {
		scatter() // the system grants memory when it is first written to
	}
	for _, part := range []struct {
		name string
		run  func()
	}{
		{"information", func() { batch.Observe(x, vec.Information, p.rows) }},
		{"history", func() { batch.Observe(x, vec.History, p.rows) }},
		{"legal", func() { batch.Legal(mask, p.rows) }},
		{"tomove", func() { batch.ToMove(mover, p.rows) }},
		{"gather", func() { below.Gather(batch, p.rows) }},
		{"gather+step", func() { below.Gather(batch, p.rows); below.Step(p.rows, actions) }},
		{"scatter", scatter},
	} {
		b.Run(part.name, func(b *testing.B) { benchCPU(b, n, part.run) })
	}
}

// BenchmarkPlayout plays 4096 classic games to the end at random, asking of
// the batch all that a traversal does: processor time a decision.
func BenchmarkPlayout(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) { benchPlayout(b, 4096, workers) })
	}
}

func benchPlayout(b *testing.B, n, workers int) {
	cfg := rules.MustPreset("classic")
	cfg.MaxTurns = 400
	pool := vec.NewPool(workers)
	defer pool.Close()
	l := encode.NewCards(cfg)
	game := encode.NewBatch(l, pool)
	tree, samples := vec.NewTree(game), game.New()
	x, mask := make([]float32, n*l.Width()), make([]uint64, n*l.MaskWords())
	actions, mover, at := make([]int32, n), make([]uint8, n), make([]int32, n)
	states := 0
	play := func() {
		states = 0
		for level := tree.Deal(n, 1, 0); len(level.Live) > 0; level = tree.Expand(level.Live, actions[:len(level.Live)]) {
			live, w := level.Live, l.MaskWords()
			level.State.Legal(mask[:len(live)*w], live)
			level.State.Observe(x[:len(live)*l.Width()], vec.Information, live)
			level.State.Observe(x[:len(live)*l.Width()], vec.History, live)
			level.State.ToMove(mover[:len(live)], live)
			for i, r := range live {
				legal := mask[i*w : (i+1)*w]
				stream := vec.At(level.State.GameKeys()[r]+1, level.State.Plies()[r])
				actions[i] = int32(vec.MaskSelect(legal, stream.Intn(vec.MaskCount(legal))))
				at[i] = int32(states + i)
			}
			states += len(live)
			samples.Resize(states)
			samples.Scatter(at[:len(live)], level.State, live)
		}
	}
	play()
	before := cpu()
	for b.Loop() {
		play()
	}
	b.ReportMetric(float64(cpu()-before)/float64(b.N)/float64(states), "cpu-ns/state")
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(states), "ns/state")
	b.ReportMetric(float64(states), "states")
	b.ReportMetric(0, "ns/op")
}

func benchCPU(b *testing.B, rows int, f func()) {
	f()
	before := cpu()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(cpu()-before)/float64(b.N)/float64(rows), "cpu-ns/row")
	b.ReportMetric(0, "ns/op")
}

// cpu returns the process's processor time in nanoseconds.
func cpu() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
