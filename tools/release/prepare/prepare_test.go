package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

const library = "example.com/library"

// day is when the versions of these tests are made.
var day = time.Date(2026, time.November, 27, 12, 0, 0, 0, time.UTC)

const (
	log = "# Changelog\n\n## [Unreleased]\n\nThe first version will be 0.1.0.\n\n### Added\n\n- A thing.\n\n" +
		"### Changed\n\n- Another.\n"
	page = "# Versions\n\n## What a version may change\n\nNever:\n\n- keys of [tables](tables.md)\n\n## Limits\n\n" +
		"More.\n"
	readme = "# Library\n\nNo version is published yet: take the library from this checkout.\n"
)

// checkout returns the folder of a repository without a version.
func checkout(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module " + library + "\n", changelogFile: log,
		versionsFile: page, "README.md": readme, packageFile: `{"version": "0.0.0", "dependencies": {"a": "1.2.3"}}`,
		lockFile: `{"version": "0.0.0", "packages": {"": {"version": "0.0.0"}, "a": {"version": "1.2.3"}}}`} {
		must.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755))
		must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644))
	}
	commit(t, folder)
	return folder
}

func commit(t *testing.T, folder string) {
	t.Helper()
	const script = "git init -q && git add . && git -c user.name=a -c user.email=a@example.com commit -q -m all"
	command := exec.Command("sh", "-c", script)
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

func content(t *testing.T, folder, name string) string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(folder, name)))(t)
	return string(text)
}

// refused checks that an error says what to do.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got the error %v, want %q in it", err, want)
	}
}

// The first version and the next one are written into all files that name a version.
func TestPrepare(t *testing.T) {
	t.Parallel()
	folder := checkout(t)
	said := must.Get(prepare(t.Context(), folder, library, "0.1.0", day))(t)
	for _, want := range []string{"holds:\n\nNever:\n\n- keys of tables\n\nLeft to do:\n", "make test-release\n",
		`git add --all && git commit -m "release: version 0.1.0"`, "git tag -a v0.1.0", "git push --atomic origin main v0.1.0\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("got %s\nwant %q in it", said, want)
		}
	}
	const first = "## [0.1.0] - 2026-11-27\n\n### Added\n\n- A thing.\n\n### Changed\n\n- Another.\n"
	for name, want := range map[string]string{
		changelogFile: "# Changelog\n\n## [Unreleased]\n\n" + first,
		"README.md": "# Library\n\nThe newest version is 0.1.0: `go get example.com/library@v0.1.0` gets it,\n" +
			"and [the latest release](https://example.com/library/releases/latest) has both commands.\n" +
			"Or take the library from this checkout.\n",
		packageFile: `{"version": "0.1.0", "dependencies": {"a": "1.2.3"}}`,
		lockFile:    `{"version": "0.1.0", "packages": {"": {"version": "0.1.0"}, "a": {"version": "1.2.3"}}}`,
	} {
		if got := content(t, folder, name); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}

	_, err := prepare(t.Context(), folder, library, "0.2.0", day)
	refused(t, err, "git stash")
	commit(t, folder)
	_, err = prepare(t.Context(), folder, library, "0.2.0", day)
	refused(t, err, "nothing is unreleased")
	const more = "### Added\n\n- [More](docs/more.md#all) of [it](https://example.com).\n"
	text := strings.Replace(content(t, folder, changelogFile), unreleased, unreleased+"\n"+more, 1)
	must.OK(t, os.WriteFile(filepath.Join(folder, changelogFile), []byte(text), 0o644))
	commit(t, folder)
	_, err = prepare(t.Context(), folder, library, "0.1.0", day)
	refused(t, err, "higher")
	if got := content(t, folder, changelogFile); got != text {
		t.Errorf("a refused version has changed %s:\n%s", changelogFile, got)
	}
	must.Get(prepare(t.Context(), folder, library, "0.2.0-rc.1", day))(t)
	const want = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0-rc.1] - 2026-11-27\n\n" + more + "\n" + first
	if got := content(t, folder, changelogFile); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := content(t, folder, "README.md"); strings.Count(got, "0.2.0-rc.1") != 2 || strings.Contains(got, "0.1.0") {
		t.Errorf("README.md: got\n%s", got)
	}
	for version, want := range map[string]string{
		"0.2.0-rc.1": strings.Replace(more, "docs/", "https://example.com/library/blob/v0.2.0-rc.1/docs/", 1),
		"0.1.0":      "### Added\n\n- A thing.\n\n### Changed\n\n- Another.\n"} {
		if got, err := notes(content(t, folder, changelogFile), library, version); err != nil || got != want {
			t.Errorf("notes of %s: got %q, %v; want %q", version, got, err, want)
		}
	}
}

// What is no version of the module is refused.
func TestVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"0.1.0": "", "1.0.0-rc.1": "", "": "write a semantic version", "v0.1.0": "write a semantic version",
		"0.1": "write a semantic version", "0.1.0+build": "write a semantic version", "2.0.0": "should be v0 or v1",
	} {
		if err := check(library, version); want != "" {
			refused(t, err, want)
		} else if err != nil {
			t.Errorf("%q: got %v", version, err)
		}
	}
}

// Files without the place for a version are named, and what is to be there.
func TestRefused(t *testing.T) {
	t.Parallel()
	good := map[string]string{changelogFile: log, "README.md": readme, packageFile: `{"version": "0.0.0"}`,
		lockFile: `{"version": "0.0.0", "packages": {"": {"version": "0.0.0"}}}`}
	must.Get(write(good, library, "0.1.0", day))(t)
	for name, test := range map[string]struct{ file, content, want string }{
		"Heading":  {changelogFile, "# Changelog\n", `no heading "## [Unreleased]"`},
		"Document": {"README.md", "# Library\n", "README.md has to say how to get the newest version"},
		"Package":  {packageFile, "{}", "package.json: got"},
		"Lock":     {lockFile, `{"packages": {"": {"version": "0.0.0"}}, "version": "0.0.0", "version": "1"}`, "lock.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(good)
			files[test.file] = test.content
			_, err := write(files, library, "0.1.0", day)
			refused(t, err, test.want)
		})
	}
	_, err := notes(log, library, "0.1.0")
	refused(t, err, "make release VERSION=0.1.0")
	_, err = promises("# Versions\n")
	refused(t, err, versionsFile)
}

// A document names the newest version once more, wherever its lines end, and no other module's.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	const before = "Now. The newest\nversion is 0.1.0.\n\ngo install example.com/library/cmd/tool@v0.1.0, " +
		"example.com/library/cmd/tool@latest and example.com/other@v0.1.0\n"
	const want = "Now.\nThe newest version is 0.2.0.\n\ngo install example.com/library/cmd/tool@v0.2.0, " +
		"example.com/library/cmd/tool@latest and example.com/other@v0.1.0\n"
	if got, n := announce(before, library, "0.2.0"); got != want || n != 1 {
		t.Errorf("got %d:\n%s\nwant\n%s", n, got, want)
	}
}

// The files of this repository are ready for a version, whenever it comes.
func TestRepository(t *testing.T) {
	t.Parallel()
	files := must.Get(read(t.Context(), "../../.."))(t)
	// Just after a version, nothing is unreleased.
	if _, err := release(files[changelogFile], "999.0.0", day); err != nil {
		files[changelogFile] = strings.Replace(files[changelogFile], unreleased,
			unreleased+"\n### Added\n\n- A thing.\n", 1)
	}
	written := must.Get(write(files, "github.com/onesynth-cdk/onesynth", "999.0.0", day))(t)
	for _, name := range slices.Sorted(maps.Keys(written)) {
		for _, stale := range []string{none, "first version will be"} {
			if strings.Contains(strings.Join(strings.Fields(written[name]), " "), stale) {
				t.Errorf("%s says %q of a version that is there", name, stale)
			}
		}
	}
	if got, err := notes(written[changelogFile], library, "999.0.0"); err != nil || !strings.HasPrefix(got, "### ") {
		t.Errorf("notes: got %s, %v", got, err)
	}
	if got, err := promises(files[versionsFile]); err != nil || !strings.Contains(got, "logical ids") {
		t.Errorf("promises: got %s, %v", got, err)
	}
}
