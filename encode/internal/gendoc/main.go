// Command gendoc writes the generated tables of a page of documentation anew,
// in place. It is run by go generate ./encode.
package main

import (
	"fmt"
	"os"

	"vtrain/encode/internal/doctables"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gendoc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments, expected the page to update", len(args))
	}
	page, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	updated, err := doctables.Update(page)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return os.WriteFile(args[0], updated, 0o644)
}
