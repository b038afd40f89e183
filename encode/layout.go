package encode

import (
	"fmt"
	"strings"

	"vtrain/rules"
	"vtrain/vec"
)

// A Layout is an encoding of what a player knows and a numbering of his
// actions, for one configuration.
//
// Rows of rules.Games are addressed as everywhere: entry i of dst, of width D
// or MaskWords, belongs to row rows[i]. Games must have the layout's
// configuration; MaxTurns may differ, for no input depends on it. A finished
// game has no legal action; observing it shows its last ply.
type Layout interface {
	// Name and Version identify the layout: what was encoded by one can't be
	// read as another.
	Name() string
	Version() int
	// Config returns the variant of the game.
	Config() rules.Config
	// Width returns D, the features of an observation.
	Width() int
	// Fields describes the features, in their order and without gaps.
	Fields() []Field
	// Actions returns A, and MaskWords the words of a mask row.
	Actions() int
	MaskWords() int
	// MaxLegal returns the most actions that can be legal at once.
	MaxLegal() int
	// ActionName returns an action as people write it.
	ActionName(a int32) string

	// Observe writes what the player to move knows, [len(rows),D].
	Observe(dst []float32, g *rules.Games, rows []int32)
	// ObserveAs does so for a given player, whoever is to move.
	ObserveAs(dst []float32, g *rules.Games, player int, rows []int32)
	// ObserveGame does so for one game, [D].
	ObserveGame(dst []float32, g *rules.Game, player int)

	// Legal writes the legal actions, [len(rows),MaskWords].
	Legal(dst []uint64, g *rules.Games, rows []int32)
	// LegalGame returns those of one game, ascending.
	LegalGame(g *rules.Game) []int32

	// RulesActions translates the layout's actions of the players to move to
	// the rules' own, entry by entry; dst may be actions. Entries of finished
	// games become 0, whatever they were.
	RulesActions(dst []int32, g *rules.Games, rows, actions []int32)
	// LayoutActions is the inverse. Where several of the layout's actions mean
	// the same move, it returns the lowest.
	LayoutActions(dst []int32, g *rules.Games, rows, actions []int32)
	// RulesAction and LayoutAction do the same for one game.
	RulesAction(g *rules.Game, a int32) rules.Action
	LayoutAction(g *rules.Game, a rules.Action) int32

	// open is the view of a Critic.
	open() *openView
}

// openView is a layout with open hands.
type openView struct {
	fields  []Field
	rows    func(dst []float32, g *rules.Games, player int, rows []int32)
	oneGame func(dst []float32, g *rules.Game, player int)
}

// Names returns the names that New knows, the default first.
func Names() []string {
	return []string{"cards-sorted", "cards", "slots-d0s0", "slots-d0s1", "slots-d1s0", "slots-d1s1"}
}

// New returns a named layout of a configuration.
func New(name string, cfg rules.Config) (Layout, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("encode: layout %q: %w", name, err)
	}
	switch name {
	case "cards":
		return NewCards(cfg), nil
	case "cards-sorted":
		return NewSorted(cfg), nil
	case "slots-d0s0", "slots-d0s1", "slots-d1s0", "slots-d1s1":
		return NewSlots(cfg, SlotOptions{Derived: name[7] == '1', SlotAware: name[9] == '1'}), nil
	}
	return nil, fmt.Errorf("encode: unknown layout %q, expected one of %s", name, strings.Join(Names(), ", "))
}

// A Critic is a layout with open hands: the opponent's real hand where the
// layout shows at most the cards of it that are known. It is for training
// only, and is deliberately no Layout.
type Critic struct {
	name    string
	version int
	view    *openView
}

// NewCritic returns the view with open hands of a layout.
func NewCritic(l Layout) *Critic {
	return &Critic{name: l.Name() + "-open", version: l.Version(), view: l.open()}
}

// Name returns the layout's name with "-open" appended.
func (c *Critic) Name() string { return c.name }

// Version returns the layout's version.
func (c *Critic) Version() int { return c.version }

// Width returns the features of an observation.
func (c *Critic) Width() int { return width(c.view.fields) }

// Fields describes the features, in their order and without gaps.
func (c *Critic) Fields() []Field { return cloneFields(c.view.fields) }

// ObserveOpen writes the whole state as the player to move sees it,
// [len(rows),D].
func (c *Critic) ObserveOpen(dst []float32, g *rules.Games, rows []int32) {
	c.view.rows(dst, g, toMove, rows)
}

// ObserveOpenAs does so for a given player, whoever is to move.
func (c *Critic) ObserveOpenAs(dst []float32, g *rules.Games, player int, rows []int32) {
	mustBePlayer(player)
	c.view.rows(dst, g, player, rows)
}

// ObserveOpenGame does so for one game, [D].
func (c *Critic) ObserveOpenGame(dst []float32, g *rules.Game, player int) {
	mustBePlayer(player)
	c.view.oneGame(dst, g, player)
}

// toMove stands for whoever is to move in a row.
const toMove = -1

func mustBePlayer(player int) {
	if player != 0 && player != 1 {
		panic(badPlayer)
	}
}

// mustMatch panics unless games of configuration got can be read by a layout
// made for want.
func mustMatch(got, want rules.Config) {
	got.MaxTurns = want.MaxTurns
	if got != want {
		panic(badGame)
	}
}

// grain is the rows that a worker takes at a time: some ten microseconds. As many
// don't need the pool.
const grain = vec.Inline

// A call is the arguments of one running kernel. Handing a stored method value
// to the pool allocates no closure, and a call for each concurrent user lets
// one layout serve several batches at a time.
type call struct {
	g       *rules.Games
	rows    []int32
	player  int
	open    bool
	dst     []float32
	mask    []uint64
	to      []int32
	actions []int32
}

func (k *call) playerOf(b int32) int {
	if k.player == toMove {
		return k.g.Player(b)
	}
	return k.player
}

// A kernel runs one kind of call over the rows of a pool.
type kernel struct {
	calls vec.Locals[*boundCall]
}

type boundCall struct {
	call
	run func(lo, hi int)
}

func (k *kernel) bind(f func(c *call, lo, hi int)) {
	k.calls.New = func() *boundCall {
		b := new(boundCall)
		b.run = func(lo, hi int) { f(&b.call, lo, hi) }
		return b
	}
}

func (k *kernel) do(args call) {
	b := k.calls.Get()
	b.call = args
	args.g.Pool().Run(len(args.rows), grain, b.run)
	b.call = call{}
	k.calls.Put(b)
}

// flag is 1 for true, without a branch.
func flag(b bool) uint64 {
	var x uint64
	if b {
		x = 1
	}
	return x
}

// newEight returns the features that a byte stands for, the lowest bit first.
func newEight() *[256][8]float32 {
	eight := new([256][8]float32)
	for set := range eight {
		for bit := range eight[set] {
			eight[set][bit] = float32(set >> bit & 1)
		}
	}
	return eight
}
