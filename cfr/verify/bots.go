package verify

import (
	"errors"
	"fmt"

	"vtrain/rules"
	"vtrain/rules/bots"
	"vtrain/rules/record"
)

// noisyBot is the bot whose moves come with what it would do without noise.
const noisyBot = "heuristic-noisy"

// bots compares the phase, and whether the bot could have moved as recorded.
func (c *checker) bots(r *Report, moves []*record.BotMove) error {
	lines := make([]line, len(moves))
	for i, m := range moves {
		lines[i] = line{m.Line, m.Games, m.Game, m.Ply}
	}
	states, err := c.states(r, lines)
	if err != nil {
		return err
	}
	players := make(players)
	for _, b := range batches(r, states, c.pool) {
		for i, s := range b.states {
			bot, err := players.find(r.Path, moves[s.index], b.cfg)
			if err != nil {
				return err
			}
			checkMove(r, b, i, moves[s.index], bot)
		}
	}
	return nil
}

// players are the bots needed so far.
type players map[player]*bots.Bot

type player struct {
	name string
	cfg  rules.Config
}

// find returns the bot of a move, which must have all that its bot's moves
// come with.
func (p players) find(path string, m *record.BotMove, cfg rules.Config) (*bots.Bot, error) {
	if m.Bot == noisyBot && m.Balanced == nil {
		return nil, fmt.Errorf("verify: %s, line %d: no field \"balanced_action\", expected one for %s", path, m.Line, noisyBot)
	}
	key := player{m.Bot, cfg}
	if b := p[key]; b != nil {
		return b, nil
	}
	b, err := bots.New(m.Bot, cfg, 0)
	if err != nil {
		return nil, fmt.Errorf("verify: %s, line %d: %w", path, m.Line, err)
	}
	p[key] = b
	return b, nil
}

var errOver = errors.New("a move is recorded, but the game is over")

// checkMove compares a move with row i of a batch and its scalar game.
func checkMove(r *Report, b *batch, i int, m *record.BotMove, bot *bots.Bot) {
	s, row := b.states[i], int32(i)
	facts, err := moveRecord(s, m)
	r.count(s.at, record.Scalar, record.Differs("the phase", s.game().Phase(), rules.Phase(m.Phase)))
	r.count(s.at, record.Scalar, problem(verifyMove(err, s.game().Done(), func() error { return bot.VerifyGame(s.game(), facts) })))
	if b.games == nil {
		return
	}
	r.count(s.at, record.Lockstep, record.Differs("the phase", b.games.Phase(row), rules.Phase(m.Phase)))
	r.count(s.at, record.Lockstep, problem(verifyMove(err, b.games.Done(row), func() error { return bot.Verify(b.games, row, facts) })))
}

// verifyMove asks the bot only if there is a move to ask about.
func verifyMove(untranslated error, over bool, ask func() error) error {
	switch {
	case untranslated != nil:
		return untranslated
	case over:
		return errOver
	}
	return ask()
}

// moveRecord translates a recorded move to our actions.
func moveRecord(s *state, m *record.BotMove) (bots.Record, error) {
	hand, cfg := s.replay.Hand(s.game().Player()), s.spot.Game.Config
	action, err := hand.Action(cfg, m.Action)
	if err != nil {
		return bots.Record{}, err
	}
	facts := bots.Record{Action: action, Arrival: hand}
	if m.Balanced != nil {
		facts.Balanced, err = hand.Action(cfg, *m.Balanced)
	}
	return facts, err
}
