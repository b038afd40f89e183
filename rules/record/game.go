package record

import (
	"encoding/json"
	"fmt"

	"vtrain/rules"
)

// Game is one recorded game.
type Game struct {
	File       string // where it was read
	Line       int    // counted from 1
	Index      int    // its number in the recording
	Config     rules.Config
	ConfigName string    // as recorded: "nohs" is our preset "nowager"
	Kind       string    // "random" or "bots"
	Bots       [2]string // [P] who played
	Deck       []rules.Card
	Plies      []Ply

	Terminal         bool // false: cut by the recorder, the game would go on
	Final            [2]int
	PlyCount         int // n_plies
	Turns            int // turns completed
	ExpeditionScores [2][]int
}

// Ply is one recorded ply. What its action did is in Score and Deck.
type Ply struct {
	Player int
	Phase  rules.Phase
	Mask   uint64 // legal slot actions before the ply
	Action int    // slot action
	Score  [2]int // totals after the ply
	Deck   int    // cards left after the ply
}

// maxMaskBits is what an integer of the recording holds without a sign.
const maxMaskBits = 63

type configLine struct {
	Name     string `json:"name"`
	Colors   int    `json:"n_colors"`
	Ranks    int    `json:"n_ranks"`
	MinRank  int    `json:"min_rank"`
	Wagers   int    `json:"n_handshakes"`
	Hand     int    `json:"hand_size"`
	Penalty  int    `json:"expedition_penalty"`
	BonusAt  int    `json:"bonus_threshold"`
	BonusPts int    `json:"bonus_amount"`
}

type gameLine struct {
	Game       int        `json:"game"`
	Config     configLine `json:"config"`
	Kind       string     `json:"kind"`
	Bots       []string   `json:"bots"`
	Seed       int64      `json:"seed,omitempty"` // the recorder's own; of no use here
	Deck       []int      `json:"deck"`
	Plies      []plyLine  `json:"plies"`
	Terminal   bool       `json:"terminal"`
	Final      []int      `json:"final"`
	PlyCount   int        `json:"n_plies"`
	Turns      int        `json:"final_turn_count"`
	Expedition [][]int    `json:"final_expedition_scores"`
}

// plyLine is player, phase, mask, action, score 0, score 1, deck.
type plyLine []int64

const plyFields = 7

// parseGame reads one line of a games file.
func parseGame(at place, line []byte) (*Game, error) {
	var l gameLine
	if err := decode(line, &l); err != nil {
		return nil, err
	}
	cfg, err := l.Config.rules()
	if err != nil {
		return nil, err
	}
	if err := l.checkShape(cfg); err != nil {
		return nil, err
	}
	g := &Game{
		File: at.file, Line: at.line,
		Index: l.Game, Config: cfg, ConfigName: l.Config.Name, Kind: l.Kind, Bots: [2]string(l.Bots),
		Terminal: l.Terminal, Final: [2]int(l.Final), PlyCount: l.PlyCount, Turns: l.Turns,
		ExpeditionScores: [2][]int(l.Expedition),
	}
	for _, x := range l.Deck {
		g.Deck = append(g.Deck, rules.Card(x))
	}
	for _, p := range l.Plies {
		g.Plies = append(g.Plies, p.ply())
	}
	return g, nil
}

// rules returns the configuration, checking that a preset's name stands for
// the preset.
func (l configLine) rules() (rules.Config, error) {
	cfg := rules.Config{
		Colors: l.Colors, Ranks: l.Ranks, MinRank: l.MinRank, Wagers: l.Wagers, Hand: l.Hand,
		Penalty: l.Penalty, BonusAt: l.BonusAt, Bonus: l.BonusPts,
	}
	if err := cfg.Validate(); err != nil {
		return cfg, fmt.Errorf("field \"config\": %w", err)
	}
	if bits := slotActions(cfg); bits > maxMaskBits {
		return cfg, fmt.Errorf("field \"config\": %d slot actions do not fit a mask, expected at most %d", bits, maxMaskBits)
	}
	if want, err := rules.Preset(presetName(l.Name)); err == nil && want != cfg {
		return cfg, fmt.Errorf("field \"config\": not the values of %q: %+v, expected %+v", l.Name, cfg, want)
	}
	return cfg, nil
}

func presetName(recorded string) string {
	if recorded == "nohs" {
		return "nowager"
	}
	return recorded
}

func (l *gameLine) checkShape(cfg rules.Config) error {
	err := first(
		wantRange("game", l.Game, 0, 1<<31-1),
		wantLength("bots", len(l.Bots), 2),
		wantLength("deck", len(l.Deck), cfg.Cards()),
		wantLength("final", len(l.Final), 2),
		wantLength("final_expedition_scores", len(l.Expedition), 2),
	)
	for _, scores := range l.Expedition {
		err = first(err, wantLength("final_expedition_scores", len(scores), cfg.Colors))
	}
	for _, x := range l.Deck {
		err = first(err, wantRange("deck", x, 0, cfg.Types()-1))
	}
	for i, p := range l.Plies {
		err = first(err, p.checkShape(i))
	}
	return err
}

func (p plyLine) checkShape(i int) error {
	field := fmt.Sprintf("plies[%d]", i)
	if len(p) != plyFields {
		return wantLength(field, len(p), plyFields)
	}
	if p[2] < 0 {
		return fmt.Errorf("field %q has the mask %d, expected no negative number", field, p[2])
	}
	return first(
		wantRange(field+" player", int(p[0]), 0, 1),
		wantRange(field+" phase", int(p[1]), 0, 1),
		wantRange(field+" action", int(p[3]), 0, maxMaskBits-1),
	)
}

func (p plyLine) ply() Ply {
	return Ply{
		Player: int(p[0]), Phase: rules.Phase(p[1]), Mask: uint64(p[2]), Action: int(p[3]),
		Score: [2]int{int(p[4]), int(p[5])}, Deck: int(p[6]),
	}
}

// UnmarshalJSON only makes error messages name the plies.
func (p *plyLine) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, (*[]int64)(p)); err != nil {
		return fmt.Errorf("field \"plies\" holds %s, expected %d integers a ply", abbreviate(text), plyFields)
	}
	return nil
}
