package encode_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"vtrain/encode"
	"vtrain/rules"
	"vtrain/rules/record"
	"vtrain/vec"
)

// described is a view with the description that it must fit.
type described struct {
	view
	fields []encode.Field
}

func describedViews(cfg rules.Config) []described {
	var all []described
	for _, l := range layouts(cfg) {
		v := views(l)
		all = append(all, described{v[0], l.Fields()}, described{v[1], encode.NewCritic(l).Fields()})
	}
	return all
}

func TestFieldsCoverEveryFeature(t *testing.T) {
	eachConfig(t, func(t *testing.T, cfg rules.Config) {
		for _, d := range describedViews(cfg) {
			next := 0
			for _, f := range d.fields {
				if f.First != next || f.Count < 1 || f.Count%len(f.Parts) != 0 {
					t.Errorf("%s: field %q begins at %d with %d features, expected at %d", d.name, f.Name, f.First, f.Count, next)
				}
				if f.Name == "" || f.Unit == "" || f.Meaning == "" || f.Color < encode.Common || f.Color >= cfg.Colors {
					t.Errorf("%s: field %q is not described", d.name, f.Name)
				}
				next += f.Count
			}
			labels := encode.Labels(d.fields)
			if next != d.width || len(labels) != d.width {
				t.Errorf("%s: fields describe %d features of %d, with %d labels", d.name, next, d.width, len(labels))
			}
			for i, label := range labels {
				if j := slices.Index(labels, label); j != i && !strings.HasSuffix(label, encode.Spare) {
					t.Errorf("%s: features %d and %d are both %q", d.name, i, j, label)
				}
			}
		}
	})
}

// Over random play every described feature takes a value other than 0, flags
// are flags, and spare features stay 0.
func TestFieldsHoldWhatTheySay(t *testing.T) {
	for _, name := range []string{"classic", "mid", "tiny"} {
		cfg := rules.MustPreset(name)
		all := describedViews(cfg)
		used := make([][]bool, len(all)) // by feature
		for i, d := range all {
			used[i] = make([]bool, d.width)
		}
		for _, eager := range []bool{false, true} {
			p := deal(cfg, nil, 150, 2)
			p.eager = eager
			for ply := 0; ply < 260 && !p.done(); ply++ {
				p.step()
				if ply < 20 || ply%8 == 0 {
					checkFields(t, all, p, used)
				}
			}
		}
		for i, d := range all {
			for _, f := range d.fields {
				for k, label := range encode.Labels([]encode.Field{f}) {
					if used[i][f.First+k] == (f.Name == encode.Spare) && !neverSet(cfg, f, k) {
						t.Errorf("%s of %s: feature %d (%s): used is %v", d.name, name, f.First+k, label, used[i][f.First+k])
					}
				}
			}
		}
	}
}

func checkFields(t *testing.T, all []described, p *pair, used [][]bool) {
	t.Helper()
	for i, d := range all {
		dst := poisoned(len(p.rows) * d.width)
		d.rows(dst, p.games, p.rows)
		for _, f := range d.fields {
			checkField(t, d, f, dst, used[i])
		}
	}
}

// neverSet are features that a small game can't reach.
func neverSet(cfg rules.Config, f encode.Field, k int) bool {
	least := 0
	_, err := fmt.Sscanf(f.Parts[k], "≥ %d", &least)
	return err == nil && least >= cfg.DeckSize()
}

func checkField(t *testing.T, d described, f encode.Field, dst []float32, used []bool) {
	t.Helper()
	for row := 0; row < len(dst); row += d.width {
		for k, x := range dst[row+f.First : row+f.First+f.Count] {
			if x != 0 {
				used[f.First+k] = true
			}
			if f.Unit == "0/1" && x != 0 && x != 1 || f.Unit == "count" && x != float32(math.Trunc(float64(x))) {
				t.Fatalf("%s: %s is %v", d.name, f.Label(k), x)
			}
		}
	}
}

// The indices of the classic game, as they were specified.
func TestClassicCardsIndices(t *testing.T) {
	l := encode.NewCards(rules.MustPreset("classic"))
	labels := encode.Labels(l.Fields())
	for i, want := range map[int]string{
		0: "yellow own hand: wager 1", 3: "yellow own hand: 2", 11: "yellow own hand: 10",
		12: "yellow own expedition: wager 1", 23: "yellow own expedition: 10",
		24: "yellow their expedition: wager 1", 35: "yellow their expedition: 10",
		36: "yellow their known hand: wager 1", 47: "yellow their known hand: 10",
		48: "yellow pile: wager 1", 59: "yellow pile: 10",
		60: "yellow pile top: wager", 61: "yellow pile top: 2", 69: "yellow pile top: 10",
		70: "yellow discarded here", 71: "yellow own score", 72: "yellow their score",
		73: "yellow own started", 74: "yellow their started", 75: "yellow playable faces", 76: "yellow faces in hand",
		77: "yellow spare", 80: "blue own hand: wager 1", 399: "red spare",
		400: "phase", 401: "deck", 402: "score difference", 403: "deck thermometer: ≥ 1", 418: "deck thermometer: ≥ 40",
		419: "played a card", 420: "spare", 439: "spare",
	} {
		if labels[i] != want {
			t.Errorf("feature %d is %q, expected %q", i, labels[i], want)
		}
	}
	if l.ColorWidth() != 80 || l.Actions() != 106 || l.MaxLegal() != 16 {
		t.Errorf("%d features a colour, %d actions, at most %d legal", l.ColorWidth(), l.Actions(), l.MaxLegal())
	}
	critic := encode.Labels(encode.NewCritic(l).Fields())
	for i := range labels {
		if want := strings.Replace(labels[i], "their known hand", "their hand", 1); critic[i] != want {
			t.Errorf("feature %d of the critic is %q, expected %q", i, critic[i], want)
		}
	}
}

// position is a game that starts with given hands and draws.
func position(t *testing.T, hands [2][]string, draws []string, moves []string) *rules.Game {
	t.Helper()
	cfg := rules.MustPreset("classic")
	var order []rules.Card // from the top
	for i := range cfg.Hand {
		order = append(order, cardNamed(t, cfg, hands[0][i]), cardNamed(t, cfg, hands[1][i]))
	}
	for _, name := range draws {
		order = append(order, cardNamed(t, cfg, name))
	}
	rest := cfg.Pack()
	for _, x := range order {
		i := slices.Index(rest, x)
		rest = slices.Delete(rest, i, i+1)
	}
	slices.Reverse(order)
	g := mustDeal(cfg, append(rest, order...))
	for _, move := range moves {
		i := slices.IndexFunc(g.Legal(), func(a rules.Action) bool { return cfg.ActionName(a) == move })
		if i < 0 {
			t.Fatalf("%q is not legal", move)
		}
		mustStep(g, g.Legal()[i])
	}
	return g
}

func cardNamed(t *testing.T, cfg rules.Config, name string) rules.Card {
	t.Helper()
	for _, x := range cfg.Pack() {
		if cfg.CardName(x) == name {
			return x
		}
	}
	t.Fatalf("no card %q", name)
	return 0
}

var probeHands = [2][]string{
	{"yellow wager", "yellow 5", "yellow 7", "blue 10", "white 2", "white wager", "green 3", "red 8"},
	{"yellow 2", "blue 3", "blue wager", "white 4", "green 9", "red wager", "red 5", "red 6"},
}

var probeDraws = []string{"blue 4", "green 10", "white 9", "yellow 10"}

var probeMoves = []string{
	"play yellow wager", "draw from the deck",
	"discard red 6", "draw from the deck",
	"play yellow 5", "draw from the red pile",
	"play blue wager", "draw from the deck",
	"discard white 2", "draw from the deck",
}

// probe is every feature of player 1 that is not 0 after those moves, counted
// out by hand; the deck thermometer is left out.
var probe = map[string]float32{
	"yellow own hand: 2":      1,
	"blue own hand: 3":        1,
	"white own hand: 4":       1,
	"white own hand: 9":       1,
	"green own hand: 9":       1,
	"green own hand: 10":      1,
	"red own hand: wager 1":   1,
	"red own hand: 5":         1,
	"yellow playable faces":   2. / 20,
	"yellow faces in hand":    2. / 20,
	"blue playable faces":     3. / 20,
	"blue faces in hand":      3. / 20,
	"white playable faces":    13. / 20,
	"white faces in hand":     13. / 20,
	"green playable faces":    19. / 20,
	"green faces in hand":     19. / 20,
	"red playable faces":      5. / 20,
	"red faces in hand":       5. / 20,
	"red their known hand: 6": 1,

	"yellow their expedition: wager 1": 1,
	"yellow their expedition: 5":       1,
	"yellow their score":               -30. / 40,
	"yellow their started":             1,
	"blue own expedition: wager 1":     1,
	"blue own score":                   -40. / 40,
	"blue own started":                 1,
	"white pile: 2":                    1,
	"white pile top: 2":                1,

	"deck":             40. / 44,
	"score difference": -10. / 60,
}

// merged returns a map with changes; a 0 takes an entry out.
func merged(base, changes map[string]float32) map[string]float32 {
	m := maps.Clone(base)
	maps.Copy(m, changes)
	maps.DeleteFunc(m, func(_ string, x float32) bool { return x == 0 })
	return m
}

func TestProbes(t *testing.T) {
	hidden := map[string]float32{"red their known hand: 6": 0, "red their hand: 6": 1, "red their hand: 8": 1, "yellow their hand: 7": 1,
		"yellow their hand: 10": 1, "blue their hand: 4": 1, "blue their hand: 10": 1, "white their hand: wager 1": 1, "green their hand: 3": 1}
	for _, c := range []struct {
		name    string
		moves   []string
		changes map[string]float32
		open    bool
	}{
		{"card phase", nil, nil, false},
		{"open hands", nil, hidden, true},
		{"after a discard", []string{"discard yellow 2"}, map[string]float32{"phase": 1, "yellow own hand: 2": 0, "yellow playable faces": 0,
			"yellow faces in hand": 0, "yellow pile: 2": 1, "yellow pile top: 2": 1, "yellow discarded here": 1}, false},
		{"after a card played", []string{"play blue 3"}, map[string]float32{"phase": 1, "played a card": 1, "blue own hand: 3": 0, "blue playable faces": 0,
			"blue faces in hand": 0, "blue own expedition: 3": 1, "blue own score": -34. / 40, "score difference": -4. / 60}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := position(t, probeHands, probeDraws, append(slices.Clone(probeMoves), c.moves...))
			l := encode.NewCards(g.Config())
			got, fields := poisoned(l.Width()), l.Fields()
			l.ObserveGame(got, g, 1)
			if c.open {
				fields = encode.NewCritic(l).Fields()
				encode.NewCritic(l).ObserveOpenGame(got, g, 1)
			}
			want := merged(probe, c.changes)
			for i, label := range encode.Labels(fields) {
				if !strings.HasPrefix(label, "deck thermometer") && got[i] != want[label] {
					t.Errorf("%s is %v, expected %v", label, got[i], want[label])
				}
				delete(want, label)
			}
			if len(want) > 0 {
				t.Errorf("no such features: %v", want)
			}
		})
	}
}

func TestDeckThermometer(t *testing.T) {
	g := position(t, probeHands, probeDraws, probeMoves)
	l := encode.NewCards(g.Config())
	steps := []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30, 35, 40}
	dst := make([]float32, l.Width())
	for !g.Done() {
		l.ObserveGame(dst, g, 0)
		for i, step := range steps {
			if got := dst[403+i] == 1; got != (g.Deck() >= step) {
				t.Fatalf("%d cards left: at least %d is %v", g.Deck(), step, got)
			}
		}
		legal := g.Legal()
		mustStep(g, legal[0]) // the deck, in a draw phase
	}
}

// What was encoded once must stay so: a change here makes every saved network
// and sample of that version unreadable. Raise the version with it.
func TestFrozenEncodings(t *testing.T) {
	frozen := map[string]uint64{
		"cards v1":             0x35513dfba3501905,
		"cards-open v1":        0x18de962e3a75177c,
		"cards-sorted v1":      0x40c52028f32bc641,
		"cards-sorted-open v1": 0xca6ba2de07c626e0,
		"slots-d0s0 v1":        0xa6c4492d32a3e6f0,
		"slots-d0s0-open v1":   0x9e164756e58d9450,
		"slots-d0s1 v1":        0x89bede459ad6c978,
		"slots-d0s1-open v1":   0x7539a793578b5b00,
		"slots-d1s0 v1":        0xbd813ced6e94633c,
		"slots-d1s0-open v1":   0x3ee69c6500391500,
		"slots-d1s1 v1":        0x8a51f04f7c09a764,
		"slots-d1s1-open v1":   0x6321f5467856fe88,
	}
	encodings, library := recorded(t, "classic")
	var spots []record.Spot
	for _, e := range encodings {
		spot, err := library.Spot(e.Games, e.Game, e.Ply)
		if err != nil {
			t.Fatal(err)
		}
		spots = append(spots, spot)
	}
	games, err := record.Batch(spots, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layouts(rules.MustPreset("classic")) {
		for _, v := range views(l)[:2] {
			dst := poisoned(len(spots) * v.width)
			v.rows(dst, games, vec.AllRows(nil, len(spots)))
			h := fnv.New64a()
			for _, x := range dst {
				h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
			}
			name := fmt.Sprintf("%s v%d", v.name, l.Version())
			if got := h.Sum64(); got != frozen[name] {
				t.Errorf("%q: %#x,", name, got)
			}
		}
	}
}
