package gobuild

import (
	cryptorand "crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// A file that is saved after the toolchain has hashed it, and before it compiles it, is not compiled, and an undo
// brings the program of the former text.
func TestSnapshotWhileSaving(t *testing.T) {
	t.Parallel()
	_, folder := workshop(t)
	shared, saved := filepath.Join(folder, "shared", "shared.go"), filepath.Join(folder, "saved")
	// The toolchain has compiled neither text before.
	text := func(text string) string {
		return "package shared\n\nfunc Text() string { return \"" + text + "\" } // " + folder + "\n"
	}
	tool := filepath.Join(folder, "tool")
	// The toolchain has hashed a file when it starts the compiler.
	must.OK(t, os.WriteFile(tool, []byte("#!/bin/sh\ncase \"$*\" in *\" -p example.com/m/shared \"*)\n"+
		"\ttest ! -e "+saved+" || mv "+saved+" "+shared+" ;;\nesac\nexec \"$@\"\n"), 0o700))
	shop := must.Get(OpenWorkshop(t.Context(), Source{Module: "example.com/m", From: []string{folder},
		Packages: []string{"a"}, Flags: append(Flags(), "-toolexec="+tool)}, t.TempDir()))(t)
	snapshots := NewSnapshots(t.TempDir())
	prints := func(want string) {
		t.Helper()
		content := must.Get(os.ReadFile(shared))(t)
		snapshot := must.Get(snapshots.Take(map[string][]byte{shared: content}))(t)
		built := must.Get(shop.Build(t.Context(), []string{"a"}, snapshot))(t)
		got, err := exec.Command(filepath.Join(built["a"].Directory, "bootstrap")).CombinedOutput()
		if err != nil || string(got) != want+"\n" {
			t.Errorf("the program prints %s, %v; want %s", got, err, want)
		}
	}
	write(t, "", shared, text("first"))
	write(t, "", saved, text("second"))
	prints("first")
	prints("second")
	write(t, "", shared, text("first"))
	prints("first")

	// A build for a deployment takes a snapshot of its own.
	write(t, "", shared, text("third"))
	write(t, "", saved, text("fourth"))
	of := Source{Module: "example.com/m", From: []string{folder}, Packages: []string{"a"},
		Flags: append(Flags(), "-toolexec="+tool)}
	must.Get(buildAgain(t, of))(t)
	prints("fourth")
	write(t, "", shared, text("third"))
	prints("third")
}

// A snapshot is the source: new files, removed ones and embedded ones count, the binaries are those of a build of the
// files to the byte, and the compiler names the files.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	shop, folder := workshop(t)
	name := func(path string) string { return filepath.Join(folder, filepath.FromSlash(path)) }
	files := map[string][]byte{
		name("shared/shared.go"): []byte("package shared\n\nimport _ \"embed\"\n\n//go:embed words.txt\n" +
			"var words string\n\nfunc Text() string { return words + other() + \"" + cryptorand.Text() + "\" }\n"),
		name("shared/words.txt"): []byte("words"),
		name("shared/other.go"):  []byte("package shared\n\nfunc other() string { return same() }\n"),
		name("shared/same.go"):   []byte("package shared\n\nfunc same() string { return \"\" }\n"),
		name("a/same.go"):        []byte("package main\n"),
		name("b/same.go"):        []byte("package main\n"),
	}
	snapshots := NewSnapshots(t.TempDir())
	build := func() (map[string]Binary, error) {
		t.Helper()
		snapshot := must.Get(snapshots.Take(files))(t)
		return shop.Build(t.Context(), []string{"a", "b"}, snapshot)
	}
	first := must.Get(build())(t)
	for path, content := range files {
		write(t, "", path, string(content))
	}
	// A comment makes the toolchain compile again, and changes no binary.
	write(t, "", name("shared/shared.go"), string(files[name("shared/shared.go")])+"// not in the snapshot\n")
	of := must.Get(buildAgain(t, Source{Module: "example.com/m", From: []string{folder}, Packages: []string{"a",
		"b"}}))(t)
	if first["a"].Hash != of["a"].Hash || first["b"].Hash != of["b"].Hash {
		t.Errorf("got %v, and without a snapshot %v", first, of)
	}
	delete(files, name("shared/same.go"))
	must.OK(t, os.Remove(name("shared/same.go")))
	var failure *CompileError
	if _, err := build(); !errors.As(err, &failure) ||
		!strings.Contains(failure.Text(folder), "\nshared/other.go:3:30: undefined: same") {
		t.Errorf("got %v", err)
	}
}

// A run that follows its source for days keeps the files of the newest snapshot alone, and an undo finds its text.
func TestSnapshotRemovesTheFormer(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	snapshots := NewSnapshots(folder)
	for _, text := range []string{"first", "second", "first"} {
		must.Get(snapshots.Take(map[string][]byte{"/a.go": []byte(text), "/b.go": []byte("same")}))(t)
		kept := must.Get(os.ReadDir(folder))(t)
		var texts []string
		for _, file := range kept {
			if content, err := os.ReadFile(filepath.Join(folder, file.Name())); err != nil {
				t.Fatal(err)
			} else if filepath.Ext(file.Name()) == ".go" {
				texts = append(texts, string(content))
			}
		}
		slices.Sort(texts)
		if want := []string{text, "same"}; !slices.Equal(texts, slices.Sorted(slices.Values(want))) || len(kept) != 3 {
			t.Errorf("got %q among %d files, want %q and their overlay", texts, len(kept), want)
		}
	}
}
