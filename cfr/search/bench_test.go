package search

import (
	"fmt"
	"testing"

	"vtrain/rules"
	"vtrain/vec"
)

// BenchmarkMove is the time of a move in the classic game with a network of the
// default size: of one game alone, as when a person plays, and of many in
// lockstep, where few iterations show the first moves only, whose playouts are
// longest. The network draws from the deck nearly always, as trained ones do, so
// that games are of usual length.
func BenchmarkMove(b *testing.B) {
	for _, games := range []int{1, 16, 64} {
		for _, rows := range []int{4096, 16384} {
			b.Run(fmt.Sprintf("games=%d/rows=%d", games, rows), func(b *testing.B) { benchMove(b, games, rows) })
		}
	}
}

func benchMove(b *testing.B, games, playouts int) {
	cfg := limited("classic", 400)
	pool := vec.NewPool(0)
	defer pool.Close()
	o := DefaultOptions()
	o.Rows = playouts
	a := newAgent(b, network{layout: "cards-sorted", hidden: []int{256, 256}, deck: 8}, cfg, o, pool)
	g := rules.NewGames(cfg, pool)
	rows, actions := vec.AllRows(nil, games), make([]int32, games)
	moves, deal := 0, uint64(0)
	var live []int32
	for b.Loop() {
		if len(live) == 0 {
			g.Deal(games, 1, deal)
			live = append(live[:0], rows...)
			deal += uint64(games)
		}
		a.Act(actions[:len(live)], g, live)
		g.Step(live, actions[:len(live)])
		moves += len(live)
		live = vec.Keep(live, live, g.Finish.Data, 0)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(moves), "ms/move")
}
