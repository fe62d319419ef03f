package main

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

// The program of docs/guide/start.md, in a module that imports this one by replace, gets the repository's own handlers,
// to the byte, without naming a path, and those of a platform of its own module. Its assembly runs, and answers the
// page's request.
//
// The synth takes what was linked of the same packages from the cache of all tests. So the module links one handler
// of each platform itself. The tests in tools/release link all, and import in each other way.
func TestImporter(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links an app: go test without -short does")
	}
	library := t.TempDir()
	importertest.CopyLibrary(t, library)
	want := importertest.OwnHandlers(t, ".")
	i := importertest.New(t)
	i.Database = importertest.OwnDatabase(t)
	i.AddPlatform(t)
	i.Replace(t, library)
	i.Run(t, "go", "get", "./...")
	importertest.CheckHandlers(t, i.Synthesise(t, ""), want, importertest.HandlersOfOwn)

	var packages []string
	for _, p := range platforms.All() {
		packages = append(packages, p.Handlers().Packages[0])
	}
	build := childCommand(t, "handlers", packages...)
	build.Dir = i.Folder
	build.Env = slices.Concat(build.Env, i.Environment, []string{"ONESYNTH_CACHE=" + t.TempDir()})
	var linked []string
	must.OK(t, json.Unmarshal([]byte(importertest.Output(t, build)), &linked))
	if len(linked) != len(packages) {
		t.Errorf("linked %v, want one of each of %v", linked, packages)
	}
	for _, hash := range linked {
		if !slices.Contains(want, hash) {
			t.Errorf("got a handler with the SHA-256 %s; the repository's own are %v", hash, want)
		}
	}
	i.CheckRun(t, commandtest.Path(t))
}

// buildHandlers builds main packages of this module as the module of the working directory knows it, and prints the
// SHA-256 of each.
func buildHandlers(packages []string) {
	built, err := gobuild.Build(context.Background(), gobuild.Source{Packages: packages},
		gobuild.Target{System: "linux", Processor: "arm64"})
	if err != nil {
		panic(err)
	}
	var hashes []string
	for _, binary := range built {
		hashes = append(hashes, binary.Hash)
	}
	if err := json.NewEncoder(os.Stdout).Encode(hashes); err != nil {
		panic(err)
	}
}
