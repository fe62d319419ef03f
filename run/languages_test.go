package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// A function in any language runs: its bootstrap is a script of two lines that starts the interpreter.
func TestOtherLanguages(t *testing.T) {
	t.Parallel()
	r, printed := startScripts(t, map[string]string{
		"bootstrap":  "#!/bin/sh\nexec sh \"$LAMBDA_TASK_ROOT/$_HANDLER\"\n",
		"handler.sh": string(must.Get(os.ReadFile("testdata/handler.sh"))(t)),
	})
	for _, id := range []string{"a", "b"} {
		want(t, 201, "handler.sh of worker with ")(call(t, "GET", r.URL("")+"/items/"+id, ""))
		wait.Said(t, printed, `[worker] handler.sh got "rawPath":"/items/`+id+`"`)
	}
}

// A function that cannot start says so before the first request comes: the run names it and what ended it, and counts it
// in the last line.
func TestUnstarted(t *testing.T) {
	t.Parallel()
	_, printed := startScripts(t, map[string]string{"bootstrap": "#!/bin/sh\necho the table is missing\nexit 3\n"})
	const want = "\nno start   worker: the table is missing (exit status 3)\nready: 1 of 1 functions did not start\n"
	if !strings.HasSuffix(printed.String(), want) {
		t.Errorf("got %s, want the end %s", printed, want)
	}
}

// startScripts runs the template with a function whose code is these files.
func startScripts(t *testing.T, files map[string]string) (*run.Runner, *wait.Output) {
	t.Helper()
	described := template()
	properties(described, "Function")["Handler"] = "handler.sh"
	dir := write(t, described)
	for name, content := range files {
		// The file is a link to the other tests' bootstrap.
		file := filepath.Join(dir, "asset.code", name)
		must.OK(t, os.RemoveAll(file))
		must.OK(t, os.WriteFile(file, []byte(content), 0o755))
	}
	return start(t, described, func(o *run.Options) { o.Assembly, o.LogFormat = dir, run.LogJSON })
}
