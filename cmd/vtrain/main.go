// Command vtrain trains, measures and plays Lost Cities agents. This package
// only parses and wires; what it does lives in the packages it calls.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/alecthomas/kong"

	"vtrain/cfr/train"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// streams are where commands write: results to out, logs and bars to err.
type streams struct {
	out, err io.Writer
	log      *slog.Logger
}

type cli struct {
	Train      trainCmd      `cmd:"" help:"Train an agent; without a configuration, the default one."`
	Eval       evalCmd       `cmd:"" help:"Play an agent against another on duplicate deals."`
	Tournament tournamentCmd `cmd:"" help:"Play all pairs of agents on the same duplicate deals, and rate them."`
	Plot       plotCmd       `cmd:"" help:"Draw the learning curves of several runs on shared axes."`
	Verify     verifyCmd     `cmd:"" help:"Replay recorded games, encodings and bot moves through scalar and lockstep code."`
	Bench      benchCmd      `cmd:"" help:"Measure how fast this machine does the work."`
	Solve      solveCmd      `cmd:"" help:"Solve a small game, and say how far from an equilibrium the solution is."`
	Config     configCmd     `cmd:"" help:"Print the resolved configuration."`
	Info       infoCmd       `cmd:"" help:"Print what this machine offers and which kernels would run."`
}

// usageError is a mistake in what was asked for, found after parsing.
type usageError struct{ error }

func main() { os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs a command line and returns the exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := &streams{stdout, stderr, newLogger(stderr)}
	exited := -1
	parser, err := kong.New(&cli{},
		kong.Name("vtrain"),
		kong.Description("A vectorised Deep CFR engine for Lost Cities."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exited = code }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // the command line is described wrongly
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // --help has been printed
		return exited
	}
	if err != nil {
		fmt.Fprintf(stderr, "vtrain: %v\n", err)
		return exitUsage
	}
	return s.exitCode(parsed.Run())
}

// exitCode reports an error in one line.
func (s *streams) exitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, train.ErrInterrupted):
		fmt.Fprintf(s.err, "vtrain: %v\n", err)
		return exitInterrupted
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "vtrain: %v\n", err)
		return exitUsage
	}
	fmt.Fprintf(s.err, "vtrain: %v\n", err)
	return exitFailure
}

// newLogger logs lines of time, message and values.
func newLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case slog.TimeKey:
				a.Value = slog.StringValue(a.Value.Time().Format("15:04:05"))
			case slog.LevelKey:
				if a.Value.String() == slog.LevelInfo.String() {
					return slog.Attr{} // the usual level says nothing
				}
			}
			return a
		},
	}))
}
