package browser_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// What helps without a browser is in docs/guide/troubleshooting.md as it is printed.
func TestFind(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/guide/troubleshooting.md"))(t)
	folder := t.TempDir()
	for _, name := range []string{"google-chrome", "own"} {
		must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"), 0o755))
	}
	for name, test := range map[string]struct {
		path, variable, want string
	}{
		"OnPath":       {path: folder, want: "google-chrome"},
		"Given":        {path: folder, variable: filepath.Join(folder, "own"), want: "own"},
		"GivenOnPath":  {path: folder, variable: "own", want: "own"},
		"GivenWrong":   {path: folder, variable: filepath.Join(folder, "gone")},
		"NoneAnywhere": {path: t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			if test.want == "" && test.variable == "" && runtime.GOOS == "darwin" {
				t.Skip("the applications of this Mac may have one")
			}
			t.Setenv("PATH", test.path)
			t.Setenv(browser.Variable, test.variable)
			got, err := browser.Find()
			if test.want == "" {
				if !errors.Is(err, browser.ErrNone) {
					t.Errorf("got %q, %v", got, err)
				}
				if test.variable == "" && !strings.Contains(string(page), "```text\n"+err.Error()+"\n```") {
					t.Errorf("the page does not show %v", err)
				}
				return
			}
			if err != nil || filepath.Base(got) != test.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
