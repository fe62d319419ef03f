package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/onesynth-cdk/onesynth/internal/shell"
	"github.com/onesynth-cdk/onesynth/run/command/scaffold"
)

type initCommand struct {
	Name     string `arg:"" help:"Name of the platform, such as short-links: lower-case letters, digits and single hyphens."`
	Dir      string `help:"Folder to write: a new or an empty one. Default: NAME." type:"path" placeholder:"DIR"`
	Module   string `help:"Path of the Go module. Default: example.com/NAME." placeholder:"PATH"`
	From     string `help:"Platform of Onesynth to take over, by the name of its package, with its contract, construct, functions, tests and page. Default: none; you get a small platform that keeps notes." placeholder:"PLATFORM"`
	Onesynth string `help:"Checkout of Onesynth from which the platform takes the library. Default: none; a module proxy serves the version of this command. If no proxy has it: the checkout where this command was built." type:"path" placeholder:"DIR"`
}

// Help returns the text of --help below the summary.
func (c *initCommand) Help() string {
	return `The platform keeps notes of users: one table, one function with four routes, tests, a Makefile and workflows of GitHub Actions. It builds, passes its tests and runs; its README.md says what to change next. Nothing is overwritten.
With --from, you get a platform of Onesynth in packages of your own, to change as you like. What platforms share still comes from the library. Deployed with the same names and props, your platform takes the place of the library's and loses no data.`
}

// Run writes the platform, and resolves the modules that it requires.
func (c *initCommand) Run(ctx context.Context) error {
	project := scaffold.Project{Name: c.Name, Folder: cmp.Or(c.Dir, c.Name), Module: c.Module, From: c.From,
		Checkout: c.Onesynth}
	if project.Checkout == "" {
		project.Version, project.Checkout = ownVersion()
	}
	if project.From != "" && project.Version != "" {
		var err error
		if project.Library, err = librarySource(ctx, project.Version); err != nil {
			return err
		}
	}
	files, err := project.Write()
	if err != nil {
		return err
	}
	fmt.Printf("%s: wrote %d files; resolving modules\n", project.Folder, len(files))
	tidy := exec.CommandContext(ctx, "go", "mod", "tidy")
	tidy.Dir, tidy.Stderr = project.Folder, os.Stderr
	if err := tidy.Run(); err != nil {
		return fmt.Errorf("go mod tidy: %w: the files are written; run it again in %s", err, project.Folder)
	}
	fmt.Printf("\n  cd %s\n  make run      # the first time it compiles the CDK, which takes minutes\n\n"+
		"README.md says what else there is, and what to change next.\n", shell.Path(project.Folder))
	return nil
}

// ownVersion returns the version of the library in this command, if a module proxy has it, or else the checkout that it
// was built in, if that can be found.
func ownVersion() (version, checkout string) {
	if info, ok := debug.ReadBuildInfo(); ok {
		if version := publishedVersion(info); version != "" {
			return version, ""
		}
	}
	if executable, err := os.Executable(); err == nil {
		checkout = checkoutAbove(filepath.Dir(executable))
	}
	if working, err := os.Getwd(); err == nil && checkout == "" {
		checkout = checkoutAbove(working)
	}
	return "", checkout
}

// librarySource returns the folder in which the Go toolchain keeps the source of a version of the library.
func librarySource(ctx context.Context, version string) (string, error) {
	wanted := scaffold.LibraryModule() + "@" + version
	download := exec.CommandContext(ctx, "go", "mod", "download", "-json", wanted)
	download.Dir = os.TempDir() // no module's own requirements matter
	printed, failed := download.Output()
	var found struct{ Dir, Error string }
	if err := json.Unmarshal(printed, &found); err == nil && found.Dir != "" {
		return found.Dir, nil
	}
	return "", fmt.Errorf("library: no source of %s: %s: name the folder of a checkout with --onesynth DIR", wanted,
		cmp.Or(found.Error, fmt.Sprint(failed)))
}

// publishedVersion returns the version of the library in a program, or "" if the program has it from a folder.
func publishedVersion(info *debug.BuildInfo) string {
	for _, m := range append(info.Deps, &info.Main) {
		// A build in a checkout has a version, too, but no checksum. That of a tag is published.
		if m.Path == scaffold.LibraryModule() && m.Replace == nil && (m.Sum != "" || isTag(m.Version)) {
			return m.Version
		}
	}
	return ""
}

// isTag reports whether a version is a tag: no commit between tags, and no checkout with changes.
func isTag(version string) bool {
	return semver.Canonical(version) == version && semver.IsValid(version) && !module.IsPseudoVersion(version)
}

// checkoutAbove returns the folder of the library's module that a folder is in, or "".
func checkoutAbove(folder string) string {
	for {
		content, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil && modfile.ModulePath(content) == scaffold.LibraryModule() {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			return ""
		}
		folder = above
	}
}
