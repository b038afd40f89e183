package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"vtrain/cfr"
)

// Save writes a checkpoint of a state, makes it the latest, and removes those
// beyond checkpoint.keep. Until it is the latest, the former one stays so. An
// iteration is saved once; a state that isn't finite is refused.
func (f *Folder) Save(s cfr.State) error {
	name := checkpointName(s.Iteration)
	if err := f.save(name, s); err != nil {
		return fmt.Errorf("checkpoint %s: %w", f.Path(checkpointsName, name), err)
	}
	return nil
}

func (f *Folder) save(name string, s cfr.State) error {
	if err := finite(s); err != nil {
		return err
	}
	folder := f.Path(checkpointsName)
	// The log is durable first: it has the iterations of every checkpoint.
	if err := cmp.Or(sweep(folder), f.metrics.f.Sync()); err != nil {
		return err
	}
	aside := filepath.Join(folder, asidePrefix+name)
	err := os.Mkdir(aside, 0o755)
	if err == nil {
		err = writeCheckpoint(aside, f.Config, s)
	}
	if err == nil {
		err = f.publish(aside, name)
	}
	if err != nil {
		return cmp.Or(err, os.RemoveAll(aside))
	}
	return f.prune()
}

// publish gives a finished checkpoint its name, which fails if there is one of
// that name, and makes it the latest.
func (f *Folder) publish(aside, name string) error {
	folder := f.Path(checkpointsName)
	if err := os.Rename(aside, filepath.Join(folder, name)); err != nil {
		return err
	}
	if err := syncFolder(folder); err != nil {
		return err
	}
	return replaceFile(filepath.Join(folder, latestName), []byte(name+"\n"))
}

// removeAside removes a folder in two steps, so that a process killed in
// between leaves nothing that looks whole.
func removeAside(path string) error {
	aside := filepath.Join(filepath.Dir(path), asidePrefix+"old-"+filepath.Base(path))
	err := os.Rename(path, aside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(err, os.RemoveAll(aside))
}

// A checkpointFile is one of a checkpoint's files of tensors.
type checkpointFile struct {
	name    string
	tensors []tensor
}

func writeCheckpoint(dir string, c Config, s cfr.State) error {
	files := []checkpointFile{{weightsName, weightTensors(s)}, {optimiserName, momentTensors(s)}, {memoryName, memoryTensors(s.Memory)}}
	if s.Regrets != nil {
		files = append(files, checkpointFile{regretsName, memoryTensors(*s.Regrets)})
	}
	if len(s.Snapshots) > 0 {
		files = append(files, checkpointFile{snapshotsName, snapshotTensors(s)})
	}
	return writeCheckpointOf(dir, c, s, files)
}

// writeCheckpointOf writes configuration, files and manifest.
func writeCheckpointOf(dir string, c Config, s cfr.State, files []checkpointFile) error {
	m, err := newManifest(c, s)
	if err != nil {
		return err
	}
	config := c.Core().Marshal()
	if err := writeSynced(filepath.Join(dir, configName), config); err != nil {
		return err
	}
	sum := sha256.Sum256(config)
	m.Files = []FileEntry{{configName, int64(len(config)), hex.EncodeToString(sum[:])}}
	for _, file := range files {
		entry, err := writeTensors(filepath.Join(dir, file.name), file.tensors)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, entry)
	}
	return cmp.Or(
		writeSealed(dir, manifestName, m),
		syncFolder(dir),
	)
}

func writeSealed(dir, name string, v any) error {
	text, err := seal(v)
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(dir, name), text)
}

func weightTensors(s cfr.State) []tensor {
	var tensors []tensor
	for _, n := range s.Networks {
		for _, t := range n.Params.Tensors() {
			tensors = append(tensors, tensor{n.Name + "." + t.Name, t.Shape, t.Data})
		}
	}
	return tensors
}

func momentTensors(s cfr.State) []tensor {
	var tensors []tensor
	for _, n := range s.Networks {
		tensors = append(tensors,
			tensor{n.Name + ".m", []int{len(n.State.M)}, n.State.M},
			tensor{n.Name + ".v", []int{len(n.State.V)}, n.State.V})
	}
	return tensors
}

func memoryTensors(s cfr.MemoryState) []tensor {
	var tensors []tensor
	for _, f := range s.Fields {
		tensors = append(tensors, tensor{f.Name, []int{s.Rows, f.W}, f.Data})
	}
	return tensors
}

func snapshotTensors(s cfr.State) []tensor {
	var tensors []tensor
	for _, shot := range s.Snapshots {
		tensors = append(tensors, tensor{checkpointName(shot.Iteration), []int{shot.Params.Len()}, shot.Params.Flat()})
	}
	return tensors
}

// finite refuses a state that training has already ruined.
func finite(s cfr.State) error {
	for _, n := range s.Networks {
		for _, part := range []struct {
			what   string
			values []float32
		}{{"parameter", n.Params.Flat()}, {"first moment", n.State.M}, {"second moment", n.State.V}} {
			i := slices.IndexFunc(part.values, func(v float32) bool { return v-v != 0 })
			if i >= 0 {
				return fmt.Errorf("%s %d of the %s network is %v, expected a finite number", part.what, i, n.Name, part.values[i])
			}
		}
	}
	return nil
}

// checkpointName is the folder of an iteration: digits that sort by name as
// long as there are fewer than a million.
func checkpointName(iteration int) string { return fmt.Sprintf("%06d", iteration) }

// iterationOf is the inverse of checkpointName, false for other names.
func iterationOf(name string) (int, bool) {
	n, err := strconv.Atoi(name)
	return n, err == nil && n >= 0 && checkpointName(n) == name
}

// Checkpoints returns the iterations of a run's checkpoints, ascending.
func Checkpoints(dir string) ([]int, error) {
	entries, err := os.ReadDir(filepath.Join(dir, checkpointsName))
	if err != nil {
		return nil, err
	}
	var iterations []int
	for _, e := range entries {
		if n, ok := iterationOf(e.Name()); ok && e.IsDir() {
			iterations = append(iterations, n)
		}
	}
	slices.Sort(iterations)
	return iterations, nil
}

// prune removes the oldest checkpoints beyond the number to keep, never the
// latest.
func (f *Folder) prune() error {
	iterations, err := Checkpoints(f.Dir)
	if err != nil {
		return err
	}
	latest, err := readLatest(f.Dir)
	if err != nil {
		return err
	}
	for _, n := range iterations[:max(0, len(iterations)-f.Config.Checkpoint.Keep)] {
		if name := checkpointName(n); name != latest {
			if err := removeAside(f.Path(checkpointsName, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ErrNoCheckpoint is the error, wrapped, of a run that has none yet.
var ErrNoCheckpoint = errors.New("has no checkpoint yet")

// readLatest returns the name of the latest checkpoint of a run.
func readLatest(dir string) (string, error) {
	path := filepath.Join(dir, checkpointsName, latestName)
	const enough = 64
	text, err := readBounded(path, enough)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("run folder %s: %w", dir, ErrNoCheckpoint)
	}
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(string(text), "\n")
	if _, ok := iterationOf(name); !ok {
		return "", fmt.Errorf("%s: %q, expected the name of a checkpoint", path, text)
	}
	return name, nil
}

// Resume loads the latest checkpoint, nil if there is none yet, and forgets what
// was logged and saved after it.
func (f *Folder) Resume() (*Checkpoint, error) {
	last := -1
	ck, err := Load(f.Dir)
	switch {
	case err == nil:
		last = ck.Manifest.Iteration
	case !errors.Is(err, ErrNoCheckpoint):
		return nil, f.olderThanLatest(err)
	}
	if err := f.forget(last); err != nil {
		return nil, fmt.Errorf("run folder %s: %w", f.Dir, err)
	}
	return ck, nil
}

// olderThanLatest adds to an error of the latest checkpoint what there is
// besides.
func (f *Folder) olderThanLatest(failed error) error {
	latest, err := readLatest(f.Dir)
	iterations, err2 := Checkpoints(f.Dir)
	if err != nil || err2 != nil {
		return failed
	}
	var names []string
	for _, n := range slices.Backward(iterations) {
		if name := checkpointName(n); name < latest {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return failed
	}
	return fmt.Errorf("%w (older: %s; name one in %s to go on from it)", failed, strings.Join(names, ", "), f.Path(checkpointsName, latestName))
}

// mustHaveSaved refuses to begin anew where the metrics have iterations that
// only come after a checkpoint.
func (f *Folder) mustHaveSaved() error {
	rows, err := ReadMetrics(f.Dir)
	if err != nil || len(rows) == 0 {
		return err
	}
	every, last := f.Config.Checkpoint.Every, int(rows[len(rows)-1]["iteration"])
	if every == 0 || last <= every { // it may have died before the first was published
		return nil
	}
	return fmt.Errorf("no %s, but %s reaches iteration %d and checkpoint.every is %d: the checkpoints are missing; put them back, or train in a new folder",
		filepath.Join(checkpointsName, latestName), metricsName, last, every)
}

// forget removes what a killed process logged after the last iteration saved,
// and was about to publish. Where nothing was saved, last is negative.
func (f *Folder) forget(last int) error {
	iterations, err := Checkpoints(f.Dir)
	if err != nil {
		return err
	}
	later := slices.DeleteFunc(iterations, func(n int) bool { return n <= last })
	if last < 0 && len(later) > 1 { // all but one have been the latest
		return fmt.Errorf("no %s, expected it to name a checkpoint, such as %s", filepath.Join(checkpointsName, latestName), checkpointName(later[len(later)-1]))
	}
	if last < 0 {
		if err := f.mustHaveSaved(); err != nil {
			return err
		}
	}
	for _, n := range later {
		if err := removeAside(f.Path(checkpointsName, checkpointName(n))); err != nil {
			return err
		}
	}
	return f.metrics.keepUntil(max(last, 0)) // the untrained agent is logged too
}
