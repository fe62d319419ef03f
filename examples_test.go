package main

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	localrun "github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/policy"
)

// examplesLimit is how many lines of Go an example may have, to be read at one
// sitting.
const examplesLimit = 150

// The app in examples/notes has its own data model, routes and handler; it is
// small, and what it synthesises runs.
func TestExampleNotes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links an app")
	}
	architecture, ok := gofunction.ArchitectureOf(runtime.GOARCH)
	if !ok {
		t.Skipf("AWS Lambda has no %s", runtime.GOARCH)
	}
	example := filepath.Join("examples", "notes")
	if lines := linesOfGo(t, example); lines >= examplesLimit {
		t.Errorf("%s: got %d lines of Go, want fewer than %d", example, lines, examplesLimit)
	}

	folder := t.TempDir()
	app, assembly := filepath.Join(folder, "app"), filepath.Join(folder, "cdk.out")
	build := exec.Command("go", "build", "-o", app, ".")
	build.Dir = example
	output(t, build)
	synth := exec.Command(app)
	synth.Dir = example
	synth.Env = append(os.Environ(), "CDK_OUTDIR="+assembly, "CDK_VALIDATION=false", "ONESYNTH_CACHE="+filepath.Join(folder, "cache"),
		`CDK_CONTEXT_JSON={"arch":"`+string(architecture)+`"}`)
	output(t, synth)
	if got := handlers(t, assembly); len(got) != 1 {
		t.Errorf("handlers: got %v, want one, of the example's own module", got)
	}

	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		run, err := localrun.Start(t.Context(), localrun.Options{Assembly: assembly})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		notes := run.URL("notes") + "/authors/alice/notes"
		for _, text := range []string{"first", "second"} {
			send(t, http.MethodPost, notes, http.Header{"Content-Type": {"application/json"}}, `{"text":"`+text+`"}`, http.StatusCreated)
		}
		var found []struct{ ID, Text string }
		if err := json.Unmarshal([]byte(send(t, http.MethodGet, notes, nil, "", http.StatusOK)), &found); err != nil {
			t.Fatal(err)
		}
		if len(found) != 2 || found[0].Text != "second" || found[1].Text != "first" || found[0].ID == found[1].ID {
			t.Errorf("notes: got %v, want the second and then the first", found)
		}
		if body := send(t, http.MethodPost, notes, http.Header{"Content-Type": {"application/json"}}, `{"text":""}`, http.StatusUnprocessableEntity); !strings.Contains(body, "text") {
			t.Errorf("a note without text: got %s, want an error that names text", body)
		}
	})
	t.Run("ErrNotGranted", func(t *testing.T) {
		t.Parallel()
		run, err := localrun.Start(t.Context(), localrun.Options{Assembly: assembly, Role: withoutUpdates})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		notes := run.URL("notes") + "/authors/alice/notes"
		send(t, http.MethodPost, notes, http.Header{"Content-Type": {"application/json"}}, `{"text":"first"}`, http.StatusInternalServerError)
		if body := send(t, http.MethodGet, notes, nil, "", http.StatusOK); strings.TrimSpace(body) != "[]" {
			t.Errorf("notes: got %s, want none", body)
		}
		refused := run.AWS().Refused()
		if len(refused) != 1 || refused[0].Action != "dynamodb:UpdateItem" {
			t.Errorf("refused requests: got %+v, want those of dynamodb:UpdateItem", refused)
		}
	})
}

// withoutUpdates takes from a role what the access pattern AddNote needs.
func withoutUpdates(_ string, role *policy.Role) *policy.Role {
	for _, grant := range role.Grants() {
		if grant.Action == "dynamodb:UpdateItem" {
			role = role.Without(grant)
		}
	}
	return role
}

// linesOfGo counts the lines of all Go files below a folder.
func linesOfGo(t *testing.T, folder string) int {
	t.Helper()
	lines := 0
	if err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		content, err := os.ReadFile(path)
		lines += strings.Count(string(content), "\n")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}
