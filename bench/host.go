package bench

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/cpu"
)

// A Host is what the machine offers this process.
type Host struct {
	Cores    int      // granted: affinity and quota
	Logical  int      // of the machine
	Features []string // vector instruction sets that kernels can use
	Memory   uint64   // bytes granted, 0 if unknown
}

// ThisHost looks at the machine.
func ThisHost() Host {
	return Host{Cores: runtime.GOMAXPROCS(0), Logical: logicalCores(), Features: features(), Memory: memoryGranted(machineMemory, groupMemory)}
}

// features lists the instruction sets that matter to matrix products.
func features() []string {
	var have []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"sse4.1", cpu.X86.HasSSE41}, {"avx", cpu.X86.HasAVX}, {"avx2", cpu.X86.HasAVX2}, {"fma", cpu.X86.HasFMA},
		{"avx512f", cpu.X86.HasAVX512F}, {"avx512bw", cpu.X86.HasAVX512BW}, {"avx512dq", cpu.X86.HasAVX512DQ},
		{"avx512vl", cpu.X86.HasAVX512VL}, {"avx512vnni", cpu.X86.HasAVX512VNNI}, {"avx512bf16", cpu.X86.HasAVX512BF16},
		{"asimd", cpu.ARM64.HasASIMD}, {"sve", cpu.ARM64.HasSVE},
	} {
		if f.has {
			have = append(have, f.name)
		}
	}
	return have
}

// logicalCores counts the machine's processors, whatever is granted of them.
func logicalCores() int {
	if online, err := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*"); err == nil && len(online) > 0 {
		return len(online)
	}
	return runtime.NumCPU()
}

// Where Linux says how much memory there is.
const (
	machineMemory = "/proc/meminfo"
	groupMemory   = "/sys/fs/cgroup/memory.max"
)

// memoryGranted returns the smaller of the machine's memory and its control
// group's limit, the one that is known if the other is not, 0 if neither is.
func memoryGranted(machine, group string) uint64 {
	total, limit := fact(machine, parseTotal), fact(group, parseLimit)
	if total == 0 || limit == 0 {
		return max(total, limit)
	}
	return min(total, limit)
}

// fact returns what parse finds in a file, 0 if nothing.
func fact(path string, parse func(text string) uint64) uint64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	return parse(string(text))
}

// parseTotal returns the bytes of meminfo's line "MemTotal: 123 kB".
func parseTotal(text string) uint64 {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "MemTotal:" {
			return parseCount(fields[1]) << 10
		}
	}
	return 0
}

// parseLimit returns the bytes of a control group's limit, which may be "max".
func parseLimit(text string) uint64 { return parseCount(strings.TrimSpace(text)) }

// parseCount returns a number, 0 for other text.
func parseCount(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
