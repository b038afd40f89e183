package nets

import (
	"fmt"
	"slices"

	"vtrain/vec"
)

// An Engine evaluates a network on batches of rows.
//
// Batch sizes are buckets. A request is padded to the smallest bucket that
// holds it; one larger than the largest bucket is cut into forwards of the
// largest and a rest. The order of calls is Load, Seal, then any number of
// Forward and Load: after Seal nothing is allocated, packed or compiled
// except that Load packs the new weights in place.
type Engine interface {
	// In and Out are the widths of a row of x and of dst.
	In() int
	Out() int

	// Load takes a copy of the parameters, in the form the kernels want.
	Load(p Params)

	// Seal prepares every bucket and runs each once. It needs parameters.
	Seal()

	// Forward computes dst [rows,Out] from x [rows,In]. No rows, no work.
	Forward(dst, x []float32, rows int)

	// Stream computes the outputs of rows that s makes and uses, with the bits
	// that Forward gives.
	Stream(s Stream, rows int)

	// Stats returns the counts since Seal or the last ResetStats.
	Stats() Stats
	ResetStats()

	// Describe returns the network, the kernels, and the grid of buckets.
	Describe() string

	// Close frees what the engine holds. It may not be used afterwards.
	Close()
}

// Stats counts the work of an engine.
type Stats struct {
	Requests int64 // Forward calls of at least one row
	Forwards int64 // bucket forwards they were cut into
	Rows     int64 // rows asked for
	Padded   int64 // rows that buckets held beyond those
	Computed int64 // rows the kernels computed: from Rows, where padding costs nothing, to Rows+Padded
	OffGrid  int64 // requests larger than the largest bucket
	Loads    int64 // times that parameters were packed
}

// EngineOptions configures an engine; the zero value works.
type EngineOptions struct {
	Buckets   []int     // batch sizes, ascending; nil means DefaultBuckets
	Workers   int       // number of workers, 0 for one per core; ignored if Pool is given
	Pool      *vec.Pool // shared workers, which stay the caller's to close
	Precision Precision // of the arithmetic

	// Calibration is typical rows of x [rows,In], finite, by which Int8 chooses
	// its scales; Float32 has no use for it. The result of a row depends on
	// these too.
	Calibration []float32
}

// DefaultBuckets returns the usual grid: small sizes for play, then powers of
// two over the batches of a traversal.
func DefaultBuckets() []int {
	return []int{1, 8, 64, 256, 512, 1024, 2048, 4096, 8192, 16384}
}

func (o EngineOptions) validate() error {
	if o.Workers < 0 {
		return fmt.Errorf("nets: %d workers, want 0 or more", o.Workers)
	}
	for i, b := range o.Buckets {
		if b < 1 || i > 0 && b <= o.Buckets[i-1] {
			return fmt.Errorf("nets: buckets %v: want ascending sizes from 1", o.Buckets)
		}
	}
	return o.validatePrecision()
}

// A Backend is what an engine runs on: kernels that forward one bucket. The
// engine around it checks arguments, chooses buckets, cuts, and counts.
type Backend interface {
	In() int
	Out() int

	// Precision is that of the arithmetic.
	Precision() Precision

	// Fits reports whether p is of the shape that Load takes.
	Fits(p Params) bool

	// Prepare is called once, before any other work, with the workers to use
	// and the ascending grid. Everything that is ever allocated is allocated
	// here, in the first Load, or in the first Forward of each bucket.
	Prepare(pool *vec.Pool, buckets []int)

	// Load packs a copy of the parameters.
	Load(p Params)

	// Forward computes dst [rows,Out] from x [rows,In] for 1 <= rows <=
	// bucket, where bucket is one of the grid; both slices end with those
	// rows. It returns the rows computed: bucket where padding is real, rows
	// where the kernels take any number.
	Forward(dst, x []float32, rows, bucket int) (computed int)

	// Describe returns the network and the kernels in a few words.
	Describe() string

	Close()
}

// NewEngine makes an engine of a backend, which it then owns. The error is
// about the options.
func NewEngine(b Backend, o EngineOptions) (Engine, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if p := b.Precision(); p != o.Precision {
		return nil, fmt.Errorf("nets: %s computes in %v, want %v", b.Describe(), p, o.Precision)
	}
	e := &engine{Backend: b, buckets: slices.Clone(o.Buckets), pool: o.Pool, shared: o.Pool != nil}
	if len(e.buckets) == 0 {
		e.buckets = DefaultBuckets()
	}
	if !e.shared {
		e.pool = vec.NewPool(o.Workers)
	}
	b.Prepare(e.pool, slices.Clone(e.buckets))
	return e, nil
}

// engine is the part of the contract that all backends share. In, Out come
// from the backend.
type engine struct {
	Backend
	buckets        []int
	pool           *vec.Pool
	shared         bool
	loaded, sealed bool
	stats          Stats
	x, y           []float32 // [largest bucket,In], [..,Out] of a backend that is no Streamer
}

func (e *engine) Load(p Params) {
	if !e.Fits(p) {
		panic(badShape)
	}
	e.Backend.Load(p)
	e.stats.Loads++
	e.loaded = true
}

func (e *engine) Seal() {
	switch {
	case e.sealed:
		panic(sealedTwice)
	case !e.loaded:
		panic(notLoaded)
	}
	x, y := make([]float32, e.largest()*e.In()), make([]float32, e.largest()*e.Out())
	for _, b := range e.buckets {
		e.Backend.Forward(y[:b*e.Out()], x[:b*e.In()], b, b)
	}
	if _, ok := e.Backend.(Streamer); !ok {
		e.x, e.y = x, y
	}
	e.sealed, e.stats = true, Stats{}
}

func (e *engine) largest() int { return e.buckets[len(e.buckets)-1] }

func (e *engine) Forward(dst, x []float32, rows int) {
	if rows > 0 && (len(dst) < rows*e.Out() || len(x) < rows*e.In()) {
		panic(badLength)
	}
	if !e.admit(rows) {
		return
	}
	for lo := 0; lo < rows; lo += e.largest() {
		e.forward(dst, x, lo, min(lo+e.largest(), rows))
	}
}

// admit checks and counts a request, and reports whether there is work in it.
func (e *engine) admit(rows int) bool {
	switch {
	case !e.sealed:
		panic(notSealed)
	case rows < 0:
		panic(badRows)
	case rows == 0:
		return false
	}
	e.stats.Requests++
	if rows > e.largest() {
		e.stats.OffGrid++
	}
	return true
}

// forward runs the rows [lo,hi), which fit one bucket.
func (e *engine) forward(dst, x []float32, lo, hi int) {
	rows, bucket := hi-lo, e.bucket(hi-lo)
	e.count(rows, bucket, e.Backend.Forward(dst[lo*e.Out():hi*e.Out()], x[lo*e.In():hi*e.In()], rows, bucket))
}

func (e *engine) count(rows, bucket, computed int) {
	e.stats.Forwards++
	e.stats.Rows += int64(rows)
	e.stats.Padded += int64(bucket - rows)
	e.stats.Computed += int64(computed)
}

// bucket returns the smallest bucket that holds the rows.
func (e *engine) bucket(rows int) int {
	i, _ := slices.BinarySearch(e.buckets, rows)
	return e.buckets[i]
}

func (e *engine) Stats() Stats { return e.stats }

func (e *engine) ResetStats() { e.stats = Stats{} }

func (e *engine) Describe() string {
	return fmt.Sprintf("%s, %d workers, buckets %v", e.Backend.Describe(), e.pool.Workers(), e.buckets)
}

func (e *engine) Close() {
	e.Backend.Close()
	if !e.shared {
		e.pool.Close()
	}
}
