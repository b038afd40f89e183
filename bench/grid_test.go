package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"vtrain/nets"
)

// tiny is a grid that takes moments.
func tiny() Grid {
	return Grid{Layers: []nets.MLP{{7, 3}, {5, 4, 2}}, Cores: []int{1}, Batches: []int{8, 1}, Input: Dense}
}

// briefly is how tests measure.
var briefly = MeasureOptions{Repetitions: 3, Shortest: 1}

func TestParseLayers(t *testing.T) {
	shape, err := ParseLayers("440-256-256-106")
	if err != nil || !slices.Equal(shape, nets.MLP{440, 256, 256, 106}) || shape.String() != "440-256-256-106" {
		t.Errorf("%v, %v", shape, err)
	}
	for _, text := range []string{"", "7", "7-", "7-x", "7-0", "7--3", "7,3"} {
		if shape, err := ParseLayers(text); err == nil {
			t.Errorf("%q is read as %v", text, shape)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := tiny().Validate(); err != nil {
		t.Error(err)
	}
	for says, change := range map[string]func(*Grid){
		"nothing to measure": func(g *Grid) { g.Batches = nil },
		"batch 0":            func(g *Grid) { g.Batches[1] = 0 },
		"batch 2097152":      func(g *Grid) { g.Batches[1] = 2 << 20 },
		"0 cores":            func(g *Grid) { g.Cores = []int{0} },
		"1048576 cores":      func(g *Grid) { g.Cores = []int{1 << 20} },
		"layers [3]":         func(g *Grid) { g.Layers[0] = nets.MLP{3} },
		"batch 1048576 of":   func(g *Grid) { g.Layers[0], g.Batches[1] = nets.MLP{1000, 3}, 1<<20 },
		"batch 1024 of":      func(g *Grid) { g.Layers[0], g.Precisions = nets.MLP{1 << 20, 3}, []nets.Precision{nets.Int8} },
	} {
		g := tiny()
		change(&g)
		if err := g.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, expected an error about %s", err, says)
		}
		if _, err := NewForwards(g); err == nil {
			t.Errorf("%s: engines are made", says)
		}
		if _, err := Train(g, briefly); err == nil && g.Precisions == nil {
			t.Errorf("%s: steps are timed", says)
		}
	}
}

func TestPowers(t *testing.T) {
	for last, want := range map[int][]int{1: {1}, 2: {1, 2}, 3: {1, 2, 3}, 8: {1, 2, 4, 8}} {
		if got := powers(last); !slices.Equal(got, want) {
			t.Errorf("powers to %d are %v, expected %v", last, got, want)
		}
	}
}

func TestInputs(t *testing.T) {
	g := tiny()
	g.Batches = []int{1000}
	ones, sum := 0, 0.0
	for _, v := range g.inputs(7) {
		if v < -1 || v > 1 {
			t.Fatalf("a dense input of %v", v)
		}
		sum += float64(v)
	}
	g.Input = Binary
	binary := g.inputs(7)
	for _, v := range binary {
		switch v {
		case 1:
			ones++
		case 0:
		default:
			t.Fatalf("a binary input of %v", v)
		}
	}
	if calibration := g.calibration(7); len(calibration) != calibrationRows*7 || slices.Equal(calibration[:7000], binary) {
		t.Error("the rows of calibration are those measured")
	}
	// Five standard deviations of each.
	if len(binary) != 7000 || math.Abs(float64(ones)-700) > 5*math.Sqrt(630) || math.Abs(sum) > 5*math.Sqrt(7000./3) {
		t.Errorf("%d ones of %d, a sum of %v", ones, len(binary), sum)
	}
}

// TestCounts compares the operations and bytes of a network with those counted
// by hand.
func TestCounts(t *testing.T) {
	shape := nets.MLP{5, 4, 2}
	if f := Flops(shape); f != 2*(5*4+4*2) {
		t.Errorf("%v operations a row", f)
	}
	// Backward: both gradients by weights, and one by the hidden layer.
	if f := stepFlops(shape); f != 2*(5*4+4*2)+2*(5*4+4*2)+2*4*2 {
		t.Errorf("%v operations a row of a step", f)
	}
	// Parameters, then rows in and out of both layers.
	if b := moved(shape, nets.Float32, 3); b != 4*(5*4+4+4*2+2+3*(5+4+4+2)) {
		t.Errorf("%v bytes", b)
	}
	if i := intensity(shape, nets.Float32, 3); i != 3*56/moved(shape, nets.Float32, 3) {
		t.Errorf("intensity %v", i)
	}
	// In int8 biases, inputs and outputs keep four bytes.
	if b := moved(shape, nets.Int8, 3); b != 5*4+4*4+4*2+4*2+3*(4*5+4+4+4*2) {
		t.Errorf("%v bytes in int8", b)
	}
}

func TestSettings(t *testing.T) {
	g := tiny()
	g.Cores = []int{1, 2}
	g.Layers, g.Precisions = g.Layers[:1], []nets.Precision{nets.Int8, nets.Float32}
	var order []string
	for _, c := range g.settings() {
		order = append(order, fmt.Sprint(c.shape, " ", c.precision, " ", c.cores, " ", c.batch))
	}
	want := []string{"7-3 int8 1 8", "7-3 int8 1 1", "7-3 int8 2 8", "7-3 int8 2 1", "7-3 float32 1 8", "7-3 float32 1 1", "7-3 float32 2 8", "7-3 float32 2 1"}
	if !slices.Equal(order, want) {
		t.Errorf("%v", order)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		v           float64
		significant string
		rounded     float64
	}{
		{0, "0.00", 0}, {1.23456789, "1.23", 1.2346}, {99.96, "100", 99.96}, {12345678, "12345678", 12346000},
		{0.00123456789, "0.00123", 0.0012346}, {-2.5, "-2.50", -2.5}, {math.Inf(1), "+Inf", math.Inf(1)},
	} {
		if s, r := Significant(c.v, 3), round(c.v); s != c.significant || r != c.rounded {
			t.Errorf("%v is written %s and rounded to %v, expected %s and %v", c.v, s, r, c.significant, c.rounded)
		}
	}
}
