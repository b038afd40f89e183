package nets_test

import (
	"testing"

	"vtrain/nets/nettest"
)

// The reference meets its own suites, where differences of the loss are its
// only oracle.
func TestReferenceEngine(t *testing.T) {
	nettest.RunEngine(t, nettest.NewEngine, nettest.Traits{Allocates: true})
}

func TestReferenceTrainer(t *testing.T) {
	nettest.RunTrainer(t, nettest.NewTrainer, nettest.Traits{Allocates: true})
}
