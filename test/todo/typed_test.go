package todo

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/oapi-codegen/runtime" // what a client of oapi-codegen imports
	"golang.org/x/mod/modfile"

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
	target := ownRun(t, run.Options{})
	token := must.Get(exec.CommandContext(t.Context(), onesynth, "token", "--sub", "alice", "--console",
		target.Run.ConsoleURL()).Output())(t)
	environment := append(os.Environ(), "API_URL="+target.URL, "TOKEN="+strings.TrimSpace(string(token)), "GOWORK=off",
		"PATH="+filepath.Dir(onesynth)+string(filepath.ListSeparator)+os.Getenv("PATH"))

	carriedOut, pinned := 0, versions(t)
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
					if i := strings.LastIndex(word, "@"); i > 0 && !slices.Contains(pinned, word) {
						t.Errorf("docs/guide/clients.md installs %s; the tests have %s", word,
							strings.Join(pinned, ", "))
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
	requirements := parseModule(t)
	must.OK(t, requirements.AddModuleStmt("example.com/client"))
	for _, replaced := range slices.Clone(requirements.Replace) {
		must.OK(t, requirements.AddReplace(replaced.Old.Path, replaced.Old.Version, root, ""))
	}
	formatted := must.Get(requirements.Format())(t)
	sums := must.Get(os.ReadFile(filepath.Join(root, "test", "go.sum")))(t)
	for name, content := range map[string][]byte{"go.mod": formatted, "go.sum": sums,
		"package.json": []byte(`{"type": "module"}`)} {
		must.OK(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	return folder
}

// versions are the packages that the tests have, as npm install and go get take them.
func versions(t *testing.T) (all []string) {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join(platform.Root(t), "test", "clients", "package.json")))(t)
	var packages struct{ Dependencies, DevDependencies map[string]string }
	must.OK(t, json.Unmarshal(content, &packages))
	for _, group := range []map[string]string{packages.Dependencies, packages.DevDependencies} {
		for name, version := range group {
			all = append(all, name+"@"+version)
		}
	}
	requirements := parseModule(t)
	for _, required := range requirements.Require {
		if strings.HasPrefix(required.Mod.Path, "github.com/oapi-codegen/") {
			all = append(all, required.Mod.String())
		}
		for _, tool := range requirements.Tool {
			if rest, ok := strings.CutPrefix(tool.Path, required.Mod.Path); ok {
				all = append(all, fmt.Sprintf("%s%s@%s", required.Mod.Path, rest, required.Mod.Version))
			}
		}
	}
	slices.Sort(all)
	return all
}

// parseModule reads the go.mod of the tests.
func parseModule(t *testing.T) *modfile.File {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join(platform.Root(t), "test", "go.mod")))(t)
	return must.Get(modfile.Parse("go.mod", content, nil))(t)
}
