package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
)

// A sealed file is a JSON object whose last member is the SHA-256 of all that
// stands before it, so that no byte of the file can change unnoticed.

const sealSize = len(",\n  \"sha256\": \"\"\n}\n") + 2*sha256.Size

func sealOf(body []byte) string {
	return fmt.Sprintf(",\n  \"sha256\": \"%x\"\n}\n", sha256.Sum256(body))
}

// seal writes a struct as a sealed file.
func seal(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(text, []byte("\n}"))
	return append(body, sealOf(body)...), nil
}

// maxSealed bounds a sealed file: even a hundred layers need less.
const maxSealed = 1 << 20

// unseal reads a sealed file, after checking its format and seal.
func unseal(files fs.FS, name string, v any) error {
	text, err := readBoundedIn(files, name, maxSealed)
	if err != nil {
		return err
	}
	var head struct {
		Format int `json:"format"`
	}
	// What a newer program has sealed in its own way can't be checked, only named.
	if json.Unmarshal(text, &head) == nil && head.Format > formatVersion {
		return fmt.Errorf("%s: format %d, expected at most %d: written by a newer version", name, head.Format, formatVersion)
	}
	body := text[:max(0, len(text)-sealSize)]
	if got, want := string(text[len(body):]), sealOf(body); got != want {
		return fmt.Errorf("%s: damaged: its text does not match its sha256", name)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if head.Format < 1 {
		return fmt.Errorf("%s: format %d, expected 1 to %d", name, head.Format, formatVersion)
	}
	return nil
}
