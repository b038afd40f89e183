package run

import (
	"path/filepath"
	"reflect"
	"testing"

	"vtrain/cfr"
	"vtrain/vec"
)

func TestEveryTypeOfColumn(t *testing.T) {
	f := mustCreate(t, kuhnConfig())
	s := cfr.State{Iteration: 1, Memory: cfr.MemoryState{Rows: 2, Seen: 3}}
	for i, data := range []any{
		[]uint8{1, 255}, []int8{-1, 1}, []uint16{1, 65535}, []int16{-1, 1}, []uint32{1, 1 << 31}, []int32{-1, 1},
		[]uint64{1, 1 << 63}, []int64{-1, 1}, []float32{-1, 0.5}, []float64{-1, 0.5},
	} {
		s.Memory.Fields = append(s.Memory.Fields, vec.Field{Name: string(rune('a' + i)), W: 1, Data: data})
	}
	s.Memory.Fields = append(s.Memory.Fields, vec.Field{Name: "wide", W: 2, Data: []uint16{1, 2, 3, 4}}, vec.Field{Name: "empty", W: 0, Data: []uint8{}})
	mustSave(t, f, s)
	ck, err := Load(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(ck.State, s) {
		t.Errorf("loaded %+v, want %+v", ck.State, s)
	}
}

func TestStateBeforeTheFirstIteration(t *testing.T) {
	f := mustCreate(t, kuhnConfig())
	mustSave(t, f, newLearner(t, f.Config, 1).State())
	ck, err := Load(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := newLearner(t, f.Config, 1).Restore(ck.State); err != nil {
		t.Error(err)
	}
}

func TestTwoTensorsOfOneName(t *testing.T) {
	x := tensor{"x", []int{1}, []uint8{1}}
	_, err := writeTensors(filepath.Join(t.TempDir(), "x.safetensors"), []tensor{x, x})
	mustFail(t, err, "x.safetensors: tensor x")
}
