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
)

// workshop opens the workshop of a module with two functions and a package that both import.
func workshop(t *testing.T) (shop *Workshop, folder string) {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n", "shared/shared.go": "package shared\n\nfunc Text() string { return \"x\" }\n",
		"a/main.go": "package main\n\nimport \"example.com/m/shared\"\n\nfunc main() { println(shared.Text()) }\n",
		"b/main.go": "package main\n\nimport \"example.com/m/shared\"\n\nfunc main() { println(shared.Text()) }\n",
	} {
		save(t, filepath.Join(folder, name), text)
	}
	shop, err = OpenWorkshop(t.Context(), Source{Module: "example.com/m", From: []string{folder}, Packages: []string{"a", "b"}}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return shop, folder
}

func save(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWorkshop(t *testing.T) {
	t.Parallel()
	shop, folder := workshop(t)
	if got := shop.Listing(); got.Directory != folder || strings.Join(got.Patterns, " ") != "./a ./b" {
		t.Errorf("got %+v", got)
	}
	for _, mode := range []Mode{Quick, Debug} {
		folders, err := shop.Build(t.Context(), []string{"b"}, []string{"example.com/m/shared", "example.com/m/b"}, mode, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if len(folders) != 1 {
			t.Errorf("got %v", folders)
		}
		program := filepath.Join(folders["b"], "bootstrap")
		if info, err := buildinfo.ReadFile(program); err != nil || info.Path != "example.com/m/b" {
			t.Errorf("got %v, %v", info, err)
		}
		if runtime.GOOS != "linux" {
			continue
		}
		file, err := elf.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		if described := file.Section(".debug_info") != nil || file.Section(".zdebug_info") != nil; described != (mode == Debug) {
			t.Errorf("mode %d: debug information is %t", mode, described)
		}
		file.Close()
	}
}

func TestWorkshopErrors(t *testing.T) {
	t.Parallel()
	shop, folder := workshop(t)
	save(t, filepath.Join(folder, "shared", "shared.go"), "package shared\n\nfunc Text() string { return 1 }\n")
	_, err := shop.Build(t.Context(), []string{"a"}, nil, Quick, t.TempDir())
	var failure *CompileError
	if !errors.As(err, &failure) {
		t.Fatalf("got %v", err)
	}
	for working, want := range map[string]string{folder: "shared/shared.go:3:29: ", filepath.Join(folder, "a"): "../shared/shared.go:3:29: "} {
		if got := failure.Text(working); !strings.Contains(got, "\n"+want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("a newer file")
	cancel(cause)
	if _, err := shop.Build(ctx, []string{"a"}, nil, Quick, t.TempDir()); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if _, err := OpenWorkshop(t.Context(), Source{Module: "example.com/none", From: []string{folder}, Packages: []string{"a"}}, t.TempDir()); !errors.Is(err, ErrUnknownModule) {
		t.Errorf("got %v", err)
	}
}
