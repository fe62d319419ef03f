package shell

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// A shell takes a quoted path to the folder that it names. Quotes are only where they have to be.
func TestPath(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"links": "links", "../a_b-1.2/c": "../a_b-1.2/c", "a b": "'a b'", "it's": `'it'\''s'`, "ü": "'ü'", "-a": "./-a",
		"-a b": "'./-a b'", "$HOME`x`": "'$HOME`x`'", "~": "'~'", `a\b"c`: `'a\b"c'`, "a\nb": "'a\nb'", "*": "'*'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Path(name); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			parent := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
			c := exec.Command("sh", "-c", "cd "+Path(name)+" && pwd")
			c.Dir = filepath.Join(parent, "in")
			want := filepath.Join(c.Dir, name)
			must.OK(t, errors.Join(os.MkdirAll(c.Dir, 0o755), os.MkdirAll(want, 0o755)))
			if got, err := c.CombinedOutput(); err != nil || string(got) != want+"\n" {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
}
