// Command prepare makes a checkout ready for the tag of a version, and prints what is promised from then on and what is
// left to do. It commits and pushes nothing:
//
//	go run ./tools/release/prepare -version 0.1.0
//
// With -notes it prints what CHANGELOG.md says of a version instead.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

func main() {
	version := flag.String("version", "", "semantic version, such as 0.1.0")
	printNotes := flag.Bool("notes", false, "print the notes of the version, and prepare nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	text, err := run(ctx, ".", *version, *printNotes)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
		os.Exit(1)
	}
	fmt.Print(text)
}

func run(ctx context.Context, checkout, version string, printNotes bool) (string, error) {
	description, err := os.ReadFile(filepath.Join(checkout, "go.mod"))
	if err != nil {
		return "", err
	}
	path := modfile.ModulePath(description)
	if err := check(path, version); err != nil {
		return "", err
	}
	if !printNotes {
		return prepare(ctx, checkout, path, version, time.Now())
	}
	log, err := os.ReadFile(filepath.Join(checkout, changelogFile))
	if err != nil {
		return "", err
	}
	return notes(string(log), path, version)
}

// prepare writes a version of the module into the files of a clean checkout, and returns what to say. It writes nothing
// if what it has to write is not as it should be.
func prepare(ctx context.Context, checkout, path, version string, now time.Time) (string, error) {
	if changed, err := git(ctx, checkout, "status", "--porcelain"); err != nil {
		return "", err
	} else if len(changed) > 0 {
		return "", fmt.Errorf("the checkout has changes: commit them, or put them away with git stash\n%s", changed)
	}
	files, err := read(ctx, checkout)
	if err != nil {
		return "", err
	}
	promised, err := promises(files[versionsFile])
	if err != nil {
		return "", err
	}
	written, err := write(files, path, version, now)
	if err != nil {
		return "", err
	}
	for name, content := range written {
		if err := os.WriteFile(filepath.Join(checkout, name), []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("wrote version %s into %s\n\nFrom this version on, %s holds:\n\n%s\n\nLeft to do:\n\n%s",
		version, strings.Join(slices.Sorted(maps.Keys(written)), ", "), versionsFile, promised, left(version)), nil
}

// check refuses what cannot be a version of the module.
func check(path, version string) error {
	tag := "v" + version
	// A module has no builds of a version.
	if semver.Canonical(tag) != tag {
		return fmt.Errorf("-version: got %q: write a semantic version, such as 0.1.0 or 0.2.0-rc.1", version)
	}
	if err := module.Check(path, tag); err != nil {
		return fmt.Errorf("-version: %w", err)
	}
	return nil
}

// left are the commands that prepare leaves to a person.
func left(version string) string {
	return strings.ReplaceAll(`  git diff
  make test-release
  # Add the data of the version for later ones: CONTRIBUTING.md, "Data of a version", with VERSION=vX.
  git add --all && git commit -m "release: version X"
  git tag -a vX -m "Onesynth X"
  git push --atomic origin main vX

GitHub then tests the tag, builds the commands, and publishes a release: .github/workflows/release.yml.
`, "X", version)
}

// read returns the documents that Git has, and the files with versions, by name.
func read(ctx context.Context, checkout string) (map[string]string, error) {
	listed, err := git(ctx, checkout, "ls-files", "-z", "--", "*.md", packageFile, lockFile)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for name := range strings.SplitSeq(strings.Trim(string(listed), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(checkout, name))
		if err != nil {
			return nil, err
		}
		files[name] = string(content)
	}
	for _, name := range []string{changelogFile, packageFile, lockFile, versionsFile} {
		if files[name] == "" {
			return nil, fmt.Errorf("git ls-files has no %s", name)
		}
	}
	return files, nil
}

func git(ctx context.Context, folder string, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "git", arguments...)
	command.Dir = folder
	output, err := command.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(failed.Stderr))
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", arguments[0], err)
	}
	return output, nil
}
