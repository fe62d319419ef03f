package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/gobuild"
	"github.com/onesynth-cdk/onesynth/local/watch"
)

var module = map[string]string{
	"go.mod":                 "module example.com/m\n\ngo 1.26\n\nrequire example.com/library v0.0.0\n\nreplace example.com/library => ./library\n",
	"main.go":                "package main\n\nimport _ \"example.com/m/schema\"\n\nfunc main() {}\n",
	"cdk.json":               `{"app": "go run ."}`,
	"schema/schema.go":       "package schema\n",
	"kit/kit.go":             "package kit\n\nimport _ \"embed\"\n\n//go:embed words.txt\nvar words string\n",
	"kit/words.txt":          "one",
	"kit/kit_test.go":        "package kit\n",
	"kit/README.md":          "read me",
	"lambdas/a/main.go":      "package main\n\nimport (\n\t_ \"example.com/m/kit\"\n\t_ \"example.com/m/schema\"\n)\n\nfunc main() {}\n",
	"lambdas/b/main.go":      "package main\n\nimport (\n\t_ \"example.com/library\"\n\t_ \"example.com/m/kit\"\n)\n\nfunc main() {}\n",
	"unused/unused.go":       "package unused\n",
	"library/go.mod":         "module example.com/library\n\ngo 1.26\n",
	"library/library.go":     "package library\n",
	"library/other/other.go": "package other\n",
}

// write saves files, each by a rename as editors do; an empty text removes one.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		// A file of another name beside an embedded one may be embedded, too, unless its name is hidden.
		written := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"~")
		if err := os.WriteFile(written, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(written, path); err != nil {
			t.Fatal(err)
		}
	}
}

type fixture struct {
	*watch.Watcher
	folder  string
	targets []watch.Target
	version int
}

func start(t *testing.T) *fixture {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, folder, module)
	listing := func(patterns ...string) gobuild.Listing {
		return gobuild.Listing{Directory: folder, Environment: []string{"GOWORK=off", "GOFLAGS="}, Patterns: patterns}
	}
	f := &fixture{folder: folder, targets: []watch.Target{
		{Listing: listing("./lambdas/a", "./lambdas/b"), Functions: map[string][]string{"example.com/m/lambdas/a": {"A", "A2"}, "example.com/m/lambdas/b": {"B"}}},
		{Listing: listing("."), App: true, Files: []string{filepath.Join(folder, "cdk.json")}},
	}}
	if f.Watcher, err = watch.New(t.Context(), f.targets, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// next waits until each of the files is in a change, and returns all changes as one.
func (f *fixture) next(t *testing.T, files ...string) watch.Change {
	t.Helper()
	var all watch.Change
	for {
		missing := slices.ContainsFunc(files, func(name string) bool { return !slices.Contains(all.Files, filepath.Join(f.folder, name)) })
		if !missing {
			return all
		}
		select {
		case <-f.Changed():
			all.Add(f.Take())
		case <-time.After(30 * time.Second):
			t.Fatalf("got %+v, want %v", all, files)
		}
	}
}

// settle returns what has happened until now: events of a file that is saved last come last.
func (f *fixture) settle(t *testing.T) watch.Change {
	t.Helper()
	f.version++
	write(t, f.folder, map[string]string{"library/library.go": "package library\n\nconst Version = " + strings.Repeat("1", f.version) + "\n"})
	all := f.next(t, "library/library.go")
	all.Add(f.Take())
	all.Files = slices.DeleteFunc(all.Files, func(name string) bool { return filepath.Base(name) == "library.go" })
	return all
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  watch.Change
	}{
		"Handler": {
			map[string]string{"lambdas/a/main.go": module["lambdas/a/main.go"] + "\nvar X int\n"},
			watch.Change{Packages: []string{"example.com/m/lambdas/a"}, Functions: []string{"A", "A2"}},
		},
		"Imports": {
			map[string]string{"lambdas/b/main.go": "package main\n\nimport _ \"example.com/m/unused\"\n\nfunc main() {}\n"},
			watch.Change{Packages: []string{"example.com/m/lambdas/b"}, Functions: []string{"B"}, Relist: true},
		},
		"Shared": {
			map[string]string{"kit/kit.go": module["kit/kit.go"] + "// more\n"},
			watch.Change{Packages: []string{"example.com/m/kit", "example.com/m/lambdas/a", "example.com/m/lambdas/b"}, Functions: []string{"A", "A2", "B"}},
		},
		"Embedded": {
			map[string]string{"kit/words.txt": "two"},
			watch.Change{Packages: []string{"example.com/m/kit", "example.com/m/lambdas/a", "example.com/m/lambdas/b"}, Functions: []string{"A", "A2", "B"}},
		},
		"Schema": {
			map[string]string{"schema/schema.go": "package schema\n\nconst X = 1\n"},
			watch.Change{Packages: []string{"example.com/m", "example.com/m/lambdas/a", "example.com/m/schema"}, Functions: []string{"A", "A2"}, Synth: true},
		},
		"Replaced": {
			map[string]string{"library/library.go": "package library\n\nconst X = 1\n"},
			watch.Change{Packages: []string{"example.com/library", "example.com/m/lambdas/b"}, Functions: []string{"B"}},
		},
		"App":      {map[string]string{"main.go": module["main.go"] + "// more\n"}, watch.Change{Packages: []string{"example.com/m"}, Synth: true}},
		"Settings": {map[string]string{"cdk.json": `{"app": "go run .", "context": {}}`}, watch.Change{Synth: true, Relist: true}},
		"Requirements": {
			map[string]string{"go.mod": module["go.mod"] + "// more\n"},
			watch.Change{Functions: []string{"A", "A2", "B"}, Synth: true, Relist: true},
		},
		"Added": {
			map[string]string{"lambdas/b/more.go": "package main\n"},
			watch.Change{Packages: []string{"example.com/m/lambdas/b"}, Functions: []string{"B"}, Relist: true},
		},
		"Several": {
			map[string]string{"lambdas/a/main.go": module["lambdas/a/main.go"] + "// more\n", "lambdas/b/main.go": module["lambdas/b/main.go"] + "// more\n"},
			watch.Change{Packages: []string{"example.com/m/lambdas/a", "example.com/m/lambdas/b"}, Functions: []string{"A", "A2", "B"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t)
			write(t, f.folder, test.files)
			var names []string
			for name := range test.files {
				names = append(names, name)
			}
			got := f.next(t, names...)
			got.Files, got.Saved = nil, time.Time{}
			if difference := cmp.Diff(test.want, got); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	f := start(t)
	for name, files := range map[string]map[string]string{
		"Same":        {"lambdas/a/main.go": module["lambdas/a/main.go"], "go.mod": module["go.mod"]},
		"Test":        {"kit/kit_test.go": "package kit // more\n", "kit/new_test.go": "package kit\n"},
		"Unused":      {"unused/unused.go": "package unused // more\n", "unused/more.go": "package unused\n"},
		"OtherModule": {"library/other/other.go": "package other // more\n"},
		"Document":    {"README.md": "more"},
		"Hidden":      {"kit/.words.txt.swp": "x", "kit/_x.go": "package kit\n", "kit/.x.go": "package kit\n"},
		"Output":      {"cdk.out/manifest.json": "{}", "cdk.out/x.go": "package x\n", "node_modules/x/x.go": "package x\n"},
	} {
		write(t, f.folder, files)
		if got := f.settle(t); len(got.Files) > 0 {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestNewPackage(t *testing.T) {
	t.Parallel()
	f := start(t)
	// The import comes before the package does.
	write(t, f.folder, map[string]string{"lambdas/b/main.go": "package main\n\nimport _ \"example.com/m/lambdas/deep/new\"\n\nfunc main() {}\n"})
	if got := f.next(t, "lambdas/b/main.go"); !got.Relist {
		t.Errorf("got %+v", got)
	}
	f.Failing(true)
	if err := f.List(t.Context(), f.targets); err != nil {
		t.Fatal(err)
	}
	write(t, f.folder, map[string]string{"lambdas/deep/new/new.go": "package new\n"})
	if got := f.next(t, "lambdas/deep/new/new.go"); !got.Empty() || !got.Relist {
		t.Errorf("got %+v", got)
	}
	f.Failing(false)
	if err := f.List(t.Context(), f.targets); err != nil {
		t.Fatal(err)
	}
	write(t, f.folder, map[string]string{"lambdas/deep/new/new.go": "package new\n\nconst X = 1\n"})
	want := watch.Change{Packages: []string{"example.com/m/lambdas/b", "example.com/m/lambdas/deep/new"}, Functions: []string{"B"}}
	got := f.next(t, "lambdas/deep/new/new.go")
	got.Files, got.Saved = nil, time.Time{}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Error(difference)
	}
}

func TestRemovedFolder(t *testing.T) {
	t.Parallel()
	f := start(t)
	kit := filepath.Join(f.folder, "kit")
	if err := os.Rename(kit, kit+"-away"); err != nil {
		t.Fatal(err)
	}
	if got := f.next(t, "kit/kit.go", "kit/words.txt"); !slices.Equal(got.Functions, []string{"A", "A2", "B"}) || !got.Relist {
		t.Errorf("got %+v", got)
	}
	if err := os.Rename(kit+"-away", kit); err != nil {
		t.Fatal(err)
	}
	if got := f.next(t, "kit/kit.go", "kit/words.txt"); !slices.Equal(got.Functions, []string{"A", "A2", "B"}) {
		t.Errorf("got %+v", got)
	}
}

// A file that changes while the toolchain lists counts, too.
func TestChangeWhileListing(t *testing.T) {
	t.Parallel()
	f := start(t)
	for n := range 5 {
		listed := make(chan error, 1)
		go func() { listed <- f.List(context.Background(), f.targets) }()
		write(t, f.folder, map[string]string{"lambdas/a/main.go": module["lambdas/a/main.go"] + strings.Repeat("// more\n", n+1)})
		if got := f.next(t, "lambdas/a/main.go"); !slices.Equal(got.Functions, []string{"A", "A2"}) {
			t.Errorf("got %+v", got)
		}
		if err := <-listed; err != nil {
			t.Fatal(err)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, err := watch.New(t.Context(), []watch.Target{{Listing: gobuild.Listing{Directory: filepath.Join(folder, "none"), Patterns: []string{"."}}}}, 0)
	if err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.Canceled)
	if _, err := watch.New(ctx, []watch.Target{{Listing: gobuild.Listing{Directory: folder, Patterns: []string{"."}}}}, 0); err == nil {
		t.Error("listed with a context that had ended")
	}
}
