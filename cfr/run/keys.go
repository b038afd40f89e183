package run

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vtrain/cfr"
	"vtrain/rules"
)

// A key is one value of a configuration, by its dotted name.
type key struct {
	name  string
	value reflect.Value // settable
}

// keysOf returns all keys in the order of the struct's fields.
func keysOf(c *Config) []key { return appendKeys(nil, "", reflect.ValueOf(c).Elem()) }

func appendKeys(keys []key, prefix string, v reflect.Value) []key {
	for i := range v.NumField() {
		name, inline := v.Type().Field(i).Tag.Get("yaml"), false
		if name == ",inline" {
			name, inline = "", true
		}
		switch f := v.Field(i); {
		case inline:
			keys = appendKeys(keys, prefix, f)
		case f.Kind() == reflect.Struct:
			keys = appendKeys(keys, prefix+name+".", f)
		default:
			keys = append(keys, key{prefix + name, f})
		}
	}
	return keys
}

// isSection reports whether a dotted name is one that other keys begin with.
func isSection(keys []key, name string) bool {
	return slices.ContainsFunc(keys, func(k key) bool { return strings.HasPrefix(k.name, name+".") })
}

// A raw is a value as written, before the type of its key is known.
type raw struct {
	shown string // for errors
	text  string // of a scalar
	word  bool   // the scalar may be a text
	plain bool   // the scalar may be a number or a truth value
	list  bool
	items []raw // of a list
}

// assign sets one key. The error doesn't say where the value was written.
func (c *Config) assign(name string, r raw) error {
	keys := keysOf(c)
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	switch {
	case i >= 0:
	case isSection(keys, name):
		return fmt.Errorf("%s is a section, expected one of its keys, such as %s", name, example(keys, name))
	default:
		return fmt.Errorf("unknown key %s, did you mean %s?", name, nearest(keys, name))
	}
	switch name {
	case presetKey:
		return c.setPreset(r)
	case algorithmKey:
		return c.setAlgorithm(r)
	}
	if err := set(keys[i].value, name, r); err != nil {
		return err
	}
	if strings.HasPrefix(name, "rules.") {
		c.Rules.Preset = c.Rules.Name()
	}
	return nil
}

func example(keys []key, section string) string {
	i := slices.IndexFunc(keys, func(k key) bool { return strings.HasPrefix(k.name, section+".") })
	return keys[i].name
}

// The keys that set others of their section.
const (
	presetKey    = "rules.preset"
	algorithmKey = "learner.algorithm"
)

// setsOthers reports whether a key does, and so comes before them.
func setsOthers(name string) bool { return name == presetKey || name == algorithmKey }

// customPreset is the name of rules that no preset has; it sets nothing.
const customPreset = "custom"

// setPreset starts the rules afresh from a preset. The turn limit stays, for
// presets have none.
func (c *Config) setPreset(r raw) error {
	var name string
	if err := set(reflect.ValueOf(&name).Elem(), presetKey, r); err != nil {
		return err
	}
	if name == customPreset {
		c.Rules.Preset = name
		return nil
	}
	variant, err := rules.Preset(name)
	if err != nil {
		return badPreset(name)
	}
	variant.MaxTurns = c.Rules.MaxTurns
	c.Rules = Rules{name, variant}
	return nil
}

// setAlgorithm starts the learner's settings afresh from those of an algorithm.
func (c *Config) setAlgorithm(r raw) error {
	var name string
	if err := set(reflect.ValueOf(&name).Elem(), algorithmKey, r); err != nil {
		return err
	}
	c.Learner = cfr.OptionsOf(name)
	return nil
}

// presetKeys are the keys that a preset sets: all rules but the turn limit.
func presetKeys(c *Config) []string {
	var names []string
	for _, k := range keysOf(c) {
		if strings.HasPrefix(k.name, "rules.") && k.name != presetKey && k.name != "rules.max_turns" {
			names = append(names, k.name)
		}
	}
	return names
}

// set converts a value to the type of its destination.
func set(dst reflect.Value, name string, r raw) error {
	bad := fmt.Errorf("%s is %s, expected %s", name, r.shown, kindName(dst.Type()))
	if dst.Kind() == reflect.Slice {
		return setList(dst, name, r, bad)
	}
	ok := !r.list
	switch dst.Kind() {
	case reflect.String:
		dst.SetString(r.text)
		ok = ok && r.word
	case reflect.Bool:
		dst.SetBool(r.text == "true")
		ok = ok && r.plain && (r.text == "true" || r.text == "false")
	case reflect.Float64:
		v, err := strconv.ParseFloat(r.text, 64)
		dst.SetFloat(v)
		ok = ok && r.plain && err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
	case reflect.Int:
		v, err := parseInt(r.text)
		dst.SetInt(v)
		ok = ok && r.plain && err == nil
	case reflect.Uint64:
		v, err := strconv.ParseUint(strings.ReplaceAll(r.text, "_", ""), 10, 64)
		dst.SetUint(v)
		ok = ok && r.plain && err == nil
	default:
		panic("run: configuration key of unsupported type: " + name)
	}
	if !ok {
		return bad
	}
	return nil
}

func setList(dst reflect.Value, name string, r raw, bad error) error {
	if !r.list {
		return bad
	}
	list := reflect.MakeSlice(dst.Type(), len(r.items), len(r.items))
	for i, item := range r.items {
		if err := set(list.Index(i), fmt.Sprintf("%s[%d]", name, i), item); err != nil {
			return err
		}
	}
	dst.Set(list)
	return nil
}

// parseInt reads a whole number, also as 1_000_000 or 1e6.
func parseInt(text string) (int64, error) {
	text = strings.ReplaceAll(text, "_", "")
	v, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		return v, nil
	}
	f, ferr := strconv.ParseFloat(text, 64)
	const exact = 1 << 53
	if ferr != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		return 0, err
	}
	return int64(f), nil
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list of " + strings.TrimPrefix(kindName(t.Elem()), "a ") + "s"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Uint64:
		return "a whole number of at least 0"
	default:
		return "a whole number"
	}
}

// nearest returns the known name that is fewest edits away. The right key in
// the wrong section counts as one edit.
func nearest(keys []key, name string) string {
	best, least := "", math.MaxInt
	try := func(candidate string) {
		d := min(distance(name, candidate), 1+distance(leaf(name), leaf(candidate)))
		if d < least {
			best, least = candidate, d
		}
	}
	for _, k := range keys {
		if section, _, _ := strings.Cut(k.name, "."); !strings.Contains(name, ".") {
			try(section)
		}
		try(k.name)
	}
	return best
}

func leaf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// distance is the Levenshtein distance of two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a[:i] to all b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// reserved are the texts that YAML 1.1 or 1.2 reads as something else.
var reserved = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"}

// format writes a value as YAML, lists in brackets.
func format(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = format(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.String:
		return formatText(v.String())
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	default:
		return fmt.Sprint(v.Interface())
	}
}

func formatText(s string) string {
	if plainText.MatchString(s) && !slices.Contains(reserved, strings.ToLower(s)) {
		return s
	}
	quoted, err := json.Marshal(s) // a JSON string is a YAML string
	if err != nil {
		panic(err) // strings always encode
	}
	return string(quoted)
}
