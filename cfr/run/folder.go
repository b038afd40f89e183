package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Folder is the folder of a run, locked for this process until Close. It is
// not safe for concurrent use.
type Folder struct {
	Dir     string
	Config  Config
	lock    *os.File
	metrics metricsFile
}

// Names of what a run's folder holds.
const (
	configName      = "config.yaml"
	metricsName     = "metrics.jsonl"
	lockName        = "lock"
	checkpointsName = "checkpoints"
	plotsName       = "plots"
	latestName      = "latest"
)

// Path returns the path of something in the folder.
func (f *Folder) Path(parts ...string) string {
	return filepath.Join(append([]string{f.Dir}, parts...)...)
}

// Plots returns the folder for plots.
func (f *Folder) Plots() string { return f.Path(plotsName) }

// Create makes the folder of a new run, which must not exist or be empty. After
// an error nothing of it is left.
func Create(dir string, c Config) (*Folder, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := mustBeNew(dir); err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir, Config: c}
	made, err := f.populate()
	if err == nil {
		return f, nil
	}
	f.Close()
	for _, path := range slices.Backward(made) {
		os.Remove(path) // never removes a folder that something else was put in
	}
	return nil, fmt.Errorf("run folder %s: %w", dir, err)
}

// mustBeNew refuses a folder that holds anything. What Create makes before the
// configuration is nothing: a process killed while in Create left it.
func mustBeNew(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("run folder %s: %w", dir, err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch e.Name() {
		case lockName, asidePrefix + configName:
			continue
		case checkpointsName, plotsName:
			if inner, err := os.ReadDir(path); err == nil && len(inner) == 0 {
				continue
			}
		case metricsName:
			if info, err := e.Info(); err == nil && info.Size() == 0 {
				continue
			}
		}
		return fmt.Errorf("run folder %s: holds %s, expected a new or empty folder", dir, e.Name())
	}
	return nil
}

// populate fills the folder, the configuration last. It returns what it made,
// in order.
func (f *Folder) populate() (made []string, err error) {
	if made, err = makeFolders(f.Dir); err != nil {
		return made, err
	}
	_, missing := os.Lstat(f.Path(lockName))
	if f.lock, err = acquire(f.Path(lockName)); err != nil {
		return made, err
	}
	if missing != nil {
		made = append(made, f.Path(lockName))
	}
	if err := mustBeNew(f.Dir); err != nil { // nobody else made it meanwhile
		return made, err
	}
	for _, name := range []string{checkpointsName, plotsName} {
		more, err := makeFolders(f.Path(name))
		if made = append(made, more...); err != nil {
			return made, err
		}
	}
	made = append(made, f.Path(metricsName))
	if err := f.metrics.open(f.Path(metricsName)); err != nil {
		return made, err
	}
	made = append(made, f.Path(configName))
	if err := replaceFile(f.Path(configName), f.Config.Marshal()); err != nil {
		return made, err
	}
	return made, syncFolder(filepath.Dir(f.Dir))
}

// makeFolders makes a folder and its missing parents, and returns those that it
// made, outermost first.
func makeFolders(dir string) ([]string, error) {
	var missing []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	var made []string
	for _, path := range slices.Backward(missing) {
		if err := os.Mkdir(path, 0o755); err != nil {
			return made, err
		}
		made = append(made, path)
	}
	return made, nil
}

// Open locks the folder of an earlier run to train in it again. Resume comes
// before anything is logged or saved.
func Open(dir string) (*Folder, error) {
	c, err := folderConfig(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir, Config: c}
	if f.lock, err = acquire(f.Path(lockName)); err != nil {
		return nil, err
	}
	if err = f.openRest(); err != nil {
		f.Close()
		return nil, fmt.Errorf("run folder %s: %w", dir, err)
	}
	return f, nil
}

func (f *Folder) openRest() error {
	for _, name := range []string{checkpointsName, plotsName} {
		if err := os.MkdirAll(f.Path(name), 0o755); err != nil {
			return err
		}
	}
	if err := cmp.Or(sweep(f.Dir), sweep(f.Path(checkpointsName))); err != nil {
		return err
	}
	return f.metrics.open(f.Path(metricsName))
}

// folderConfig reads the configuration of a run's folder.
func folderConfig(dir string) (Config, error) {
	path := filepath.Join(dir, configName)
	c, err := loadConfig(path, savedDefaults())
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("run folder %s: has no %s, expected the folder of a run: %w", dir, configName, err)
	}
	if err != nil {
		return c, err
	}
	if err := c.Validate(); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Reconfigure replaces the configuration of a run that is resumed. What its
// checkpoints depend on can't change.
func (f *Folder) Reconfigure(c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if err := continues(c, f.Config); err != nil {
		return fmt.Errorf("run folder %s: %w: a run that has begun can't change it", f.Dir, err)
	}
	if err := replaceFile(f.Path(configName), c.Marshal()); err != nil {
		return fmt.Errorf("run folder %s: %w", f.Dir, err)
	}
	f.Config = c
	return nil
}

// Close gives the lock back.
func (f *Folder) Close() error {
	err := f.metrics.close()
	if f.lock != nil {
		err = cmp.Or(err, release(f.lock))
		f.lock = nil
	}
	return err
}
