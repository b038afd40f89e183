package nets_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"vtrain/nets"
)

// TestSquaredErrorByHand scores two rows of three outputs.
func TestSquaredErrorByHand(t *testing.T) {
	loss := &nets.SquaredError{
		Mask:   []uint64{0b101, 0b010},
		Target: []float32{1, 99, 3, 99, 5, 99},
		Weight: []float32{1, 3},
	}
	y := []float32{2, 0, 1, 0, 4, 0}
	// (1·(1+4) + 3·1) / 4
	check(t, loss, y, 2, []float32{0.5, 0, -1, 0, -1.5, 0})
}

// TestCrossEntropyByHand has outputs whose exponentials are 1, 3 and, too
// large for a float, e^1000.
func TestCrossEntropyByHand(t *testing.T) {
	log3 := float32(math.Log(3))
	loss := &nets.CrossEntropy{
		Mask:   []uint64{0b101, 0b110},
		Target: []float32{0.5, 99, 0.5, 99, 0, 1},
		Weight: []float32{2, 2},
	}
	y := []float32{0, 50, log3, 7, 1000, 1000 + log3}
	// Softmax is (1/4, 3/4) in both rows.
	want := 0.5*-(0.5*math.Log(0.25)+0.5*math.Log(0.75)) + 0.5*-math.Log(0.75)
	check(t, loss, y, want, []float32{-0.125, 0, 0.125, 0, 0.125, -0.125})
}

// check scores the rows at once and one by one.
func check(t *testing.T, loss nets.Loss, y []float32, want float64, gradient []float32) {
	t.Helper()
	rows, out := 2, len(y)/2
	if err := loss.Begin(rows, out); err != nil {
		t.Fatal(err)
	}
	dy := make([]float32, len(y))
	for i := range dy {
		dy[i] = float32(math.NaN())
	}
	sum := loss.Eval(dy, y, 0, rows)
	if math.Abs(sum-want) > 1e-4*want {
		t.Errorf("loss %v, want %v", sum, want)
	}
	for i := range dy {
		if math.Abs(float64(dy[i]-gradient[i])) > 1e-4 {
			t.Errorf("derivative %d is %v, want %v", i, dy[i], gradient[i])
		}
	}
	parts := 0.0
	for r := range rows {
		one := make([]float32, out)
		parts += loss.Eval(one, y[r*out:(r+1)*out], r, r+1)
		for a, v := range one {
			if v != dy[r*out+a] {
				t.Errorf("row %d alone has derivatives %v", r, one)
			}
		}
	}
	if math.Abs(parts-sum) > 1e-12 {
		t.Errorf("the rows' losses sum to %v, together they have %v", parts, sum)
	}
}

// TestCrossEntropyEmptyMask has a row where nothing is legal.
func TestCrossEntropyEmptyMask(t *testing.T) {
	loss := &nets.CrossEntropy{Mask: []uint64{0, 0b11}, Target: []float32{1, 1, 1, 0}}
	check(t, loss, []float32{1, 2, 0, 0}, 0.5*math.Log(2), []float32{0, 0, -0.25, 0.25})
}

// TestWideMasks has outputs over several words of a mask.
func TestWideMasks(t *testing.T) {
	for _, out := range []int{63, 64, 65, 128, 130} {
		target, y, dy := make([]float32, out), make([]float32, out), make([]float32, out)
		y[0], y[out-1] = 1, 2
		all := &nets.SquaredError{Target: target}
		if err := all.Begin(1, out); err != nil {
			t.Fatal(err)
		}
		if sum := all.Eval(dy, y, 0, 1); sum != 5 || dy[0] != 2 || dy[out-1] != 4 {
			t.Errorf("%d outputs: loss %v, derivatives %v", out, sum, dy)
		}
	}
}

func TestInvalidErrors(t *testing.T) {
	loss := &nets.SquaredError{Target: make([]float32, 6), Weight: []float32{1, -0.5, -1}}
	err := loss.Begin(3, 2)
	var invalid *nets.InvalidError
	if !errors.As(err, &invalid) || invalid.Row != 1 || err.Error() != "nets: row 1: weight -0.5, want a finite number of at least 0" {
		t.Errorf("error %v", err)
	}
	for want, e := range map[string]nets.InvalidError{
		"nets: gradient of w is not finite": {Row: -1, Tensor: "w", What: "is not finite"},
		"nets: batch: loss is not finite":   {Row: -1, What: "loss is not finite"},
	} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
}

// TestScoreFindsRows lets Score name rows for each reason it has, in a range
// that starts at row 10.
func TestScoreFindsRows(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, test := range []struct {
		name      string
		y, target []float32 // [2,2]
		bad       int
	}{
		{"all finite", []float32{1, 2, 3, 4}, []float32{0, 0, 0, 0}, -1},
		{"output", []float32{1, 2, inf, 4}, []float32{0, 0, 0, 0}, 11},
		{"output outside the mask", []float32{1, 2, 3, nan}, []float32{0, 0, 0, 0}, 11},
		{"target", []float32{1, 2, 3, 4}, []float32{-inf, 0, 0, 0}, 10},
		{"target outside the mask", []float32{1, 2, 3, 4}, []float32{0, nan, 0, nan}, -1},
		{"derivative", []float32{1, 2, 3e38, 4}, []float32{0, 0, -3e38, 0}, 11},
		{"both rows", []float32{nan, 2, nan, 4}, []float32{0, 0, 0, 0}, 10},
	} {
		mask := slices.Repeat([]uint64{0b01}, 12)
		weight := []float32{10: 1, 11: 1}
		loss := &nets.SquaredError{Mask: mask, Target: append(make([]float32, 20), test.target...), Weight: weight}
		if err := loss.Begin(12, 2); err != nil {
			t.Fatal(err)
		}
		if _, bad := nets.Score(loss, make([]float32, 4), test.y, 10, 12); bad != test.bad {
			t.Errorf("%s: row %d, want %d", test.name, bad, test.bad)
		}
	}
}
