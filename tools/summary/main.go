// Command summary ends a tier of tests with one sentence: whether all passed. It says which tests were skipped and
// why, and prints a command for each failure that runs it again.
//
//	summary -make test -flags=-short -status 1 bin/quick.json bin/quick.parts
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	var o options
	flag.StringVar(&o.target, "make", "test", "target of the Makefile that ran the tests")
	flag.StringVar(&o.flags, "flags", "", "flags that every test ran with")
	raced := flag.String("raced", "", "packages that ran under the race detector, separated by spaces")
	flag.IntVar(&o.status, "status", 0, "exit status of the tests")
	flag.Parse()
	o.raced = strings.Fields(*raced)
	if err := run(o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
}

func run(o options, files []string) error {
	if len(files) != 2 {
		return fmt.Errorf("got %d files, want that of go test -json and that of parts", len(files))
	}
	events, err := os.Open(files[0])
	if err != nil {
		return err
	}
	defer events.Close() //nolint:errcheck // It is only read.
	lines, err := os.ReadFile(files[1])
	if err != nil {
		return err
	}
	var r results
	if r.parts, err = readParts(string(lines)); err != nil {
		return fmt.Errorf("%s: %w", files[1], err)
	}
	if err := r.readEvents(events); err != nil {
		return fmt.Errorf("%s: %w", files[0], err)
	}
	_, err = fmt.Print(summarize(r, o))
	return err
}
