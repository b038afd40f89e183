package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// decode reads one JSON object into the struct that dst points to. Every field
// must be there unless its tag says omitempty, none may be unknown, and nothing
// may be null.
func decode(line []byte, dst any) error {
	if err := checkKeys(line, reflect.TypeOf(dst).Elem(), ""); err != nil {
		return err
	}
	if hasNull(line) {
		return errors.New("holds null, expected a value")
	}
	if err := json.Unmarshal(line, dst); err != nil {
		return describeJSON(err)
	}
	return nil
}

// checkKeys compares an object's keys with a struct's fields, and those of
// objects within it.
func checkKeys(object []byte, t reflect.Type, prefix string) error {
	keys, err := objectKeys(object)
	if err != nil {
		return err
	}
	for i := range t.NumField() {
		name, option, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		raw, ok := keys[name]
		if !ok && option == "" {
			return fmt.Errorf("missing field %q", prefix+name)
		}
		delete(keys, name)
		if inner := t.Field(i).Type; ok && inner.Kind() == reflect.Struct && raw[0] == '{' {
			if err := checkKeys(raw, inner, prefix+name+"."); err != nil {
				return err
			}
		}
	}
	if len(keys) > 0 {
		return fmt.Errorf("unknown field %q", prefix+firstKey(keys))
	}
	return nil
}

// objectKeys splits an object into its members, refusing a key that repeats.
func objectKeys(object []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil {
		return nil, describeJSON(err)
	} else if t != json.Delim('{') {
		return nil, fmt.Errorf("got %s, expected a JSON object", abbreviate(object))
	}
	keys := make(map[string]json.RawMessage)
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, describeJSON(err)
		}
		key := t.(string)
		if _, ok := keys[key]; ok {
			return nil, fmt.Errorf("field %q is there twice", key)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, describeJSON(err)
		}
		keys[key] = raw
	}
	if _, err := d.Token(); err != nil {
		return nil, describeJSON(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more text after the JSON object, expected one object a line")
	}
	return keys, nil
}

func firstKey(keys map[string]json.RawMessage) string {
	first := ""
	for k := range keys {
		if first == "" || k < first {
			first = k
		}
	}
	return first
}

// hasNull reports whether valid JSON holds a null: outside of strings, no
// other token has an n.
func hasNull(valid []byte) bool {
	inString := false
	for i := 0; i < len(valid); i++ {
		switch c := valid[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++
		case !inString && c == 'n':
			return true
		}
	}
	return false
}

// describeJSON says in a person's words what encoding/json found.
func describeJSON(err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("field %q: got %s, expected %s", wrong.Field, wrong.Value, typeName(wrong.Type))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the JSON is truncated")
	case errors.As(err, &syntax):
		if strings.Contains(syntax.Error(), "unexpected end") {
			return errors.New("the JSON is truncated")
		}
		return fmt.Errorf("broken JSON at byte %d: %w", syntax.Offset, err)
	}
	return err
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Struct:
		return "an object"
	}
	return "an integer"
}

// abbreviate is the start of a text, for error messages.
func abbreviate(text []byte) string {
	const most = 40
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q…", text[:most])
}

// wantLength is an error unless a field's list has a length.
func wantLength(field string, got, want int) error {
	if got != want {
		return fmt.Errorf("field %q has %d values, expected %d", field, got, want)
	}
	return nil
}

// wantAtMost is an error if a field's list is longer than that.
func wantAtMost(field string, got, most int) error {
	if got > most {
		return fmt.Errorf("field %q has %d values, expected at most %d", field, got, most)
	}
	return nil
}

// wantRange is an error unless lo <= got <= hi.
func wantRange(field string, got, lo, hi int) error {
	if got < lo || got > hi {
		return fmt.Errorf("field %q is %d, expected %d to %d", field, got, lo, hi)
	}
	return nil
}

// first returns the first of its arguments that is an error.
func first(errs ...error) error {
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}
