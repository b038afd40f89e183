package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vtrain/cfr/run"
)

func TestLoad(t *testing.T) {
	for text, want := range map[string][]float64{
		"0.52 1.00 12.25 3/411 8\n": {0.52, 1, 12.25}, "": nil, "0.5 1": nil, "0.5 x 1 3/4 5": nil,
	} {
		path := filepath.Join(t.TempDir(), "loadavg")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := load(path); !slices.Equal(got, want) {
			t.Errorf("%q is a load of %v, expected %v", text, got, want)
		}
	}
	if got := load(filepath.Join(t.TempDir(), "absent")); got != nil {
		t.Errorf("no file is a load of %v", got)
	}
}

func TestMachineString(t *testing.T) {
	m := Machine{
		Machine: run.Machine{CPU: "A processor", System: "os/arch", Go: "go1"}, Features: []string{"avx", "avx2", "fma"},
		Cores: 1, Logical: 8, LoadBefore: []float64{0.26, 1, 1}, LoadAfter: []float64{1, 1, 1},
	}
	if s := m.String(); s != "A processor, 1 core of 8, os/arch, go1, avx2, load 0.26 before, 1.0 after" {
		t.Error(s)
	}
	m.LoadAfter, m.Features, m.Cores = nil, []string{"avx2", "avx512f"}, 2
	if s := m.String(); s != "A processor, 2 cores of 8, os/arch, go1, avx512f" {
		t.Error(s)
	}
	m = ThisMachine()
	m.Finish()
	if m.Cores < 1 || m.Go == "" || strings.Contains(m.String(), ", ,") {
		t.Errorf("this machine is %v", m)
	}
}
