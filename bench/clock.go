package bench

import "time"

// A Clock is what time is measured by.
type Clock string

const (
	// Wall is the time that passes.
	Wall Clock = "wall"

	// CPU is the processor time of this process, all threads together: for
	// work on one core, the time that would pass if nobody else ran on it.
	CPU Clock = "cpu"
)

var began = time.Now()

// now returns the time since some moment.
func (c Clock) now() time.Duration {
	if c == CPU {
		return processTime()
	}
	return time.Since(began)
}

// Timed is a Timer of work in this process.
func (c Clock) Timed(work func() error) Timer {
	return func(n int) (time.Duration, error) {
		start := c.now()
		for range n {
			if err := work(); err != nil {
				return 0, err
			}
		}
		return c.now() - start, nil
	}
}
