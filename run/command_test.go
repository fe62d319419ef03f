package run_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// command is a run of the command in a developer's folder.
type command struct {
	*fixture
	printed *wait.Process
	url     string
}

// cdkJSON is a cdk.json whose app writes the assembly in the folder next, with the present code. A child of it would
// outlive it.
func cdkJSON(version string) string {
	build := "CGO_ENABLED=0 GOFLAGS= go build -trimpath -buildvcs=false -tags=lambda.norpc,timetzdata " +
		"'-ldflags=-s -w' -o " +
		"$CDK_OUTDIR/asset.code/bootstrap ./lambdas/worker"
	script := "test ! -e broken || { echo the construct is wrong; exit 3; }; sleep 600 & cp -R next $CDK_OUTDIR && " +
		build
	return fmt.Sprintf(`{"app": %q, "context": {"version": %q}}`, script, version)
}

func (f *fixture) run(t *testing.T, program string) *command {
	t.Helper()
	process := exec.Command(program, "local", "--watch", "--port", "0", "--console-port", "0", "--no-schedules",
		"--dynamodb", enginetest.Engine(t).URL(), "--access-key", enginetest.AccessKey())
	process.Dir = f.folder
	printed := must.Get(wait.Start(process))(t)
	c := &command{fixture: f, printed: printed}
	t.Cleanup(func() { _ = process.Process.Kill() })
	wait.Said(t, c.printed, "\nready\n")
	c.url = regexp.MustCompile(`API +(http://\S+)`).FindStringSubmatch(c.printed.String())[1]
	return c
}

// answers waits until a GET request of the path is answered with the body.
func (c *command) answers(t *testing.T, path, body string) {
	t.Helper()
	wait.For(t, "GET "+path, body, func() string {
		_, got := call(t, "GET", c.url+path, "")
		return got
	}, wait.On(c.printed))
}

// interrupt ends the run by Ctrl-C, and finds what it leaves.
func (c *command) interrupt(t *testing.T) {
	t.Helper()
	must.OK(t, c.printed.Command.Process.Signal(syscall.SIGINT))
	wait.Said(t, c.printed, "\nended\n")
	wait.Until(t, "the command ends", func() (any, bool) { return nil, c.printed.Ended() != nil })
	printed := c.printed.String()
	if state := c.printed.Command.ProcessState; !state.Success() || !strings.HasSuffix(printed, "\nended\n") {
		t.Errorf("got %s\n%s", state, printed)
	}
	if runtime.GOOS != "linux" {
		return
	}
	// The kernel may still be taking killed processes away.
	wait.Until(t, "no process is left", func() (any, bool) {
		left := processes(t, c.folder)
		return left, len(left) == 0
	})
}

func TestCommandFollows(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the command: go test without -short does")
	}
	t.Parallel()
	f := newFixture(t)
	f.save(t, "cdk.json", cdkJSON("0"))
	f.synthesise(t, template(), "cdk.out")
	c := f.run(t, commandtest.Path(t))
	want(t, 200, "")(call(t, "PUT", c.url+"/items/kept", ""))

	f.synthesise(t, template("next"), "next")
	f.save(t, "cdk.json", cdkJSON("1"))
	wait.Said(t, c.printed, "adds index ByOwner")
	c.answers(t, "/new", "first")
	want(t, 200, "kept")(call(t, "GET", c.url+"/items/kept", ""))

	f.save(t, "broken", "")
	f.save(t, "cdk.json", cdkJSON("2"))
	wait.Said(t, c.printed,
		"not applied, the former design goes on: the app failed (exit status 3):\nthe construct is wrong")
	want(t, 200, "first")(call(t, "GET", c.url+"/new", ""))
	must.OK(t, os.Remove(filepath.Join(f.folder, "broken")))

	changed := template("next", `{"Table": {"Properties": {
		"AttributeDefinitions": [{"AttributeName": "key", "AttributeType": "S"},
			{"AttributeName": "owner", "AttributeType": "S"}],
		"KeySchema": [{"AttributeName": "key", "KeyType": "HASH"}]}}}`)
	must.OK(t, os.RemoveAll(filepath.Join(f.folder, "next")))
	f.synthesise(t, changed, "next")
	f.save(t, "cdk.json", cdkJSON("3"))
	wait.Said(t, c.printed, "end the run, and start again with empty tables")
	want(t, 200, "kept")(call(t, "GET", c.url+"/items/kept", ""))

	f.save(t, "words/words.go", words("second"))
	c.answers(t, "/new", "second")
	wait.Said(t, c.printed, "still not applied, for the reason above")
	c.interrupt(t)
}

// New code that comes with an app that cannot be applied waits for one that can.
func TestCommandWaits(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the command: go test without -short does")
	}
	t.Parallel()
	f := newFixture(t)
	f.save(t, "cdk.json", cdkJSON("0"))
	f.save(t, "main.go",
		"package main\n\nimport \"example.com/fixture/words\"\n\nfunc main() { println(words.Text) }\n")
	f.synthesise(t, template(), "cdk.out")
	f.synthesise(t, template(), "next")
	c := f.run(t, commandtest.Path(t))
	f.save(t, "broken", "")
	for _, text := range []string{"second", "third"} {
		f.save(t, "words/words.go", words(text))
		wait.Said(t, c.printed, "changed: words/words.go")
		wait.Said(t, c.printed, "not applied, the former design goes on: the app failed")
	}
	wait.Said(t, c.printed, "still not applied, for the reason above")
	want(t, 200, "first")(call(t, "GET", c.url+"/environment", ""))
	must.OK(t, os.Remove(filepath.Join(f.folder, "broken")))
	f.save(t, "words/words.go", words("fourth"))
	c.answers(t, "/environment", "fourth")
	wait.Said(t, c.printed, "applied after ")
	c.interrupt(t)
}

// Thirty saves while clients write lose nothing that was acknowledged.
func TestCommandUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the command: go test without -short does")
	}
	t.Parallel()
	f := newFixture(t)
	f.save(t, "cdk.json", cdkJSON("0"))
	f.synthesise(t, template(), "cdk.out")
	f.synthesise(t, template("next"), "next")
	c := f.run(t, commandtest.Path(t))
	ended := make(chan struct{})
	acknowledged := make([][]string, 2)
	var working sync.WaitGroup
	for client := range acknowledged {
		working.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-ended:
					return
				case <-time.After(5 * time.Millisecond):
				}
				id := fmt.Sprintf("%d-%d", client, n)
				if status, body := call(t, http.MethodPut, c.url+"/items/"+id, ""); status != http.StatusOK {
					t.Errorf("item %s: got %d %s\n%s", id, status, body, c.printed)
					return
				}
				acknowledged[client] = append(acknowledged[client], id)
			}
		})
	}
	const saves = 30
	for n := 1; n <= saves; n++ {
		if n%10 == 0 {
			f.save(t, "cdk.json", cdkJSON(fmt.Sprint(n)))
		}
		f.save(t, "words/words.go", words(fmt.Sprint("version ", n)))
		time.Sleep(200 * time.Millisecond)
	}
	c.answers(t, "/environment", fmt.Sprint("version ", saves))
	if strings.Contains(c.printed.String(), "not applied") {
		t.Errorf("printed %s", c.printed)
	}
	close(ended)
	working.Wait()
	for _, ids := range acknowledged {
		for _, id := range ids {
			want(t, 200, id)(call(t, http.MethodGet, c.url+"/items/"+id, ""))
		}
	}
	c.interrupt(t)
}

// Ctrl-C at any moment ends all that the run has started.
func TestCommandInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the command: go test without -short does")
	}
	t.Parallel()
	program := commandtest.Path(t)
	f := newFixture(t)
	f.save(t, "cdk.json", cdkJSON("0"))
	f.synthesise(t, template(), "cdk.out")
	f.synthesise(t, template("next"), "next")
	for n, moment := range []time.Duration{0, 60 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond,
		500 * time.Millisecond, 700 * time.Millisecond} {
		c := f.run(t, program)
		if n%2 == 0 {
			f.save(t, "words/words.go", words(fmt.Sprint("interrupted ", n)))
		} else {
			f.save(t, "cdk.json", cdkJSON(fmt.Sprint(n)))
		}
		time.Sleep(moment)
		c.interrupt(t)
	}
}
