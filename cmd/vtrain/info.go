package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"vtrain/bench"
	"vtrain/cfr"
	"vtrain/cfr/run"
	"vtrain/encode"
	"vtrain/nets"
	"vtrain/nets/cpu"
	"vtrain/vec"
)

type infoCmd struct{}

// Run prints facts of the machine and the kernels of the default agent.
func (c *infoCmd) Run(s *streams) error {
	kernels, err := describeKernels()
	if err != nil {
		return err
	}
	m, host := run.ThisMachine(), bench.ThisHost()
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{
		{"processor", m.CPU},
		{"features", strings.Join(host.Features, " ")},
		{"cores granted", fmt.Sprintf("%d of %d", host.Cores, host.Logical)},
		{"memory granted", formatBytes(host.Memory)},
		{"system", m.System},
		{"built with", m.Go},
		{"revision", m.Revision},
		{"kernels", kernels},
		{"gpu", "not in this build"},
	} {
		fmt.Fprintf(w, "%s\t%s\n", line[0], line[1])
	}
	return w.Flush()
}

// describeKernels returns what the default agent's engine says of itself.
func describeKernels() (string, error) {
	cfg := run.Default()
	layout, err := encode.New(cfg.Encoding.Layout, cfg.Rules.Config)
	if err != nil {
		return "", err
	}
	shape := cfr.Shape(encode.NewBatch(layout, nil), cfg.Nets.Hidden, vec.Information)
	engine, err := cpu.NewEngine(shape, nets.EngineOptions{})
	if err != nil {
		return "", err
	}
	defer engine.Close()
	return engine.Describe(), nil
}

func formatBytes(n uint64) string {
	if n == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
