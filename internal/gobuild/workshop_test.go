package gobuild

import (
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// workshop opens the workshop of a module with two functions and a package that both import.
func workshop(t *testing.T) (shop *Workshop, folder string) {
	t.Helper()
	folder = must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	must.OK(t, os.CopyFS(folder, os.DirFS("testdata/workshop")))
	shop = must.Get(OpenWorkshop(t.Context(), Source{Module: "example.com/m", From: []string{folder},
		Packages: []string{"a", "b"}}, t.TempDir()))(t)
	return shop, folder
}

func TestWorkshop(t *testing.T) {
	skipShort(t)
	t.Parallel()
	shop, folder := workshop(t)
	if got := shop.Listing(); got.Directory != folder || strings.Join(got.Patterns, " ") != "./a ./b" {
		t.Errorf("got %+v", got)
	}
	build := func() map[string]Binary {
		t.Helper()
		binaries, err := shop.Build(t.Context(), []string{"a", "b"}, nil)
		if err != nil || len(binaries) != 2 {
			t.Fatalf("got %v, %v", binaries, err)
		}
		return binaries
	}
	first := build()
	if again := build(); again["a"] != first["a"] || again["b"] != first["b"] {
		t.Errorf("got %v, and then %v", first, again)
	}
	// It shares what a build for a deployment on the same machine has linked.
	of := Source{Module: "example.com/m", From: []string{folder}, Packages: []string{"a", "b"}}
	if built, err := Build(t.Context(), of, Host()); err != nil || built["a"].Hash != first["a"].Hash {
		t.Errorf("got %v, %v, and by the workshop %v", built, err, first)
	}
	write(t, folder, "b/main.go", "package main\n\nfunc main() { println(1) }\n")
	of.former = filepath.Join(t.TempDir(), "former.json")
	must.OK(t, WriteFormer(of.former, shop))
	if former, err := buildAgain(t, of); err != nil || former["b"].Hash != first["b"].Hash {
		t.Errorf("the former binaries are %v, %v", former, err)
	}
	if second := build(); second["a"] != first["a"] || second["b"].Hash == first["b"].Hash {
		t.Errorf("got %v after a change of b, and before %v", second, first)
	}
	debugged := t.TempDir()
	source := must.Get(shop.Snapshot(filepath.Join(debugged, "source")))(t)
	must.OK(t, shop.BuildForDebugger(t.Context(), "b", debugged, source))
	for program, described := range map[string]bool{filepath.Join(build()["b"].Directory, "bootstrap"): false,
		filepath.Join(debugged, "bootstrap"): true} {
		if info, err := buildinfo.ReadFile(program); err != nil || info.Path != "example.com/m/b" {
			t.Errorf("got %v, %v", info, err)
		}
		if runtime.GOOS != "linux" {
			continue
		}
		file := must.Get(elf.Open(program))(t)
		if has := file.Section(".debug_info") != nil || file.Section(".zdebug_info") != nil; has != described {
			t.Errorf("%s: debug information is %t", program, has)
		}
		file.Close()
	}
}

func buildAgain(t *testing.T, of Source) (map[string]Binary, error) {
	return build(t.Context(), of, Host(), os.Getenv(cacheVariable))
}

// Packages whose last elements are equal stay apart, also where one of them is built alone.
func TestWorkshopSameName(t *testing.T) {
	skipShort(t)
	t.Parallel()
	_, folder := workshop(t)
	of := Source{Module: "example.com/m", From: []string{folder}, Packages: []string{"a", "x/a"}}
	write(t, folder, "x/a/main.go", "package main\n\nfunc main() { missing() }\n")
	shop := must.Get(OpenWorkshop(t.Context(), of, t.TempDir()))(t)
	var failure *CompileError
	inPart, err := shop.Build(t.Context(), of.Packages, nil)
	if !errors.As(err, &failure) || inPart["a"].Hash == "" || inPart["x/a"].Hash != "" {
		t.Errorf("got %v, %v, want a alone, and why x/a is not there", inPart, err)
	}
	write(t, folder, "x/a/main.go", "package main\n\nfunc main() { println(1) }\n")
	alone := must.Get(shop.Build(t.Context(), []string{"x/a"}, nil))(t)
	both, err := shop.Build(t.Context(), of.Packages, nil)
	if err != nil || both["a"] != inPart["a"] || both["x/a"] != alone["x/a"] || alone["x/a"].Hash == both["a"].Hash {
		t.Errorf("got %v, %v, want %v and %v", both, err, inPart, alone)
	}
}

// One package that does not compile keeps no other from being built.
func TestWorkshopInPart(t *testing.T) {
	skipShort(t)
	t.Parallel()
	shop, folder := workshop(t)
	write(t, folder, "a/main.go", "package main\n\nfunc main() { missing() }\n")
	var failure *CompileError
	built, err := shop.Build(t.Context(), []string{"a", "b"}, nil)
	if !errors.As(err, &failure) || built["b"].Hash == "" {
		t.Errorf("got %v, %v", built, err)
	}
}

// An app is built where it was, and is another one when it has changed.
func TestProgram(t *testing.T) {
	skipShort(t)
	t.Parallel()
	_, folder := workshop(t)
	of := Listing{Directory: folder, Patterns: []string{"./a"}}
	name, first, err := Program(t.Context(), of, nil)
	must.OK(t, err)
	if _, again, err := Program(t.Context(), of, nil); err != nil || again != first {
		t.Errorf("got %s, %v; want %s", again, err, first)
	}
	write(t, folder, "shared/shared.go", "package shared\n\nfunc Text() string { return \"y\" }\n")
	if other, changed, err := Program(t.Context(), of, nil); err != nil || changed == first || other != name {
		t.Errorf("got %s %s, %v", other, changed, err)
	}
	write(t, folder, "a/main.go", "package main\n\nfunc main() { missing() }\n")
	var failure *CompileError
	if _, _, err := Program(t.Context(), of, nil); !errors.As(err, &failure) {
		t.Errorf("got %v", err)
	}
}

func TestWorkshopErrors(t *testing.T) {
	t.Parallel()
	shop, folder := workshop(t)
	write(t, folder, "shared/shared.go", "package shared\n\nfunc Text() string { return 1 }\n")
	_, err := shop.Build(t.Context(), []string{"a"}, nil)
	var failure *CompileError
	if !errors.As(err, &failure) {
		t.Fatalf("got %v", err)
	}
	for working, want := range map[string]string{folder: "shared/shared.go:3:29: ",
		filepath.Join(folder, "a"): "../shared/shared.go:3:29: "} {
		if got := failure.Text(working); !strings.Contains(got, "\n"+want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("a newer file")
	cancel(cause)
	if _, err := shop.Build(ctx, []string{"a"}, nil); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if _, err := OpenWorkshop(t.Context(), Source{Module: "example.com/none", From: []string{folder},
		Packages: []string{"a"}}, t.TempDir()); !errors.Is(err, ErrUnknownModule) {
		t.Errorf("got %v", err)
	}
}
