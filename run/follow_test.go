package run_test

import (
	cryptorand "crypto/rand"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// ofThisRun is in files that tests save while they are compiled. The toolchain may read a file after it has hashed it,
// and then keeps what it compiled under the hash of the former text: a later run with that text would get it.
var ofThisRun = cryptorand.Text()

func words(text string) string {
	return fmt.Sprintf("package words\n\n// Text is of the run %s.\nconst Text = %q\n", ofThisRun, text)
}

// fixture is a module of a developer, testdata/fixture, with the assembly of its app.
type fixture struct {
	folder string
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	folder := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	f := &fixture{folder: folder}
	f.save(t, "go.mod", "module example.com/fixture\n\ngo 1.26\n")
	must.OK(t, os.CopyFS(folder, os.DirFS("testdata/fixture")))
	f.save(t, "words/words.go", words("first"))
	return f
}

func (f *fixture) save(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(f.folder, name)
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.OK(t, os.WriteFile(path+"~", []byte(text), 0o600))
	must.OK(t, os.Rename(path+"~", path))
}

// synthesise writes the assembly of the template into a folder of the module, with the function's present code.
func (f *fixture) synthesise(t testing.TB, template object, name string) string {
	t.Helper()
	template["Resources"].(object)["Function"].(object)["Metadata"] = object{"onesynth": object{"build": object{
		"module": "example.com/fixture", "package": "lambdas/worker", "flags": gobuild.Flags(),
	}}}
	assembly := filepath.Join(f.folder, name)
	must.OK(t, os.Rename(write(t, template), assembly))
	build := exec.Command("go", append(append([]string{"build"}, gobuild.Flags()...), "-o",
		filepath.Join(assembly, "asset.code", "bootstrap"), "./lambdas/worker")...)
	build.Dir, build.Env = f.folder, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	must.OK(t, os.Remove(filepath.Join(assembly, "asset.code", "bootstrap")))
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return assembly
}

// tells waits until the run has told of a change, such as "build failed", with the text.
func tells(t *testing.T, r *run.Runner, heard *wait.Output, change, text string) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("%s is told with %q", change, text), func() (any, bool) {
		told := heard.String()
		return told, regexp.MustCompile(`(?m)^` + change + ` .*` + regexp.QuoteMeta(text)).MatchString(told)
	}, wait.On(runtest.Of(r)))
}

func (f *fixture) start(t *testing.T, template object) (r *run.Runner, printed, heard *wait.Output) {
	t.Helper()
	heard = &wait.Output{}
	assembly := f.synthesise(t, template, "cdk.out")
	r, printed = start(t, template, func(o *run.Options) { o.Assembly, o.Watch = assembly, true })
	events, stop := r.Parts().Trace.Listen()
	t.Cleanup(stop)
	go func() {
		for event := range events {
			if change, ok := event.Data.(trace.Change); ok {
				fmt.Fprintf(heard, "%s %s %q\n", change.What, change.State, change.Text)
			}
		}
	}()
	return r, printed, heard
}

func TestFollow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r, printed, heard := f.start(t, template())
	url := r.URL("Items")
	want(t, 200, "first")(call(t, "GET", url+"/environment", ""))

	f.save(t, "words/words.go", words("second"))
	answers(t, r, "/environment", "second")
	tells(t, r, heard, "build began", "")
	tells(t, r, heard, "build done", "")

	f.save(t, "words/words.go", "package words\n\nconst Text = 1 + \"x\"\n")
	tells(t, r, heard, "build failed", "words/words.go:3:14: ")
	want(t, 200, "second")(call(t, "GET", url+"/environment", ""))
	if got := printed.String(); !strings.Contains(got, "the former code goes on:\n") ||
		strings.Contains(got, "\n# example.com") {
		t.Errorf("printed %s", got)
	}

	// What failed is built again with any file of it, and what was missing may come later.
	f.save(t, "words/words.go", "package words\n\nimport \"example.com/fixture/more\"\n\nconst Text = more.Text\n")
	tells(t, r, heard, "build failed", "example.com/fixture/more")
	f.save(t, "more/more.go", "package more\n\nconst Text = \"third\"\n")
	answers(t, r, "/environment", "third")
	f.save(t, "more/more.go", "package more\n\nconst Text = \"fourth\"\n")
	answers(t, r, "/environment", "fourth")

	f.save(t, "more/more.go", "package more\n\nconst Text = \"fifth\"\n\nfunc init() { panic(\"no luck\") }\n")
	tells(t, r, heard, "build failed", "panic: no luck")
	want(t, 200, "fourth")(call(t, "GET", url+"/environment", ""))
	f.save(t, "more/more.go", "package more\n\nconst Text = \"sixth\"\n")
	answers(t, r, "/environment", "sixth")

	// What is killed at its start, as by a system without memory, is started again.
	f.save(t, "more/more.go", fmt.Sprintf("package more\n\nimport (\n\t\"os\"\n\t\"syscall\"\n)\n\nconst Text = "+
		"\"seventh\"\n\nfunc init() {\n\tif os.Mkdir(%q, 0o700) == nil {\n\t\t_ = syscall.Kill(os.Getpid(), "+
		"syscall.SIGKILL)\n\t}\n}\n", filepath.Join(f.folder, "killed")))
	answers(t, r, "/environment", "seventh")
}

// Saves in a row lose no request that was acknowledged, and the newest code answers in the end.
func TestFollowUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("builds functions under load: go test without -short does")
	}
	t.Parallel()
	f := newFixture(t)
	r, printed, _ := f.start(t, template())
	url := r.URL("Items")
	ended := make(chan struct{})
	acknowledged := make([][]string, 2)
	var working sync.WaitGroup
	for client := range acknowledged {
		working.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-ended:
					return
				default:
				}
				id := fmt.Sprintf("%d-%d", client, n)
				if status, body := call(t, http.MethodPut, url+"/items/"+id, ""); status != http.StatusOK {
					t.Errorf("item %s: got %d %s", id, status, body)
					return
				}
				acknowledged[client] = append(acknowledged[client], id)
			}
		})
	}
	for n := range 8 {
		text := fmt.Sprint("version ", n)
		f.save(t, "words/words.go", words(text))
		if n%2 == 0 {
			continue // the next save overtakes this one
		}
		answers(t, r, "/environment", text)
	}
	close(ended)
	working.Wait()
	for _, ids := range acknowledged {
		for _, id := range ids {
			if status, body := call(t, http.MethodGet, url+"/items/"+id, ""); status != http.StatusOK {
				t.Errorf("item %s: got %d %s", id, status, body)
			}
		}
	}
	status := r.Parts().Functions.Functions()[0]
	if status.Errors != 0 || status.Deaths != 0 || len(status.Instances) == 0 {
		t.Fatalf("got %+v\n%s", status, printed)
	}
	if runtime.GOOS != "linux" {
		return
	}
	program := must.Get(os.Readlink(fmt.Sprintf("/proc/%d/exe", status.Instances[0].PID)))(t)
	code := filepath.Dir(program)
	if strings.HasPrefix(code, f.folder) {
		t.Fatalf("the newest code runs in %s", program)
	}
	if len(processes(t, code)) == 0 {
		t.Fatal("no process is found before the end")
	}
	r.Close()
	if left := append(processes(t, code), processes(t, f.folder)...); len(left) > 0 {
		t.Errorf("left processes %v", left)
	}
}

// processes are those whose program or working folder is in the folder.
func processes(t *testing.T, folder string) (found []string) {
	t.Helper()
	all := must.Get(filepath.Glob("/proc/[0-9]*"))(t)
	for _, process := range all {
		for _, link := range []string{"exe", "cwd"} {
			if target, err := os.Readlink(filepath.Join(process, link)); err == nil &&
				strings.HasPrefix(target, folder) {
				found = append(found, process+" "+target)
			}
		}
	}
	return found
}
