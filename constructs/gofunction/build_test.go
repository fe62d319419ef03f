package gofunction_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
)

func hello() gofunction.Source {
	return gofunction.Source{Directory: "testdata/handlers", Packages: []string{"hello"}}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	build := gofunction.Start(t.Context(), hello())
	binary, err := build.Binary("hello")
	if err != nil {
		t.Fatal(err)
	}
	if binary.Architecture != gofunction.ARM64 || len(binary.Hash) != 64 || binary.Size == 0 {
		t.Errorf("got %+v, want one for arm64 with hash and size", binary)
	}
	if _, err := os.Stat(filepath.Join(binary.Directory, "bootstrap")); err != nil {
		t.Error(err)
	}
	if _, err := build.Binary("hallo"); err == nil || !strings.Contains(err.Error(), "it has hello") {
		t.Errorf("got %v, want an error with the names there are", err)
	}
}

func TestBuildErr(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*gofunction.Source)
		want   string
	}{
		"Architecture": {func(s *gofunction.Source) { s.Architecture = "sparc" }, `"arm64" or "x86_64"`},
		"UnknownModule": {func(s *gofunction.Source) {
			s.Directory, s.Module = "", "example.com/nowhere"
		}, "run the app from the folder of the module that requires it"},
		"NoPackages": {func(s *gofunction.Source) { s.Packages = nil }, "name at least one"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := hello()
			test.change(&source)
			if err := gofunction.Start(t.Context(), source).Wait(); err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	t.Run("Compile", func(t *testing.T) {
		t.Parallel()
		source := hello()
		source.Packages = []string{"nowhere"}
		_, err := gofunction.Start(t.Context(), source).Binary("nowhere")
		if _, ok := errors.AsType[*gofunction.CompileError](err); !ok {
			t.Errorf("got %T %v, want a *CompileError", err, err)
		}
	})
}
