package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"vtrain/cfr"
)

// maxConfigSize bounds a configuration file: a larger one is another file.
const maxConfigSize = 1 << 20

// LoadConfig reads a configuration file. What it doesn't mention has its
// default; what it mentions must exist and be of the right type. Values are
// not validated, because Set may still change them.
func LoadConfig(path string) (Config, error) { return loadConfig(path, Default()) }

// savedDefaults is what the configurations of runs and checkpoints are read over. They
// name every value that there was when they were written: where that was before
// there was a choice of algorithms, it was Deep CFR.
func savedDefaults() Config {
	c := Default()
	c.Learner = cfr.OptionsOf(cfr.DeepCFR)
	return c
}

// loadConfig is LoadConfig with defaults of the caller's.
func loadConfig(path string, defaults Config) (Config, error) {
	text, err := readBounded(path, maxConfigSize)
	if err != nil {
		return Config{}, err
	}
	c, preset, err := parsePreset(path, text, defaults)
	if err != nil {
		return Config{}, err
	}
	if preset.idle && preset.name != c.Rules.Name() {
		return Config{}, fmt.Errorf("%s:%d: %s is %s, but all values that it would set are given, and are those of %s: delete them or change the preset",
			path, preset.line, presetKey, preset.name, c.Rules.Name())
	}
	return c, nil
}

// readBounded reads a file of at most that many bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return readLimited(f, path, limit)
}

// readBoundedIn does so in a file system.
func readBoundedIn(files fs.FS, name string, limit int64) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	return readLimited(f, name, limit)
}

func readLimited(f fs.File, path string, limit int64) ([]byte, error) {
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes, expected at most that", path, limit)
	}
	return text, nil
}

// parseConfig reads a configuration over defaults; path is for errors.
func parseConfig(path string, text []byte, defaults Config) (Config, error) {
	c, _, err := parsePreset(path, text, defaults)
	return c, err
}

// A namedPreset is the preset that a file names, and the line. It is idle if
// the file gives all that it sets: then it says nothing, or something wrong.
type namedPreset struct {
	name string
	line int
	idle bool
}

// parsePreset is parseConfig for those who want to know the preset, too.
func parsePreset(path string, text []byte, defaults Config) (c Config, preset namedPreset, err error) {
	values, err := locate(path, text)
	if err != nil {
		return Config{}, preset, err
	}
	c = defaults
	// What sets others comes first, wherever it was written: they change it.
	slices.SortStableFunc(values, func(a, b located) int { return rank(a.name) - rank(b.name) })
	unset := presetKeys(&c)
	for _, v := range values {
		if err := c.assign(v.name, v.raw); err != nil {
			return Config{}, preset, fmt.Errorf("%s:%d: %w", path, v.line, err)
		}
		if v.name == presetKey {
			preset = namedPreset{name: c.Rules.Preset, line: v.line}
		}
		unset = slices.DeleteFunc(unset, func(name string) bool { return name == v.name })
	}
	preset.idle = preset.name != "" && len(unset) == 0
	return c, preset, nil
}

// locate returns the values of a configuration file, in its order.
func locate(path string, text []byte) ([]located, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntaxError(path, err)
	}
	if n := len(file.Docs); n > 1 {
		return nil, fmt.Errorf("%s: %d documents, expected one", path, n)
	}
	var values []located
	for _, doc := range file.Docs {
		c := Default()
		if values, err = collect(nil, keysOf(&c), "", doc.Body); err != nil {
			return nil, fmt.Errorf("%s:%w", path, err)
		}
	}
	return values, nil
}

func rank(name string) int {
	if setsOthers(name) {
		return 0
	}
	return 1
}

// syntaxError reduces the library's report, which draws the source, to a line.
func syntaxError(path string, err error) error {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		return fmt.Errorf("%s: not YAML: %s", path, firstLine(err.Error()))
	}
	return fmt.Errorf("%s:%d: not YAML: %s", path, e.GetToken().Position.Line, firstLine(e.GetMessage()))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// A located is the value of a known key and the line that it was written in.
type located struct {
	name string
	line int
	raw  raw
}

// collect appends the values below a node whose keys begin with prefix. Errors
// begin with the line number.
func collect(values []located, keys []key, prefix string, node ast.Node) ([]located, error) {
	var entries []*ast.MappingValueNode
	switch n := node.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return values, nil // a section of which everything is commented out
	case *ast.MappingNode:
		entries = n.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{n}
	default:
		where := strings.TrimSuffix(prefix, ".")
		if where == "" {
			where = "the file"
		}
		return nil, fmt.Errorf("%d: %s is %s, expected keys with values", lineOf(node), where, show(node))
	}
	for _, entry := range entries {
		name, line := prefix+entry.Key.GetToken().Value, lineOf(entry.Key)
		known := slices.ContainsFunc(keys, func(k key) bool { return k.name == name })
		switch {
		case slices.ContainsFunc(values, func(v located) bool { return v.name == name }):
			return nil, fmt.Errorf("%d: %s is given twice", line, name)
		case known:
			values = append(values, located{name, line, rawOf(entry.Value)})
		case isSection(keys, name):
			var err error
			if values, err = collect(values, keys, name+".", entry.Value); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%d: unknown key %s, did you mean %s?", line, name, nearest(keys, name))
		}
	}
	return values, nil
}

func lineOf(n ast.Node) int { return n.GetToken().Position.Line }

// rawOf reads a value. What is neither scalar nor list (maps, anchors, tags)
// fits no key.
func rawOf(node ast.Node) raw {
	r := raw{shown: show(node)}
	switch n := node.(type) {
	case *ast.SequenceNode:
		r.list = true
		for _, item := range n.Values {
			r.items = append(r.items, rawOf(item))
		}
	case *ast.StringNode:
		quoted := n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
		r.text, r.word, r.plain = n.Value, true, !quoted
	case *ast.LiteralNode:
		r.text, r.word = n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		r.text, r.plain = node.GetToken().Value, true
	}
	return r
}

// show writes a node in one short line.
func show(node ast.Node) string {
	switch n := node.(type) {
	case *ast.StringNode:
		return fmt.Sprintf("%q", n.Value)
	case *ast.NullNode:
		return "empty"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a section"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "an anchor, alias or tag"
	}
	const longest = 60
	text := firstLine(node.GetToken().Value)
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return text
}

// Set changes one value, given as "section.key=value". Lists are written
// "128,128" or "[128, 128]". Setting rules.preset resets the other rules but
// max_turns, setting learner.algorithm the other settings of the learner. After an error the configuration is as before.
func (c *Config) Set(assignment string) error {
	name, text, ok := cutAssignment(assignment)
	if !ok || name == "" {
		return fmt.Errorf("set %q: expected section.key=value", assignment)
	}
	changed := *c
	if err := changed.assign(name, changed.rawText(name, text)); err != nil {
		return fmt.Errorf("set %s: %w", assignment, err)
	}
	*c = changed
	return nil
}

func cutAssignment(text string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(text, "=")
	return strings.TrimSpace(name), strings.TrimSpace(value), ok
}

// SetAll makes the assignments of a command line as if they stood in a file: what
// sets others comes first, wherever it was written. After an error the configuration
// is as before.
func (c *Config) SetAll(assignments []string) error {
	rankOf := func(text string) int {
		name, _, _ := cutAssignment(text)
		return rank(name)
	}
	sorted := slices.Clone(assignments)
	slices.SortStableFunc(sorted, func(a, b string) int { return rankOf(a) - rankOf(b) })
	changed := *c
	for _, assignment := range sorted {
		if err := changed.Set(assignment); err != nil {
			return err
		}
	}
	*c = changed
	return nil
}

// rawText reads a value from the command line, where nothing needs quotes.
func (c *Config) rawText(name, text string) raw {
	r := rawWord(text)
	for _, k := range keysOf(c) {
		if k.name != name || k.value.Kind().String() != "slice" {
			continue
		}
		r.list = true
		if inner, ok := strings.CutPrefix(text, "["); ok {
			text = strings.TrimSuffix(inner, "]")
		}
		if text = strings.TrimSpace(text); text == "" {
			return r
		}
		for item := range strings.SplitSeq(text, ",") {
			r.items = append(r.items, rawWord(strings.TrimSpace(item)))
		}
	}
	return r
}

func rawWord(text string) raw {
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		text = text[1 : n-1]
	}
	return raw{shown: fmt.Sprintf("%q", text), text: text, word: true, plain: true}
}
