package encode

import (
	"testing"

	"vtrain/rules"
	"vtrain/vec/vectest"
)

func TestEnumerable(t *testing.T) {
	for name, cfg := range map[string]rules.Config{
		"tiny":       rules.MustPreset("tiny"),
		"no limit":   {Colors: 3, Ranks: 2, MinRank: 2, Wagers: 1, Hand: 1, Penalty: -3, BonusAt: 2, Bonus: 5},
		"two wagers": {Colors: 2, Ranks: 2, MinRank: 2, Wagers: 2, Hand: 2, Penalty: -3, BonusAt: 2, Bonus: 5, MaxTurns: 6},
		"one color":  {Colors: 1, Ranks: 2, MinRank: 2, Wagers: 3, Hand: 2, Penalty: -3, BonusAt: 2, Bonus: 5, MaxTurns: 3},
		"no deck":    {Colors: 2, Ranks: 1, MinRank: 2, Wagers: 1, Hand: 2, Penalty: -3, BonusAt: 2, Bonus: 5, MaxTurns: 3},
	} {
		t.Run(name, func(t *testing.T) { vectest.Enumerable(t, NewBatch(NewCards(cfg), nil)) })
	}
}

// TestSlotsAreNotEnumerable: their actions say more than the opponent sees.
func TestSlotsAreNotEnumerable(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("expected a panic")
		}
	}()
	cfg := rules.MustPreset("tiny")
	NewBatch(NewSlots(cfg, SlotOptions{}), nil).Deals()
}
