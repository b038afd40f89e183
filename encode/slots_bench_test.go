//go:build unix

package encode_test

import (
	"fmt"
	"testing"

	"vtrain/encode"
	"vtrain/rules"
)

// BenchmarkSlots times the widest slots layout part by part, in processor time
// on one core.
func BenchmarkSlots(b *testing.B) {
	for _, n := range []int{256, 4096} {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) { benchSlots(b, benchGames(n)) })
	}
}

func benchSlots(b *testing.B, p *pair) {
	l := encode.NewSlots(rules.MustPreset("classic"), encode.SlotOptions{Derived: true, SlotAware: true})
	critic, n := encode.NewCritic(l), len(p.one)
	x, open := make([]float32, n*l.Width()), make([]float32, n*critic.Width())
	mask, actions, moves := make([]uint64, n*l.MaskWords()), make([]int32, n), make([]int32, n)
	for i, g := range p.one {
		if legal := l.LegalGame(g); len(legal) > 0 {
			actions[i] = legal[len(legal)-1]
		}
	}
	for _, part := range []struct {
		name string
		run  func()
	}{
		{"information", func() { l.Observe(x, p.games, p.rows) }},
		{"open", func() { critic.ObserveOpen(open, p.games, p.rows) }},
		{"legal", func() { l.Legal(mask, p.games, p.rows) }},
		{"translate", func() { l.RulesActions(moves, p.games, p.rows, actions) }},
	} {
		b.Run(part.name, func(b *testing.B) { benchCPU(b, n, part.run) })
	}
}
