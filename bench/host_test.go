package bench

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryGranted(t *testing.T) {
	const (
		meminfo = "MemFree:  1 kB\nMemTotal:       2048 kB\nSwapTotal: 9 kB\n"
		absent  = "absent"
		mib     = 1 << 20
	)
	for _, c := range []struct {
		name           string
		machine, group string // text of the files
		want           uint64
	}{
		{"a tighter group", meminfo, "1048576\n", mib},
		{"a wider group", meminfo, "1073741824\n", 2 * mib},
		{"no limit", meminfo, "max\n", 2 * mib},
		{"no group", meminfo, absent, 2 * mib},
		{"the group alone", absent, "1048576\n", mib},
		{"meminfo without a total", "MemFree: 1 kB\n", "1048576", mib},
		{"meminfo cut off", "MemTotal:", "1048576", mib},
		{"no number", "MemTotal: much kB\n", "-1\n", 0},
		{"empty", "", "", 0},
		{"nothing", absent, absent, 0},
	} {
		dir := t.TempDir()
		path := func(name, text string) string {
			path := filepath.Join(dir, name)
			if text == absent {
				return path
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			return path
		}
		if got := memoryGranted(path("machine", c.machine), path("group", c.group)); got != c.want {
			t.Errorf("%s: %d bytes, expected %d", c.name, got, c.want)
		}
	}
}

func TestThisHost(t *testing.T) {
	h := ThisHost()
	if h.Cores < 1 || h.Logical < 1 {
		t.Errorf("a host without cores: %+v", h)
	}
}
