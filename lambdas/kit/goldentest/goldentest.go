// Package goldentest compares what tests get with files.
package goldentest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
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
	got := must.Get(os.ReadFile(file))(t)
	if diff := cmp.Diff(strings.Split(string(got), "\n"), strings.Split(string(want), "\n")); diff != "" {
		t.Errorf("%s is not what the test makes: run it with -update (- file, + test):\n%s", file, diff)
	}
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
