package dev_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/dev"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// source returns the text of a file of testdata/module.
func source(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join("testdata", "module", name)))(t))
}

// write saves files, each by a rename as editors do; an empty text removes one.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if text == "" {
			must.OK(t, os.Remove(path))
			continue
		}
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		// A file of another name beside an embedded one may be embedded, too, unless its name is hidden.
		written := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"~")
		must.OK(t, os.WriteFile(written, []byte(text), 0o600))
		must.OK(t, os.Rename(written, path))
	}
}

type fixture struct {
	*dev.Watcher
	folder   string
	programs []gobuild.Listing
	version  int
}

func start(t *testing.T) *fixture {
	t.Helper()
	return startWith(t, time.Millisecond)
}

func startWith(t *testing.T, quiet time.Duration) *fixture {
	t.Helper()
	folder := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	must.OK(t, os.CopyFS(folder, os.DirFS("testdata/module")))
	listing := func(patterns ...string) gobuild.Listing {
		return gobuild.Listing{Directory: folder, Environment: []string{"GOWORK=off", "GOFLAGS="}, Patterns: patterns}
	}
	f := &fixture{folder: folder, programs: []gobuild.Listing{listing("./lambdas/a", "./lambdas/b"), listing(".")}}
	f.Watcher = must.Get(dev.New(t.Context(), f.programs, []string{filepath.Join(folder, "cdk.json")},
		quiet))(t)
	t.Cleanup(f.Close)
	return f
}

// next waits until each of the files is in a change, and returns all changes as one.
func (f *fixture) next(t *testing.T, files ...string) dev.Change {
	t.Helper()
	var all dev.Change
	wait.Until(t, fmt.Sprintf("a change of %v", files), func() (any, bool) {
		select {
		case <-f.Changed():
			all.Add(f.Take())
		default:
		}
		return all, !slices.ContainsFunc(files, func(name string) bool {
			return !slices.Contains(all.Files, filepath.Join(f.folder, name))
		})
	})
	return all
}

// nextChange returns what has happened until now: events of a file that is saved last come last.
func (f *fixture) nextChange(t *testing.T) dev.Change {
	t.Helper()
	f.version++
	write(t, f.folder, map[string]string{"library/library.go": "package library\n\nconst Version = " +
		strings.Repeat("1", f.version) + "\n"})
	all := f.next(t, "library/library.go")
	all.Add(f.Take())
	all.Files = slices.DeleteFunc(all.Files, func(name string) bool { return filepath.Base(name) == "library.go" })
	return all
}

func TestChanges(t *testing.T) {
	t.Parallel()
	f := start(t)
	for name, text := range map[string]string{
		"lambdas/a/main.go":     source(t, "lambdas/a/main.go") + "\nvar X int\n",
		"kit/kit.go":            source(t, "kit/kit.go") + "// more\n",
		"kit/words.txt":         "two",
		"kit/more.txt":          "beside an embedded file",
		"library/library.go":    "package library\n\nconst X = 1\n",
		"main.go":               source(t, "main.go") + "// more\n",
		"cdk.json":              `{"app": "go run .", "context": {}}`,
		"go.mod":                source(t, "go.mod") + "// more\n",
		"lambdas/b/more.go":     "package main\n",
		"lambdas/deep/new/n.go": "package new\n",
		"unused/unused.go":      "",
	} {
		write(t, f.folder, map[string]string{name: text})
		if got := f.next(t, name); got.Saved.IsZero() {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	// What has come is watched.
	write(t, f.folder, map[string]string{"lambdas/deep/new/n.go": "package new\n\nconst X = 1\n"})
	f.next(t, "lambdas/deep/new/n.go")
}

func TestNothing(t *testing.T) {
	t.Parallel()
	f := start(t)
	for name, files := range map[string]map[string]string{
		"Same": {"lambdas/a/main.go": source(t, "lambdas/a/main.go"), "go.mod": source(t, "go.mod"),
			"kit/words.txt": source(t, "kit/words.txt")},
		"Test":     {"kit/kit_test.go": "package kit // more\n", "kit/new_test.go": "package kit\n"},
		"Document": {"README.md": "more", "run.log": "a request"},
		"Hidden":   {"kit/.words.txt.swp": "x", "kit/_x.go": "package kit\n", "kit/.x.go": "package kit\n"},
		"Output": {"cdk.out/manifest.json": "{}", "cdk.out/x.go": "package x\n",
			"node_modules/x/x.go": "package x\n"},
	} {
		write(t, f.folder, files)
		if got := f.nextChange(t); len(got.Files) > 0 {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// A file that is embedded for the first time counts once the programs are found again.
func TestFindAgain(t *testing.T) {
	t.Parallel()
	f := start(t)
	write(t, f.folder, map[string]string{"unused/more.txt": "more",
		"unused/unused.go":  "package unused\n\nimport _ \"embed\"\n\n//go:embed more.txt\nvar more string\n",
		"lambdas/b/main.go": "package main\n\nimport _ \"example.com/m/unused\"\n\nfunc main() {}\n"})
	f.next(t, "unused/unused.go", "lambdas/b/main.go")
	must.OK(t, f.Find(t.Context(), f.programs))
	write(t, f.folder, map[string]string{"unused/more.txt": "still more"})
	f.next(t, "unused/more.txt")
}

func TestRemovedFolder(t *testing.T) {
	t.Parallel()
	f := start(t)
	kit := filepath.Join(f.folder, "kit")
	must.OK(t, os.Rename(kit, kit+"-away"))
	f.next(t, "kit/kit.go", "kit/words.txt")
	must.OK(t, os.Rename(kit+"-away", kit))
	f.next(t, "kit/kit.go", "kit/words.txt")
}

// A file that changes while the toolchain is asked counts, too.
func TestChangeWhileFinding(t *testing.T) {
	t.Parallel()
	f := start(t)
	for n := range 5 {
		found := make(chan error, 1)
		go func() { found <- f.Find(context.Background(), f.programs) }()
		write(t, f.folder, map[string]string{"lambdas/a/main.go": source(t, "lambdas/a/main.go") +
			strings.Repeat("// more\n", n+1)})
		f.next(t, "lambdas/a/main.go")
		must.OK(t, <-found)
	}
}

// A new folder with its file counts, also if the programs are found before anyone looks at it.
func TestFolderBeforeFinding(t *testing.T) {
	t.Parallel()
	f := startWith(t, 400*time.Millisecond)
	write(t, f.folder, map[string]string{"lambdas/new/new.go": "package new\n"})
	must.OK(t, f.Find(t.Context(), f.programs))
	f.next(t, "lambdas/new/new.go")
}

func TestErrors(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, err := dev.New(t.Context(), []gobuild.Listing{
		{Directory: filepath.Join(folder, "none"), Patterns: []string{"."}}}, nil, 0)
	if err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.Canceled)
	if _, err := dev.New(ctx, []gobuild.Listing{{Directory: folder, Patterns: []string{"."}}}, nil, 0); err == nil {
		t.Error("found with a context that had ended")
	}
}

// A build reads what has been saved until then, and no event is needed for it. What is saved afterwards counts, also if
// it is the text that was there before what was read.
func TestRead(t *testing.T) {
	t.Parallel()
	f := startWith(t, 400*time.Millisecond)
	shared, added := filepath.Join(f.folder, "schema", "schema.go"), filepath.Join(f.folder, "kit", "new", "more.txt")
	write(t, f.folder, map[string]string{"schema/schema.go": "package schema // newer\n", "kit/new/more.txt": "more",
		"kit/kit.go": "package kit\n\nimport _ \"embed\"\n\n//go:embed new\nvar words string\n"})
	files, saved := f.Read()
	if string(files[shared]) != "package schema // newer\n" || string(files[added]) != "more" ||
		!slices.Contains(saved.Files, shared) || !slices.Contains(saved.Files, added) || saved.Saved.IsZero() {
		t.Errorf("got %q, %q and %+v", files[shared], files[added], saved)
	}
	if _, saved := f.Read(); len(saved.Files) > 0 {
		t.Errorf("got %+v without a save", saved)
	}
	write(t, f.folder, map[string]string{"schema/schema.go": source(t, "schema/schema.go"),
		"kit/new/more.txt": "still more"})
	f.next(t, "schema/schema.go", "kit/new/more.txt")
}
