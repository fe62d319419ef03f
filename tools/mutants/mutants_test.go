package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// module is one whose tests notice every change of bigger, and none of unseen.
const module = `-- go.mod --
module example.com/m

go 1.26
-- m.go --
package m

func bigger(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func unseen(n int) int {
	n += 2
	return n
}

func nothing() {
	return
}
-- m_test.go --
package m

import "testing"

func TestBigger(t *testing.T) {
	if bigger(1, 2) != 2 || bigger(3, 2) != 3 {
		t.Fail()
	}
}
`

// Every change is run and reported once, and a repeated command runs nothing again.
func TestRun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for part := range strings.SplitSeq(module[len("-- "):], "\n-- ") {
		name, content, _ := strings.Cut(part, " --\n")
		must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(content+"\n"), 0o600))
	}
	const want = `pure: 3 killed, 0 killed by the script, 4 survived
  m.go:11: unseen: ` + "`2` becomes `3`" + `
  m.go:11: unseen: ` + "`n += 2` is left out" + `
  m.go:12: unseen: ` + "`return n` becomes `return 0`" + `
  m.go:4: bigger: ` + "`>` becomes `>=`" + `
operations: 0 killed, 0 killed by the script, 0 survived
`
	o := options{pure: 100, operations: 100, results: "results.jsonl", packages: "./..."}
	for range 2 {
		var out strings.Builder
		must.OK(t, run(t.Context(), folder, o, &out))
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("- want, + got:\n%s", diff)
		}
		// Without a test all changes would survive.
		must.OK(t, os.WriteFile(filepath.Join(folder, "m_test.go"), []byte("package m\n"), 0o600))
	}
}
