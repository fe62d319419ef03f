// Package scaffold checks what onesynth init writes: the tutorial's way from nothing to a platform that is tested and
// checked, and each command of its workflows that needs no AWS account.
package scaffold

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/run/command/scaffold"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// onThisMachine skips a test on AWS. It also reads the name of a folder that is called after all files of the
// repository: Go then runs the test again when one has changed.
func onThisMachine(t *testing.T) {
	t.Helper()
	_ = os.Getenv("ONESYNTH_TEST_ASSEMBLIES")
	if os.Getenv("ONESYNTH_TEST_TARGET") == "aws" {
		t.Skip("skipped on AWS: it runs on this machine alone")
	}
}

// npm stands in for npm ci, with the packages of this repository.
const npm = `#!/bin/sh
[ "$*" = ci ] || { echo "npm $*: want npm ci" >&2; exit 1; }
ln -sfn %[1]q node_modules && touch node_modules
`

// project is a project that the command has written.
type project struct {
	name, folder string
	environment  []string
	// done are the commands that were carried out since its files last changed.
	done []string
}

// command is a command in the project's folder.
func (p *project) command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	command.Dir, command.Env = p.folder, p.environment
	return command
}

// run runs a command in the project's folder.
func (p *project) run(t *testing.T, arguments ...string) string {
	t.Helper()
	output, err := p.command(t.Context(), arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", arguments, err, output)
	}
	return string(output)
}

// programs writes shell scripts into a folder, and returns it.
func programs(t *testing.T, scripts map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, script := range scripts {
		must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700))
	}
	return folder
}

// newProject carries out the tutorial's first command, in another folder.
func newProject(t *testing.T, init string) *project {
	t.Helper()
	root, onesynth := platform.Root(t), commandtest.Path(t)
	name, ok := strings.CutPrefix(init, "make init NAME=")
	if !ok {
		t.Fatalf("%s begins with %s; want make init", tutorial, init)
	}
	stand := programs(t, map[string]string{"npm": fmt.Sprintf(npm, filepath.Join(root, "node_modules"))})
	p := &project{name: name, folder: filepath.Join(t.TempDir(), name)}
	p.environment = append(os.Environ(), "GOWORK=off", "CDK_VALIDATION=false",
		"PATH="+stand+string(filepath.ListSeparator)+os.Getenv("PATH"))
	command := exec.CommandContext(t.Context(), onesynth, "init", p.name, "--onesynth", root)
	command.Dir = filepath.Dir(p.folder)
	output, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "make run") {
		t.Fatalf("onesynth init: %v\n%s", err, output)
	}
	return p
}

// The blocks of the tutorial do what it says, from nothing to the first answer, a change, its test and its check. The
// project passes our lint, and each step of its workflows that needs no account succeeds with what the tutorial made.
func TestProject(t *testing.T) {
	onThisMachine(t)
	all := blocks(t)
	first := all[0].Commands()
	if len(first) != 3 {
		t.Fatalf("%s begins with %+v; want three commands", tutorial, first)
	}
	p := newProject(t, first[0].Line)
	t.Run("Run", func(t *testing.T) { p.checkRun(t, first[1].Line, first[2]) })
	t.Run("Tutorial", func(t *testing.T) { p.follow(t, all[1:]) })
	t.Run("Lint", func(t *testing.T) {
		lint := filepath.Join(t.TempDir(), "lint")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", lint, ".")
		build.Dir = filepath.Join(platform.Root(t), "tools", "lint")
		if output, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		// The project's name is longer than the example's, and so are lines of ours with it.
		p.run(t, lint, "-checks=inherit,-lines", "./...")
	})
	t.Run("Workflows", p.checkWorkflows)
}

// checkRun carries out the tutorial's second and third command.
func (p *project) checkRun(t *testing.T, command string, request platform.Command) {
	if want := "make -C ../" + p.name + " run"; command != want {
		t.Fatalf("%s: got %q, want %q", tutorial, command, want)
	}
	p.carryOutShown(t, p.start(t, "run"), nil, request)
}

// start runs the project by a target of its Makefile, on free ports. The run ends with the test, as by Ctrl-C.
func (p *project) start(t *testing.T, target string) *projectRun {
	t.Helper()
	p.freePorts(t)
	command := p.command(context.WithoutCancel(t.Context()), "make", target)
	// Ctrl-C reaches all processes of the terminal.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	printed := must.Get(wait.Start(command))(t)
	started := &projectRun{printed: printed}
	t.Cleanup(func() {
		if err := syscall.Kill(-command.Process.Pid, syscall.SIGINT); err != nil {
			t.Error(err)
		}
		wait.Until(t, "make "+target+" ends", func() (any, bool) { return printed.String(), printed.Ended() != nil })
		// make reports the interrupt.
		if state := command.ProcessState.String(); !slices.Contains([]string{"exit status 0", "exit status 2",
			"signal: interrupt"}, state) {
			t.Errorf("make %s, interrupted: %s\n%s", target, state, printed)
		}
		wait.Until(t, "make "+target+" leaves no processes behind", func() (any, bool) {
			err := syscall.Kill(-command.Process.Pid, 0)
			return err, errors.Is(err, syscall.ESRCH)
		})
	})
	wait.Said(t, started.printed, "\nready\n")
	before, _, _ := strings.Cut(started.printed.String(), "\nready\n")
	started.read = len(before)
	t.Log(before)
	addresses := map[string]string{}
	for line := range strings.Lines(before) {
		if words := strings.Fields(line); len(words) > 1 {
			addresses[words[0]] = words[1]
		}
	}
	started.api, started.console = addresses["API"], addresses["console"]
	return started
}

// anew matches what is another each time: ids and times.
var anew = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:]{8}Z`)

// freePorts lets the project's runs take free ports, as its cdk.json can say.
func (p *project) freePorts(t *testing.T) {
	t.Helper()
	p.edit(t, "cdk.json", func(text string) string {
		var settings map[string]any
		must.OK(t, json.Unmarshal([]byte(text), &settings))
		settings["context"].(map[string]any)["onesynth"] = map[string]any{"port": 0, "consolePort": 0}
		return string(must.Get(json.Marshal(settings))(t))
	})
}

// The project answers as its OpenAPI document says.
func TestDocument(t *testing.T) {
	onThisMachine(t)
	if os.Getenv("ONESYNTH_TEST_SCHEMATHESIS") == "" {
		t.Skip("ONESYNTH_TEST_SCHEMATHESIS names no program: run make test-documents")
	}
	p := newProject(t, blocks(t)[0].Commands()[0].Line)
	p.run(t, "bash", "-e", "-c", setUp(t, p))
	started := p.start(t, "run")
	token := strings.TrimSpace(p.run(t, "bin/onesynth", "token", "--sub", "alice", "--console", started.console))
	platform.CheckAnswersOf(t, started.api+"/openapi.json", "Authorization: Bearer "+token)
}

// Projects of awkward names build, and go vet finds nothing in them.
func TestNames(t *testing.T) {
	t.Parallel()
	onThisMachine(t)
	root := platform.Root(t)
	sums := must.Get(os.ReadFile(filepath.Join(root, "go.sum")))(t)
	for _, name := range []string{"a", "x9-y-10", "func", "test", "main", strings.Repeat("long", 10)} {
		t.Run(name, func(t *testing.T) {
			p := &project{folder: filepath.Join(t.TempDir(), "project"),
				environment: append(os.Environ(), "GOWORK=off")}
			must.Get((scaffold.Project{Name: name, Folder: p.folder, Checkout: root}).Write())(t)
			must.OK(t, os.WriteFile(filepath.Join(p.folder, "go.sum"), sums, 0o600))
			p.run(t, "go", "vet", "-mod=mod", "./...")
		})
	}
}
