package cpu_test

import (
	"testing"

	"vtrain/nets/cpu"
	"vtrain/nets/nettest"
)

func TestEngine(t *testing.T) { nettest.RunEngine(t, cpu.NewEngine) }

func TestTrainer(t *testing.T) { nettest.RunTrainer(t, cpu.NewTrainer, nettest.Traits{}) }
