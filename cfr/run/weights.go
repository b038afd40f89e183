package run

import (
	"fmt"
	"os"
	"slices"

	"vtrain/cfr"
	"vtrain/nets"
)

// SaveWeights writes a checkpoint without anything but some of the networks of
// another, over files of the same names: enough to play by, as LoadWeights reads
// it. Unlike Folder.Save it isn't done at once.
func SaveWeights(dir string, k *Checkpoint, networks ...string) error {
	s := cfr.State{Iteration: k.State.Iteration, Decisions: k.State.Decisions}
	for _, n := range k.State.Networks {
		if slices.Contains(networks, n.Name) {
			s.Networks = append(s.Networks, cfr.NetworkState{Name: n.Name, Params: n.Params, State: nets.State{}})
		}
	}
	if len(s.Networks) != len(networks) {
		return fmt.Errorf("%s: has not all of the networks %v", k.Dir, networks)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return writeCheckpointOf(dir, k.Config, s, []checkpointFile{{weightsName, weightTensors(s)}})
}
