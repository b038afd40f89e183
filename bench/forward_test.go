package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vtrain/nets"
	"vtrain/nets/cpu"
	"vtrain/nets/kernel"
)

// keys returns the rows of a report as JSON has them, and checks that each has
// the keys.
func keys(t *testing.T, report any, want ...string) []map[string]any {
	t.Helper()
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Machine map[string]any
		Rows    []map[string]any
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"cpu", "features", "cores_granted", "load_before", "load_after", "go", "revision"} {
		if _, ok := read.Machine[key]; !ok {
			t.Errorf("machine has no %s: %s", key, text)
		}
	}
	for _, row := range read.Rows {
		for _, key := range want {
			if _, ok := row[key]; !ok {
				t.Errorf("a row has no %s: %v", key, row)
			}
		}
	}
	return read.Rows
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

func TestForward(t *testing.T) {
	r, err := Forward(tiny(), briefly)
	if err != nil {
		t.Fatal(err)
	}
	if rows := keys(t, r, "backend", "layers", "batch", "us_per_state", "gflops", "states_per_s", "cores", "us_quartiles", "noisy"); len(rows) != 4 {
		t.Errorf("%d rows", len(rows))
	}
	for i, row := range r.Rows {
		shape := tiny().Layers[i/2]
		if row.Layers != shape.String() || row.Batch != tiny().Batches[i%2] || !strings.HasPrefix(row.Backend, "cpu ") || row.Repetitions != 3 || row.Clock != Wall {
			t.Errorf("row %d is %+v", i, row)
		}
		if !near(row.GFLOPS, Flops(shape)/row.MicrosPerState/1e3) || !near(row.StatesPerSecond, 1e6/row.MicrosPerState) {
			t.Errorf("row %d has contradictory rates: %+v", i, row)
		}
		if q := row.MicrosQuartiles; !(0 < q[0] && q[0] <= row.MicrosPerState && row.MicrosPerState <= q[1]) {
			t.Errorf("row %d has the quartiles %v around %v", i, q, row.MicrosPerState)
		}
	}
	if len(r.Engines) != 2 || !strings.Contains(r.Engines[1], "5-4-2") {
		t.Errorf("engines %q", r.Engines)
	}
	if m := r.Markdown(); strings.Count(m, "\n") != 2+4+2 || !strings.Contains(m, "Measured on: ") {
		t.Errorf("as a page:\n%s", m)
	}
}

// TestForwardsAreRequests: every batch of a grid fits a bucket, so nothing is
// cut or padded.
func TestForwardsAreRequests(t *testing.T) {
	g := tiny()
	g.Batches = []int{300, 1, 300, 17}
	f, err := NewForwards(g)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, timer := range f.Timers {
		if _, err := timer(2); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range f.engines {
		if s := e.Stats(); s.Requests != 8 || s.Forwards != 8 || s.Padded != 0 || s.OffGrid != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// TestPrecisions measures float32 and int8 together, and writes a table of each.
func TestPrecisions(t *testing.T) {
	g := tiny()
	g.Precisions = []nets.Precision{nets.Float32, nets.Int8}
	r, err := Forward(g, briefly)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 8 || len(r.Engines) != 4 || !strings.Contains(r.Engines[1], "int8") {
		t.Fatalf("%d rows, engines %q", len(r.Rows), r.Engines)
	}
	for i, row := range r.Rows {
		if want := g.Precisions[i/2%2].String(); row.Precision != want || row.Layers != g.Layers[i/4].String() {
			t.Errorf("row %d is %+v", i, row)
		}
	}
	if a, b := r.Rows[4], r.Rows[6]; a.Intensity >= b.Intensity {
		t.Errorf("%v operations a byte in float32, %v in int8", a.Intensity, b.Intensity)
	}
	if m := r.Markdown(); strings.Count(m, "| layers |") != 2 || strings.Index(m, "float32") > strings.Index(m, "int8") {
		t.Errorf("as a page:\n%s", m)
	}
	g.Layers[0] = nets.MLP{kernel.Int8MaxDepth + 1, 2}
	if _, err := Forward(g, briefly); err == nil || !strings.Contains(err.Error(), "int8 takes at most") {
		t.Errorf("a layer too wide: %v", err)
	}
}

func TestTrain(t *testing.T) {
	r, err := Train(tiny(), briefly)
	if err != nil {
		t.Fatal(err)
	}
	if rows := keys(t, r, "backend", "layers", "batch", "ms_per_step", "samples_per_s", "cores", "forward_ratio", "ms_quartiles", "noisy"); len(rows) != 4 {
		t.Errorf("%d rows", len(rows))
	}
	for i, row := range r.Rows {
		if row.Layers != tiny().Layers[i/2].String() || row.Batch != tiny().Batches[i%2] || !(row.ForwardRatio > 0) {
			t.Errorf("row %d is %+v", i, row)
		}
		if !near(row.SamplesPerSecond, float64(row.Batch)/row.MillisPerStep*1e3) {
			t.Errorf("row %d has contradictory rates: %+v", i, row)
		}
	}
	if len(r.Trainers) != 2 || !strings.Contains(r.Markdown(), "Measured on: ") {
		t.Errorf("trainers %q as a page:\n%s", r.Trainers, r.Markdown())
	}
}

// TestStepsRest: steps that are timed thousands of times stay at the network
// they began with, so that the last do the same work as the first.
func TestStepsRest(t *testing.T) {
	g := tiny()
	g.Layers = g.Layers[1:]
	s, err := NewSteps(g, cpu.NewTrainer)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Timers[0](5000); err != nil {
		t.Fatal(err)
	}
	before := fresh(g.Layers[0]).Flat()
	for i, v := range s.trainers[0].Params().Flat() {
		if math.Abs(float64(v-before[i])) > 1e-5 {
			t.Errorf("parameter %d went from %v to %v", i, before[i], v)
		}
	}
}

// TestStepsFail: an error of a trainer ends the measurement.
func TestStepsFail(t *testing.T) {
	broken := errors.New("broken")
	refuse := func(nets.MLP, nets.Params, nets.TrainerOptions) (nets.Trainer, error) { return nil, broken }
	if _, err := NewSteps(tiny(), refuse); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	poison := func(shape nets.MLP, p nets.Params, o nets.TrainerOptions) (nets.Trainer, error) {
		p.Flat()[0] = float32(math.NaN())
		return cpu.NewTrainer(shape, p, o)
	}
	s, err := NewSteps(tiny(), poison)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var invalid *nets.InvalidError
	if _, err := Measure(s.Timers, briefly); !errors.As(err, &invalid) {
		t.Errorf("%v", err)
	}
}

// drawable is a report of two networks on 1, 2 and 4 cores.
func drawable() *ForwardReport {
	r := &ForwardReport{}
	for _, layers := range []string{"7-3", "297-512-22"} {
		for _, cores := range []int{1, 2, 4} {
			for _, batch := range []int{64, 1, 8} {
				v := float64(cores * batch)
				r.Rows = append(r.Rows, ForwardRow{
					Layers: layers, Cores: cores, Batch: batch, Input: Dense, MicrosPerState: 1 / v, GFLOPS: v, Intensity: float64(batch), Clock: Wall,
				})
			}
		}
	}
	return r
}

func TestCurvesOfForwards(t *testing.T) {
	all := drawable().curves(func(row ForwardRow) (x, y float64) { return float64(row.Batch), row.GFLOPS })
	if len(all) != 4 { // not the two cores in the middle
		t.Fatalf("%d curves", len(all))
	}
	for i, want := range []Curve{
		{Label: "7-3, 1 core", Y: []float64{1, 8, 64}}, {Label: "7-3, 4 cores", Y: []float64{4, 32, 256}, Dashed: true},
		{Label: "297-512-22, 1 core", Y: []float64{1, 8, 64}, Color: 1}, {Label: "297-512-22, 4 cores", Y: []float64{4, 32, 256}, Color: 1, Dashed: true},
	} {
		if c := all[i]; c.Label != want.Label || c.Color != want.Color || c.Dashed != want.Dashed ||
			!slices.Equal(c.X, []float64{1, 8, 64}) || !slices.Equal(c.Y, want.Y) {
			t.Errorf("curve %d is %+v, expected %+v", i, c, want)
		}
	}
}

// TestCurvesOfPrecisions: int8 has colors of its own.
func TestCurvesOfPrecisions(t *testing.T) {
	r := drawable()
	for _, row := range r.Rows {
		row.Precision = nets.Int8.String()
		r.Rows = append(r.Rows, row)
	}
	var labels []string
	for _, c := range r.curves(func(row ForwardRow) (x, y float64) { return float64(row.Batch), row.GFLOPS }) {
		if len(c.X) != 3 {
			t.Errorf("curve %+v", c)
		}
		if !c.Dashed {
			labels = append(labels, fmt.Sprint(c.Label, " ", c.Color))
		}
	}
	if want := []string{"7-3, 1 core 0", "297-512-22, 1 core 1", "7-3 in int8, 1 core 2", "297-512-22 in int8, 1 core 3"}; !slices.Equal(labels, want) {
		t.Errorf("curves %q", labels)
	}
}

// TestRoofCurves: a roof of 10 GB/s rises to a peak of 100 GFLOP/s at 10 flop
// a byte; where it starts above the peak there is no slope left.
func TestRoofCurves(t *testing.T) {
	r := drawable()
	r.Roofs = []Roof{{Cores: 1, Peak: 100, Memory: 10, Cache: 1000}, {Cores: 2}, {Cores: 4, Peak: 400, Memory: 2, Cache: 40}}
	all := r.roofCurves([]Curve{{X: []float64{0.5, 8}}, {X: []float64{2, 64}}})
	if len(all) != 6 {
		t.Fatalf("%d curves", len(all))
	}
	for i, want := range []Curve{
		{Label: "memory 10.0 GB/s, 1 core", X: []float64{0.5, 10}, Y: []float64{5, 100}},
		{Label: "cache 1000 GB/s, 1 core", X: []float64{0.5, 0.5}, Y: []float64{100, 100}},
		{Label: "float32 peak 100 GFLOP/s, 1 core", X: []float64{0.5, 64}, Y: []float64{100, 100}},
		{Label: "memory 2.00 GB/s, 4 cores", X: []float64{0.5, 64}, Y: []float64{1, 128}},
		{Label: "cache 40.0 GB/s, 4 cores", X: []float64{0.5, 10}, Y: []float64{20, 400}},
		{Label: "float32 peak 400 GFLOP/s, 4 cores", X: []float64{0.5, 64}, Y: []float64{400, 400}},
	} {
		if c := all[i]; c.Label != want.Label || !slices.Equal(c.X, want.X) || !slices.Equal(c.Y, want.Y) || !c.Plain || c.Dashed != (i > 2) {
			t.Errorf("curve %d is %+v, expected %+v", i, c, want)
		}
	}
}

// TestRoofs: without a peak, the best core that was measured.
func TestRoofs(t *testing.T) {
	r := drawable()
	r.Rows = append(r.Rows, ForwardRow{Layers: "7-3", Precision: nets.Int8.String(), Cores: 1, GFLOPS: 1000}) // above the roof of float32
	if err := r.measureRoofs(func(Clock, int, int) (float64, error) { return 5, nil }, nil); err != nil {
		t.Fatal(err)
	}
	if len(r.Roofs) != 3 || r.Roofs[2] != (Roof{Cores: 4, Peak: 256, PeakFrom: "best rate measured", Memory: 5, Cache: 5}) {
		t.Errorf("%+v", r.Roofs)
	}
	var sizes []int
	r.Roofs = nil
	copyRate := func(_ Clock, cores, bytes int) (float64, error) { sizes = append(sizes, cores*bytes); return 5, nil }
	if err := r.measureRoofs(copyRate, func() float64 { return 50 }); err != nil {
		t.Fatal(err)
	}
	if r.Roofs[1].Peak != 100 || r.Roofs[1].PeakFrom != "registers" {
		t.Errorf("%+v", r.Roofs[1])
	}
	const weights = 4 * (297*512 + 512 + 512*22 + 22)
	if !slices.Equal(sizes, []int{largeCopy, weights, largeCopy, 2 * weights, largeCopy, 4 * weights}) {
		t.Errorf("bytes copied: %v", sizes)
	}
	broken := errors.New("broken")
	if err := r.measureRoofs(func(Clock, int, int) (float64, error) { return 0, broken }, nil); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestCopyRate(t *testing.T) {
	for _, bytes := range []int{0, 1 << 16} {
		if rate, err := copyRate(Wall, 1, bytes); err != nil || !(rate > 0) {
			t.Errorf("%d bytes: %v GB/s, %v", bytes, rate, err)
		}
	}
}

func TestDrawForwards(t *testing.T) {
	dir, r := t.TempDir(), drawable()
	r.Roofs = []Roof{{Cores: 1, Peak: 100, Memory: 10, Cache: 50}, {Cores: 4, Peak: 400, Memory: 12, Cache: 200}}
	for _, name := range []string{"a.png", "a.svg"} {
		if err := r.Draw(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(filepath.Join(dir, "a.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if img, err := png.Decode(f); err != nil || img.Bounds().Dx() < 600 {
		t.Errorf("%v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "a.svg"))
	if err != nil || !strings.Contains(string(text), "<svg") || !strings.Contains(string(text), "297-512-22, 4 cores") {
		t.Errorf("%v %.100s", err, text)
	}
	if err := r.Draw(filepath.Join(dir, "a.pdf")); err == nil {
		t.Error("a PDF file was drawn")
	}
	r.Rows = r.Rows[:1]
	if err := r.Draw(filepath.Join(dir, "b.png")); !errors.Is(err, ErrNothingToDraw) {
		t.Errorf("one batch: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
}

func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		ticks  int
		want   []string
	}{
		{0.9, 70000, 1 + 9*4 + 7, []string{"1", "10", "100", "1000", "10000"}},
		{0.3, 12, 7 + 9 + 1, []string{"0.5", "1", "2", "5", "10"}},
		{150, 450, 3, []string{"200"}},
	} {
		var labels []string
		ticks := logTicks(c.lo, c.hi)
		for _, tick := range ticks {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if len(ticks) != c.ticks || !slices.Equal(labels, c.want) {
			t.Errorf("%v to %v: %d ticks labelled %v, expected %d and %v", c.lo, c.hi, len(ticks), labels, c.ticks, c.want)
		}
	}
}
