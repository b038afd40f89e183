package bench

import (
	"os"
	"strconv"
	"strings"

	"vtrain/cfr/run"
)

// A Machine is where and by what something was measured.
type Machine struct {
	run.Machine
	Features   []string  `json:"features"`
	Cores      int       `json:"cores_granted"`
	Logical    int       `json:"cores"`
	Memory     uint64    `json:"memory"`      // bytes granted, 0 if unknown
	LoadBefore []float64 `json:"load_before"` // mean runnable processes of 1, 5 and 15 minutes, null if unknown
	LoadAfter  []float64 `json:"load_after"`
}

// ThisMachine looks at the machine before something is measured, and Finish
// once more afterwards.
func ThisMachine() Machine {
	h := ThisHost()
	return Machine{
		Machine: run.ThisMachine(), Features: h.Features, Cores: h.Cores, Logical: h.Logical, Memory: h.Memory,
		LoadBefore: load(loadFile),
	}
}

// Finish looks at the load that measuring ended with.
func (m *Machine) Finish() { m.LoadAfter = load(loadFile) }

// String returns the machine as a line.
func (m Machine) String() string {
	parts := []string{m.CPU, counted(m.Cores, "core") + " of " + strconv.Itoa(m.Logical), m.System, m.Go}
	if vectors := m.vectors(); vectors != "" {
		parts = append(parts, vectors)
	}
	if len(m.LoadBefore) > 0 && len(m.LoadAfter) > 0 {
		parts = append(parts, "load "+Significant(m.LoadBefore[0], 2)+" before, "+Significant(m.LoadAfter[0], 2)+" after")
	}
	return strings.Join(parts, ", ")
}

// vectors names the widest instruction set that products can use.
func (m Machine) vectors() string {
	have := " " + strings.Join(m.Features, " ") + " "
	for _, set := range []string{"avx512f", "avx2", "avx", "sse4.1", "sve", "asimd"} {
		if strings.Contains(have, " "+set+" ") {
			return set
		}
	}
	return ""
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
