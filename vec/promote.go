package vec

import (
	"fmt"
	"reflect"
	"slices"
)

// Promote returns the element type that columns of several sources have in
// common: the narrowest that holds all values of all their types. It never looks
// at values. Integers become as wide as the widest, and signed if any is, which
// takes one step more to hold an unsigned one; floats only go with their like.
// The error names the first field that no type holds beside those before it.
func Promote(first Field, more ...Field) (reflect.Type, error) {
	common := first.element()
	for _, f := range more {
		both, ok := promote(common, f.element())
		if !ok {
			return nil, fmt.Errorf("column %s is of %v, which has no type in common with %v", f.Name, f.element(), common)
		}
		common = both
	}
	return common, nil
}

func (f Field) element() reflect.Type { return reflect.TypeOf(f.Data).Elem() }

// integers lists types by the logarithm of their bytes: unsigned, signed.
var integers = [2][]reflect.Type{
	{reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64]()},
	{reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64]()},
}

func promote(a, b reflect.Type) (common reflect.Type, ok bool) {
	if a == b {
		return a, true
	}
	for _, types := range integers {
		for _, t := range types {
			if holds(t, a) && holds(t, b) {
				return t, true
			}
		}
	}
	return nil, false
}

// holds reports whether an integer type holds all values of another.
func holds(wide, narrow reflect.Type) bool {
	for signed, types := range integers {
		if i := slices.Index(types, narrow); i >= 0 {
			j := slices.Index(integers[1], wide)
			return slices.Index(types, wide) >= i || signed == 0 && j > i
		}
	}
	return false
}

// Widen copies the values of another field of the same name and shape, as Set
// does, but takes integers of a narrower type too: what an older program stored,
// say.
func (f Field) Widen(src Field) error {
	common, err := Promote(f, src)
	same := f.Name == src.Name && f.W == src.W && reflect.ValueOf(f.Data).Len() == reflect.ValueOf(src.Data).Len()
	if err != nil || common != f.element() || common == src.element() || !same {
		return f.Set(src) // which copies, or says what differs
	}
	switch dst := f.Data.(type) {
	case []uint16:
		widen(dst, src.Data)
	case []uint32:
		widen(dst, src.Data)
	case []uint64:
		widen(dst, src.Data)
	case []int16:
		widen(dst, src.Data)
	case []int32:
		widen(dst, src.Data)
	case []int64:
		widen(dst, src.Data)
	}
	return nil
}

func widen[T Element](dst []T, src any) {
	switch src := src.(type) {
	case []uint8:
		convert(dst, src)
	case []uint16:
		convert(dst, src)
	case []uint32:
		convert(dst, src)
	case []int8:
		convert(dst, src)
	case []int16:
		convert(dst, src)
	case []int32:
		convert(dst, src)
	}
}

func convert[T, S Element](dst []T, src []S) {
	for i, v := range src {
		dst[i] = T(v)
	}
}
