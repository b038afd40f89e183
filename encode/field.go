package encode

import (
	"fmt"
	"slices"

	"vtrain/rules"
)

// A Field is a range of features of one kind.
type Field struct {
	Name    string
	Color   int      // the colour it belongs to, or Common
	Place   bool     // Color is a place in the order of a Sorted layout
	First   int      // index of its first feature
	Count   int      // features
	Unit    string   // "0/1", "count", or the divisor as in "points / 40"
	Meaning string   // one line
	Per     string   // what the parts repeat for, empty if they do not
	Parts   []string // names of the features of one repetition
}

// Common is the colour of a field that belongs to none.
const Common = -1

// Spare is the name of features that are always 0.
const Spare = "spare"

// Label names a feature of the field, an index from 0 to Count-1.
func (f Field) Label(i int) string {
	if i < 0 || i >= f.Count {
		panic("encode: feature out of range")
	}
	label := f.Name
	switch {
	case f.Place:
		label = fmt.Sprintf("colour %d %s", f.Color+1, label)
	case f.Color != Common:
		label = rules.ColorName(f.Color) + " " + label
	}
	if f.Per != "" {
		label += fmt.Sprintf("[%d]", i/len(f.Parts))
	}
	if part := f.Parts[i%len(f.Parts)]; part != "" {
		label += ": " + part
	}
	return label
}

// Labels names every feature that some fields describe.
func Labels(fields []Field) []string {
	labels := make([]string, 0, width(fields))
	for _, f := range fields {
		for i := range f.Count {
			labels = append(labels, f.Label(i))
		}
	}
	return labels
}

func width(fields []Field) int {
	last := fields[len(fields)-1]
	return last.First + last.Count
}

func cloneFields(fields []Field) []Field {
	fields = slices.Clone(fields)
	for i := range fields {
		fields[i].Parts = slices.Clone(fields[i].Parts)
	}
	return fields
}

// A plan collects fields as a layout lays them out. The indices that it hands
// back are those that the encoder writes to, so that the description can't
// drift from the code.
type plan struct {
	fields []Field
	width  int
	color  int
}

// add appends a field, repeated reps times over its parts, and returns the
// index of its first feature.
func (p *plan) add(f Field, reps int) int {
	if len(f.Parts) == 0 {
		f.Parts = []string{""}
	}
	f.Color = p.color
	f.First = p.width
	f.Count = reps * len(f.Parts)
	p.fields = append(p.fields, f)
	p.width += f.Count
	return f.First
}

// spare appends unused features up to the given width.
func (p *plan) spare(to int) {
	if n := to - p.width; n > 0 {
		p.add(Field{Name: Spare, Unit: "0", Meaning: "always 0", Parts: make([]string, n)}, 1)
	}
}

// typeParts names the card types of a colour.
func typeParts(cfg rules.Config) []string {
	parts := []string{"wager"}
	for rank := 1; rank <= cfg.Ranks; rank++ {
		parts = append(parts, fmt.Sprint(cfg.Face(rank)))
	}
	return parts
}

func colorParts(cfg rules.Config) []string {
	var parts []string
	for color := range cfg.Colors {
		parts = append(parts, rules.ColorName(color))
	}
	return parts
}
