package nettest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"vtrain/nets"
	"vtrain/vec"
)

// An EngineFactory makes an engine, as cpu.NewEngine does.
type EngineFactory[S nets.Shape] func(S, nets.EngineOptions) (nets.Engine, error)

// Traits says what an implementation doesn't promise.
type Traits struct {
	Allocates bool           // may allocate in every forward or step
	Precision nets.Precision // of an engine; the suite makes the calibration rows
	Tolerance float64        // of an engine's outputs, relative to the largest; 0 means 1e-5
}

// engines makes engines of one architecture.
type engines struct {
	architecture
	Traits
	make func(nets.Shape, nets.EngineOptions) (nets.Engine, error)
}

// RunEngine runs the suite over the engines that a factory makes, for each
// architecture whose shapes it takes: all of them if it takes a nets.Shape.
func RunEngine[S nets.Shape](t *testing.T, factory EngineFactory[S], traits ...Traits) {
	for _, a := range architectures {
		if _, ok := a.tiny().(S); ok {
			f := engines{a, union(traits), func(s nets.Shape, o nets.EngineOptions) (nets.Engine, error) { return factory(s.(S), o) }}
			t.Run(a.name(), f.run)
		}
	}
}

func (f engines) run(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, engines)
		skip bool
	}{
		{"Values", engineValues, false},
		{"RowsAreIndependent", engineRows, false},
		{"Tails", engineTails, false},
		{"Streams", engineStreams, false},
		{"NaNStaysInItsRow", engineNaN, false},
		{"Reload", engineReload, false},
		{"Allocations", engineAllocations, f.Allocates},
		{"Stats", engineStats, false},
		{"SharedPool", engineSharedPool, false},
		{"Renaming", engineRenaming, f.groups(f.small()) == nil},
		{"Misuse", engineMisuse, false},
		{"Options", engineOptions, false},
	} {
		if !test.skip {
			t.Run(test.name, func(t *testing.T) { test.run(t, f) })
		}
	}
}

// union returns what any of the traits says.
func union(traits []Traits) Traits {
	var all Traits
	for _, t := range traits {
		all.Allocates = all.Allocates || t.Allocates
		all.Precision = max(all.Precision, t.Precision)
		all.Tolerance = max(all.Tolerance, t.Tolerance)
	}
	if all.Tolerance == 0 {
		all.Tolerance = 1e-5
	}
	return all
}

// new makes an engine of the precision that the traits say.
func (f engines) new(shape nets.Shape, o nets.EngineOptions) (nets.Engine, error) {
	o.Precision = f.Precision
	if f.Precision == nets.Int8 && o.Calibration == nil && shape.Validate() == nil {
		o.Calibration = calibration(shape)
	}
	return f.make(shape, o)
}

// calibration returns rows like those that engines are tested with.
func calibration(shape nets.Shape) []float32 { return inputs(1000, shape.In(), 22) }

// sealed returns an engine ready to work, closed at the end of the test.
func (f engines) sealed(t *testing.T, shape nets.Shape, p nets.Params, o nets.EngineOptions) nets.Engine {
	t.Helper()
	e, err := f.new(shape, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	e.Load(p)
	e.Seal()
	return e
}

// A stream of rows in memory, which counts what it is asked for.
type stream struct {
	e               nets.Engine
	x, y            []float32
	filled, drained []atomic.Int32 // [rows]
}

func (s *stream) Fill(x []float32, lo, hi int) {
	in := s.e.In()
	if len(x) != (hi-lo)*in || hi-lo > nets.MaxBlock {
		panic("a block of another size")
	}
	copy(x, s.x[lo*in:hi*in])
	for r := lo; r < hi; r++ {
		s.filled[r].Add(1)
	}
}

func (s *stream) Drain(y []float32, lo, hi int) {
	out := s.e.Out()
	copy(s.y[lo*out:hi*out], y)
	if len(y) != (hi-lo)*out {
		panic("outputs of another size")
	}
	for r := lo; r < hi; r++ {
		s.drained[r].Add(1)
	}
}

// engineStreams: rows that come and go in blocks have the bits of those in
// memory, each once, and nothing is allocated.
func engineStreams(t *testing.T, f engines) {
	shape := f.small()
	e := f.sealed(t, shape, params(shape, 1), nets.EngineOptions{Buckets: []int{1, 64, 256}, Workers: 2})
	for _, rows := range []int{0, 1, 2, 63, 257, 700} {
		x, want := inputs(rows, shape.In(), 3), make([]float32, rows*shape.Out())
		e.Forward(want, x, rows)
		s := &stream{e, x, make([]float32, len(want)), make([]atomic.Int32, rows), make([]atomic.Int32, rows)}
		e.Stream(s, rows)
		if !slices.Equal(s.y, want) {
			t.Errorf("%d rows of a stream have other outputs than those in memory", rows)
		}
		for r := range rows {
			if s.filled[r].Load() != 1 || s.drained[r].Load() != 1 {
				t.Fatalf("row %d of %d was filled %d times and drained %d times", r, rows, s.filled[r].Load(), s.drained[r].Load())
			}
		}
		if got := testing.AllocsPerRun(5, func() { e.Stream(s, rows) }); got != 0 && !f.Allocates {
			t.Errorf("%v allocations in a stream of %d rows", got, rows)
		}
	}
}

// engineValues compares outputs with float64.
func engineValues(t *testing.T, f engines) {
	for _, shape := range f.shapes() {
		p := params(shape, 1)
		e := f.sealed(t, shape, p, nets.EngineOptions{Buckets: []int{2, 64, 256}, Workers: 2})
		if e.In() != shape.In() || e.Out() != shape.Out() || !strings.Contains(e.Describe(), shape.String()) {
			t.Errorf("%v describes itself as %q, %d inputs, %d outputs", shape, e.Describe(), e.In(), e.Out())
		}
		for _, rows := range batchSizes() {
			if slow(shape, rows) {
				continue
			}
			x, y := inputs(rows, shape.In(), uint64(rows)), make([]float32, rows*shape.Out())
			poison(y)
			e.Forward(y, x, rows)
			near(t, fmt.Sprintf("%v, %d rows", shape, rows), y, Forward(shape, p, x, rows), f.Tolerance)
		}
	}
}

// engineRows evaluates the same rows through other buckets, cuts and workers.
func engineRows(t *testing.T, f engines) {
	for _, shape := range []nets.Shape{f.tiny(), f.deep()} {
		p, largest := params(shape, 2), 1000
		x, want := inputs(largest, shape.In(), 3), make([]float32, largest*shape.Out())
		f.sealed(t, shape, p, nets.EngineOptions{Buckets: []int{1024}, Workers: 1}).Forward(want, x, largest)
		for _, workers := range []int{1, 2, 5} {
			for _, buckets := range [][]int{{1}, {3, 100}, {1, 8, 64, 256, 512}, nil} {
				if buckets == nil && (testing.Short() || workers > 1 || shape.In() != f.tiny().In()) {
					continue // sealing the default grid is slow where padding is real
				}
				e := f.sealed(t, shape, p, nets.EngineOptions{Buckets: buckets, Workers: workers})
				for _, rows := range batchSizes() {
					// The last rows of the batch, so that rows change places.
					lo := largest - rows
					y := make([]float32, rows*shape.Out())
					e.Forward(y, x[lo*shape.In():], rows)
					equalBits(t, fmt.Sprintf("%v, %d workers, buckets %v, %d rows", shape, workers, buckets, rows), y, want[lo*shape.Out():])
				}
			}
		}
	}
}

// engineTails surrounds the rows with NaN, which may be neither read nor
// overwritten.
func engineTails(t *testing.T, f engines) {
	shape := f.small()
	p := params(shape, 4)
	e := f.sealed(t, shape, p, nets.EngineOptions{Buckets: []int{4, 64, 100}, Workers: 2})
	for _, rows := range batchSizes() {
		const extra = 70
		x, y := inputs(rows+extra, shape.In(), 5), make([]float32, (rows+extra)*shape.Out())
		poison(x[rows*shape.In():])
		poison(y)
		e.Forward(y, x, rows)
		near(t, fmt.Sprintf("%d rows", rows), y[:rows*shape.Out()], Forward(shape, p, x, rows), f.Tolerance)
		for i, v := range y[rows*shape.Out():] {
			if v == v {
				t.Fatalf("%d rows: element %d beyond them was written", rows, i)
			}
		}
	}
	y := []float32{1, 2}
	e.Forward(y, nil, 0)
	equalBits(t, "no rows", y, []float32{1, 2})
}

// engineNaN breaks one row: its outputs must show it, and no other row's may.
func engineNaN(t *testing.T, f engines) {
	const rows, broken = 100, 41
	shape := f.small()
	e := f.sealed(t, shape, params(shape, 6), nets.EngineOptions{Buckets: []int{128}, Workers: 2})
	x := inputs(rows, shape.In(), 7)
	want, y := make([]float32, rows*shape.Out()), make([]float32, rows*shape.Out())
	e.Forward(want, x, rows)
	for _, sign := range []uint32{0, 1 << 31} {
		x[broken*shape.In()] = math.Float32frombits(0x7fc00000 | sign)
		e.Forward(y, x, rows)
		for j, v := range y[broken*shape.Out() : (broken+1)*shape.Out()] {
			if v == v {
				t.Errorf("output %d of the broken row is %v", j, v)
			}
		}
		copy(y[broken*shape.Out():], want[broken*shape.Out():(broken+1)*shape.Out()])
		equalBits(t, "rows beside the broken one", y, want)
	}
}

// engineReload changes the parameters of a sealed engine.
func engineReload(t *testing.T, f engines) {
	const rows = 65
	shape := f.small()
	p := params(shape, 8)
	e := f.sealed(t, shape, p, nets.EngineOptions{Buckets: []int{64}, Workers: 1})
	x, y, again := inputs(rows, shape.In(), 9), make([]float32, rows*shape.Out()), make([]float32, rows*shape.Out())
	e.Forward(y, x, rows)
	p.CopyFrom(params(shape, 10))
	e.Forward(again, x, rows)
	equalBits(t, "the caller's parameters changed after Load", again, y)
	e.Load(p)
	e.Forward(again, x, rows)
	near(t, "after the second Load", again, Forward(shape, p, x, rows), f.Tolerance)
}

// engineAllocations counts allocations after Seal, with a layer as wide as
// tempts a BLAS to start goroutines.
func engineAllocations(t *testing.T, f engines) {
	shape := f.wide()
	p := params(shape, 11)
	for _, workers := range []int{1, 2, 5} {
		e := f.sealed(t, shape, p, nets.EngineOptions{Buckets: []int{1, 64, 256}, Workers: workers})
		x, y := inputs(1000, shape.In(), 12), make([]float32, 1000*shape.Out())
		for _, rows := range []int{1, 65, 300} {
			allocations(t, fmt.Sprintf("Forward of %d rows", rows), func() { e.Forward(y, x, rows) })
		}
		allocations(t, "Load", func() { e.Load(p) })
	}
}

// engineStats compares the counts with a naive count of buckets.
func engineStats(t *testing.T, f engines) {
	buckets := []int{1, 8, 64, 100}
	shape := f.tiny()
	e := f.sealed(t, shape, params(shape, 13), nets.EngineOptions{Buckets: buckets, Workers: 1})
	x, y := inputs(1000, shape.In(), 14), make([]float32, 1000*shape.Out())
	for round := range 2 {
		var want nets.Stats
		for _, rows := range append([]int{0, 1, 2, 8, 9, 99, 100, 101, 164, 200}, batchSizes()...) {
			e.Forward(y, x, rows)
			count(&want, buckets, rows)
		}
		got := e.Stats()
		if got.Computed < got.Rows || got.Computed > got.Rows+got.Padded {
			t.Errorf("round %d: %d rows computed of %d and %d padded", round, got.Computed, got.Rows, got.Padded)
		}
		if got.Computed = 0; got != want {
			t.Errorf("round %d: %+v, want %+v", round, got, want)
		}
		e.ResetStats()
	}
	if e.Stats() != (nets.Stats{}) {
		t.Errorf("after ResetStats: %+v", e.Stats())
	}
}

// count adds one request to the counts, row by row.
func count(s *nets.Stats, buckets []int, rows int) {
	if rows == 0 {
		return
	}
	s.Requests++
	s.Rows += int64(rows)
	largest := buckets[len(buckets)-1]
	if rows > largest {
		s.OffGrid++
	}
	for ; rows > largest; rows -= largest {
		s.Forwards++
	}
	s.Forwards++
	for _, b := range buckets {
		if b >= rows {
			s.Padded += int64(b - rows)
			return
		}
	}
}

// engineSharedPool runs two engines on one pool, which outlives both.
func engineSharedPool(t *testing.T, f engines) {
	pool := vec.NewPool(3)
	defer pool.Close()
	shape := f.tiny()
	p, x := params(shape, 15), inputs(200, shape.In(), 16)
	for range 2 {
		e, err := f.new(shape, nets.EngineOptions{Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		e.Load(p)
		e.Seal()
		y := make([]float32, 200*shape.Out())
		e.Forward(y, x, 200)
		near(t, "shared pool", y, Forward(shape, p, x, 200), f.Tolerance)
		e.Close()
	}
	pool.Run(100, 1, func(lo, hi int) {})
}

// engineMisuse checks that a caller's mistakes panic.
func engineMisuse(t *testing.T, f engines) {
	shape := f.tiny()
	e, err := f.new(shape, nets.EngineOptions{Buckets: []int{8}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	in, out := shape.In(), shape.Out()
	x, y := make([]float32, 8*in), make([]float32, 8*out)
	panics(t, "Seal before Load", e.Seal)
	panics(t, "Forward before Seal", func() { e.Forward(y, x, 1) })
	panics(t, "other parameters", func() { e.Load(f.small().NewParams()) })
	panics(t, "deeper parameters", func() { e.Load(deeper(shape.NewParams())) })
	panics(t, "no parameters", func() { e.Load(nets.Params{}) })
	e.Load(shape.NewParams())
	panics(t, "Forward before Seal", func() { e.Forward(y, x, 1) })
	e.Seal()
	panics(t, "second Seal", e.Seal)
	panics(t, "short x", func() { e.Forward(y, x[:8*in-1], 8) })
	panics(t, "short dst", func() { e.Forward(y[:8*out-1], x, 8) })
	panics(t, "negative rows", func() { e.Forward(y, x, -1) })
	if e.Stats() != (nets.Stats{}) {
		t.Errorf("mistakes were counted: %+v", e.Stats())
	}
}

// deeper returns parameters of another layer on top.
func deeper(p nets.Params) nets.Params {
	var specs []nets.Spec
	for _, t := range p.Tensors() {
		specs = append(specs, nets.Spec{Name: t.Name, Shape: t.Shape})
	}
	out := p.Tensors()[len(specs)-1].Shape[0]
	return nets.NewParams(append(specs, nets.Spec{Name: "more.weight", Shape: []int{out, out}}, nets.Spec{Name: "more.bias", Shape: []int{out}})...)
}

// engineOptions checks that a bad configuration is an error, and that the
// options are copied.
func engineOptions(t *testing.T, f engines) {
	for _, o := range []nets.EngineOptions{
		{Buckets: []int{0}}, {Buckets: []int{8, 8}}, {Buckets: []int{8, 4}}, {Buckets: []int{-1, 4}}, {Workers: -1},
	} {
		if _, err := f.new(f.tiny(), o); err == nil {
			t.Errorf("options %+v: no error", o)
		}
	}
	odd := make([]float32, f.tiny().In())
	poison(odd)
	for _, o := range []nets.EngineOptions{
		{Precision: nets.Int8}, {Precision: nets.Int8 + 1}, {Precision: f.Precision, Calibration: odd},
	} {
		if _, err := f.make(f.tiny(), o); err == nil {
			t.Errorf("options %+v: no error", o)
		}
	}
	for _, shape := range f.invalid() {
		if _, err := f.new(shape, nets.EngineOptions{}); err == nil {
			t.Errorf("shape %v: no error", shape)
		}
	}
	buckets, shape := []int{8}, f.small()
	p := params(shape, 17)
	rows := calibration(shape)
	e := f.sealed(t, shape, p, nets.EngineOptions{Buckets: buckets, Workers: 1, Calibration: rows})
	buckets[0] = 1
	clear(rows)
	f.spoil(shape)
	shape = f.small()
	e.Load(p)
	x, y := inputs(8, shape.In(), 18), make([]float32, 8*shape.Out())
	e.Forward(y, x, 8)
	near(t, "options changed later", y, Forward(shape, p, x, 8), f.Tolerance)
	if s := e.Stats(); s.Forwards != 1 {
		t.Errorf("options changed later: %d forwards, want 1", s.Forwards)
	}
}
