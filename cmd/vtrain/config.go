package main

import (
	"vtrain/cfr/run"
)

// configFlags select a configuration.
type configFlags struct {
	Config string   `short:"c" type:"existingfile" placeholder:"FILE" help:"YAML file; keys it does not set keep their defaults."`
	Set    []string `short:"s" sep:"none" placeholder:"KEY=VALUE" help:"Set one key, such as learner.epsilon=0.2; may be repeated."`
}

// resolve returns the configuration, validated.
func (f configFlags) resolve() (run.Config, error) {
	cfg := run.Default()
	if f.Config != "" {
		var err error
		if cfg, err = run.LoadConfig(f.Config); err != nil {
			return cfg, err
		}
	}
	for _, assignment := range f.Set {
		if err := cfg.Set(assignment); err != nil {
			return cfg, usageError{err}
		}
	}
	return cfg, cfg.Validate()
}

type configCmd struct {
	configFlags
}

// Run prints a file that LoadConfig reads back.
func (c *configCmd) Run(s *streams) error {
	cfg, err := c.resolve()
	if err != nil {
		return err
	}
	_, err = s.out.Write(cfg.Marshal())
	return err
}
