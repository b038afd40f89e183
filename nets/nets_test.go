package nets_test

import (
	"testing"

	"vtrain/nets/nettest"
)

func TestReferenceEngine(t *testing.T) { nettest.RunEngine(t, nettest.NewEngine) }

func TestReferenceTrainer(t *testing.T) {
	nettest.RunTrainer(t, nettest.NewTrainer, nettest.Traits{Allocates: true})
}
