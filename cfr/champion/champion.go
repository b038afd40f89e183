// Package champion holds the strongest agent so far, built into the program: a
// checkpoint of what playing and training on need, and how it came about.
package champion

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"

	"vtrain/cfr/arena"
	"vtrain/cfr/run"
)

// Name is what the agent is called on the command line.
const Name = run.Champion

//go:embed data
var embedded embed.FS

// ReportName is the file of a Report, beside those of the checkpoint.
const ReportName = "report.json"

// A Report says how a champion was made and what it was worth.
type Report struct {
	Command    string         `json:"command"` // that trained it
	Seed       uint64         `json:"seed"`
	Date       string         `json:"date"` // of crowning
	Minutes    float64        `json:"minutes"`
	Iterations int            `json:"iterations"`
	States     int64          `json:"states"`           // decisions seen
	Machine    run.Machine    `json:"machine"`          // with the revision of the program
	Former     *arena.Result  `json:"former,omitempty"` // against the champion before it
	Results    []arena.Result `json:"results"`
}

func files() fs.FS {
	data, err := fs.Sub(embedded, "data")
	if err != nil {
		panic(err) // the name is a constant
	}
	return data
}

// Load returns the checkpoint, verified.
func Load() (*run.Checkpoint, error) { return run.Embedded(Name, files()) }

// ReadReport returns how the champion was made.
func ReadReport() (Report, error) {
	var r Report
	text, err := fs.ReadFile(files(), ReportName)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return r, fmt.Errorf("champion: %w", err)
	}
	return r, nil
}
