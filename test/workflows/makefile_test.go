package workflows

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// The Makefile can be read at once. What is longer is a script.
func TestMakefileIsShort(t *testing.T) {
	t.Parallel()
	if lines := bytes.Count(read(t, filepath.Join(root, "Makefile")), []byte("\n")); lines > 120 {
		t.Errorf("the Makefile has %d lines, want 120 at most: make what is long a script with a name", lines)
	}
}

// Variables of make reach the command as they are: ports of a second run, and folders whose names a shell would split.
func TestMakefileArguments(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arguments   []string
		environment string
		want        []string
	}{
		"Run": {arguments: []string{"run"}, want: []string{"local"}},
		"Port": {arguments: []string{"run", "PORT=9080"},
			want: []string{"local", "--port=9080", "--console-port=9079"}},
		"Auto": {arguments: []string{"run", "PORT=auto"},
			want: []string{"local", "--port=auto", "--console-port=auto"}},
		"Foreign": {arguments: []string{"run"}, environment: "PORT=3000", want: []string{"local"}},
		"Beside":  {arguments: []string{"init", "NAME=links"}, want: []string{"init", "--dir=../links", "--", "links"}},
		"Quoted": {arguments: []string{"init", "NAME=a b", "DIR=-it's \"a\" ü, `b`", "FROM=to do"},
			want: []string{"init", "--dir=-it's \"a\" ü, `b`", "--from=to do", "--", "a b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command("make", append([]string{"-n", "--no-print-directory"}, test.arguments...)...)
			c.Dir = root
			for _, variable := range os.Environ() {
				// The variables of the make that runs the tests are for its own targets.
				if !strings.HasPrefix(variable, "MAKE") && !strings.HasPrefix(variable, "MFLAGS") {
					c.Env = append(c.Env, variable)
				}
			}
			c.Env = append(c.Env, test.environment)
			printed := must.Get(c.Output())(t)
			_, command, found := strings.Cut("\n"+string(printed), "\nbin/onesynth ")
			if !found {
				t.Fatalf("make -n printed no command of onesynth: %s", printed)
			}
			words, err := exec.Command("sh", "-c", `printf '%s\n' `+command).CombinedOutput()
			got := strings.Split(strings.TrimSuffix(string(words), "\n"), "\n")
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}
