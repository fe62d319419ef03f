package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/shell"
)

// options describe the run that is summarized.
type options struct {
	target, flags string
	raced         []string
	status        int
}

// shown is the number of failures whose commands are printed. The others are counted.
const shown = 12

// modules are the modules of this repository by their folders, the longest path first.
var modules = []struct{ path, folder string }{
	{"github.com/onesynth-cdk/onesynth/test", "test"},
	{"github.com/onesynth-cdk/onesynth", ""},
	{"example.com/shortener", "examples/shortener"},
	{"example.com/booking", "examples/booking"},
}

// summarize returns the lines at the end of a tier: the skipped tests by reason, whether all passed, and the commands
// that run failures again.
func summarize(r results, o options) string {
	var b strings.Builder
	skipped := skips(&b, r)
	failures := r.failures
	for _, p := range r.parts {
		// A part of tests fails because a test does. Every other part is a failure of its own.
		in := func(f failure) bool { return f.at.Unix() > p.begin && f.at.Unix() <= p.end }
		if p.failed && !slices.ContainsFunc(failures, in) {
			failures = append(failures, failure{pkg: p.name, what: "failed"})
		}
	}
	switch {
	case len(failures) > 0:
		fmt.Fprintf(&b, "make %s failed: %s. Run again what failed, each by its command:\n", o.target, named(failures))
		for i, f := range failures {
			if i == shown {
				fmt.Fprintf(&b, "and %d more\n", len(failures)-shown)
				break
			}
			fmt.Fprintf(&b, "  %s\n", again(r, f, o))
		}
	case o.status != 0:
		fmt.Fprintf(&b, "make %s failed: exit status %d. The lines above say why.\n", o.target, o.status)
	case skipped > 0:
		fmt.Fprintf(&b, "make %s passed: all tests but those skipped, %d of %d.\n", o.target, r.count-skipped, r.count)
	default:
		fmt.Fprintf(&b, "make %s passed: all %d tests.\n", o.target, r.count)
	}
	return b.String()
}

// named joins the first failures to a list.
func named(failures []failure) string {
	var names []string
	for i, f := range failures {
		if i == 3 && len(failures) > 4 {
			return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), len(failures)-3)
		}
		folder, name := locate(f.pkg)
		names = append(names, strings.TrimSpace(strings.TrimPrefix(folder+"/"+name, "/")+" "+f.test)+" "+f.what)
	}
	return strings.Join(names, ", ")
}

// again returns the shell command that repeats a failure.
func again(r results, f failure, o options) string {
	var variables []string
	if len(r.parts) > 0 {
		variables = append(variables, variable("GOFLAGS", r.parts[0].goflags), variable("CGO_ENABLED", r.parts[0].cgo))
	}
	words := func(more ...string) string {
		all := slices.DeleteFunc(append(variables, more...), func(word string) bool { return word == "" })
		return strings.Join(all, " ")
	}
	for _, p := range r.parts {
		if p.name == f.pkg {
			return words("test/tier parts", p.command)
		}
	}
	folder, name := locate(f.pkg)
	flags, run := o.flags, "-run "+shell.Word(pattern(f.test))
	if slices.Contains(o.raced, f.pkg) {
		flags = strings.TrimSpace(flags + " -race")
	}
	if f.what == "does not compile" {
		run = "-run '^$'"
	} else if f.test == "" {
		run = ""
	}
	command := words("go test", shell.Word("./"+name), "-count=1", flags, run)
	if folder != "" {
		return "(cd " + folder + " && " + command + ")"
	}
	return command
}

// locate returns the folder of a package's module, and the package's folder in it.
func locate(pkg string) (folder, name string) {
	for _, m := range modules {
		if pkg == m.path {
			return m.folder, "."
		}
		if name, ok := strings.CutPrefix(pkg, m.path+"/"); ok {
			return m.folder, name
		}
	}
	return "", strings.TrimPrefix(pkg, "./")
}

// pattern returns the argument of -run that matches one test or subtest alone.
func pattern(test string) string {
	elements := strings.Split(test, "/")
	for i, e := range elements {
		elements[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return strings.Join(elements, "/")
}

func variable(name, value string) string {
	if value == "" {
		return ""
	}
	return name + "=" + shell.Word(value)
}

// skips writes the reasons of skipped tests, the most frequent first, and returns the number of these tests. Reasons
// that name -short are one: the tests run in make test-all.
func skips(b *strings.Builder, r results) (total int) {
	reasons, short, left := map[string]int{}, map[string]int{}, 0
	for reason, n := range r.skipped {
		total += n
		if before, _, ok := strings.Cut(reason, ": go test without -short"); ok {
			left += n
			short[before] += n
		} else {
			reasons[cmp.Or(reason, "without a reason")] += n
		}
	}
	if left > 0 {
		var parts []string
		for _, reason := range ordered(short) {
			parts = append(parts, fmt.Sprintf("%s (%d)", reason, short[reason]))
		}
		reasons["left to make test-all: "+strings.Join(parts, ", ")] = left
	}
	if total > 0 {
		fmt.Fprintf(b, "%d of %d tests were skipped:\n", total, r.count)
	}
	for _, reason := range ordered(reasons) {
		fmt.Fprintf(b, "%6d  %s\n", reasons[reason], reason)
	}
	return total
}

func ordered(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
}

// innermost returns the tests that are no parent of another one, in order.
func innermost(tests []string) (kept []string) {
	slices.Sort(tests)
	for _, test := range tests {
		parent := func(other string) bool { return strings.HasPrefix(other, test+"/") }
		if test == "" || !slices.ContainsFunc(tests, parent) {
			kept = append(kept, test)
		}
	}
	return kept
}
