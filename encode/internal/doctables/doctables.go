// Package doctables writes the tables of docs/lost-cities.md from what the
// layouts say of themselves.
package doctables

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"vtrain/encode"
	"vtrain/rules"
)

// A page marks where tables go: everything between a begin line, which names
// the table, and the next end line is generated.
const (
	beginMark = "<!-- generated: "
	endMark   = "<!-- end -->"
)

var tables = []struct {
	name  string
	write func(b *bytes.Buffer)
}{
	{"sizes", writeSizes},
	{"cards", writeCards},
	{"cards-open", writeCardsOpen},
	{"cards-actions", writeCardsActions},
	{"slots", writeSlots},
	{"slots-open", writeSlotsOpen},
	{"slots-actions", writeSlotsActions},
}

// Update returns the page with all its tables written anew. A page that lacks
// a table is an error.
func Update(page []byte) ([]byte, error) {
	for _, t := range tables {
		begin := []byte(beginMark + t.name + " -->\n")
		before, rest, ok := bytes.Cut(page, begin)
		if !ok {
			return nil, fmt.Errorf("no line %q", strings.TrimSpace(string(begin)))
		}
		_, after, ok := bytes.Cut(rest, []byte(endMark))
		if !ok {
			return nil, fmt.Errorf("no line %q after %q", endMark, strings.TrimSpace(string(begin)))
		}
		var b bytes.Buffer
		t.write(&b)
		page = slices.Concat(before, begin, b.Bytes(), []byte(endMark), after)
	}
	return page, nil
}

var classic = rules.MustPreset("classic")

func mustNew(name string, cfg rules.Config) encode.Layout {
	l, err := encode.New(name, cfg)
	if err != nil {
		panic(err)
	}
	return l
}

func writeSizes(b *bytes.Buffer) {
	names := rules.Presets()
	fmt.Fprintf(b, "| layout | version | %s |\n|---|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, name := range encode.Names() {
		fmt.Fprintf(b, "| `%s` | %d |", name, mustNew(name, classic).Version())
		for _, preset := range names {
			l := mustNew(name, rules.MustPreset(preset))
			fmt.Fprintf(b, " %d, %d; %d |", l.Width(), encode.NewCritic(l).Width(), l.Actions())
		}
		b.WriteByte('\n')
	}
}

// span writes a range of indices.
func span(first, count int) string {
	if count == 1 {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, first+count-1)
}

// parts lists what the features of a field are.
func parts(f encode.Field) string {
	list := strings.Join(slices.DeleteFunc(slices.Clone(f.Parts), func(s string) bool { return s == "" }), ", ")
	if f.Per != "" {
		return fmt.Sprintf("for each %s: %s", f.Per, list)
	}
	return list
}

// describe writes the columns of a field that say what it is.
func describe(b *bytes.Buffer, f encode.Field) {
	fmt.Fprintf(b, " %s | %s | %s | %s |\n", f.Name, f.Meaning, parts(f), f.Unit)
}

const described = " feature | meaning | in order | unit |"

// writeCards writes the colours' blocks side by side, then the common one.
func writeCards(b *bytes.Buffer) { writeBlocks(b, encode.NewCards(classic).Fields()) }

// writeCardsOpen writes the rows in which the critic's view differs.
func writeCardsOpen(b *bytes.Buffer) {
	l := encode.NewCards(classic)
	hidden := l.Fields()
	open := slices.DeleteFunc(encode.NewCritic(l).Fields(), func(f encode.Field) bool {
		return slices.ContainsFunc(hidden, func(h encode.Field) bool { return h.First == f.First && h.Name == f.Name })
	})
	writeBlocks(b, open)
}

func writeBlocks(b *bytes.Buffer, fields []encode.Field) {
	b.WriteByte('|')
	for color := range classic.Colors {
		fmt.Fprintf(b, " %s |", rules.ColorName(color))
	}
	fmt.Fprintf(b, "%s\n|%s\n", described, strings.Repeat("---|", classic.Colors+4))
	for _, f := range fields {
		if f.Color != 0 {
			continue
		}
		b.WriteByte('|')
		for _, other := range fields {
			if other.Name == f.Name && other.Color != encode.Common {
				fmt.Fprintf(b, " %s |", span(other.First, other.Count))
			}
		}
		describe(b, f)
	}
	if common := ofColor(fields, encode.Common); len(common) > 0 {
		fmt.Fprintf(b, "\n| index |%s\n|---|---|---|---|---|\n", described)
		for _, f := range common {
			fmt.Fprintf(b, "| %s |", span(f.First, f.Count))
			describe(b, f)
		}
	}
}

func ofColor(fields []encode.Field, color int) []encode.Field {
	return slices.DeleteFunc(slices.Clone(fields), func(f encode.Field) bool { return f.Color != color })
}

// writeCardsActions writes the card actions as a grid of play / discard.
func writeCardsActions(b *bytes.Buffer) {
	b.WriteString("| play / discard |")
	for color := range classic.Colors {
		fmt.Fprintf(b, " %s |", rules.ColorName(color))
	}
	fmt.Fprintf(b, "\n|%s\n", strings.Repeat("---|", classic.Colors+1))
	for rank := range classic.Ranks + 1 {
		name := "wager"
		if rank > 0 {
			name = fmt.Sprint(classic.Face(rank))
		}
		fmt.Fprintf(b, "| %s |", name)
		for color := range classic.Colors {
			x := classic.Card(color, rank)
			fmt.Fprintf(b, " %d / %d |", classic.Play(x), classic.Discard(x))
		}
		b.WriteByte('\n')
	}
	writeActions(b, encode.NewCards(classic), int32(classic.DrawDeck()))
}

func writeActions(b *bytes.Buffer, l encode.Layout, first int32) {
	b.WriteString("\n| action | meaning |\n|---|---|\n")
	for a := first; int(a) < l.Actions(); a++ {
		fmt.Fprintf(b, "| %d | %s |\n", a, l.ActionName(a))
	}
}

// slotsNames are the variants from the shortest to the longest, which has all
// fields.
var slotsNames = []string{"slots-d0s0", "slots-d0s1", "slots-d1s0", "slots-d1s1"}

func writeSlots(b *bytes.Buffer) {
	writeVariants(b, func(l encode.Layout) []encode.Field { return l.Fields() })
}

// writeSlotsOpen writes what the critic's view adds.
func writeSlotsOpen(b *bytes.Buffer) {
	writeVariants(b, func(l encode.Layout) []encode.Field {
		return encode.NewCritic(l).Fields()[len(l.Fields()):]
	})
}

// writeVariants writes where each variant has the fields, side by side.
func writeVariants(b *bytes.Buffer, of func(l encode.Layout) []encode.Field) {
	var variants [][]encode.Field
	b.WriteByte('|')
	for _, name := range slotsNames {
		variants = append(variants, of(mustNew(name, classic)))
		fmt.Fprintf(b, " %s |", strings.TrimPrefix(name, "slots-"))
	}
	fmt.Fprintf(b, "%s\n|%s\n", described, strings.Repeat("---|", len(slotsNames)+4))
	for _, f := range variants[len(variants)-1] {
		b.WriteByte('|')
		for _, fields := range variants {
			at := "-"
			if i := slices.IndexFunc(fields, func(g encode.Field) bool { return g.Name == f.Name }); i >= 0 {
				at = span(fields[i].First, fields[i].Count)
			}
			fmt.Fprintf(b, " %s |", at)
		}
		describe(b, f)
	}
}

func writeSlotsActions(b *bytes.Buffer) {
	writeActions(b, mustNew("slots-d0s0", classic), 0)
}
