//go:build !linux

package bench

import "time"

// hasProcessTime is false where nobody has asked for it yet: all is measured
// by the wall clock.
const hasProcessTime = false

func processTime() time.Duration { return Wall.now() }
