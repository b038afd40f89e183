package nets

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Precision is the numbers that an engine computes in.
type Precision uint8

const (
	// Float32 is for everything.
	Float32 Precision = iota

	// Int8 multiplies bytes, which is faster and less exact: by how much is in
	// docs/performance.md. It is for traversal and play; training has no use
	// for it.
	Int8
)

var precisionNames = []string{"float32", "int8"}

// PrecisionNames returns the names that ParsePrecision knows.
func PrecisionNames() []string { return slices.Clone(precisionNames) }

// ParsePrecision returns the precision of a name.
func ParsePrecision(name string) (Precision, error) {
	i := slices.Index(precisionNames, name)
	if i < 0 {
		return 0, fmt.Errorf("nets: precision %q, want %s", name, strings.Join(precisionNames, " or "))
	}
	return Precision(i), nil
}

// String returns the name.
func (p Precision) String() string {
	if int(p) < len(precisionNames) {
		return precisionNames[p]
	}
	return fmt.Sprintf("precision(%d)", uint8(p))
}

func (o EngineOptions) validatePrecision() error {
	switch {
	case int(o.Precision) >= len(precisionNames):
		return fmt.Errorf("nets: unknown %v, want %s", o.Precision, strings.Join(precisionNames, " or "))
	case o.Precision == Int8 && len(o.Calibration) == 0:
		return errors.New("nets: no calibration rows, which int8 needs")
	case !finite(o.Calibration):
		return errors.New("nets: calibration rows are not finite")
	}
	return nil
}
