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
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
)

// command is a run of the command in a developer's folder.
type command struct {
	*fixture
	process *exec.Cmd
	printed *output
	ended   chan error
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
	c := &command{fixture: f, printed: &output{}, ended: make(chan error, 1)}
	c.process = exec.Command(program, "local", "--watch", "--port", "0", "--console-port", "0", "--no-schedules",
		"--dynamodb", enginetest.Engine(t).URL(), "--access-key", enginetest.AccessKey())
	c.process.Dir, c.process.Stdout, c.process.Stderr = f.folder, c.printed, c.printed
	if err := c.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.ended <- c.process.Wait() }()
	t.Cleanup(func() { _ = c.process.Process.Kill() })
	eventually(t, "the run is ready", func() bool {
		select {
		case err := <-c.ended:
			t.Fatalf("the run ended: %v\n%s", err, c.printed)
		default:
		}
		return strings.Contains(c.printed.String(), "\nready\n")
	})
	c.url = regexp.MustCompile(`API +(http://\S+)`).FindStringSubmatch(c.printed.String())[1]
	return c
}

func (c *command) says(t *testing.T, text string) {
	t.Helper()
	eventually(t, text, func() bool { return strings.Contains(c.printed.String(), text) })
}

// interrupt ends the run by Ctrl-C, and finds what it leaves.
func (c *command) interrupt(t *testing.T) {
	t.Helper()
	if err := c.process.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := <-c.ended; err != nil || !strings.HasSuffix(c.printed.String(), "ended\n") {
		t.Errorf("got %v\n%s", err, c.printed)
	}
	if runtime.GOOS != "linux" {
		return
	}
	// The kernel may still be taking killed processes away.
	eventually(t, fmt.Sprintf("no process is left: %v", processes(t, c.folder)), func() bool {
		return len(processes(t, c.folder)) == 0
	})
}

func TestCommandFollows(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the command")
	}
	t.Parallel()
	f := newFixture(t)
	f.save(t, "cdk.json", cdkJSON("0"))
	f.synthesise(t, template(), "cdk.out")
	c := f.run(t, commandtest.Path(t))
	want(t, 200, "")(call(t, "PUT", c.url+"/items/kept", ""))

	f.synthesise(t, next(), "next")
	f.save(t, "cdk.json", cdkJSON("1"))
	c.says(t, "adds index ByOwner")
	eventually(t, "the new route answers", func() bool {
		status, _ := call(t, "GET", c.url+"/new", "")
		return status == http.StatusOK
	})
	want(t, 200, "kept")(call(t, "GET", c.url+"/items/kept", ""))

	f.save(t, "broken", "")
	f.save(t, "cdk.json", cdkJSON("2"))
	c.says(t, "not applied, the former design goes on: the app failed (exit status 3):\nthe construct is wrong")
	want(t, 200, "first")(call(t, "GET", c.url+"/new", ""))
	if err := os.Remove(filepath.Join(f.folder, "broken")); err != nil {
		t.Fatal(err)
	}

	changed := next()
	properties(changed, "Table")["AttributeDefinitions"] = []object{{"AttributeName": "key", "AttributeType": "S"},
		{"AttributeName": "owner", "AttributeType": "S"}}
	properties(changed, "Table")["KeySchema"] = []object{{"AttributeName": "key", "KeyType": "HASH"}}
	if err := os.RemoveAll(filepath.Join(f.folder, "next")); err != nil {
		t.Fatal(err)
	}
	f.synthesise(t, changed, "next")
	f.save(t, "cdk.json", cdkJSON("3"))
	c.says(t, "end the run, and start again with empty tables")
	want(t, 200, "kept")(call(t, "GET", c.url+"/items/kept", ""))

	f.save(t, "words/words.go", words("second"))
	eventually(t, "new code answers", func() bool {
		_, got := call(t, "GET", c.url+"/new", "")
		return got == "second"
	})
	c.says(t, "still not applied, for the reason above")
	c.interrupt(t)
}

// New code that comes with an app that cannot be applied waits for one that can.
func TestCommandWaits(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the command")
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
		c.says(t, "changed: words/words.go")
		c.says(t, "not applied, the former design goes on: the app failed")
	}
	c.says(t, "still not applied, for the reason above")
	want(t, 200, "first")(call(t, "GET", c.url+"/environment", ""))
	if err := os.Remove(filepath.Join(f.folder, "broken")); err != nil {
		t.Fatal(err)
	}
	f.save(t, "words/words.go", words("fourth"))
	eventually(t, "the new code answers", func() bool {
		_, got := call(t, "GET", c.url+"/environment", "")
		return got == "fourth"
	})
	c.says(t, "applied after ")
	c.interrupt(t)
}

// Thirty saves while clients write lose nothing that was acknowledged.
func TestCommandUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the command")
	}
	t.Parallel()
	f := newFixture(t)
	f.save(t, "cdk.json", cdkJSON("0"))
	f.synthesise(t, template(), "cdk.out")
	f.synthesise(t, next(), "next")
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
	eventually(t, "the newest code answers", func() bool {
		_, got := call(t, "GET", c.url+"/environment", "")
		return got == fmt.Sprint("version ", saves)
	})
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
		t.Skip("starts the command")
	}
	t.Parallel()
	program := commandtest.Path(t)
	f := newFixture(t)
	f.save(t, "cdk.json", cdkJSON("0"))
	f.synthesise(t, template(), "cdk.out")
	f.synthesise(t, next(), "next")
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
