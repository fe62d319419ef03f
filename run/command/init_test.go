package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/scaffold"
)

// A project requires the version of the command, if a module proxy has it.
func TestPublishedVersion(t *testing.T) {
	t.Parallel()
	own := func(version, sum string) debug.Module {
		return debug.Module{Path: scaffold.LibraryModule(), Version: version, Sum: sum}
	}
	other := debug.Module{Path: "example.com/links", Version: "v1.0.0", Sum: "h1:other"}
	replaced := own("v0.1.0", "h1:own")
	replaced.Replace = &debug.Module{Path: "/checkout"}
	for name, test := range map[string]struct {
		main debug.Module
		deps []debug.Module
		want string
	}{
		"Run":         {own("v0.1.0", "h1:own"), []debug.Module{other}, "v0.1.0"},
		"Tool":        {other, []debug.Module{own("v0.2.0", "h1:own")}, "v0.2.0"},
		"Pseudo":      {own("v0.0.0-20261123050000-0123456789ab", "h1:own"), nil, "v0.0.0-20261123050000-0123456789ab"},
		"Tag":         {own("v0.1.0-rc.1", ""), nil, "v0.1.0-rc.1"},
		"Changed":     {own("v0.1.0+dirty", ""), nil, ""},
		"Commit":      {own("v0.1.1-0.20261123050000-0123456789ab", ""), nil, ""},
		"Checkout":    {own("v0.0.0-20261123050000-0123456789ab+dirty", ""), nil, ""},
		"Development": {own("(devel)", ""), nil, ""},
		"Replaced":    {other, []debug.Module{replaced}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info := debug.BuildInfo{Main: test.main}
			for i := range test.deps {
				info.Deps = append(info.Deps, &test.deps[i])
			}
			if got := publishedVersion(&info); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A version whose source is not to be had is named, with what to do.
func TestLibrarySource(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	_, err := librarySource(t.Context(), "v0.0.1")
	if wanted := scaffold.LibraryModule() + "@v0.0.1"; err == nil || !strings.Contains(err.Error(), wanted) ||
		!strings.Contains(err.Error(), "--onesynth DIR") {
		t.Errorf("got %v; want an error that names %s and --onesynth", err, wanted)
	}
}

// A command that was built from a checkout takes the library from there, wherever it is called, or asks for the folder.
func TestInit(t *testing.T) {
	t.Parallel()
	root := must.Get(filepath.Abs("../.."))(t)
	folder := filepath.Join(t.TempDir(), "it's a ü")
	c := exec.CommandContext(t.Context(), command, "init", "short-links", "--module", "example.com/you/links", "--dir",
		folder)
	status, stdout, stderr := finish(t, c)
	if status != 0 || !strings.Contains(stdout, "wrote 20 files") || !strings.Contains(stdout, "make run") {
		t.Fatalf("got %d\n%s%s", status, stdout, stderr)
	}
	// The command that it prints leads into the folder.
	cd := regexp.MustCompile(`(?m)^  (cd .*)$`).FindString(stdout)
	if said, err := exec.CommandContext(t.Context(), "sh", "-c", cd+" && ls go.mod").CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", cd, err, said)
	}
	requirements, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil || !strings.Contains(string(requirements), "module example.com/you/links\n") ||
		!strings.Contains(string(requirements), "=> "+modfile.AutoQuote(root)) ||
		!strings.Contains(string(requirements), "aws-cdk-go") {
		t.Errorf("got %s, %v; want the library in %s, and the CDK", requirements, err, root)
	}
	// The tests may have been handed a command in the checkout's own folder.
	elsewhere := filepath.Join(t.TempDir(), "onesynth")
	if built, err := os.ReadFile(command); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(elsewhere, built, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		arguments []string
		says      string
	}{
		"Again":  {[]string{"init", "short-links", "--dir", folder}, "the folder is not empty"},
		"NoName": {[]string{"init"}, "<name>"},
		"Names":  {[]string{"init", "Links", "--module", "links"}, "name: got \"Links\""},
		"From": {[]string{"init", "links", "--from", "notes", "--onesynth", root},
			"from: got \"notes\": write one of "},
		"Nowhere": {[]string{"init", "links"}, "name the checkout with --onesynth DIR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(t.Context(), elsewhere, test.arguments...)
			c.Dir = t.TempDir()
			if status, stdout, stderr := finish(t, c); status == 0 || !strings.Contains(stdout+stderr, test.says) {
				t.Errorf("got %d\n%s%s; want %q", status, stdout, stderr, test.says)
			}
			if entries, err := os.ReadDir(c.Dir); err != nil || len(entries) > 0 {
				t.Errorf("it wrote %v, %v", entries, err)
			}
		})
	}
}
