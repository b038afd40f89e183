package bench

import (
	"bufio"
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
	return Host{Cores: runtime.GOMAXPROCS(0), Logical: logicalCores(), Features: features(), Memory: memoryGranted()}
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

// memoryGranted returns the smaller of the machine's memory and the control
// group's limit.
func memoryGranted() uint64 {
	granted := memoryTotal()
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
			granted = min(granted, limit)
		}
	}
	return granted
}

func memoryTotal() uint64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == "MemTotal:" {
			kib, err := strconv.ParseUint(fields[1], 10, 64)
			if err == nil {
				return kib << 10
			}
		}
	}
	return 0
}
