// Package arena plays matches between agents on duplicate deals: each deal is
// played twice with the seats swapped, so that the luck of the cards cancels
// in the points. All games of a match step in lockstep.
package arena

import (
	"errors"
	"fmt"
	"math"

	"vtrain/rules"
	"vtrain/vec"
)

// An Agent chooses actions. It sees whole games; what it may look at is what
// its player may know.
type Agent interface {
	// Name is what reports call the agent.
	Name() string
	// Act sets dst[i] to the rules' action of the player to move in row
	// rows[i]; all rows are live. It must depend on nothing but the position,
	// the game's key and the ply.
	Act(dst []int32, g *rules.Games, rows []int32)
}

// Options are the settings of a match.
type Options struct {
	Games int       // games to play, an even number of at least 4: two for each deal
	Seed  uint64    // of the deals
	Pool  *vec.Pool // workers; nil is the caller alone
	Batch int       // games at once; 0 means DefaultBatch
	// Progress, if not nil, is called now and then with the games finished.
	Progress func(games int)
}

// A Result describes a match from the agent's side. Rates are shares of all
// games, capped ones included; points are the agent's minus the opponent's.
type Result struct {
	Agent        string  `json:"agent"`
	Opponent     string  `json:"opponent"`
	Games        int     `json:"games"`
	WinRate      float64 `json:"win_rate"`
	DrawRate     float64 `json:"draw_rate"`
	MeanPoints   float64 `json:"mean_points"`
	SEPoints     float64 `json:"se_points"` // standard error of MeanPoints, over deals
	SEWin        float64 `json:"se_win"`    // standard error of WinRate, over deals
	SEScore      float64 `json:"se_score"`  // standard error of Score, over deals
	PliesPerGame float64 `json:"plies_per_game"`
	Capped       int     `json:"capped"`        // games cut by the turn limit
	UselessDraws float64 `json:"useless_draws"` // a game: cards that the agent drew from a pile and discarded at its next turn
	Expeditions  float64 `json:"expeditions"`   // a game: expeditions that the agent opened
	// OpponentUselessDraws are the opponent's.
	OpponentUselessDraws float64 `json:"opponent_useless_draws"`
}

// Score returns the agent's score a game: 1 for a win, 1/2 for a draw.
func (r Result) Score() float64 { return r.WinRate + r.DrawRate/2 }

// MinGames is the shortest match: an error needs two deals.
const MinGames = 4

// DefaultBatch is how many games are played at once unless a caller says so.
const DefaultBatch = 4096

// Playable reports whether a match can have that many games.
func Playable(games int) bool { return games >= MinGames && games%2 == 0 }

// Play runs a match. The configuration must have a turn limit: players who only
// draw from piles would go on for ever.
func Play(cfg rules.Config, agent, opponent Agent, o Options) (Result, error) {
	m, err := play(cfg, agent, opponent, o)
	if err != nil {
		return Result{}, err
	}
	return m.result(), nil
}

// play returns a match that is over.
func play(cfg rules.Config, agent, opponent Agent, o Options) (*match, error) {
	if !Playable(o.Games) {
		return nil, fmt.Errorf("arena: games is %d, expected an even number of at least %d", o.Games, MinGames)
	}
	if cfg.MaxTurns == 0 {
		return nil, errors.New("arena: max_turns is 0, expected a turn limit")
	}
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
	o.Batch += o.Batch % 2
	m := &match{cfg: cfg, agents: [2]Agent{agent, opponent}, o: o, games: rules.NewOrderedGames(cfg, o.Pool)}
	for first := 0; first < o.Games; first += o.Batch {
		m.play(first, min(o.Batch, o.Games-first))
	}
	return m, nil
}

// match is a match in progress. Row r of a batch has the agent in seat r%2;
// rows 2k and 2k+1 share a deck.
type match struct {
	cfg    rules.Config
	agents [2]Agent
	o      Options
	games  *rules.Games
	drawn  []int32 // [B,2] card type that a seat drew from a pile at its last turn, or -1

	live    []int32    // rows to move in
	rows    [2][]int32 // those of each agent
	actions [2][]int32
	all     []int32 // actions of live, in order
	slot    []int32 // [B] index into live

	played         int
	wins, draws    moments // over deals, as are the next
	scores, points moments
	deals          []uint8 // [deals] the agent's score of each, in quarters: 0 to 4
	plies, capped  int
	useless        [2]int // of each agent
	expeditions    int
}

// moments are the running sum and sum of squares of a figure.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

func (m moments) mean() float64 { return m.sum / m.n }

// standardError returns the standard error of the mean.
func (m moments) standardError() float64 {
	variance := (m.squares - m.sum*m.sum/m.n) / (m.n - 1)
	return math.Sqrt(max(variance, 0) / m.n)
}

// play plays games first..first+n-1 of the match to the end.
func (m *match) play(first, n int) {
	m.games.DealFrom(m.decks(first/2, n), m.o.Seed, uint64(first))
	m.live = vec.AllRows(m.live, n)
	m.drawn = vec.Grow(m.drawn, 2*n)
	m.slot = vec.Grow(m.slot, n)
	for i := range m.drawn {
		m.drawn[i] = -1
	}
	for len(m.live) > 0 {
		m.ply()
		before := len(m.live)
		m.live = vec.Keep(m.live, m.live, m.games.Finish.Data, 0)
		if m.o.Progress != nil && len(m.live) < before {
			m.o.Progress(first + n - len(m.live))
		}
	}
	m.count(n)
}

// decks shuffles one deck for each pair of games.
func (m *match) decks(deal, n int) [][]rules.Card {
	decks := make([][]rules.Card, n)
	for i := range decks {
		if i%2 == 1 {
			decks[i] = decks[i-1]
			continue
		}
		decks[i] = m.cfg.Pack()
		stream := vec.At(vec.Key(vec.Derive(m.o.Seed, "decks", 0), uint64(deal+i/2)), 0)
		stream.Shuffle(len(decks[i]), func(a, b int) { decks[i][a], decks[i][b] = decks[i][b], decks[i][a] })
	}
	return decks
}

// ply asks both agents for the actions of their rows, and makes them.
func (m *match) ply() {
	for a := range m.rows {
		m.rows[a] = m.rows[a][:0]
	}
	for i, b := range m.live {
		a := m.agentOf(b, m.games.Player(b))
		m.rows[a] = append(m.rows[a], b)
		m.slot[b] = int32(i)
	}
	m.all = vec.Grow(m.all, len(m.live))
	for a, agent := range m.agents {
		m.actions[a] = vec.Grow(m.actions[a], len(m.rows[a]))
		if len(m.rows[a]) > 0 {
			agent.Act(m.actions[a], m.games, m.rows[a])
		}
		for i, b := range m.rows[a] {
			m.all[m.slot[b]] = m.actions[a][i]
			m.watchDraws(a, b, m.actions[a][i])
		}
	}
	m.games.Step(m.live, m.all)
}

// agentOf returns who sits at a seat of row b: 0 the agent, 1 the opponent.
func (m *match) agentOf(b int32, seat int) int { return (int(b) + seat) & 1 }

// watchDraws counts cards that agent a, to move in row b, drew from a pile and
// discards at its next turn.
func (m *match) watchDraws(a int, b int32, action int32) {
	seat := m.games.Player(b)
	drawn := &m.drawn[2*int(b)+seat]
	switch verb, card, color := m.cfg.Split(rules.Action(action)); verb {
	case rules.Discard:
		if *drawn == int32(card) {
			m.useless[a]++
		}
		*drawn = -1
	case rules.Play:
		*drawn = -1
	case rules.DrawPile:
		*drawn = int32(m.cfg.Card(color, m.games.PileTop(b, color)))
	}
}

// count adds the finished games to the totals.
func (m *match) count(n int) {
	m.played += n
	for deal := int32(0); deal < int32(n); deal += 2 {
		var wins, draws, points float64
		for b := deal; b < deal+2; b++ {
			p := m.margin(b)
			points += p / 2
			switch {
			case p > 0:
				wins += 0.5
			case p == 0:
				draws += 0.5
			}
			m.plies += int(m.games.Made.Data[b])
			if m.games.Capped(b) {
				m.capped++
			}
			m.expeditions += m.opened(b)
		}
		m.wins.add(wins)
		m.draws.add(draws)
		m.scores.add(wins + draws/2)
		m.deals = append(m.deals, uint8(4*wins+2*draws))
		m.points.add(points)
	}
}

// margin returns the agent's points minus the opponent's in row b.
func (m *match) margin(b int32) float64 {
	seat := int(b) & 1
	return float64(m.games.PlayerScore(b, seat) - m.games.PlayerScore(b, 1-seat))
}

// opened returns the agent's expeditions in row b.
func (m *match) opened(b int32) int {
	n, seat := 0, int(b)&1
	for _, set := range m.games.Exp.Row(b)[seat*m.cfg.Colors : (seat+1)*m.cfg.Colors] {
		if set != 0 {
			n++
		}
	}
	return n
}

func (m *match) result() Result {
	games := float64(m.played)
	return Result{
		Agent: m.agents[0].Name(), Opponent: m.agents[1].Name(), Games: m.played,
		WinRate: m.wins.mean(), DrawRate: m.draws.mean(), MeanPoints: m.points.mean(),
		SEPoints: m.points.standardError(), SEWin: m.wins.standardError(), SEScore: m.scores.standardError(),
		PliesPerGame: float64(m.plies) / games, Capped: m.capped,
		UselessDraws: float64(m.useless[0]) / games, Expeditions: float64(m.expeditions) / games,
		OpponentUselessDraws: float64(m.useless[1]) / games,
	}
}
