package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vtrain/cfr/run"
	"vtrain/nets"
	"vtrain/nets/kernel"
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
		Machine:  run.Machine{CPU: "A processor", System: "os/arch", Go: "go1", Revision: "0123456789abcdef"},
		Features: []string{"avx2", "avx512f"}, Kernels: "avx2", Int8: "go",
		Cores: 1, Logical: 8, LoadBefore: []float64{0.26, 1, 1}, LoadAfter: []float64{1, 1, 1},
	}
	if s := m.String(); s != "A processor, 1 core of 8, os/arch, go1, revision 0123456789ab, kernels avx2 and for int8 go, load 0.26 before, 1.0 after" {
		t.Error(s)
	}
	m.LoadAfter, m.Kernels, m.Cores, m.Revision, m.Modified, m.Busy = nil, "", 2, "unknown", true, true
	if s := m.String(); s != "A processor, 2 cores of 8, os/arch, go1, revision unknown with uncommitted changes, busy" {
		t.Error(s)
	}
	m = ThisMachine()
	m.Finish()
	if m.Cores < 1 || m.Go == "" || strings.Contains(m.String(), ", ,") {
		t.Errorf("this machine is %v", m)
	}
}

// TestKernelsOfMachine: those that run, not those that the processor could.
func TestKernelsOfMachine(t *testing.T) {
	set, err := kernel.Default()
	if err != nil {
		t.Fatal(err)
	}
	m := ThisMachine()
	if m.Backend(nets.Float32) != "cpu "+set.Name() || m.Backend(nets.Int8) != "cpu "+set.Int8Name() ||
		!strings.Contains(m.String(), "kernels "+set.Name()+" ") {
		t.Errorf("%v with %s", m, set.Name())
	}
}

func TestOverloaded(t *testing.T) {
	for _, c := range []struct {
		before, after []float64
		want          bool
	}{{nil, nil, false}, {[]float64{2.1, 9, 9}, []float64{2.4, 9, 9}, false}, {[]float64{2.6, 0, 0}, nil, true}, {nil, []float64{3, 0, 0}, true}} {
		m := Machine{Logical: 2, LoadBefore: c.before, LoadAfter: c.after}
		if got := m.overloaded(); got != c.want {
			t.Errorf("loads %v and %v: %v", c.before, c.after, got)
		}
	}
}
