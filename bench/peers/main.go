// Command peers compares the networks of this repository with what others
// reach on the same machine at the same time: forwards with OpenBLAS's matrix
// products, and training steps with gorgonia's. It also compares them among
// each other, and says which limits are held.
//
// It needs a C compiler and OpenBLAS when it runs, not when it is built; without
// them it says so and exits with 3.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"vtrain/bench"
	"vtrain/nets"
	"vtrain/nets/kernel"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	exitMissing = 3 // no OpenBLAS, or no compiler to call it with
)

// section is the name of the results in a page, of kernels that OpenBLAS chose
// or was told to use.
func (o options) section() string {
	if o.coretype == "" {
		return "peers"
	}
	return "peers-" + strings.ToLower(o.coretype)
}

// usageError is a mistake on the command line.
type usageError struct{ error }

type options struct {
	layers, batches, cores   string
	coretype, json, markdown string
	repetitions              int
	seconds                  float64
	strict, cpuTime          bool
	grid                     bench.Grid
	measure                  bench.MeasureOptions
	limits                   limits
}

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs a command line and returns the exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	err := run(args, stdout)
	var usage usageError
	var missing missingError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "peers:", err)
		return exitUsage
	case errors.As(err, &missing):
		fmt.Fprintln(stderr, "peers:", err)
		return exitMissing
	}
	fmt.Fprintln(stderr, "peers:", err)
	return exitFailure
}

func run(args []string, stdout io.Writer) error {
	o, err := parse(args, stdout)
	if err != nil {
		return err
	}
	if o.markdown != "" {
		if err := bench.CheckPage(o.markdown, o.section()); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "peers-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := compile(dir)
	if err != nil {
		return err
	}
	r := newReport(o.limits)
	if err := r.compare(o, program); err != nil {
		return err
	}
	r.Machine.Finish()
	if err := r.write(o, stdout); err != nil {
		return err
	}
	if missed := r.missed(); o.strict && missed > 0 {
		return fmt.Errorf("%d limits are missed", missed)
	}
	return nil
}

// compare makes all comparisons.
func (r *report) compare(o options, program string) error {
	if err := r.compareForwards(o.grid, program, o.coretype, o.measure); err != nil {
		return err
	}
	for _, among := range []func(bench.Grid, bench.MeasureOptions) error{r.compareSparse, r.compareBatches, r.compareSteps} {
		if err := among(o.grid, o.measure); err != nil {
			return err
		}
	}
	return nil
}

// parse reads the flags.
func parse(args []string, stdout io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(io.Discard) // mistakes are one line, from execute
	f.StringVar(&o.layers, "layers", usualShape, "shape of the network; limits are about the default")
	f.StringVar(&o.batches, "batch", "1,16,64,256,512,1024,4096,16384", "batch sizes")
	f.StringVar(&o.cores, "cores", "", "numbers of cores (default 1,2 or those granted)")
	f.StringVar(&o.coretype, "coretype", os.Getenv("OPENBLAS_CORETYPE"), "kernels that OpenBLAS is told to use: Haswell for AVX2, SkylakeX for AVX-512, and others; empty for its choice")
	f.StringVar(&o.json, "json", "", "write results as one JSON object to a file; - for standard output, instead of the tables")
	f.StringVar(&o.markdown, "markdown", "", "update the results in a page such as docs/performance.md")
	f.IntVar(&o.repetitions, "repetitions", 15, "repetitions of each configuration")
	f.Float64Var(&o.seconds, "seconds", 2, "time for each configuration, after which five repetitions do")
	f.BoolVar(&o.cpuTime, "cpu-time", true, "on one core, measure processor time: what others do there then doesn't count")
	f.BoolVar(&o.strict, "strict", false, "exit with 1 if a limit is missed")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stdout)
		fmt.Fprintln(stdout, "Compares forwards with OpenBLAS, training steps with gorgonia, and both among each other. "+kernel.Environment+" names our kernels.")
		f.PrintDefaults()
		return o, err
	} else if err != nil {
		return o, usageError{err}
	}
	if err := o.resolve(f.Args()); err != nil {
		return o, usageError{err}
	}
	var err error
	o.limits, err = limitsHere(o.grid.Layers[0].String(), o.coretype)
	return o, err
}

// resolve checks the flags' values.
func (o *options) resolve(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q", rest[0])
	}
	if o.repetitions < 1 {
		return fmt.Errorf("-repetitions is %d, expected 1 or more", o.repetitions)
	}
	if !(o.seconds > 0) {
		return fmt.Errorf("-seconds is %v, expected more than 0", o.seconds)
	}
	o.measure = bench.MeasureOptions{Repetitions: o.repetitions, Budget: time.Duration(o.seconds * float64(time.Second))}
	shape, err := bench.ParseLayers(o.layers)
	if err != nil {
		return err
	}
	o.grid = bench.Grid{Layers: []nets.MLP{shape}, Input: bench.Dense, CPUTime: o.cpuTime}
	if o.grid.Batches, err = numbers(o.batches); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	if o.grid.Cores, err = numbers(cmp.Or(o.cores, usualCores())); err != nil {
		return fmt.Errorf("cores: %w", err)
	}
	return o.grid.Validate()
}

// usualCores is what the limits are about, where two are granted.
func usualCores() string {
	if bench.ThisHost().Cores < 2 {
		return "1"
	}
	return "1,2"
}

// numbers reads a list separated by commas.
func numbers(list string) ([]int, error) {
	var all []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		all = append(all, n)
	}
	return all, nil
}
