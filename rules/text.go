package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Sight is whose eyes a position is written for.
type Sight uint8

// Player p sees what Sight(p) shows.
const (
	SeenBy0   Sight = iota // player 0: of the other hand only the known cards
	SeenBy1                // player 1
	OpenHands              // both hands
)

// Text describes the position for people, in lines of at most 80 columns for
// the presets. A star marks cards in hand that the opponent knows.
func (g *Game) Text(s Sight) string { return g.board().text(s) }

// String is Text with open hands.
func (g *Game) String() string { return g.Text(OpenHands) }

// Text describes the position of row b, as Game.Text does.
func (g *Games) Text(b int32, s Sight) string { return g.board(b).text(s) }

// A board is a position in the form that is easy to write down.
type board struct {
	cfg     Config
	hand    [2][]Card // ascending
	known   [2][]Card
	exp     [2][][]Card // [P][C] in the order played, which is ascending
	points  [2][]int    // [P][C]
	piles   [][]Card    // [C] the top card last
	deck    int
	plies   int
	player  int
	phase   Phase
	pending int
	done    bool
	capped  bool
}

func (g *Game) board() *board {
	b := &board{
		cfg: g.cfg, hand: g.hand, known: g.known, exp: g.exp, piles: g.piles, deck: g.Deck(), plies: g.plies,
		player: g.Player(), phase: g.Phase(), pending: g.pending, done: g.done, capped: g.Capped(),
	}
	for p := range 2 {
		for c := range g.cfg.Colors {
			b.points[p] = append(b.points[p], g.ExpeditionScore(p, c))
		}
	}
	return b
}

func (g *Games) board(row int32) *board {
	b := &board{
		cfg: g.Config, deck: int(g.DeckLen.Data[row]), plies: int(g.Made.Data[row]), player: g.Player(row),
		phase: g.Phase(row), pending: NoColor, done: g.Done(row), capped: g.Capped(row),
	}
	if c := g.Pending.Data[row]; c != NoPending {
		b.pending = int(c)
	}
	for c := range g.Colors {
		for p := range 2 {
			i := p*g.Colors + c
			exp := g.Exp.Row(row)[i]
			b.hand[p] = g.AppendSet(b.hand[p], c, g.Hand.Row(row)[i])
			b.known[p] = g.AppendSet(b.known[p], c, g.Known.Row(row)[i])
			b.exp[p] = append(b.exp[p], g.AppendSet(nil, c, exp))
			b.points[p] = append(b.points[p], int(g.SetScore(exp)))
		}
		b.piles = append(b.piles, g.pileCards(row, c))
	}
	return b
}

// AppendSet appends the cards of one colour's set, ascending.
func (t *Tables) AppendSet(cards []Card, color int, set uint16) []Card {
	cards = append(cards, slices.Repeat([]Card{t.Card(color, 0)}, t.WagerCount(set))...)
	for rank := 1; rank <= t.Ranks; rank++ {
		if t.Has(set, rank) {
			cards = append(cards, t.Card(color, rank))
		}
	}
	return cards
}

// pileCards returns a pile's cards, the top card last.
func (g *Games) pileCards(b int32, color int) []Card {
	i := int(b)*g.Colors + color
	cards := make([]Card, g.PileLen.Data[i])
	for k := range cards {
		cards[k] = g.Card(color, g.pileRank(g.Pile.Data[i]>>(4*k)&15))
	}
	return cards
}

// Columns of the table of expeditions and piles. Longer cells go on in a
// further line; whole lines stay within 80 columns.
const (
	nameWidth = 6
	expWidth  = 20
	pileWidth = 18
	lineWidth = 80
)

func (b *board) text(s Sight) string {
	var w strings.Builder
	w.WriteString(b.status() + "\n")
	writeRow(&w, "", []string{"player 0"}, "points", []string{"pile, top last"}, []string{"player 1"}, "points")
	total := [2]int{}
	for c := range b.cfg.Colors {
		points := [2]string{}
		for p := range 2 {
			total[p] += b.points[p][c]
			if len(b.exp[p][c]) > 0 {
				points[p] = strconv.Itoa(b.points[p][c])
			}
		}
		writeRow(&w, ColorName(c), b.wrap(b.exp[0][c], expWidth), points[0],
			b.wrap(b.piles[c], pileWidth), b.wrap(b.exp[1][c], expWidth), points[1])
	}
	writeRow(&w, "total", nil, strconv.Itoa(total[0]), nil, nil, strconv.Itoa(total[1]))
	for p := range 2 {
		w.WriteString(b.handText(p, s == OpenHands || s == Sight(p)))
	}
	return w.String()
}

// status is the first line: who is to do what.
func (b *board) status() string {
	turn := b.plies/2 + 1
	if b.done {
		turn = (b.plies + 1) / 2
	}
	at := fmt.Sprintf("turn %d, ply %d, %s in the deck: ", turn, b.plies, count(b.deck, "card"))
	switch {
	case b.capped:
		return at + "the game is over, cut by the turn limit"
	case b.done:
		return at + "the game is over"
	case b.phase == CardPhase:
		return at + fmt.Sprintf("player %d plays or discards", b.player)
	case b.pending == NoColor:
		return at + fmt.Sprintf("player %d draws", b.player)
	}
	return at + fmt.Sprintf("player %d draws, not from %s", b.player, ColorName(b.pending))
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// writeRow writes one row of the table, as many lines as its longest cell has.
func writeRow(w *strings.Builder, name string, exp0 []string, points0 string, pile, exp1 []string, points1 string) {
	for i := range max(1, len(exp0), len(pile), len(exp1)) {
		if i > 0 {
			name, points0, points1 = "", "", ""
		}
		line := fmt.Sprintf("%-*s %-*s%6s  %-*s %-*s%6s", nameWidth, name,
			expWidth, cell(exp0, i), points0, pileWidth, cell(pile, i), expWidth, cell(exp1, i), points1)
		w.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func cell(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// wrap writes cards of one colour in lines of some width.
func (b *board) wrap(cards []Card, width int) []string {
	words := make([]string, len(cards))
	for i, x := range cards {
		words[i] = b.cfg.faceText(x)
	}
	return fill(words, " ", width)
}

// faceText returns a card without its colour: "W" or the face.
func (c Config) faceText(x Card) string {
	if rank := c.Rank(x); rank > 0 {
		return strconv.Itoa(c.Face(rank))
	}
	return "W"
}

// fill joins words to lines of at most width bytes, where words allow it.
func fill(words []string, sep string, width int) []string {
	var lines []string
	for _, word := range words {
		last := len(lines) - 1
		if last >= 0 && len(lines[last])+len(sep)+len(word) <= width {
			lines[last] += sep + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// handText lists a hand by colour. A hand that is not seen shows only the
// cards that its opponent knows, and how many others there are.
func (b *board) handText(player int, seen bool) string {
	cards, unseen := b.hand[player], 0
	if !seen {
		cards, unseen = b.known[player], len(cards)-len(b.known[player])
	}
	words := b.byColor(cards, b.known[player])
	if unseen > 0 {
		words = append(words, count(unseen, "unseen card"))
	}
	head := fmt.Sprintf("hand %d", player)
	var w strings.Builder
	for i, line := range fill(words, ", ", lineWidth-nameWidth-1) {
		if i > 0 {
			head = ""
		}
		fmt.Fprintf(&w, "%-*s %s\n", nameWidth, head, line)
	}
	if len(words) == 0 {
		fmt.Fprintf(&w, "%s empty\n", head)
	}
	return w.String()
}

// byColor writes ascending cards as one word for each colour, "red W 3 7*",
// with a star at those that are known.
func (b *board) byColor(cards, known []Card) []string {
	var words []string
	left := slices.Clone(known)
	for i, x := range cards {
		if i == 0 || b.cfg.Color(cards[i-1]) != b.cfg.Color(x) {
			words = append(words, ColorName(b.cfg.Color(x)))
		}
		star := ""
		var had bool
		if left, had = remove(left, x); had {
			star = "*"
		}
		words[len(words)-1] += " " + b.cfg.faceText(x) + star
	}
	return words
}

// ParseAction is the reverse of Config.ActionName. Letter case and the number
// of spaces do not matter; "draw deck" and "draw red" will do for the full
// names of draws. Whether the action is legal is another question.
func (c Config) ParseAction(text string) (Action, error) {
	a, err := c.parseAction(strings.Fields(strings.ToLower(text)))
	if err != nil {
		return 0, fmt.Errorf("rules: %q is no action: %w", text, err)
	}
	return a, nil
}

func (c Config) parseAction(words []string) (Action, error) {
	if len(words) == 0 {
		return 0, fmt.Errorf("expected play, discard or draw")
	}
	switch words[0] {
	case "play", "discard":
		x, err := c.parseCard(words[1:])
		if words[0] == "play" {
			return c.Play(x), err
		}
		return c.Discard(x), err
	case "draw":
		return c.parseDraw(words[1:])
	}
	return 0, fmt.Errorf("%q, expected play, discard or draw", words[0])
}

func (c Config) parseCard(words []string) (Card, error) {
	if len(words) != 2 {
		return 0, fmt.Errorf("%d words for a card, expected a colour and %s", len(words), c.facesText())
	}
	color, err := c.parseColor(words[0])
	if err != nil {
		return 0, err
	}
	if words[1] == "wager" && c.Wagers > 0 {
		return c.Card(color, 0), nil
	}
	for rank := 1; rank <= c.Ranks; rank++ {
		if words[1] == strconv.Itoa(c.Face(rank)) {
			return c.Card(color, rank), nil
		}
	}
	return 0, fmt.Errorf("no card %q, expected %s", words[1], c.facesText())
}

func (c Config) parseDraw(words []string) (Action, error) {
	pile := len(words) == 4 && words[0] == "from" && words[1] == "the" && words[3] == "pile"
	deck := len(words) == 3 && words[0] == "from" && words[1] == "the" && words[2] == "deck"
	switch {
	case pile:
		words = words[2:3]
	case deck:
		words = words[2:]
	case len(words) != 1:
		return 0, fmt.Errorf("expected to draw from the deck or from the pile of a colour")
	}
	if words[0] == "deck" {
		return c.DrawDeck(), nil
	}
	color, err := c.parseColor(words[0])
	return c.DrawPile(color), err
}

func (c Config) parseColor(word string) (int, error) {
	color := slices.Index(colorNames[:c.Colors], word)
	if color < 0 {
		return 0, fmt.Errorf("no colour %q, expected %s", word, strings.Join(colorNames[:c.Colors], ", "))
	}
	return color, nil
}

// facesText names the faces that follow a colour.
func (c Config) facesText() string {
	numbers := fmt.Sprintf("%d to %d", c.Face(1), c.TopFace())
	if c.Wagers > 0 {
		return "wager or " + numbers
	}
	return numbers
}
