package encode_test

import (
	"fmt"
	"testing"
	"time"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/vec"
)

// reportRows reports µs a row of work done so far.
func reportRows(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed())/float64(time.Microsecond)/float64(b.N)/float64(rows), "µs/row")
	b.ReportMetric(0, "ns/op")
}

// benchGames are classic games from all over a random playout: row i has made
// i%90 plies, so that pages of games at one ply are not favoured.
func benchGames(n int) *pair {
	p := deal(rules.MustPreset("classic"), nil, n, 1)
	for ply := range 90 {
		var rows, actions []int32
		for i, g := range p.one {
			if i%90 < ply || g.Done() {
				continue
			}
			legal := g.Legal()
			stream := vec.At(g.Key()+1, uint32(ply))
			a := legal[stream.Intn(len(legal))]
			if err := g.Step(a); err != nil {
				panic(err)
			}
			rows, actions = append(rows, int32(i)), append(actions, int32(a))
		}
		p.games.Step(rows, actions)
	}
	return p
}

// BenchmarkLegalObserve times what a level of a traversal asks of a layout, on
// one core: legal masks and observations of all rows.
func BenchmarkLegalObserve(b *testing.B) {
	for _, n := range []int{256, 1024, 4096, 16384} {
		p := benchGames(n)
		for _, l := range layouts(p.cfg) {
			batch := encode.Wrap(l, p.games)
			mask := make([]uint64, n*l.MaskWords())
			for _, v := range []vec.View{vec.Information, vec.History} {
				dst := make([]float32, n*batch.Width(v))
				b.Run(fmt.Sprintf("%s/%s/rows=%d", l.Name(), [...]string{"information", "history"}[v], n), func(b *testing.B) {
					for b.Loop() {
						batch.Legal(mask, p.rows)
						batch.Observe(dst, v, p.rows)
					}
					reportRows(b, n)
				})
			}
		}
	}
}

// BenchmarkLegalObserveScalar is the same for one game at a time.
func BenchmarkLegalObserveScalar(b *testing.B) {
	p := benchGames(1024)
	for _, l := range layouts(p.cfg) {
		dst := make([]float32, l.Width())
		b.Run(l.Name(), func(b *testing.B) {
			for b.Loop() {
				for _, g := range p.one {
					l.LegalGame(g)
					l.ObserveGame(dst, g, g.Player())
				}
			}
			reportRows(b, len(p.one))
		})
	}
}

// BenchmarkTranslate times the translation of slot actions.
func BenchmarkTranslate(b *testing.B) {
	p := benchGames(1024)
	l := encode.NewSlots(p.cfg, encode.SlotOptions{})
	actions, moves := make([]int32, len(p.one)), make([]int32, len(p.one))
	for i, g := range p.one {
		legal := l.LegalGame(g)
		actions[i] = legal[len(legal)-1]
	}
	for b.Loop() {
		l.RulesActions(moves, p.games, p.rows, actions)
	}
	reportRows(b, len(p.one))
}
