package dev

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

func TestGoRun(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"go run .":                                     "[] [.] []",
		"go run -tags x . --all":                       "[-tags x] [.] [--all]",
		"go run -mod=mod ./cmd/app":                    "[-mod=mod] [./cmd/app] []",
		"go run example.com/app@v1 dev":                "[] [example.com/app@v1] [dev]",
		"go mod download && go run main.go other.go x": "[] [main.go other.go] [x]",
		"npx ts-node bin/app.ts":                       "[] [] []",
		"go run":                                       "[] [] []",
	} {
		flags, packages, arguments := goRun(command)
		if got := fmt.Sprint(flags, " ", packages, " ", arguments); got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}

// A file of functions alone is none of the app. One of which nobody knows what it is part of may be the app's.
func TestAppHas(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module example.com/m\n\ngo 1.26\n",
		"main.go":           "package main\n\nimport _ \"example.com/m/schema\"\n\nfunc main() {}\n",
		"schema/schema.go":  "package schema\n",
		"lambdas/a/main.go": "package main\n\nimport _ \"example.com/m/schema\"\n\nfunc main() {}\n",
	} {
		path := filepath.Join(folder, name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	a := &app{Listing: gobuild.Listing{Directory: folder, Patterns: []string{"."}},
		files: []string{filepath.Join(folder, "settings", appSettings)}}
	var sources []gobuild.Sources
	for _, program := range []gobuild.Listing{{Directory: folder, Patterns: []string{"./lambdas/a"}}, a.Listing} {
		found := must.Get(gobuild.FindSources(t.Context(), program))(t)
		sources = append(sources, found)
	}
	for name, want := range map[string]bool{
		"lambdas/a/main.go": false, "lambdas/a/new.go": false, "schema/schema.go": true, "schema/new.go": true,
		"main.go": true, "go.mod": true, "settings/cdk.json": true, "new/new.go": true,
	} {
		if got := a.has([]string{filepath.Join(folder, name)}, sources); got != want {
			t.Errorf("%s: got %t", name, got)
		}
	}
	if !a.has([]string{filepath.Join(folder, "lambdas/a/main.go")}, nil) {
		t.Error("without sources, a file is none of the app")
	}
}
