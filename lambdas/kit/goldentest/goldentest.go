// Package goldentest compares what tests get with files.
package goldentest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

var update = flag.Bool("update", false, "write the files that the tests compare, in place of the comparison")

// Update reports whether the flag -update is given: a test then writes its files.
func Update() bool { return *update }

// Check checks that a file is what it has to be, byte for byte. With the flag -update it writes the file.
func Check(t testing.TB, file string, want []byte) {
	t.Helper()
	if Update() {
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, want, 0o644)
		}
		must.OK(t, err)
		return
	}
	compare(t, file, string(must.Get(os.ReadFile(file))(t)), string(want))
}

func compare(t testing.TB, file, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(got, "\n"), strings.Split(want, "\n")); diff != "" {
		t.Errorf("%s is not what the test makes: run it with -update (- file, + test):\n%s", file, diff)
	}
}

// Sections checks the sections of a file, each in a test of its own, side by side. A section begins with a line
// "## Heading", and the part of the heading before its first comma, colon or full stop names the test. want returns
// what the section has to be. With the flag -update, Sections writes the sections that ran into the file. Afterwards,
// if all of them ran, it calls complete, unless that is nil.
func Sections(t *testing.T, file string, want func(t *testing.T, section string) string, complete func()) {
	t.Helper()
	const mark = "\n\n## "
	text := strings.TrimRight(string(must.Get(os.ReadFile(file))(t)), "\n")
	all := strings.Split("\n\n"+text, mark)
	if all[0] != "" || len(all) == 1 {
		t.Fatalf("%s does not begin with the heading of a section", file)
	}
	all = all[1:]
	var ran atomic.Int32
	for i, section := range all {
		name, _, _ := strings.Cut(section, "\n")
		t.Run(name[:strings.IndexAny(name+".", ",.:")], func(t *testing.T) {
			t.Parallel()
			made := strings.TrimRight(want(t, "## "+section), "\n")
			ran.Add(1)
			if Update() {
				all[i] = strings.TrimPrefix(made, "## ")
				return
			}
			compare(t, file, "## "+section, made)
		})
	}
	t.Cleanup(func() {
		if Update() {
			Check(t, file, []byte("## "+strings.Join(all, mark)+"\n"))
		}
		if complete != nil && int(ran.Load()) == len(all) {
			complete()
		}
	})
}

var repeated = regexp.MustCompile(`<(.)\*([0-9]+)>`)

// Expand writes out what a file shortens: <x*300> is 300 times x.
func Expand(text string) string {
	return repeated.ReplaceAllStringFunc(text, func(found string) string {
		parts := repeated.FindStringSubmatch(found)
		count, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], count)
	})
}
