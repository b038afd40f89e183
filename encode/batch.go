package encode

import (
	"vtrain/rules"
	"vtrain/vec"
)

// Batch is Lost Cities as trainers see games: rows of rules.Games, observed
// and acted on through a layout. Utilities are points.
type Batch struct {
	games  *rules.Games
	layout Layout
	critic *Critic
	moves  []int32 // scratch: the rules' actions of a step

	translates bool // the layout's actions aren't the rules' own
}

var _ vec.Batch = (*Batch)(nil)

// NewBatch returns an empty batch of randomly dealt games of the layout's
// configuration. A nil pool means the calling goroutine only.
func NewBatch(l Layout, pool *vec.Pool) *Batch {
	return Wrap(l, rules.NewGames(l.Config(), pool))
}

// Wrap returns a batch over given games, which it shares. Their configuration
// must be the layout's; MaxTurns may differ.
func Wrap(l Layout, g *rules.Games) *Batch {
	mustMatch(g.Config, l.Config())
	_, own := l.(*Cards)
	return &Batch{games: g, layout: l, critic: NewCritic(l), translates: !own}
}

// Games returns the games underneath, for bots and arenas.
func (b *Batch) Games() *rules.Games { return b.games }

// New implements vec.Batch.
func (b *Batch) New() vec.Batch {
	return &Batch{games: b.games.New(), layout: b.layout, critic: b.critic, translates: b.translates}
}

// Rows implements vec.Batch.
func (b *Batch) Rows() int { return b.games.Rows() }

// RowBytes implements vec.Batch.
func (b *Batch) RowBytes() int { return b.games.RowBytes() }

// Fields implements vec.Batch.
func (b *Batch) Fields() []vec.Field { return b.games.Fields() }

// Actions implements vec.Batch.
func (b *Batch) Actions() int { return b.layout.Actions() }

// MaxLegal implements vec.Batch.
func (b *Batch) MaxLegal() int { return b.layout.MaxLegal() }

// Width implements vec.Batch.
func (b *Batch) Width(v vec.View) int {
	if v == vec.History {
		return b.critic.Width()
	}
	return b.layout.Width()
}

// Horizon implements vec.Batch: two plies a turn, 0 without a turn limit.
func (b *Batch) Horizon() int { return 2 * b.games.MaxTurns }

// Limit implements vec.Batch.
func (b *Batch) Limit(rows int) { b.games.Limit(rows) }

// Resize implements vec.Batch.
func (b *Batch) Resize(rows int) { b.games.Resize(rows) }

// Deal implements vec.Batch.
func (b *Batch) Deal(n int, seed, first uint64) { b.games.Deal(n, seed, first) }

// Gather implements vec.Batch.
func (b *Batch) Gather(src vec.Batch, rows []int32) { b.games.Gather(sameKind(src).games, rows) }

// Scatter implements vec.Batch.
func (b *Batch) Scatter(at []int32, src vec.Batch, rows []int32) {
	b.games.Scatter(at, sameKind(src).games, rows)
}

func sameKind(src vec.Batch) *Batch {
	b, ok := src.(*Batch)
	if !ok {
		panic(badBatch)
	}
	return b
}

// Finished implements vec.Batch.
func (b *Batch) Finished() []uint8 { return b.games.Finish.Data }

// Plies implements vec.Batch.
func (b *Batch) Plies() []uint32 { return b.games.Made.Data }

// GameKeys implements vec.Batch.
func (b *Batch) GameKeys() []uint64 { return b.games.Keys.Data }

// ToMove implements vec.Batch.
func (b *Batch) ToMove(dst []uint8, rows []int32) {
	if len(dst) != len(rows) {
		panic(badLength)
	}
	for i, r := range rows {
		dst[i] = uint8(b.games.Player(r))
	}
}

// Legal implements vec.Batch.
func (b *Batch) Legal(dst []uint64, rows []int32) { b.layout.Legal(dst, b.games, rows) }

// Observe implements vec.Batch.
func (b *Batch) Observe(dst []float32, v vec.View, rows []int32) {
	if v == vec.History {
		b.critic.ObserveOpen(dst, b.games, rows)
		return
	}
	b.layout.Observe(dst, b.games, rows)
}

// Step implements vec.Batch, with the layout's actions.
func (b *Batch) Step(rows, actions []int32) {
	if b.translates {
		b.moves = vec.Grow(b.moves, len(rows))
		b.layout.RulesActions(b.moves, b.games, rows, actions)
		actions = b.moves
	}
	b.games.Step(rows, actions)
}

// Utility implements vec.Batch: player 0's points minus player 1's.
func (b *Batch) Utility(dst []float32, rows []int32) {
	if len(dst) != len(rows) {
		panic(badLength)
	}
	for i, r := range rows {
		dst[i] = float32(b.games.PlayerScore(r, 0) - b.games.PlayerScore(r, 1))
	}
}
