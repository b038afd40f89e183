package vec

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// extremes has fields of every element type, with the ends of its range.
var extremes = []Field{
	{"column", 1, []uint8{0, math.MaxUint8}},
	{"column", 1, []uint16{0, math.MaxUint16}},
	{"column", 1, []uint32{0, math.MaxUint32}},
	{"column", 1, []uint64{0, math.MaxUint64}},
	{"column", 1, []int8{math.MinInt8, math.MaxInt8}},
	{"column", 1, []int16{math.MinInt16, math.MaxInt16}},
	{"column", 1, []int32{math.MinInt32, math.MaxInt32}},
	{"column", 1, []int64{math.MinInt64, math.MaxInt64}},
	{"column", 1, []float32{-math.MaxFloat32, math.MaxFloat32}},
	{"column", 1, []float64{-math.MaxFloat64, math.MaxFloat64}},
}

// fits reports whether a type keeps both ends of a field's range, by converting
// them there: the definition of what Promote finds by types alone.
func fits(t reflect.Type, f Field) bool {
	float := func(k reflect.Kind) bool { return k == reflect.Float32 || k == reflect.Float64 }
	if t == f.element() || float(t.Kind()) || float(f.element().Kind()) {
		return t == f.element()
	}
	values := reflect.ValueOf(f.Data)
	for i := range values.Len() {
		if v := values.Index(i); fmt.Sprint(v.Convert(t)) != fmt.Sprint(v) {
			return false
		}
	}
	return true
}

// TestPromote compares with a search of all types for the narrowest that fits,
// for fields in any order.
func TestPromote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.SliceOfN(rapid.SampledFrom(extremes), 1, 4).Draw(t, "fields")
		var want reflect.Type
		for _, candidate := range extremes { // unsigned before signed, narrow before wide
			all := true
			for _, f := range fields {
				all = all && fits(candidate.element(), f)
			}
			if all {
				want = candidate.element()
				break
			}
		}
		got, err := Promote(fields[0], fields[1:]...)
		if got != want || (err == nil) != (want != nil) {
			t.Fatalf("got %v, %v; expected %v", got, err, want)
		}
	})
}

func TestPromoteNamesBothSides(t *testing.T) {
	_, err := Promote(Field{"a", 1, []uint16{}}, Field{"b", 1, []uint64{}}, Field{"c", 1, []int8{}})
	if want := "column c is of int8, which has no type in common with uint64"; err == nil || err.Error() != want {
		t.Errorf("got %v, expected %s", err, want)
	}
}

// TestWiden: a field takes just the types that it holds, and their values.
func TestWiden(t *testing.T) {
	for _, src := range extremes {
		for _, like := range extremes {
			dst := Field{"column", 1, reflect.MakeSlice(reflect.TypeOf(like.Data), 2, 2).Interface()}
			err := dst.Widen(src)
			if (err == nil) != fits(dst.element(), src) {
				t.Errorf("%T from %T: error %v", dst.Data, src.Data, err)
			}
			if got, want := fmt.Sprint(dst.Data), fmt.Sprint(src.Data); err == nil && got != want {
				t.Errorf("%T from %T: %s, expected %s", dst.Data, src.Data, got, want)
			}
		}
	}
	dst := Field{"small", 3, make([]uint16, 6)}
	for want, src := range map[string]Field{
		"column is wide of width 3, expected small of width 3":              {"wide", 3, make([]uint8, 6)},
		"column is small of width 2, expected small of width 3":             {"small", 2, make([]uint8, 6)},
		"column small is 9 values of type []uint8, expected 6 of []uint16":  {"small", 3, make([]uint8, 9)},
		"column small is 6 values of type []int8, expected 6 of []uint16":   {"small", 3, make([]int8, 6)},
		"column small is 6 values of type []uint32, expected 6 of []uint16": {"small", 3, make([]uint32, 6)},
	} {
		if err := dst.Widen(src); err == nil || err.Error() != want {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
}
