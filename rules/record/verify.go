package record

import (
	"fmt"
	"slices"

	"vtrain/rules"
	"vtrain/vec"
)

// Verify replays recorded games through the scalar and the lockstep rules and
// compares, at every ply, player, phase, legal actions, hand, both scores and
// the deck's length; then how the game ends. A game whose recorded action is
// illegal is left there. All games of a configuration are stepped together.
func Verify(games []*Game, pool *vec.Pool) *Report {
	r := &Report{Lines: len(games)}
	var configs []rules.Config
	playable := make(map[rules.Config][]*Game)
	for _, g := range games {
		if !verifyScalar(r, g) {
			continue
		}
		if !slices.Contains(configs, g.Config) {
			configs = append(configs, g.Config)
		}
		playable[g.Config] = append(playable[g.Config], g)
	}
	for _, cfg := range configs {
		verifyLockstep(r, playable[cfg], pool)
	}
	return r
}

// A face is what a recording says of a state, or what our code does.
type face struct {
	player   int
	phase    rules.Phase
	mask     uint64 // slot actions
	score    [2]int
	deck     int
	turns    int
	terminal bool
	hand     Hand // of the player to move, ascending
}

func (g *Game) at(ply int, code string) Where {
	return Where{File: g.File, Line: g.Line, Game: g.Index, Ply: ply, Code: code}
}

// verifyScalar reports whether the game can be dealt.
func verifyScalar(r *Report, g *Game) bool {
	play, err := g.Replay()
	if err != nil {
		r.Count(g.at(0, Scalar), fmt.Sprintf("deck: %v", err))
		return false
	}
	for !play.Done() {
		at, want := g.at(play.Ply(), Scalar), play.Next()
		checkBefore(r, at, play.face(), want, play.ledger.hand())
		if err := play.step(); err != nil {
			failAction(r, at, want, err)
			return true
		}
		checkAfter(r, at, play.face(), want)
	}
	checkEnd(r, g.at(play.Ply(), Scalar), play.face(), g)
	for p, scores := range g.ExpeditionScores {
		for c, want := range scores {
			r.Count(g.at(play.Ply(), Scalar), Differs(expeditionName(p, c), play.State.ExpeditionScore(p, c), want))
		}
	}
	return true
}

// face returns the scalar game's state.
func (r *Replay) face() face {
	g := r.State
	legal := make([]uint64, vec.MaskWords(g.Config().Actions()))
	for _, a := range g.Legal() {
		vec.MaskSet(legal, int(a))
	}
	return face{
		player: g.Player(), phase: g.Phase(), mask: r.ledger.hands[g.Player()].Mask(g.Config(), legal),
		score: [2]int{g.Score(0), g.Score(1)}, deck: g.Deck(), turns: g.Turns(), terminal: g.Done(),
		hand: g.Hand(g.Player()),
	}
}

func verifyLockstep(r *Report, games []*Game, pool *vec.Pool) {
	play, err := newLockstep(games, pool)
	if err != nil { // verifyScalar has dealt the same decks
		panic(err)
	}
	for {
		play.keepLive()
		if len(play.live) == 0 {
			break
		}
		play.checkPly(r)
	}
	for b := range games {
		play.checkEnd(r, int32(b))
	}
}

// checkEnd compares row b after its last ply, unless it was left at a wrong
// action before that.
func (l *lockstep) checkEnd(r *Report, b int32) {
	g := l.games[b]
	if l.ledgers[b].plies < len(g.Plies) {
		return
	}
	at := g.at(len(g.Plies), Lockstep)
	legal := make([]uint64, l.state.MaskWords)
	l.state.Legal(legal, []int32{b})
	checkEnd(r, at, l.face(b, legal), g)
	for p, scores := range g.ExpeditionScores {
		for c, want := range scores {
			exp := l.state.Exp.Row(b)[p*g.Config.Colors+c]
			r.Count(at, Differs(expeditionName(p, c), int(l.state.SetScore(exp)), want))
		}
	}
}

// checkPly compares the live rows before and after their next ply. Rows with
// a wrong action are no longer live then.
func (l *lockstep) checkPly(r *Report) {
	var good, actions []int32
	for i, b := range l.live {
		at, want := l.games[b].at(l.ply, Lockstep), l.games[b].Plies[l.ply]
		checkBefore(r, at, l.face(b, l.legalRow(i)), want, l.ledgers[b].hand())
		a, err := l.action(i)
		if err != nil {
			failAction(r, at, want, err)
			continue
		}
		good, actions = append(good, b), append(actions, int32(a))
	}
	ply := l.ply
	l.live = good
	l.make(actions)
	for _, b := range good {
		g := l.games[b]
		checkAfter(r, g.at(ply, Lockstep), l.face(b, nil), g.Plies[ply])
	}
}

// face returns row b's state; legal is its row of legal actions, or nil where
// the mask is of no interest.
func (l *lockstep) face(b int32, legal []uint64) face {
	g, player := l.state, l.state.Player(b)
	f := face{
		player: player, phase: g.Phase(b), deck: int(g.DeckLen.Data[b]), turns: g.Turns(b), terminal: g.Done(b),
		score: [2]int{int(g.PlayerScore(b, 0)), int(g.PlayerScore(b, 1))},
		hand:  rowHand(g, b, player),
	}
	if legal != nil {
		f.mask = l.ledgers[b].hands[player].Mask(g.Config, legal)
	}
	return f
}

// rowHand lists the cards of a hand in a batch, ascending.
func rowHand(g *rules.Games, b int32, player int) Hand {
	var hand []rules.Card
	for c, set := range g.Hand.Row(b)[player*g.Colors:][:g.Colors] {
		hand = g.AppendSet(hand, c, set)
	}
	return hand
}

func checkBefore(r *Report, at Where, got face, want Ply, hand Hand) {
	r.Count(at, Differs("player", got.player, want.Player))
	r.Count(at, Differs("phase", got.phase, want.Phase))
	r.Count(at, Differs("legal mask", got.mask, want.Mask))
	sorted := slices.Sorted(slices.Values(hand))
	difference := ""
	if !slices.Equal(got.hand, sorted) {
		difference = fmt.Sprintf("hand is %v, recorded %v", got.hand, sorted)
	}
	r.Count(at, difference)
}

func checkAfter(r *Report, at Where, got face, want Ply) {
	r.Count(at, Differs("score of player 0", got.score[0], want.Score[0]))
	r.Count(at, Differs("score of player 1", got.score[1], want.Score[1]))
	r.Count(at, Differs("deck length", got.deck, want.Deck))
}

func checkEnd(r *Report, at Where, got face, g *Game) {
	r.Count(at, Differs("terminal", got.terminal, g.Terminal))
	r.Count(at, Differs("final score of player 0", got.score[0], g.Final[0]))
	r.Count(at, Differs("final score of player 1", got.score[1], g.Final[1]))
	r.Count(at, Differs("number of plies", at.Ply, g.PlyCount))
	r.Count(at, Differs("turns", got.turns, g.Turns))
	if !got.terminal || len(g.Plies) == 0 {
		return
	}
	last := g.Plies[len(g.Plies)-1]
	r.Count(at, Differs("player after the end", got.player, last.Player))
	r.Count(at, Differs("phase after the end", got.phase, last.Phase))
	r.Count(at, Differs("legal mask after the end", got.mask, 0))
}

func failAction(r *Report, at Where, want Ply, err error) {
	r.Count(at, fmt.Sprintf("slot action %d: %v", want.Action, err))
}

func expeditionName(player, color int) string {
	return fmt.Sprintf("player %d's %s expedition", player, rules.ColorName(color))
}
