package nets_test

import (
	"strings"
	"testing"

	"vtrain/nets"
	"vtrain/nets/nettest"
)

func TestParsePrecision(t *testing.T) {
	for _, p := range []nets.Precision{nets.Float32, nets.Int8} {
		if got, err := nets.ParsePrecision(p.String()); got != p || err != nil {
			t.Errorf("%v is read as %v, %v", p, got, err)
		}
	}
	if p, err := nets.ParsePrecision("int4"); err == nil {
		t.Errorf("int4 is read as %v", p)
	}
	if nets.PrecisionNames()[0] = "changed"; nets.Float32.String() != "float32" {
		t.Error("the names are not a copy")
	}
}

// TestOtherPrecision: a backend in float32 refuses to be taken for another.
func TestOtherPrecision(t *testing.T) {
	shape := nets.MLP{2, 1}
	_, err := nettest.NewEngine(shape, nets.EngineOptions{Precision: nets.Int8, Calibration: []float32{1, 2}})
	if err == nil || !strings.Contains(err.Error(), "computes in float32, want int8") {
		t.Errorf("error %v", err)
	}
}
