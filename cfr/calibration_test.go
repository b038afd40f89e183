package cfr

import (
	"math"
	"slices"
	"testing"

	"vtrain/cfr/internal/kuhn"
	"vtrain/encode"
	"vtrain/nets"
	"vtrain/rules"
	"vtrain/vec"
)

// TestCalibration: the same seed gives the same rows on any pool, all of them
// observations, of all plies.
func TestCalibration(t *testing.T) {
	cfg := rules.MustPreset("tiny")
	cfg.MaxTurns = 50
	layout := encode.NewCards(cfg)
	pool := vec.NewPool(3)
	defer pool.Close()
	alone, pooled := encode.NewBatch(layout, nil), encode.NewBatch(layout, pool)
	for _, view := range []vec.View{vec.Information, vec.History} {
		x := Calibration(alone, view, nets.Int8, 1)
		if len(x) != calibrationRows*alone.Width(view) {
			t.Fatalf("%d numbers", len(x))
		}
		if !slices.Equal(x, Calibration(pooled, view, nets.Int8, 1)) {
			t.Error("the pool shows")
		}
		if slices.Equal(x, Calibration(alone, view, nets.Int8, 2)) {
			t.Error("another seed gives the same rows")
		}
		for r := range calibrationRows {
			if row := x[r*alone.Width(view) : (r+1)*alone.Width(view)]; !slices.ContainsFunc(row, func(v float32) bool { return v != 0 }) {
				t.Fatalf("row %d observes nothing", r)
			}
		}
	}
	if Calibration(alone, vec.Information, nets.Float32, 1) != nil {
		t.Error("float32 is calibrated")
	}
}

// TestCalibrationIsEven counts the decisions that rows were taken from, in a
// game of two or three plies.
func TestCalibrationIsEven(t *testing.T) {
	b := kuhn.NewBatch()
	x := Calibration(b, vec.Information, nets.Int8, 3)
	w := b.Width(vec.Information)
	counts := make([]float64, w)
	for i, v := range x {
		counts[i%w] += float64(v)
	}
	// The first features tell the four histories, the others the three cards.
	cards := counts[w-3:]
	for i, n := range cards {
		if math.Abs(n-calibrationRows/3.) > 4*math.Sqrt(calibrationRows*2./9) {
			t.Errorf("card %d is held in %v of %d rows", i, n, calibrationRows)
		}
	}
	for i, n := range counts[:w-3] {
		if n < 50 {
			t.Errorf("history %d is that of %v rows", i, n)
		}
	}
}

// TestInt8Learns trains in int8: the policies are those of the same networks in
// float32, nearly.
func TestInt8Learns(t *testing.T) {
	l, err := NewLearner(kuhn.NewBatch(), Nets{Hidden: []int{64, 64}, Precision: nets.Int8}, 1<<17, kuhnOptions(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	iterate(t, l, 10)
	exact := newKuhn(t, kuhnOptions(), nil)
	if err := exact.Restore(l.State()); err != nil {
		t.Fatal(err)
	}
	same := true
	for _, k := range [][2]func(int, uint64) (*Policy, error){{l.Average, exact.Average}, {l.Current, exact.Current}} {
		got, want := strategyOf(t, k[0]), strategyOf(t, k[1])
		for h := range got {
			for card := range got[h] {
				if math.Abs(got[h][card]-want[h][card]) > 0.03 {
					t.Errorf("history %d, card %d: bets with %.3f, in float32 %.3f", h, card, got[h][card], want[h][card])
				}
				same = same && got[h][card] == want[h][card]
			}
		}
	}
	if same {
		t.Error("the policies are not in int8")
	}
}
