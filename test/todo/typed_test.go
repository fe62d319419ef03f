package todo

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/oapi-codegen/runtime" // what a client of oapi-codegen imports

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// source is a block that says which file it is.
var source = regexp.MustCompile(`(?s)^// (\S+)\n(.*)$`)

// prepares matches a command of docs/guide/clients.md that the test replaces by what it has already.
var prepares = regexp.MustCompile(`^(npm install|go get|npx cdk synth|export) `)

// The commands of docs/guide/clients.md make typed clients of the assembly, and the clients work.
func TestTypedClients(t *testing.T) {
	t.Parallel()
	folder := typedClients(t)
	onesynth := commandtest.Path(t)
	target := suite.OwnRun(t, run.Options{})
	token := must.Get(exec.CommandContext(t.Context(), onesynth, "token", "--sub", "alice", "--console",
		target.Run.ConsoleURL()).Output())(t)
	environment := append(os.Environ(), "API_URL="+target.URL, "TOKEN="+strings.TrimSpace(string(token)), "GOWORK=off",
		"PATH="+filepath.Dir(onesynth)+string(filepath.ListSeparator)+os.Getenv("PATH"))

	carriedOut := 0
	for _, block := range platform.Blocks(t, "docs/guide/clients.md") {
		if block.Language != "console" {
			file := source.FindStringSubmatch(block.Text)
			if file == nil {
				t.Fatalf("a block of docs/guide/clients.md names no file in its first line:\n%s", block.Text)
			}
			must.OK(t, os.WriteFile(filepath.Join(folder, file[1]), []byte(file[2]), 0o600))
			continue
		}
		for _, shown := range block.Commands() {
			command, want := shown.Line, shown.Output
			if prepares.MatchString(command) {
				for _, word := range strings.Fields(command) {
					if strings.LastIndex(word, "@") > 0 && !isPinned(t, word) {
						t.Errorf("docs/guide/clients.md installs %s; the tests have another version", word)
					}
				}
				continue
			}
			running := exec.CommandContext(t.Context(), "bash", "-c", command)
			running.Dir, running.Env, running.Stderr = folder, environment, t.Output()
			got, err := running.Output()
			if err != nil {
				t.Fatalf("%s: %v\n%s", command, err, got)
			}
			// What a tool says of its own work is its own.
			if want != "" && strings.TrimSpace(string(got)) != want {
				t.Errorf("%s\nprints %s; docs/guide/clients.md shows %s", command, got, want)
			}
			carriedOut++
		}
	}
	if carriedOut != 6 {
		t.Errorf("docs/guide/clients.md: carried out %d commands, want 6", carriedOut)
	}
}

// typedClients returns a folder that has what docs/guide/clients.md installs: the Go module example.com/client,
// node_modules, and the assembly.
func typedClients(t *testing.T) string {
	t.Helper()
	assembly := must.Get(filepath.Abs(suite.Local(t, "dev").Assembly(t)))(t)
	folder, root := t.TempDir(), platform.Root(t)
	for name, target := range map[string]string{"node_modules": platform.Modules(t, "clients"), "cdk.out": assembly} {
		must.OK(t, os.Symlink(target, filepath.Join(folder, name)))
	}
	must.OK(t, os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"type": "module"}`), 0o600))
	for _, name := range []string{"go.mod", "go.sum"} {
		content := must.Get(os.ReadFile(filepath.Join(root, "test", name)))(t)
		must.OK(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	edit := exec.CommandContext(t.Context(), "go", "mod", "edit", "-module=example.com/client",
		"-replace=github.com/onesynth-cdk/onesynth="+root)
	edit.Dir, edit.Stderr = folder, t.Output()
	must.OK(t, edit.Run())
	return folder
}

// isPinned reports whether the tests have a package, such as "openapi-typescript@7.4.0", as npm install and go get take
// it. A package of Go may be within its module.
func isPinned(t *testing.T, word string) bool {
	t.Helper()
	root, at := platform.Root(t), strings.LastIndex(word, "@")
	packages := must.Get(os.ReadFile(filepath.Join(root, "test", "clients", "package.json")))(t)
	modules := must.Get(os.ReadFile(filepath.Join(root, "test", "go.mod")))(t)
	pinned := bytes.Contains(packages, fmt.Appendf(nil, "%q: %q", word[:at], word[at+1:]))
	for module := word[:at]; module != "."; module = path.Dir(module) {
		pinned = pinned || bytes.Contains(modules, []byte(module+" "+word[at+1:]))
	}
	return pinned
}
