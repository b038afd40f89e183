package main

import (
	"fmt"

	"vtrain/cfr/run"
)

// configFlags select a configuration.
type configFlags struct {
	Config string   `short:"c" type:"existingfile" placeholder:"FILE" help:"YAML file; keys it does not set keep their defaults."`
	Set    []string `short:"s" sep:"none" placeholder:"KEY=VALUE" help:"Set one key, such as learner.epsilon=0.2; may be repeated."`
}

// resolve returns the configuration, checked.
func (f configFlags) resolve(check func(run.Config) error) (run.Config, error) {
	file := run.Default()
	if f.Config != "" {
		var err error
		if file, err = run.LoadConfig(f.Config); err != nil {
			return file, err
		}
	}
	cfg := file
	if err := cfg.SetAll(f.Set); err != nil {
		return cfg, usageError{err}
	}
	err := check(cfg)
	if err == nil {
		return cfg, nil
	}
	// What is wrong with the file alone is wrong with the file.
	if alone := check(file); alone != nil && alone.Error() == err.Error() {
		return cfg, fmt.Errorf("%s: %w", f.Config, err)
	}
	return cfg, usageError{err}
}

type configCmd struct {
	configFlags
}

// Run prints a file that LoadConfig reads back.
func (c *configCmd) Run(s *streams) error {
	cfg, err := c.resolve(run.Config.Validate)
	if err != nil {
		return err
	}
	_, err = s.out.Write(cfg.Marshal())
	return err
}
