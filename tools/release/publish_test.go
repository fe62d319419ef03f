package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

// A module under a path of a team's own passes tests, and is installed and imported from a module proxy: its command
// writes a platform, whose synth builds the handlers, and takes one over.
func TestPublishAs(t *testing.T) {
	t.Parallel()
	const path, version = "example.com/team/onesynth", "v0.1.0"
	folder := filepath.Join(t.TempDir(), "ours")
	publish := exec.Command("make", "publish-as", "MODULE="+path, "DIR="+folder)
	publish.Dir, publish.Env = "../..", append(os.Environ(), author...)
	importertest.Output(t, publish)
	in := func(folder string, environment []string, arguments ...string) string {
		t.Helper()
		command := exec.Command(arguments[0], arguments[1:]...)
		command.Dir, command.Env = folder, append(os.Environ(), environment...)
		return importertest.Output(t, command)
	}
	// The page about security names both.
	found := in(folder, nil, "sh", "-c", "git grep -lF "+importertest.ModulePath+" || true")
	if found != "SECURITY.md\n" {
		t.Errorf("the former path is left in %s", found)
	}
	in(folder, nil, "go", "test", "-vet=off", "./schema", "./internal/gobuild", "./run/command/target")

	cache := filepath.Join(t.TempDir(), "modcache")
	t.Cleanup(func() { makeWritable(t, cache) })
	linkModule(t, cache, "github.com/aws/aws-cdk-go/awscdk/v2")
	published := []string{"GOMODCACHE=" + cache, "GOFLAGS=", "GOSUMDB=off", "CDK_VALIDATION=false",
		"GOPROXY=file://" + proxy(t, path, folder, version) + "," + importertest.CacheProxy(t)}
	beside := t.TempDir()
	in(beside, published, "go", "run", path+"/cmd/onesynth@"+version, "init", "links")
	// A platform that is taken over comes from the module cache.
	in(beside, published, "go", "run", path+"/cmd/onesynth@"+version, "init", "tasks", "--from", "todo")
	in(filepath.Join(beside, "tasks"), published, "go", "test", "-vet=off", "./platforms/...", "./constructs/...")
	own := filepath.Join(beside, "links")
	if required := in(own, published, "go", "list", "-m", path); required != path+" "+version+"\n" {
		t.Errorf("the platform requires %q", required)
	}
	in(own, append(published, "CDK_OUTDIR="+filepath.Join(own, "cdk.out")), "go", "run", ".")
	handlers, err := filepath.Glob(filepath.Join(own, "cdk.out", "asset.*", "bootstrap"))
	if err != nil || len(handlers) == 0 {
		t.Errorf("the assembly has no handlers: %v", err)
	}
}

// author lets Git commit on a machine without settings.
var author = []string{"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A",
	"GIT_COMMITTER_EMAIL=a@example.com"}

// A team publishes again, and merges: it has what is new, its own change survives, and what it has not committed stays.
func TestPublishAgain(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "publish")
	importertest.Output(t, exec.Command("go", "build", "-o", program, "./publish"))
	run := func(folder string, arguments ...string) string {
		t.Helper()
		command := exec.Command(arguments[0], arguments[1:]...)
		command.Dir, command.Env = folder, append(os.Environ(), author...)
		return importertest.Output(t, command)
	}
	write := func(folder, name, content string) {
		t.Helper()
		must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	read := func(folder, name string) string {
		t.Helper()
		content := must.Get(os.ReadFile(filepath.Join(folder, name)))(t)
		return string(content)
	}
	origin, ours := t.TempDir(), filepath.Join(t.TempDir(), "ours")
	save := func() {
		run(origin, "git", "add", "--all")
		run(origin, "git", "commit", "--quiet", "-m", "next")
	}
	publish := func() {
		run(origin, program, "-module", "example.com/team/lib", "-dir", ours, "-docs",
			"https://git.example.com/lib/-/blob")
	}
	run(origin, "git", "init", "--quiet")
	write(origin, "go.mod", "module example.org/lib\n")
	write(origin, "lib.go", "package lib\n\nconst page = \"https://example.org/lib/blob/main/page.md\"\n\n"+
		"// First is first.\nfunc First() {}\n")
	write(origin, "gone.go", "package lib\n")
	write(origin, "SECURITY.md", "Report it at https://example.org/lib/security.\n")
	save()
	publish()
	if got := read(ours, "lib.go"); !strings.Contains(got, `"https://git.example.com/lib/-/blob/main/page.md"`) {
		t.Errorf("the addresses of documents: got %s", got)
	}
	if got := read(ours, "SECURITY.md"); !strings.Contains(got, "https://example.org/lib/security") ||
		!strings.Contains(got, "example.com/team/lib") {
		t.Errorf("got %s", got)
	}
	write(ours, "lib.go", read(ours, "lib.go")+"\n// Own is the team's.\nfunc Own() {}\n")
	run(ours, "git", "commit", "--quiet", "-am", "ours: a function")
	write(ours, "go.mod", read(ours, "go.mod")+"// not committed\n")

	write(origin, "lib.go", strings.Replace(read(origin, "lib.go"), "// First is first.", "// First is the first.", 1))
	write(origin, "next.go", "package lib\n\nimport _ \"example.org/lib/other\"\n")
	must.OK(t, os.Remove(filepath.Join(origin, "gone.go")))
	save()
	publish()
	publish() // There is nothing new.
	if got := run(ours, "git", "rev-list", "--count", "upstream"); got != "2\n" {
		t.Errorf("got %s commits of upstream, want one for each version", got)
	}
	if got := read(ours, "go.mod"); got != "module example.com/team/lib\n// not committed\n" {
		t.Errorf("what was not committed: got %s", got)
	}
	run(ours, "git", "merge", "--quiet", "--no-edit", "upstream")
	for _, want := range []string{"First is the first", "func Own()", "example.com/team/lib/other"} {
		if got := read(ours, "lib.go") + read(ours, "next.go"); !strings.Contains(got, want) {
			t.Errorf("merged: got %s, want %s", got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(ours, "gone.go")); err == nil {
		t.Error("a file that has gone is still there")
	}
}

// What publish cannot do is refused before it writes.
func TestPublishAsRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ module, folder, want string }{
		"Module": {"our onesynth", t.TempDir(), "write a path such as example.com/team/onesynth"},
		"Folder": {"example.com/team/onesynth", "publish", "name a folder that is not there yet, or empty"},
		"Whole":  {"example.com/team/onesynth", "../..", "no repository with a branch upstream"},
		"None":   {"example.com/team/onesynth", "", "name the folder to write"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.Command("go", "run", "./publish", "-module", test.module, "-dir", test.folder)
			if output, err := command.CombinedOutput(); err == nil || !strings.Contains(string(output), test.want) {
				t.Errorf("got %s, %v; want %q", output, err, test.want)
			}
		})
	}
}
