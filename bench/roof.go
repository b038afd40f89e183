package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"vtrain/nets"
	"vtrain/vec"
)

// A Roof is what bounds the forwards of so many cores (Williams, Waterman and
// Patterson 2009, "Roofline"): how fast they multiply, and how fast memory
// feeds them.
type Roof struct {
	Cores    int     `json:"cores"`
	Peak     float64 `json:"peak_gflops"` // of float32
	PeakFrom string  `json:"peak_from"`
	Memory   float64 `json:"memory_gb_per_s"` // of a copy too large for any cache, read and written
	Cache    float64 `json:"cache_gb_per_s"`  // of a copy as large as the largest network
}

// Peak measures the GFLOP/s that one core reaches without any memory.
type Peak func() float64

// MeasureRoofs adds the roofs of all numbers of cores in the report. Without a
// peak the best rate of a core that was measured has to do.
func (r *ForwardReport) MeasureRoofs(peak Peak) error { return r.measureRoofs(copyRate, peak) }

func (r *ForwardReport) measureRoofs(copyRate copyRater, peak Peak) error {
	one, from := 0.0, "registers"
	if peak != nil {
		one = peak()
	} else {
		from = "best rate measured"
		for _, row := range r.Rows {
			if row.Precision != nets.Int8.String() {
				one = max(one, row.GFLOPS/float64(row.Cores))
			}
		}
	}
	weights, err := r.largestWeights()
	if err != nil {
		return err
	}
	for _, cores := range r.cores() {
		clock := r.clock(cores)
		roof := Roof{Cores: cores, Peak: round(one * float64(cores)), PeakFrom: from}
		if roof.Memory, err = copyRate(clock, cores, largeCopy/cores); err != nil {
			return err
		}
		if roof.Cache, err = copyRate(clock, cores, weights); err != nil {
			return err
		}
		r.Roofs = append(r.Roofs, roof)
	}
	return nil
}

// A copyRater measures how fast cores copy bytes each.
type copyRater func(clock Clock, cores, bytes int) (float64, error)

// largeCopy is more bytes than caches hold.
const largeCopy = 256 << 20

// copyRate returns the GB/s that cores read and write together, each copying
// one half of its bytes to the other.
func copyRate(clock Clock, cores, bytes int) (float64, error) {
	half := max(bytes/2, 1)
	memory := make([][]byte, cores)
	for i := range memory {
		memory[i] = slices.Repeat([]byte{1}, 2*half) // pages that nobody has written are all the same one
	}
	pool := vec.NewPool(cores)
	defer pool.Close()
	work := func() error {
		pool.Run(cores, 1, func(lo, _ int) { copy(memory[lo][:half], memory[lo][half:]) })
		return nil
	}
	samples, err := Measure([]Timer{clock.Timed(work)}, MeasureOptions{Repetitions: fewestRepetitions})
	if err != nil {
		return 0, err
	}
	return round(2 * float64(cores*half) / samples[0].Median() / 1e9), nil
}

// largestWeights returns the bytes of the largest network's parameters.
func (r *ForwardReport) largestWeights() (int, error) {
	largest := 0.0
	for _, row := range r.Rows {
		shape, err := ParseLayers(row.Layers)
		if err != nil {
			return 0, err
		}
		largest = max(largest, moved(shape, nets.Float32, 0))
	}
	return int(largest), nil
}

// clock returns what measured the rows of so many cores.
func (r *ForwardReport) clock(cores int) Clock {
	i := slices.IndexFunc(r.Rows, func(row ForwardRow) bool { return row.Cores == cores })
	return r.Rows[i].Clock
}

// cores returns the numbers of cores in the report, ascending.
func (r *ForwardReport) cores() []int {
	var all []int
	for _, row := range r.Rows {
		all = append(all, row.Cores)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Draw writes two diagrams to a PNG or SVG file: time a state over the batch,
// and rates under their roof. Of the numbers of cores the fewest and the most
// are drawn. Of binary inputs there is no roofline.
func (r *ForwardReport) Draw(path string) error {
	time := r.curves(func(row ForwardRow) (x, y float64) { return float64(row.Batch), row.MicrosPerState })
	for _, c := range time {
		if len(c.X) < 2 {
			return fmt.Errorf("plot %s: %w", path, ErrNothingToDraw)
		}
	}
	times := Panel{Title: "Forward, " + string(r.input()) + " inputs", X: "batch [rows]", Y: "µs per state", Log: true, Curves: time}
	if !r.HasRoofline() {
		times.Title += " (no roofline: most of the first layer isn't read)"
		return Draw(path, "", []Panel{times})
	}
	rates := r.curves(func(row ForwardRow) (x, y float64) { return row.Intensity, row.GFLOPS })
	return Draw(path, "", []Panel{times, {
		Title: "Roofline", X: "flop per byte of parameters and activations", Y: "GFLOP/s", Log: true,
		Curves: slices.Concat(rates, r.roofCurves(rates)),
	}})
}

// HasRoofline reports whether it is known how many bytes a forward moves.
func (r *ForwardReport) HasRoofline() bool { return r.input() != Binary }

// drawn returns whether curves of so many cores are in the figure, and dashed.
func (r *ForwardReport) drawn(cores int) (yes, dashed bool) {
	all := r.cores()
	return cores == all[0] || cores == all[len(all)-1], cores != all[0]
}

// network names what curves of one color are of.
func (row ForwardRow) network() string {
	if row.Precision == nets.Int8.String() {
		return row.Layers + " in int8"
	}
	return row.Layers
}

// curves returns a curve for each network, precision and number of cores, by
// ascending batch.
func (r *ForwardReport) curves(point func(ForwardRow) (x, y float64)) []Curve {
	var all []Curve
	var networks []string
	rows := slices.Clone(r.Rows)
	slices.SortStableFunc(rows, func(a, b ForwardRow) int { return cmp.Compare(a.Batch, b.Batch) })
	at := map[string]int{}
	for _, row := range rows {
		yes, dashed := r.drawn(row.Cores)
		if !yes {
			continue
		}
		network := row.network()
		label := network + ", " + counted(row.Cores, "core")
		i, known := at[label]
		if !known {
			if !slices.Contains(networks, network) {
				networks = append(networks, network)
			}
			i = len(all)
			at[label] = i
			all = append(all, Curve{Label: label, Color: slices.Index(networks, network), Dashed: dashed})
		}
		x, y := point(row)
		all[i].X, all[i].Y = append(all[i].X, x), append(all[i].Y, y)
	}
	return all
}

// Colors of roofs, from the end of the palette.
const (
	peakColor   = 6
	cacheColor  = 5
	memoryColor = 4
)

// roofCurves returns the roofs over the intensities of the rates: memory and
// the cache rise to the peak.
func (r *ForwardReport) roofCurves(rates []Curve) []Curve {
	lo, hi := math.Inf(1), 0.0
	for _, c := range rates {
		lo, hi = min(lo, slices.Min(c.X)), max(hi, slices.Max(c.X))
	}
	var all []Curve
	for _, roof := range r.Roofs {
		yes, dashed := r.drawn(roof.Cores)
		if !yes {
			continue
		}
		rising := func(name string, speed float64, color int) Curve {
			end := min(max(roof.Peak/speed, lo), hi)
			return Curve{
				Label: fmt.Sprintf("%s %s GB/s, %s", name, Significant(speed, 3), counted(roof.Cores, "core")), Color: color,
				X: []float64{lo, end}, Y: []float64{min(lo*speed, roof.Peak), min(end*speed, roof.Peak)}, Dashed: dashed, Plain: true,
			}
		}
		peak := Curve{
			Label: fmt.Sprintf("float32 peak %s GFLOP/s, %s", Significant(roof.Peak, 3), counted(roof.Cores, "core")), Color: peakColor,
			X: []float64{lo, hi}, Y: []float64{roof.Peak, roof.Peak}, Dashed: dashed, Plain: true,
		}
		all = append(all, rising("memory", roof.Memory, memoryColor), rising("cache", roof.Cache, cacheColor), peak)
	}
	return all
}
