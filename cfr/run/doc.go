// Package run is a training run on disk: its configuration and its folder.
//
//	NAME/config.yaml             the configuration, every value written out
//	NAME/metrics.jsonl           one flat object per iteration
//	NAME/plots/
//	NAME/lock                    held by the process that trains
//	NAME/checkpoints/latest      name of the newest checkpoint
//	NAME/checkpoints/000120/     one checkpoint: manifest, configuration, weights, optimiser, memory
//
// What training reads back it has verified: sizes and SHA-256 of every file of
// a checkpoint, and that it belongs to the configuration at hand. Writers work
// aside, sync, and rename, so that a process may be killed at any point and the
// run continues from its latest checkpoint, to the bit.
//
// Errors name the file or key, the value and what was expected.
package run
