package nets

import "vtrain/vec"

// MaxBlock is the most rows of a range that a Stream is asked for: they can be
// observed by the worker that asks.
const MaxBlock = vec.Inline

// A Stream makes the rows of a batch, and uses what the network makes of them,
// block by block while they are in a worker's cache. Its methods are called for
// ranges of rows, each once, by several workers at the same time.
type Stream interface {
	// Fill sets x [hi-lo,In] to the rows [lo,hi).
	Fill(x []float32, lo, hi int)
	// Drain is given the outputs y [hi-lo,Out] of the same rows, which it may
	// not keep.
	Drain(y []float32, lo, hi int)
}

// A Streamer is a Backend that takes blocks of rows through the whole network by
// themselves, as Forward does with those in memory.
type Streamer interface {
	// Stream takes the rows from first on, 1 <= rows <= bucket, of a stream.
	Stream(s Stream, first, rows, bucket int) (computed int)
}

func (e *engine) Stream(s Stream, rows int) {
	if !e.admit(rows) {
		return
	}
	for lo := 0; lo < rows; lo += e.largest() {
		e.stream(s, lo, min(lo+e.largest(), rows))
	}
}

// stream runs the rows [lo,hi), which fit one bucket.
func (e *engine) stream(s Stream, lo, hi int) {
	rows, bucket := hi-lo, e.bucket(hi-lo)
	if b, ok := e.Backend.(Streamer); ok {
		e.count(rows, bucket, b.Stream(s, lo, rows, bucket))
		return
	}
	in, out := e.In(), e.Out()
	for r := 0; r < rows; r += MaxBlock {
		end := min(r+MaxBlock, rows)
		s.Fill(e.x[r*in:end*in], lo+r, lo+end)
	}
	e.count(rows, bucket, e.Backend.Forward(e.y[:rows*out], e.x[:rows*in], rows, bucket))
	for r := 0; r < rows; r += MaxBlock {
		end := min(r+MaxBlock, rows)
		s.Drain(e.y[r*out:end*out], lo+r, lo+end)
	}
}
