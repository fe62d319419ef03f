package command

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
)

// TestScripts runs testdata/scripts. Beside the commands of package testscript, a script has:
//
//	wrong COMMAND   runs a command that has to end with 64: its arguments are wrong
//	console         serves the files below console as the console of a run, such as console/GET/queues, which has the
//	                status and the answer; the file asked gets a line for each request
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/scripts", RequireExplicitExec: true,
		UpdateScripts: goldentest.Update(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(command))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"wrong": func(script *testscript.TestScript, _ bool, arguments []string) {
				err := script.Exec(arguments[0], arguments[1:]...)
				if exit, ok := err.(interface{ ExitCode() int }); !ok || exit.ExitCode() != exitUsage {
					script.Fatalf("ended with %v, want %d", err, exitUsage)
				}
			},
			"console": serveFiles,
		},
	})
}

// serveFiles serves the files of a script until it ends.
func serveFiles(script *testscript.TestScript, _ bool, _ []string) {
	folder := script.MkAbs(".")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		asked, failed := os.OpenFile(filepath.Join(folder, "asked"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if failed == nil {
			_, failed = fmt.Fprintln(asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
			failed = errors.Join(failed, asked.Close())
		}
		answer, missing := os.ReadFile(filepath.Join(folder, "console", r.Method, filepath.FromSlash(r.URL.Path)))
		if err := errors.Join(err, failed, missing); err != nil {
			answer = []byte("500 " + err.Error())
		}
		var status int
		fmt.Sscan(string(answer), &status)
		w.WriteHeader(status)
		_, text, _ := strings.Cut(strings.TrimSpace(string(answer)), " ")
		io.WriteString(w, text)
	}))
	script.Defer(server.Close)
	script.Setenv("ONESYNTH_CONSOLE", server.URL)
}
