package bots

import (
	"fmt"
	"math/bits"
	"strings"

	"vtrain/rules"
	"vtrain/vec"
)

// kind is the family that a bot belongs to.
type kind uint8

const (
	randomKind kind = iota
	discardKind
	heuristicKind
	noisyKind
	ruleKind
)

// noise is the probability of a random action of heuristic-noisy.
const noise = .15

// roster lists the bots, with the parameters of those that are heuristics.
var roster = []struct {
	name string
	kind kind
	p    params
}{
	{"random", randomKind, params{}},
	{"discard-only", discardKind, params{}},
	{"heuristic-balanced", heuristicKind, balanced},
	{"heuristic-aggressive", heuristicKind, aggressive},
	{"heuristic-cautious", heuristicKind, cautious},
	{"heuristic-noisy", noisyKind, balanced},
	{"rule", ruleKind, params{}},
}

// Names returns the names that New knows.
func Names() []string {
	names := make([]string, len(roster))
	for i, r := range roster {
		names[i] = r.name
	}
	return names
}

// A Bot is a scripted opponent for one configuration. Act may not run on the
// same Bot twice at once; everything else is safe for concurrent use.
type Bot struct {
	name  string
	kind  kind
	seed  uint64
	t     *rules.Tables
	h     *heuristic // heuristic kinds only
	pool  *vec.Pool
	args  actArgs
	batch func(lo, hi int)
}

// actArgs are the arguments of the Act that is running. They stay in the
// struct so that handing ranges to the pool allocates no closure.
type actArgs struct {
	dst  []int32
	g    *rules.Games
	rows []int32
}

// New returns the bot of that name. The seed matters to those that choose at
// random. An unknown name is an error that lists the names, an invalid
// configuration one that names the value.
func New(name string, cfg rules.Config, seed uint64) (*Bot, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	for _, r := range roster {
		if r.name != name {
			continue
		}
		b := &Bot{name: name, kind: r.kind, seed: seed, t: rules.NewTables(cfg)}
		if r.kind == heuristicKind || r.kind == noisyKind {
			b.h = newHeuristic(b.t, r.p)
		}
		b.batch = b.actRange
		return b, nil
	}
	return nil, fmt.Errorf("bots: unknown bot %q, expected one of %s", name, strings.Join(Names(), ", "))
}

// On returns a copy of the bot whose Act runs on a pool. Its actions are the
// same on any.
func (b *Bot) On(pool *vec.Pool) *Bot {
	c := *b
	c.pool = pool
	c.args = actArgs{}
	c.batch = c.actRange
	return &c
}

// Name returns the bot's name.
func (b *Bot) Name() string { return b.name }

// grain is the rows that a worker takes at a time: some tens of microseconds.
const grain = 256

// Act writes to dst[i] the bot's action for the player to move in row rows[i].
// The rows' games must be live and of the bot's configuration. It allocates
// nothing.
func (b *Bot) Act(dst []int32, g *rules.Games, rows []int32) {
	if len(dst) != len(rows) {
		panic("bots: one action for each row")
	}
	b.mustPlay(g.Config)
	b.args = actArgs{dst, g, rows}
	b.pool.Run(len(rows), grain, b.batch)
	b.args = actArgs{}
}

func (b *Bot) actRange(lo, hi int) {
	var v view
	for i := lo; i < hi; i++ {
		v.fromRow(b.args.g, b.args.rows[i])
		b.args.dst[i] = int32(b.act(&v))
	}
}

// ActGame returns the bot's action for the player to move. The game must be
// live and of the bot's configuration.
func (b *Bot) ActGame(g *rules.Game) rules.Action {
	b.mustPlay(g.Config())
	var v view
	v.fromGame(g, b.t)
	return b.act(&v)
}

// mustPlay panics unless the bot is made for a variant; the turn limit is
// nothing that a bot looks at.
func (b *Bot) mustPlay(cfg rules.Config) {
	cfg.MaxTurns = b.t.MaxTurns
	if cfg != b.t.Config {
		panic("bots: the game is of another configuration than the bot")
	}
}

func (b *Bot) act(v *view) rules.Action {
	switch b.kind {
	case discardKind:
		return discardFirst(v, b.t)
	case heuristicKind:
		return b.h.act(v)
	case ruleKind:
		return ruleAct(v, b.t)
	}
	s := vec.At(vec.Key(b.seed, v.key), v.ply)
	if b.kind == noisyKind && s.Float64() >= noise {
		return b.h.act(v)
	}
	return v.random(b.t, &s)
}

// discardFirst discards the lowest card of the lowest colour and draws from
// the deck. A live game has one: the draw that empties it ends the game, and a
// game dealt without a deck ends with its first card.
func discardFirst(v *view, t *rules.Tables) rules.Action {
	if v.drawing {
		return t.DrawDeck()
	}
	c := 0
	for v.hand[c] == 0 {
		c++
	}
	return t.Discard(t.Card(c, bits.TrailingZeros64(t.TypeBits(v.hand[c]))))
}
