package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// part is a step of a tier, as test/tier writes it: a line of fields separated by tabs.
type part struct {
	name       string
	failed     bool
	begin, end int64  // Seconds since 1970.
	goflags    string // Environment variables of the part. An unset one is "".
	cgo        string
	command    string // Arguments of "test/tier parts" that run the part alone.
}

func readParts(lines string) ([]part, error) {
	var parts []part
	for line := range strings.Lines(lines) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 7 {
			return nil, fmt.Errorf("%q: got %d fields, want 7", line, len(fields))
		}
		p := part{name: fields[0], failed: fields[1] != "0"}
		p.goflags, p.cgo, p.command = strings.TrimSpace(fields[4]), fields[5], strings.TrimSpace(fields[6])
		var errs [2]error
		p.begin, errs[0] = strconv.ParseInt(fields[2], 10, 64)
		p.end, errs[1] = strconv.ParseInt(fields[3], 10, 64)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// failure is a test that failed, or a package that failed without a failed test (test is "").
type failure struct {
	pkg, test string
	what      string // "failed", "did not end" or "does not compile".
	at        time.Time
}

// results are what the events of go test -json say.
type results struct {
	parts    []part
	count    int            // Tests that ended, subtests included.
	skipped  map[string]int // Numbers of tests by reason.
	failures []failure
}

// event is a line of go test -json: see "go doc test2json" and "go help buildjson".
type event struct {
	Time                                       time.Time
	Action, Package, Test, Output, FailedBuild string
}

type testID struct{ pkg, test string }

// reason matches a line that a test logs.
var reason = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)\n$`)

// readEvents adds what the events say. Lines that are no events are ignored.
func (r *results) readEvents(events io.Reader) error {
	r.skipped = map[string]int{}
	running, said := map[testID]bool{}, map[testID]string{} // A paused test is not running.
	failed := map[string][]string{}
	broken := map[string]bool{}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			id := testID{e.Package, e.Test}
			switch {
			case e.Test == "" && e.Action == "fail":
				r.failPackage(e, failed[e.Package], unended(running, e.Package), broken)
			case e.Test == "":
			case e.Action == "run" || e.Action == "cont":
				running[id] = true
			case e.Action == "pause":
				delete(running, id)
			case e.Action == "output":
				if found := reason.FindStringSubmatch(e.Output); found != nil {
					said[id] = found[1]
				}
			case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
				r.count++
				delete(running, id)
				if e.Action == "skip" {
					r.skipped[said[id]]++
				}
				if e.Action == "fail" {
					failed[e.Package] = append(failed[e.Package], e.Test)
				}
				delete(said, id)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// failPackage adds the failures of a package: its failed tests, or else the tests that were running at its end, as
// after a time-out, or else the package itself. A package that does not compile is added once, for all that import it.
func (r *results) failPackage(e event, failed, running []string, broken map[string]bool) {
	add := func(tests []string, what string) {
		for _, test := range innermost(tests) {
			r.failures = append(r.failures, failure{e.Package, test, what, e.Time})
		}
	}
	switch {
	case e.FailedBuild != "":
		// The name of a test's variant is "PACKAGE [PACKAGE.test]".
		name, _, _ := strings.Cut(e.FailedBuild, " ")
		name = strings.TrimSuffix(name, ".test")
		if !broken[name] {
			r.failures = append(r.failures, failure{name, "", "does not compile", e.Time})
		}
		broken[name] = true
	case len(failed) > 0:
		add(failed, "failed")
	case len(running) > 0:
		add(running, "did not end")
	default:
		add([]string{""}, "failed")
	}
}

func unended(running map[testID]bool, pkg string) (tests []string) {
	for id := range running {
		if id.pkg == pkg {
			tests = append(tests, id.test)
		}
	}
	return tests
}
