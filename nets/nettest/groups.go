package nettest

import (
	"fmt"
	"slices"
	"testing"

	"vtrain/nets"
	"vtrain/vec"
)

// renamings returns some orders of n groups: a turn, a swap, all reversed.
func renamings(n int) [][]int {
	turn := make([]int, n)
	for k := range turn {
		turn[k] = (k + 1) % n
	}
	swap := slices.Sorted(slices.Values(turn))
	swap[0], swap[n-1] = swap[n-1], swap[0]
	reversed := slices.Sorted(slices.Values(turn))
	slices.Reverse(reversed)
	return [][]int{turn, swap, reversed}
}

// rename returns rows of that width in which group order[k] holds what group k
// holds in src.
func rename[T any](src []T, groups [][]int32, order []int, width int) []T {
	dst := slices.Clone(src)
	for lo := 0; lo < len(src); lo += width {
		for k, list := range groups {
			for i, c := range list {
				dst[lo+int(groups[order[k]][i])] = src[lo+int(c)]
			}
		}
	}
	return dst
}

// rename returns the problem with its groups in another order.
func (p *problem) rename(g *nets.Groups, order []int, k lossKind) *problem {
	q := *p
	q.x = rename(p.x, g.Inputs, order, g.In)
	q.target = rename(p.target, g.Outputs, order, g.Out)
	words := vec.MaskWords(g.Out)
	q.mask = make([]uint64, p.rows*words)
	for r := range p.rows {
		legal := make([]bool, g.Out)
		for a := range legal {
			legal[a] = p.counts(r, a)
		}
		for a, yes := range rename(legal, g.Outputs, order, g.Out) {
			if yes {
				vec.MaskSet(q.mask[r*words:], a)
			}
		}
	}
	k.set(&q)
	return &q
}

// engineRenaming exchanges groups of inputs: the same groups of outputs have
// to change places, and no number may.
func engineRenaming(t *testing.T, f engines) {
	const rows = 65
	for _, shape := range f.shapes() {
		p, g := params(shape, 20), f.groups(shape)
		e := f.sealed(t, shape, p, nets.EngineOptions{Buckets: []int{64}, Workers: 2})
		x, y := inputs(rows, shape.In(), 21), make([]float32, rows*shape.Out())
		e.Forward(y, x, rows)
		for _, order := range renamings(len(g.Inputs)) {
			again := make([]float32, len(y))
			e.Forward(again, rename(x, g.Inputs, order, g.In), rows)
			near(t, fmt.Sprintf("%v, groups %v", shape, order), again, widen(rename(y, g.Outputs, order, g.Out)), 1e-6)
		}
	}
}

// trainerRenaming exchanges groups in a whole batch, which changes neither
// loss nor gradient.
func trainerRenaming(t *testing.T, f trainers) {
	shape := f.small()
	p, g := params(shape, 38), f.groups(shape)
	tr := f.new(t, shape, p, nets.TrainerOptions{Workers: 2})
	for _, k := range kinds {
		b := newProblem(shape, 65, k, 39)
		want, grad := p.Clone(), p.Clone()
		loss := tr.Gradient(want, b.x, b.rows, b.loss)
		for _, order := range renamings(len(g.Inputs)) {
			what := fmt.Sprintf("%s, groups %v", k.name, order)
			q := b.rename(g, order, k)
			near(t, what, []float32{float32(tr.Gradient(grad, q.x, q.rows, q.loss))}, []float64{loss}, 1e-6)
			near(t, what, grad.Flat(), widen(want.Flat()), 1e-5)
		}
	}
}

// trainerTies has rows where some groups look the same, so that they tie for
// every maximum, as the colours of a game do at its start. The loss has a
// derivative there all the same, which differences show.
func trainerTies(t *testing.T, f trainers) {
	for _, shape := range f.sloped() {
		p, g := params(shape, 40), f.groups(shape)
		tr := f.new(t, shape, p, nets.TrainerOptions{Workers: 1})
		b := newProblem(shape, 20, kinds[0], 41)
		for r := range b.rows {
			row := b.x[r*g.In : (r+1)*g.In]
			for _, list := range g.Inputs[1 : 2+r%(len(g.Inputs)-1)] {
				for i, c := range list {
					row[c] = row[g.Inputs[0][i]]
				}
			}
		}
		grad, slopes := p.Clone(), make([]float64, p.Len())
		tr.Gradient(grad, b.x, b.rows, b.loss)
		want, _ := Gradient(shape, p, b.x, b.rows, b.loss)
		for i := range slopes {
			slopes[i] = b.slope(p, i)
		}
		near(t, shape.String(), grad.Flat(), want, 1e-5)
		near(t, shape.String()+", differences", grad.Flat(), slopes, 3e-3)
	}
}
