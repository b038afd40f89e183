package record

import (
	"fmt"

	"vtrain/rules"
	"vtrain/vec"
)

// lockstep walks recorded games of one configuration through a batch of games
// with given decks, all at the same ply.
type lockstep struct {
	games   []*Game
	state   *rules.Games // [B]
	ledgers []*ledger    // [B]
	live    []int32      // rows with a ply still to make, and none wrong so far
	legal   []uint64     // [len(live), W], as of keepLive
	ply     int
}

func newLockstep(games []*Game, pool *vec.Pool) (*lockstep, error) {
	cfg := games[0].Config
	l := &lockstep{games: games, state: rules.NewOrderedGames(cfg, pool)}
	l.state.Resize(len(games))
	one := l.state.New()
	for i, g := range games {
		if err := cfg.CheckDeck(g.Deck); err != nil {
			return nil, g.errorf(0, "%w", err)
		}
		// One at a time, so that a row's streams are those of the game's number.
		one.DealFrom([][]rules.Card{g.Deck}, streamSeed, uint64(g.Index))
		l.state.Scatter([]int32{int32(i)}, one, []int32{0})
		l.ledgers = append(l.ledgers, newLedger(g))
	}
	l.live = vec.AllRows(l.live, len(games))
	return l, nil
}

// keepLive drops the rows that have no ply left to make, and finds the legal
// actions of the others.
func (l *lockstep) keepLive() {
	kept := l.live[:0]
	for _, b := range l.live {
		if l.ply < len(l.games[b].Plies) {
			kept = append(kept, b)
		}
	}
	l.live = kept
	l.legal = vec.Grow(l.legal, len(kept)*l.state.MaskWords)
	l.state.Legal(l.legal, kept)
}

// legalRow returns the legal actions of row live[i].
func (l *lockstep) legalRow(i int) []uint64 {
	w := l.state.MaskWords
	return l.legal[i*w : (i+1)*w]
}

// action translates the recorded action of row live[i]. One that our rules
// call illegal is an error, which does not say where.
func (l *lockstep) action(i int) (rules.Action, error) {
	b := l.live[i]
	a, err := l.ledgers[b].action(l.games[b].Plies[l.ply].Action)
	switch {
	case err != nil:
		return 0, err
	case l.state.Done(b):
		return 0, errOver
	case !vec.MaskHas(l.legalRow(i), int(a)):
		return 0, fmt.Errorf("illegal action %d (%s)", a, l.state.ActionName(a))
	}
	return a, nil
}

// step makes the next ply of every live row; the first wrong action is an
// error, and then none is made.
func (l *lockstep) step() error {
	actions := make([]int32, len(l.live))
	for i, b := range l.live {
		a, err := l.action(i)
		if err != nil {
			return l.games[b].errorf(l.ply, "%w", err)
		}
		actions[i] = int32(a)
	}
	l.make(actions)
	return nil
}

// make steps the live rows, whose actions are known to be legal.
func (l *lockstep) make(actions []int32) {
	l.state.Step(l.live, actions)
	for _, b := range l.live {
		if err := l.ledgers[b].move(l.games[b].Plies[l.ply].Action); err != nil {
			panic(err) // a legal action moves a card
		}
	}
	l.ply++
}
