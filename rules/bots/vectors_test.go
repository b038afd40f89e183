package bots

import (
	"path/filepath"
	"testing"

	"vtrain/rules"
	"vtrain/rules/record"
)

const testdata = "../../testdata"

// A recorded is a state of a recorded game, as a scalar game and as a row of a
// batch that mixes plies, and what a bot did there.
type recorded struct {
	name   string // of the bot
	spot   record.Spot
	replay *record.Replay
	batch  *rules.Games
	row    int32
	facts  Record
}

// gather fills in the replays and the batches, one of each configuration.
func gather(tb testing.TB, all []*recorded) {
	tb.Helper()
	of := map[rules.Config][]*recorded{}
	for _, r := range all {
		var err error
		if r.replay, err = r.spot.Replay(); err != nil {
			tb.Fatal(err)
		}
		of[r.spot.Game.Config] = append(of[r.spot.Game.Config], r)
	}
	for _, same := range of {
		spots := make([]record.Spot, len(same))
		for i, r := range same {
			spots[i] = r.spot
		}
		batch, err := record.Batch(spots, nil)
		if err != nil {
			tb.Fatal(err)
		}
		for i, r := range same {
			r.batch, r.row = batch, int32(i)
		}
	}
}

// act sets what the bot did, which the recording names by slots. To bots
// without noise, balanced is the action itself.
func (r *recorded) act(tb testing.TB, action, balanced int) {
	tb.Helper()
	hand := r.replay.Hand(r.replay.State.Player())
	slot := func(slot int) rules.Action {
		a, err := hand.Action(r.spot.Game.Config, slot)
		if err != nil {
			tb.Fatalf("game %d ply %d: %v", r.spot.Game.Index, r.spot.Ply, err)
		}
		return a
	}
	r.facts = Record{Action: slot(action), Balanced: slot(balanced), Arrival: hand}
}

// bot returns the bot of that name for the state's configuration.
func (r *recorded) bot() *Bot { return must(New(r.name, r.spot.Game.Config, 1)) }

// readMoves reads the recorded moves, each with its state.
func readMoves(tb testing.TB) ([]*record.BotMove, []*recorded) {
	tb.Helper()
	f, err := record.ReadFile(filepath.Join(testdata, "bots.jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	var library record.Library
	all := make([]*recorded, len(f.Bots))
	for i, m := range f.Bots {
		if err := library.Need(testdata, m.Games); err != nil {
			tb.Fatal(err)
		}
		spot, err := library.Spot(m.Games, m.Game, m.Ply)
		if err != nil {
			tb.Fatal(err)
		}
		all[i] = &recorded{name: m.Bot, spot: spot}
	}
	gather(tb, all)
	return f.Bots, all
}

// TestRecorded checks each recorded move through the scalar game and through a
// row of a batch.
func TestRecorded(t *testing.T) {
	moves, all := readMoves(t)
	checked := map[string]int{}
	for i, m := range moves {
		r, balanced := all[i], m.Action
		if m.Balanced != nil {
			balanced = *m.Balanced
		}
		r.act(t, m.Action, balanced)
		checked[m.Bot]++
		if err := r.bot().VerifyGame(r.replay.State, r.facts); err != nil {
			t.Errorf("%s game %d ply %d scalar: %v", m.Games, m.Game, m.Ply, err)
		}
		if err := r.bot().Verify(r.batch, r.row, r.facts); err != nil {
			t.Errorf("%s game %d ply %d batch: %v", m.Games, m.Game, m.Ply, err)
		}
		if got := r.batch.Phase(r.row); got != rules.Phase(m.Phase) || got != r.replay.State.Phase() {
			t.Errorf("%s game %d ply %d: phase %d, expected %d", m.Games, m.Game, m.Ply, got, m.Phase)
		}
	}
	if len(moves) != 1670 {
		t.Errorf("checked %d moves %v, expected 1670", len(moves), checked)
	}
}

// readPlies returns every ply of the classic games between bots, or of a part
// of them with -short.
func readPlies(tb testing.TB) []*recorded {
	tb.Helper()
	games, err := record.ReadGames(filepath.Join(testdata, "games_classic.jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	var all []*recorded
	for _, g := range games {
		if g.Kind == "random" || testing.Short() && g.Index%4 != 0 {
			continue
		}
		for ply, p := range g.Plies {
			all = append(all, &recorded{name: g.Bots[p.Player], spot: record.Spot{Game: g, Ply: ply}})
		}
	}
	gather(tb, all)
	return all
}

// TestRecordedGames checks the bots against every ply of the recorded games
// between them, thousands of states that good play leads to. What
// heuristic-noisy did at random is not to be told from a mistake; it is counted.
func TestRecordedGames(t *testing.T) {
	noisy, random := 0, 0
	all := readPlies(t)
	for _, r := range all {
		g := r.spot.Game
		action := g.Plies[r.spot.Ply].Action
		r.act(t, action, action)
		b := r.bot()
		scalar, row := b.VerifyGame(r.replay.State, r.facts), b.Verify(r.batch, r.row, r.facts)
		switch {
		case (scalar == nil) != (row == nil):
			t.Errorf("game %d ply %d: scalar %v, batch %v", g.Index, r.spot.Ply, scalar, row)
		case b.kind == noisyKind:
			noisy++
			if scalar != nil {
				random++
			}
		case scalar != nil:
			t.Errorf("game %d ply %d: %v", g.Index, r.spot.Ply, scalar)
		}
	}
	if len(all) != 12726 && !testing.Short() {
		t.Errorf("checked %d plies, expected 12726", len(all))
	}
	// Noise of .15 picks an action of the highest value now and then.
	if random*100 > noisy*25 {
		t.Errorf("%d of %d moves of heuristic-noisy are random, expected at most 25%%", random, noisy)
	}
	t.Logf("%d plies, of %d by heuristic-noisy %d random", len(all), noisy, random)
}
