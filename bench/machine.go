package bench

import (
	"os"
	"strconv"
	"strings"

	"vtrain/cfr/run"
	"vtrain/nets"
	"vtrain/nets/kernel"
)

// A Machine is where and by what something was measured.
type Machine struct {
	run.Machine
	Features   []string  `json:"features"`     // of the processor, whether used or not
	Kernels    string    `json:"kernels"`      // that ran in float32, a kernel.Set's Name
	Int8       string    `json:"kernels_int8"` // and in int8
	Cores      int       `json:"cores_granted"`
	Logical    int       `json:"cores"`
	Memory     uint64    `json:"memory"`      // bytes granted, 0 if unknown
	LoadBefore []float64 `json:"load_before"` // mean runnable processes of 1, 5 and 15 minutes, null if unknown
	LoadAfter  []float64 `json:"load_after"`
	Busy       bool      `json:"busy"` // a load above the machine's cores: somebody else was there
}

// ThisMachine looks at the machine before something is measured, and Finish
// once more afterwards.
func ThisMachine() Machine {
	h := ThisHost()
	m := Machine{
		Machine: run.ThisMachine(), Features: h.Features, Cores: h.Cores, Logical: h.Logical, Memory: h.Memory,
		LoadBefore: load(loadFile),
	}
	if set, err := kernel.Default(); err == nil { // or nothing runs
		m.Kernels, m.Int8 = set.Name(), set.Int8Name()
	}
	return m
}

// Finish looks at the load that measuring ended with.
func (m *Machine) Finish() {
	m.LoadAfter = load(loadFile)
	m.Busy = m.overloaded()
}

// overloaded reports whether more was running before or afterwards than the
// machine has cores for. What measures uses them at most, the system a little
// besides.
func (m *Machine) overloaded() bool {
	const system = 0.5
	for _, averages := range [][]float64{m.LoadBefore, m.LoadAfter} {
		if len(averages) > 0 && averages[0] > float64(m.Logical)+system {
			return true
		}
	}
	return false
}

// Backend names the kernels that compute in a precision.
func (m Machine) Backend(precision nets.Precision) string {
	if precision == nets.Int8 {
		return "cpu " + m.Int8
	}
	return "cpu " + m.Kernels
}

// String returns the machine as a line.
func (m Machine) String() string {
	parts := []string{m.CPU, counted(m.Cores, "core") + " of " + strconv.Itoa(m.Logical), m.System, m.Go, m.revision()}
	if m.Kernels != "" {
		parts = append(parts, "kernels "+m.Kernels+" and for int8 "+m.Int8)
	}
	if len(m.LoadBefore) > 0 && len(m.LoadAfter) > 0 {
		parts = append(parts, "load "+Significant(m.LoadBefore[0], 2)+" before, "+Significant(m.LoadAfter[0], 2)+" after")
	}
	if m.Busy {
		parts = append(parts, "busy")
	}
	return strings.Join(parts, ", ")
}

// revision names what was built, as short as git does for people.
func (m Machine) revision() string {
	const short = 12 // digits
	name := "revision " + m.Revision[:min(len(m.Revision), short)]
	if m.Modified {
		name += " with uncommitted changes"
	}
	return name
}

// loadFile is where Linux says how busy the machine has been.
const loadFile = "/proc/loadavg"

// load returns the three averages, nil if they are unknown.
func load(path string) []float64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(text))
	if len(fields) < 3 {
		return nil
	}
	averages := make([]float64, 3)
	for i := range averages {
		if averages[i], err = strconv.ParseFloat(fields[i], 64); err != nil {
			return nil
		}
	}
	return averages
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Significant writes a number with so many digits that mean something, and
// without an exponent.
func Significant(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'e', digits-1, 64)
	_, exponent, _ := strings.Cut(text, "e")
	power, err := strconv.Atoi(exponent)
	if err != nil {
		return text // not finite
	}
	return strconv.FormatFloat(v, 'f', max(digits-1-power, 0), 64)
}
