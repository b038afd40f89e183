package cpu

import (
	"fmt"
	"testing"

	"vtrain/nets"
	"vtrain/vec"
)

// The shape and the density of the default agent: about 45 of 440 binary
// features are set, and about ten of 106 actions are legal.
var benchShape = nets.MLP{440, 256, 256, 106}

func binary(rows, width int, density float32, seed uint64) []float32 {
	s := vec.At(vec.Key(seed, 0), 0)
	x := make([]float32, rows*width)
	for i := range x {
		if s.Float32() < density {
			x[i] = 1
		}
	}
	return x
}

func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(rows), "µs/row")
}

func BenchmarkForward(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for _, rows := range []int{1, 64, 256, 1024} {
			b.Run(fmt.Sprintf("workers=%d/rows=%d", workers, rows), func(b *testing.B) {
				e, err := NewEngine(benchShape, nets.EngineOptions{Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				defer e.Close()
				p := benchShape.NewParams()
				benchShape.Init(p, 1)
				e.Load(p)
				e.Seal()
				x, y := binary(rows, e.In(), 0.1, 2), make([]float32, rows*e.Out())
				b.ReportAllocs()
				for b.Loop() {
					e.Forward(y, x, rows)
				}
				perRow(b, rows)
			})
		}
	}
}

func BenchmarkStep(b *testing.B) {
	const rows = 1024
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d/rows=%d", workers, rows), func(b *testing.B) {
			p := benchShape.NewParams()
			benchShape.Init(p, 1)
			t, err := NewTrainer(benchShape, p, nets.TrainerOptions{Workers: workers, ClipNorm: 1})
			if err != nil {
				b.Fatal(err)
			}
			defer t.Close()
			x, loss := binary(rows, t.In(), 0.1, 2), benchLoss(rows, t.Out())
			b.ReportAllocs()
			for b.Loop() {
				if _, err := t.Step(x, rows, loss); err != nil {
					b.Fatal(err)
				}
			}
			perRow(b, rows)
		})
	}
}

func benchLoss(rows, out int) *nets.SquaredError {
	loss := &nets.SquaredError{
		Mask:   make([]uint64, rows*vec.MaskWords(out)),
		Target: binary(rows, out, 0.5, 3),
	}
	legal := binary(rows, out, 0.1, 4)
	for r := range rows {
		for a := range out {
			if legal[r*out+a] != 0 {
				vec.MaskSet(loss.Mask[r*vec.MaskWords(out):], a)
			}
		}
	}
	return loss
}
