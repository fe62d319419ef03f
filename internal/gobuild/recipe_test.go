package gobuild

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// A function's recipe in a template is read as it was written.
func TestRecipe(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Recipe{
		"OK": {Module: "example.com/orders", Package: "lambdas/hello", Flags: Flags()},
		"Directory": {Module: "example.com/orders", Package: "hello", Flags: []string{"-trimpath"},
			Directory: "../orders"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, value := want.Metadata()
			text := must.Get(json.Marshal(map[string]any{key: value, "aws:cdk:path": "stack/hello"}))(t)
			var metadata map[string]any
			must.OK(t, json.Unmarshal(text, &metadata))
			got, ok, err := ReadRecipe(metadata)
			if err != nil || !ok {
				t.Fatalf("got %v, %v, want the recipe", ok, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The package at a module's root has the recipe that builds it again, and the name
// that the toolchain gives its binary.
func TestRecipeOfRoot(t *testing.T) {
	skipShort(t)
	t.Parallel()
	for module, name := range map[string]string{"example.com/hello": "hello", "example.com/hello/v2": "hello",
		"example.com/hello.v2": "hello.v2"} {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder, "go.mod", "module "+module+"\n\ngo 1.24\n")
			write(t, folder, "main.go", "package main\n\nfunc main() {}\n")
			cache := t.TempDir()
			binary, ok := mustBuild(t, Source{Directory: folder, Packages: []string{"."}}, cache)["."]
			recipe := Recipe{Module: binary.Module, Package: binary.Package}
			if !ok || recipe.Module != module || recipe.Package != "." || recipe.Name() != name {
				t.Fatalf("got %v, %+v with the name %q, want %q at the root of %q", ok, recipe, recipe.Name(), name,
					module)
			}
			again := mustBuild(t, Source{Directory: folder, Packages: []string{recipe.Package}}, cache)
			if got := again[recipe.Package].Hash; got != binary.Hash {
				t.Errorf("built again by its recipe: got the hash %q, want %q", got, binary.Hash)
			}
		})
	}
}

func TestReadRecipeErr(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		metadata string
		err      string
	}{
		"None":          {`{}`, ""},
		"SomebodyElses": {`{"aws:cdk:path": "stack/hello", "onesynth": {"localPort": 8080}}`, ""},
		"ErrText":       {`{"onesynth": "build"}`, "Metadata.onesynth.build"},
		"ErrNoModule":   {`{"onesynth": {"build": {"package": "hello"}}}`, "no module"},
		"ErrNoPackage":  {`{"onesynth": {"build": {"module": "example.com/orders"}}}`, "relative to the module"},
		"ErrFlag": {
			`{"onesynth": {"build": {"module": "example.com/orders", "package": "hello", "flags": ["std"]}}}`,
			"-name=value"},
		"ErrFlagModule": {`{"onesynth": {"build": {"module": "-mod=mod", "package": "hello"}}}`, "path of a Go module"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var metadata map[string]any
			must.OK(t, json.Unmarshal([]byte(test.metadata), &metadata))
			_, ok, err := ReadRecipe(metadata)
			if ok || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %v, %v, want no recipe and an error with %q", ok, err, test.err)
			}
		})
	}
}
