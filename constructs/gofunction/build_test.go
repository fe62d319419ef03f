package gofunction_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

func hello() gofunction.Source {
	return gofunction.Source{Directory: "testdata/handlers", Packages: []string{"hello"}}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	build := gofunction.Start(t.Context(), hello())
	binary := must.Get(build.Binary("hello"))(t)
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

// A name is the end of the path of one package.
func TestBuildNames(t *testing.T) {
	t.Parallel()
	build := gofunction.Start(t.Context(), gofunction.Source{Directory: "testdata/handlers",
		Packages: []string{"hello", "./french/hello", "french/bye", "french/bye/", "german/bye"}})
	seen := map[string]string{}
	for name, want := range map[string]string{"hello": "hello", "french/hello": "french/hello",
		"french/bye": "french/bye", "german/bye": "german/bye", "bye": "", "ench/hello": "", "german/hello": ""} {
		var found finding.List
		build.Check(&found, "Props.Build", "", name)
		binary, err := build.Binary(name)
		if (err == nil) != (want != "") || (len(found) == 0) != (want != "") || binary.Package != want {
			t.Errorf("%s: got the package %q, %v, and the findings %v, want %q", name, binary.Package, err, found, want)
		}
		if other, has := seen[binary.Hash]; has && want != "" {
			t.Errorf("%s is what %s is", name, other)
		}
		seen[binary.Hash] = name
	}
}

// A platform's function has the platform's folder in the layout of Handlers, and only its name in another one.
func TestBuildNameOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		packages []string
		want     string
	}{
		"Platforms": {[]string{"lambdas/shop/publisher", "lambdas/orders/publisher"}, "orders/publisher"},
		"OfAnother": {[]string{"lambdas/shop/publisher", "lambdas/orders/api"}, "orders/publisher"},
		"Alone":     {[]string{"publisher"}, "publisher"},
		"Elsewhere": {[]string{"lambdas/orders/api", "programs/publisher"}, "publisher"},
		"Own":       {[]string{"lambdas/reports/publisher"}, "publisher"},
	} {
		build := gofunction.Start(t.Context(), gofunction.Source{Directory: "nowhere", Packages: test.packages})
		if got := build.NameOf("orders", "publisher"); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
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
