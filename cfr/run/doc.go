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
// run continues from its latest checkpoint.
//
// A run of so many iterations then ends in the same bytes as if it had never
// been killed. One of so many minutes does not: its learning rates fall with
// the share of the time spent, so that what it computes follows the clock.
//
// A checkpoint holds the configuration that it was trained with. A resumed run
// may go on by another budget and other settings of the learner, but not by
// another game, encoding, network, memory, unit or seed.
//
// Errors name the file or key, the value and what was expected.
package run
