package run

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// A Machine is where, when and by what a checkpoint was written. It is a file
// of its own, and no other file knows of it: one seed must give the same
// bytes on every machine, at any hour, on any number of cores, and only a
// folder whose other files are free of such facts can be compared.
type Machine struct {
	Format   int     `json:"format"`
	Elapsed  float64 `json:"elapsed_seconds"` // of training, since the run began
	Time     string  `json:"time"`
	CPU      string  `json:"cpu"`
	Cores    int     `json:"cores"` // granted
	System   string  `json:"system"`
	Go       string  `json:"go"`
	Revision string  `json:"revision"`
	Modified bool    `json:"modified"` // built from uncommitted changes
}

// ThisMachine returns the facts of now, for a run that has trained so many
// seconds.
func ThisMachine(elapsed float64) Machine {
	m := Machine{
		Format: formatVersion, Elapsed: elapsed, Time: time.Now().UTC().Format(time.RFC3339),
		CPU: cpuModel(), Cores: runtime.GOMAXPROCS(0),
		System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Revision: "unknown",
	}
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
