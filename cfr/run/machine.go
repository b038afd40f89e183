package run

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// A Machine is where and by what a checkpoint was written. It holds neither the
// time nor the cores: on one machine, one seed gives the same bytes at any hour
// and on any number of cores.
type Machine struct {
	CPU      string `json:"cpu"`
	System   string `json:"system"`
	Go       string `json:"go"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"` // built from uncommitted changes
}

// ThisMachine returns the facts of this process.
func ThisMachine() Machine {
	m := Machine{CPU: cpuModel(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Revision: "unknown"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				m.Revision = s.Value
			case "vcs.modified":
				m.Modified = s.Value == "true"
			}
		}
	}
	return m
}

// cpuModel returns the processor's name where the system has a file that says
// it.
func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
