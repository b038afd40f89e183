package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vtrain/cfr"
	"vtrain/nets"
	"vtrain/vec"
)

// A Checkpoint is a saved state, read back and verified.
type Checkpoint struct {
	Dir      string // of the checkpoint, not of the run
	Manifest Manifest
	Config   Config // the core of the configuration that it was trained with
	State    cfr.State

	files fs.FS // what it is read from
}

// Network returns the parameters of a network.
func (k *Checkpoint) Network(name string) (nets.Params, bool) {
	for _, n := range k.State.Networks {
		if n.Name == name {
			return n.Params, true
		}
	}
	return nets.Params{}, false
}

// Load reads a checkpoint: its folder, or that of a run, whose latest it is.
// Every byte is verified. A checkpoint in a run's folder must fit the run's
// configuration; any must fit the layouts of this program.
func Load(dir string) (*Checkpoint, error) {
	return load(dir, (*Checkpoint).loadWeights, (*Checkpoint).loadOptimiser, (*Checkpoint).loadMemory, (*Checkpoint).loadRegrets, (*Checkpoint).loadSnapshots)
}

// LoadHead reads what a checkpoint says of itself, from the same folders as
// Load: manifest and configuration. Its State is empty.
func LoadHead(dir string) (*Checkpoint, error) { return load(dir) }

// LoadWeights reads what playing needs, from the same folders as Load: the
// networks' parameters. Optimiser and memory aren't read, and may be missing.
func LoadWeights(dir string) (*Checkpoint, error) { return load(dir, (*Checkpoint).loadWeights) }

// Embedded reads a checkpoint as LoadWeights does, from the root of a file system
// that belongs to the program. It has no folder: name is for errors.
func Embedded(name string, files fs.FS) (*Checkpoint, error) {
	k := &Checkpoint{Dir: name, files: files}
	return k, k.read((*Checkpoint).loadHead, (*Checkpoint).loadWeights)
}

func load(dir string, parts ...func(*Checkpoint) error) (*Checkpoint, error) {
	at, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	k := &Checkpoint{Dir: at, files: os.DirFS(at)}
	if err := k.read((*Checkpoint).loadHead, (*Checkpoint).fitsRun); err != nil {
		return nil, err
	}
	if err := k.read(parts...); err != nil {
		return nil, err
	}
	return k, nil
}

// read does parts of the work of loading.
func (k *Checkpoint) read(parts ...func(*Checkpoint) error) error {
	for _, part := range parts {
		if err := part(k); err != nil {
			return fmt.Errorf("checkpoint %s: %w", k.Dir, err)
		}
	}
	return nil
}

// resolve returns the checkpoint that a folder is or has as its latest.
func resolve(dir string) (string, error) {
	if exists(filepath.Join(dir, manifestName)) {
		return dir, nil
	}
	info, err := os.Stat(filepath.Join(dir, checkpointsName))
	if err != nil || !info.IsDir() {
		if _, err := os.Stat(dir); err != nil {
			return "", fmt.Errorf("%w, expected the folder of a checkpoint or a run", err)
		}
		return "", fmt.Errorf("%s: neither %s nor %s in it, expected the folder of a checkpoint or a run", dir, manifestName, checkpointsName)
	}
	name, err := readLatest(dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, checkpointsName, name), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// loadHead reads manifest and configuration, and checks what the checkpoint
// belongs to.
func (k *Checkpoint) loadHead() error {
	m := &k.Manifest
	if err := unseal(k.files, manifestName, m); err != nil {
		return err
	}
	if err := m.validate(); err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	if err := k.loadConfig(); err != nil {
		return err
	}
	if err := m.fits(k.Config); err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	return nil
}

// fitsRun checks a checkpoint against the run that it lies in, if it does.
func (k *Checkpoint) fitsRun() error {
	at, err := filepath.Abs(k.Dir)
	if err != nil {
		return err
	}
	folder := filepath.Dir(at)
	run := filepath.Dir(folder)
	if filepath.Base(folder) != checkpointsName || !exists(filepath.Join(run, configName)) {
		return nil
	}
	c, err := folderConfig(run)
	if err != nil {
		return err
	}
	if err := continues(k.Config, c); err != nil {
		return fmt.Errorf("%s: %w by %s", configName, err, filepath.Join(run, configName))
	}
	return nil
}

// loadConfig reads the checkpoint's own copy of its configuration.
func (k *Checkpoint) loadConfig() error {
	entry, err := k.Manifest.file(configName)
	if err != nil {
		return err
	}
	text, err := readBoundedIn(k.files, configName, maxConfigSize)
	if err != nil {
		return err
	}
	if int64(len(text)) != entry.Size {
		return fmt.Errorf("%s: %d bytes, expected %d", configName, len(text), entry.Size)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != entry.SHA256 {
		return fmt.Errorf("%s: damaged: sha256 is %.12x…, expected %.12s…", configName, sum, entry.SHA256)
	}
	if k.Config, err = parseConfig(configName, text, savedDefaults()); err != nil {
		return err
	}
	if err := k.Config.Validate(); err != nil {
		return fmt.Errorf("%s: %w", configName, err)
	}
	return nil
}

// open prepares to read a file of tensors.
func (k *Checkpoint) open(name string, specs []tensorSpec) (*tensorReader, error) {
	entry, err := k.Manifest.file(name)
	if err != nil {
		return nil, err
	}
	return openTensors(k.files, entry, specs)
}

func (k *Checkpoint) loadWeights() error {
	m := &k.Manifest
	r, err := k.open(weightsName, m.weights())
	if err != nil {
		return err
	}
	arrays := map[string]any{}
	k.State.Iteration, k.State.Decisions = m.Iteration, m.Decisions
	for i := range m.Networks {
		n := &m.Networks[i]
		params := n.newParams()
		for _, t := range params.Tensors() {
			arrays[n.Name+"."+t.Name] = t.Data
		}
		k.State.Networks = append(k.State.Networks, cfr.NetworkState{Name: n.Name, Params: params})
	}
	return r.readAll(arrays)
}

func (k *Checkpoint) loadOptimiser() error {
	m := &k.Manifest
	r, err := k.open(optimiserName, m.moments())
	if err != nil {
		return err
	}
	arrays := map[string]any{}
	for i, n := range m.Networks {
		state := nets.State{Step: n.Steps, M: make([]float32, n.Moments), V: make([]float32, n.Moments)}
		arrays[n.Name+".m"], arrays[n.Name+".v"] = state.M, state.V
		k.State.Networks[i].State = state
	}
	return r.readAll(arrays)
}

func (k *Checkpoint) loadMemory() (err error) {
	k.State.Memory, err = k.reservoir(memoryName, &k.Manifest.Memory)
	return err
}

func (k *Checkpoint) loadRegrets() error {
	if k.Manifest.Regrets == nil {
		return nil
	}
	regrets, err := k.reservoir(regretsName, k.Manifest.Regrets)
	k.State.Regrets = &regrets
	return err
}

// reservoir reads a file of columns.
func (k *Checkpoint) reservoir(name string, m *MemoryEntry) (cfr.MemoryState, error) {
	specs, state := m.tensors(), cfr.MemoryState{Rows: m.Rows, Seen: m.Seen}
	r, err := k.open(name, specs)
	if err != nil {
		return state, err
	}
	arrays := map[string]any{}
	for i, c := range m.Columns {
		data := newElements(specs[i].dtype, m.Rows*c.Width)
		arrays[c.Name] = data
		state.Fields = append(state.Fields, vec.Field{Name: k.Manifest.columnName(c.Name), W: c.Width, Data: data})
	}
	return state, r.readAll(arrays)
}

func (k *Checkpoint) loadSnapshots() error {
	m := &k.Manifest
	if len(m.Snapshots) == 0 {
		return nil
	}
	specs, err := m.snapshots()
	if err != nil {
		return err
	}
	r, err := k.open(snapshotsName, specs)
	if err != nil {
		return err
	}
	arrays := map[string]any{}
	for _, at := range m.Snapshots {
		params := m.current().newParams()
		arrays[checkpointName(at)] = params.Flat()
		k.State.Snapshots = append(k.State.Snapshots, cfr.Snapshot{Iteration: at, Params: params})
	}
	return r.readAll(arrays)
}
