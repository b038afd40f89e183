package run

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/nlpodyssey/safetensors"

	"vtrain/cfr"
	"vtrain/encode"
	"vtrain/nets"
)

// formatVersion is the version of the checkpoint format. A change that older
// programs can't read raises it; older formats are read on. Format 1 called the
// reservoir's column of values policy.
const formatVersion = 2

// A Manifest describes a checkpoint. Rules, scale and the like are those of its
// configuration, a file of its own.
type Manifest struct {
	Format    int             `json:"format"`
	Iteration int             `json:"iteration"`
	Decisions int64           `json:"decisions"`
	Encoding  EncodingVersion `json:"encoding"`
	Networks  []NetworkEntry  `json:"networks"`
	Memory    MemoryEntry     `json:"memory"`              // of the average strategy
	Regrets   *MemoryEntry    `json:"regrets,omitempty"`   // if they are accumulated in a reservoir
	Snapshots []int           `json:"snapshots,omitempty"` // iterations of earlier networks of the current policy
	Files     []FileEntry     `json:"files"`
	Machine   Machine         `json:"machine"`
}

// EncodingVersion is a layout and its version.
type EncodingVersion struct {
	Layout  string `json:"layout"`
	Version int    `json:"version"`
}

// A NetworkEntry is one network: its tensors, and the steps of its optimiser.
type NetworkEntry struct {
	Name    string        `json:"name"`
	Steps   int           `json:"steps"`
	Moments int           `json:"moments"` // elements of each moment; 0 before a first step
	Tensors []TensorEntry `json:"tensors"`
}

// A TensorEntry is one tensor of a network, in the order of its parameters.
type TensorEntry struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

// A MemoryEntry is a reservoir.
type MemoryEntry struct {
	Rows    int           `json:"rows"`
	Seen    uint64        `json:"seen"`
	Columns []ColumnEntry `json:"columns"`
}

// A ColumnEntry is one column of the reservoir, of shape [rows, width].
type ColumnEntry struct {
	Name  string `json:"name"`
	Type  string `json:"type"` // as safetensors names it
	Width int    `json:"width"`
}

// Files of a checkpoint.
const (
	manifestName  = "manifest.json"
	weightsName   = "weights.safetensors"
	optimiserName = "optimiser.safetensors"
	memoryName    = "memory.safetensors"
	regretsName   = "regrets.safetensors"
	snapshotsName = "snapshots.safetensors"
)

// newManifest describes a state, but for the files.
func newManifest(c Config, s cfr.State) (Manifest, error) {
	encoding, err := encodingOf(c)
	if err != nil {
		return Manifest{}, err
	}
	m := Manifest{
		Format: formatVersion, Iteration: s.Iteration, Decisions: s.Decisions,
		Encoding: encoding, Machine: ThisMachine(),
	}
	for _, n := range s.Networks {
		e := NetworkEntry{Name: n.Name, Steps: n.State.Step, Moments: len(n.State.M)}
		for _, t := range n.Params.Tensors() {
			e.Tensors = append(e.Tensors, TensorEntry{t.Name, t.Shape})
		}
		m.Networks = append(m.Networks, e)
	}
	if m.Memory, err = memoryEntry(s.Memory); err != nil {
		return m, err
	}
	if s.Regrets != nil {
		regrets, err := memoryEntry(*s.Regrets)
		if err != nil {
			return m, err
		}
		m.Regrets = &regrets
	}
	for _, shot := range s.Snapshots {
		m.Snapshots = append(m.Snapshots, shot.Iteration)
	}
	return m, nil
}

func memoryEntry(s cfr.MemoryState) (MemoryEntry, error) {
	m := MemoryEntry{Rows: s.Rows, Seen: s.Seen}
	for _, f := range s.Fields {
		e, ok := elementsOf(f.Data)
		if !ok {
			return m, fmt.Errorf("memory column %s is a %T, expected a slice of numbers", f.Name, f.Data)
		}
		m.Columns = append(m.Columns, ColumnEntry{f.Name, e.dtype.String(), f.W})
	}
	return m, nil
}

// encodingOf returns the version that this program has of a layout.
func encodingOf(c Config) (EncodingVersion, error) {
	layout, err := encode.New(c.Encoding.Layout, c.Rules.Config)
	if err != nil {
		return EncodingVersion{}, err
	}
	return EncodingVersion{layout.Name(), layout.Version()}, nil
}

// fits reports the first difference between a checkpoint and what this program
// makes of its configuration.
func (m *Manifest) fits(c Config) error {
	encoding, err := encodingOf(c)
	if err != nil {
		return err
	}
	if m.Encoding != encoding {
		return fmt.Errorf("encoding is %s version %d, expected %s version %d", m.Encoding.Layout, m.Encoding.Version, encoding.Layout, encoding.Version)
	}
	for _, n := range m.Networks {
		if hidden := n.hidden(); !slices.Equal(hidden, c.Nets.Hidden) {
			return fmt.Errorf("hidden layers of the %s network are %v, expected %v", n.Name, hidden, c.Nets.Hidden)
		}
	}
	return nil
}

// hidden returns the widths between the layers.
func (n *NetworkEntry) hidden() []int {
	var widths []int
	for _, t := range n.Tensors {
		if len(t.Shape) == 2 {
			widths = append(widths, t.Shape[1])
		}
	}
	return widths[:max(0, len(widths)-1)]
}

// validate checks that the parts of a manifest fit each other, before anything
// is allocated after their sizes.
func (m *Manifest) validate() error {
	if m.Iteration < 0 || m.Decisions < 0 {
		return fmt.Errorf("%d iterations, %d decisions: impossible", m.Iteration, m.Decisions)
	}
	if m.Regrets != nil {
		if err := m.Regrets.validate(); err != nil {
			return err
		}
	}
	for i, at := range m.Snapshots {
		if at < 1 || at > m.Iteration || i > 0 && at <= m.Snapshots[i-1] {
			return fmt.Errorf("snapshots of iterations %v of %d: impossible", m.Snapshots, m.Iteration)
		}
	}
	names := map[string]bool{}
	fresh := func(name string) bool {
		known := names[name]
		names[name] = true
		return !known
	}
	for _, n := range m.Networks {
		total := 0
		for _, t := range n.Tensors {
			size, ok := bytesOf(tensorSpec{t.Name, t.Shape, safetensors.F32})
			if !ok || size == 0 || !fresh("network "+n.Name+" "+t.Name) {
				return fmt.Errorf("network %s: tensor %s of shape %v: impossible", n.Name, t.Name, t.Shape)
			}
			total += product(t.Shape)
		}
		if !fresh("network "+n.Name) || n.Steps < 0 || n.Moments != 0 && n.Moments != total {
			return fmt.Errorf("network %s: %d steps, %d moments of %d parameters: impossible", n.Name, n.Steps, n.Moments, total)
		}
	}
	return m.Memory.validate()
}

func (m *MemoryEntry) validate() error {
	if m.Rows < 0 || m.Rows > math.MaxInt32 || uint64(m.Rows) > m.Seen {
		return fmt.Errorf("%d rows of %d seen: impossible", m.Rows, m.Seen)
	}
	names := map[string]bool{}
	for _, c := range m.Columns {
		dtype, err := safetensors.ParseDType(c.Type)
		if err != nil || !stores(dtype) || c.Width < 0 || c.Width > math.MaxInt32 || names[c.Name] {
			return fmt.Errorf("memory column %s of %d %s: impossible", c.Name, c.Width, c.Type)
		}
		names[c.Name] = true
	}
	return nil
}

// stores reports whether columns may hold that type.
func stores(dtype safetensors.DType) bool {
	return dtype != safetensors.BOOL && dtype != safetensors.F16 && dtype != safetensors.BF16
}

// file returns the entry of a file.
func (m *Manifest) file(name string) (FileEntry, error) {
	for _, f := range m.Files {
		if f.Name == name {
			return f, nil
		}
	}
	return FileEntry{}, fmt.Errorf("%s: no %s among the files, expected one", manifestName, name)
}

// weights lists the tensors of weights.safetensors.
func (m *Manifest) weights() []tensorSpec {
	var specs []tensorSpec
	for _, n := range m.Networks {
		for _, t := range n.Tensors {
			specs = append(specs, tensorSpec{n.Name + "." + t.Name, t.Shape, safetensors.F32})
		}
	}
	return specs
}

// moments lists the tensors of optimiser.safetensors.
func (m *Manifest) moments() []tensorSpec {
	var specs []tensorSpec
	for _, n := range m.Networks {
		shape := []int{n.Moments}
		specs = append(specs, tensorSpec{n.Name + ".m", shape, safetensors.F32}, tensorSpec{n.Name + ".v", shape, safetensors.F32})
	}
	return specs
}

// tensors lists those of a reservoir's file.
func (m *MemoryEntry) tensors() []tensorSpec {
	var specs []tensorSpec
	for _, c := range m.Columns {
		dtype, _ := safetensors.ParseDType(c.Type)
		specs = append(specs, tensorSpec{c.Name, []int{m.Rows, c.Width}, dtype})
	}
	return specs
}

// network returns the entry of a network, nil if there is none of that name.
func (m *Manifest) network(name string) *NetworkEntry {
	i := slices.IndexFunc(m.Networks, func(n NetworkEntry) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &m.Networks[i]
}

// current returns the entry of the network that the current policy is made of,
// nil if there is none.
func (m *Manifest) current() *NetworkEntry {
	return cmp.Or(m.network(cfr.RegretNet), m.network(cfr.PolicyNet))
}

// snapshots lists the tensors of snapshots.safetensors: all parameters of a
// network in one, named by its iteration.
func (m *Manifest) snapshots() ([]tensorSpec, error) {
	n := m.current()
	if n == nil {
		return nil, fmt.Errorf("%s: snapshots without a %s or %s network", manifestName, cfr.RegretNet, cfr.PolicyNet)
	}
	var specs []tensorSpec
	for _, at := range m.Snapshots {
		specs = append(specs, tensorSpec{checkpointName(at), []int{n.newParams().Len()}, safetensors.F32})
	}
	return specs, nil
}

// columnName returns what a column of the reservoir is called since format 2.
func (m *Manifest) columnName(stored string) string {
	if m.Format < 2 && stored == "policy" {
		return "value"
	}
	return stored
}

// newParams allocates the parameters of a network.
func (n *NetworkEntry) newParams() nets.Params {
	specs := make([]nets.Spec, len(n.Tensors))
	for i, t := range n.Tensors {
		specs[i] = nets.Spec{Name: t.Name, Shape: t.Shape}
	}
	return nets.NewParams(specs...)
}
