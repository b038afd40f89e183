package record

import (
	"fmt"

	"vtrain/rules"
)

// Encoding is one recorded encoding of a state.
type Encoding struct {
	Line          int     `json:"-"`
	Games         string  `json:"games"` // the file games_<Games>
	Game          int     `json:"game"`
	Ply           int     `json:"ply"`    // actions made before the state
	Player        int     `json:"player"` // whose information state
	CurrentPlayer int     `json:"current_player"`
	Enc           Layouts `json:"enc"`
}

// Layouts are the four layouts of an encoding, DxSy: x the derived block, y
// the slot-aware block.
type Layouts struct {
	D0S0 []float32 `json:"d0s0"`
	D0S1 []float32 `json:"d0s1"`
	D1S0 []float32 `json:"d1s0"`
	D1S1 []float32 `json:"d1s1"`
}

// BotMove is one recorded decision of a bot.
type BotMove struct {
	Line     int    `json:"-"`
	Bot      string `json:"bot"`
	Games    string `json:"games"`
	Game     int    `json:"game"`
	Ply      int    `json:"ply"`
	Phase    int    `json:"phase"`
	Action   int    `json:"action"`                    // slot action
	Balanced *int   `json:"balanced_action,omitempty"` // what heuristic-balanced would do; noisy bots only
}

// Regret is one recorded regret matching row: everything is [A], of no more
// actions than a game can have.
type Regret struct {
	Line          int       `json:"-"`
	Kind          string    `json:"kind"`
	Epsilon       float64   `json:"epsilon"` // a positive sum up to it counts as none
	Advantages    []float32 `json:"advantages"`
	Legal         []int     `json:"legal"`          // 1 where legal
	CythonUniform []float32 `json:"cython_uniform"` // matching, uniform fallback
	PyUniform     []float32 `json:"py_uniform"`
	PyArgmax      []float32 `json:"py_argmax"` // matching, best action as fallback
	Fallback      bool      `json:"fallback"`
	TieSize       int       `json:"tie_size"`
	FullTie       bool      `json:"full_tie,omitempty"`
	Sampling      []float32 `json:"sampling_eps005_of_uniform"`
	Softmax       []float32 `json:"masked_softmax"`
}

func parseEncoding(at place, line []byte) (*Encoding, error) {
	e := Encoding{Line: at.line}
	if err := decode(line, &e); err != nil {
		return nil, err
	}
	return &e, first(
		checkSpot(e.Games, e.Game, e.Ply),
		wantRange("player", e.Player, 0, 1),
		wantRange("current_player", e.CurrentPlayer, 0, 1),
	)
}

func parseBotMove(at place, line []byte) (*BotMove, error) {
	m := BotMove{Line: at.line}
	if err := decode(line, &m); err != nil {
		return nil, err
	}
	balanced := m.Action
	if m.Balanced != nil {
		balanced = *m.Balanced
	}
	return &m, first(
		checkSpot(m.Games, m.Game, m.Ply),
		wantRange("phase", m.Phase, 0, 1),
		wantRange("action", m.Action, 0, maxMaskBits-1),
		wantRange("balanced_action", balanced, 0, maxMaskBits-1),
	)
}

func checkSpot(games string, game, ply int) error {
	if games == "" {
		return fmt.Errorf("field %q is empty, expected the name of a games file", "games")
	}
	return first(wantRange("game", game, 0, 1<<31-1), wantRange("ply", ply, 0, 1<<31-1))
}

func parseRegret(at place, line []byte) (*Regret, error) {
	r := Regret{Line: at.line}
	if err := decode(line, &r); err != nil {
		return nil, err
	}
	n := len(r.Advantages)
	err := first(
		wantAtMost("advantages", n, rules.MaxActions),
		wantLength("legal", len(r.Legal), n),
		wantLength("cython_uniform", len(r.CythonUniform), n),
		wantLength("py_uniform", len(r.PyUniform), n),
		wantLength("py_argmax", len(r.PyArgmax), n),
		wantLength("sampling_eps005_of_uniform", len(r.Sampling), n),
		wantLength("masked_softmax", len(r.Softmax), n),
	)
	for _, legal := range r.Legal {
		err = first(err, wantRange("legal", legal, 0, 1))
	}
	return &r, err
}
