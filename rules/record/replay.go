package record

import (
	"errors"
	"fmt"

	"vtrain/rules"
)

// streamSeed is the seed of the streams of replayed games. Their decks are
// given, so only players that act at random ever use them.
const streamSeed = 0

var errOver = errors.New("the game is over by our rules")

// A Replay walks one recorded game ply by ply through the scalar game.
type Replay struct {
	Record *Game
	State  *rules.Game // before the next ply; for reading
	ledger *ledger
}

// Replay deals a recorded game.
func (g *Game) Replay() (*Replay, error) {
	state, err := rules.NewGameFrom(g.Config, g.Deck, streamSeed, uint64(g.Index))
	if err != nil {
		return nil, g.errorf(0, "%w", err)
	}
	return &Replay{Record: g, State: state, ledger: newLedger(g)}, nil
}

// errorf is an error about a ply of the game.
func (g *Game) errorf(ply int, format string, args ...any) error {
	return fmt.Errorf("record: %s, line %d: game %d, ply %d: %w", g.File, g.Line, g.Index, ply, fmt.Errorf(format, args...))
}

// Ply returns the number of plies made.
func (r *Replay) Ply() int { return r.ledger.plies }

// Done reports whether all recorded plies are made.
func (r *Replay) Done() bool { return r.Ply() >= len(r.Record.Plies) }

// Next returns the recorded ply that Step would make. It panics when Done.
func (r *Replay) Next() Ply { return r.Record.Plies[r.Ply()] }

// Hand returns a player's hand in arrival order, valid until the next Step.
func (r *Replay) Hand(player int) Hand { return r.ledger.hands[player] }

// Step makes the next recorded ply. An action that our rules call illegal is
// an error, and leaves the replay where it is.
func (r *Replay) Step() error {
	ply := r.Ply()
	if err := r.step(); err != nil {
		return r.Record.errorf(ply, "%w", err)
	}
	return nil
}

// step is Step with errors that do not say where.
func (r *Replay) step() error {
	slot := r.Next().Action
	a, err := r.ledger.action(slot)
	if err != nil {
		return err
	}
	if r.State.Done() {
		return errOver
	}
	if err := r.State.Step(a); err != nil {
		return err
	}
	return r.ledger.move(slot)
}
