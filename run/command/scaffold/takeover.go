package scaffold

import (
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// parents are the folders of the library that have one for each platform.
func parents() []string { return []string{"platforms", "constructs", "lambdas"} }

// golden is the template of a platform without props, below the folder of its construct.
const golden = "testdata/golden/tokens.txt"

// platformsOf returns the names of the platforms of a library: each has a folder in all parents.
func platformsOf(library fs.FS) (names []string, err error) {
	entries, err := fs.ReadDir(library, parents()[0])
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if !slices.ContainsFunc(parents(), func(parent string) bool {
			info, err := fs.Stat(library, path.Join(parent, entry.Name()))
			return err != nil || !info.IsDir()
		}) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// checkFrom returns an error if the library has no platform of the name.
func (p Project) checkFrom() error {
	names, err := platformsOf(os.DirFS(p.source()))
	switch {
	case err != nil:
		return fmt.Errorf("library: got %q, which has no platforms: %w: name the folder of a checkout with "+
			"--onesynth DIR", p.source(), err)
	case !slices.Contains(names, p.From):
		return fmt.Errorf("from: got %q: write one of %s", p.From, strings.Join(names, ", "))
	}
	return nil
}

// source is the folder of the library's source.
func (p Project) source() string {
	if p.Checkout != "" {
		return p.Checkout
	}
	return p.Library
}

// takeOver returns the files of the library's platform, by their names in the project, and the name that its construct
// has in an app. Its packages have paths of the project's module, and links to what the project has not lead to the
// library.
func (p Project) takeOver() (files map[string][]byte, id string, err error) {
	t := taking{library: os.DirFS(p.source()), name: p.From, project: p, files: map[string][]byte{}}
	for _, parent := range parents() {
		if err := t.add(path.Join(parent, p.From)); err != nil {
			return nil, "", err
		}
	}
	for _, file := range append(t.read(), "LICENSE", path.Join("constructs", p.From, golden)) {
		if err := t.add(file); err != nil {
			return nil, "", err
		}
	}
	if err := t.rewrite(); err != nil {
		return nil, "", err
	}
	declares := regexp.MustCompile(`(?m)^func New\(.*\) \*(\w+) \{$`)
	for name, content := range t.files {
		if path.Dir(name) == "constructs/"+p.From {
			if found := declares.FindSubmatch(content); found != nil {
				return t.files, string(found[1]), nil
			}
		}
	}
	return nil, "", fmt.Errorf("constructs/%s of the library has no function New", p.From)
}

// pageOf is the name of a platform's page among the documents.
func pageOf(platform string) string { return "platforms/" + platform + ".md" }

// taking is a platform on its way into a project.
type taking struct {
	library fs.FS
	name    string
	project Project
	files   map[string][]byte
}

// originTest compares a contract with that of the platform's origin. The contract of another platform goes its own way.
const originTest = "origin_test.go"

// add adds a file, or all files below a folder but for modules of their own, what the tests of all platforms have below
// a construct, and what compares the platform with its origin.
func (t taking) add(from string) error {
	return fs.WalkDir(t.library, from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, err := fs.Stat(t.library, path.Join(name, "go.mod"))
			if err == nil || name == path.Join("constructs", t.name, "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Base(name) == originTest {
			return nil
		}
		t.files[name], err = fs.ReadFile(t.library, name)
		return err
	})
}

// readByTest matches a page, or the modules that pages of platforms share, or a folder of them, that a test reads.
var readByTest = regexp.MustCompile(`"((?:\.\./)+(?:docs|kit/webapp/modules)\b[\w./-]*)"`)

// read are the files outside of the platform's folders that it needs: its page among the documents, and all that its
// tests read.
func (t taking) read() []string {
	names := map[string]bool{"docs/" + pageOf(t.name): true}
	for file, content := range t.files {
		if strings.HasSuffix(file, "_test.go") {
			for _, found := range readByTest.FindAllSubmatch(content, -1) {
				names[path.Join(path.Dir(file), string(found[1]))] = true
			}
		}
	}
	return slices.Collect(maps.Keys(names))
}

var (
	// documented matches a page that a comment names.
	documented = regexp.MustCompile(`(^|[^\w./])(docs/[\w/-]+\.md)`)
	// built matches a line of a golden file that says what a function was built from.
	built = regexp.MustCompile(`(?m)^  Metadata\.onesynth(?:\.build[.:]|: \{build:).*\n`)
	// linked matches a link of a page to another file: the path and the place in it.
	linked = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)\s]*)?\)`)
	// pictures matches the pictures of a page, which a project has no need of.
	pictures = regexp.MustCompile(`(?m)^<img .*\n\n`)
)

// rewrite gives packages their new paths, and links their new addresses.
func (t taking) rewrite() error {
	library := LibraryModule()
	own := regexp.MustCompile(regexp.QuoteMeta(library) + `/((?:` + strings.Join(parents(), "|") + `)/` + t.name + `\b)`)
	address := Documents + "/main/"
	for name, content := range t.files {
		text := string(content)
		switch path.Ext(name) {
		case ".go":
			text = own.ReplaceAllString(text, t.project.Module+"/$1")
			text = strings.ReplaceAll(text, `"`+library+`"`, `"`+t.project.Module+`"`)
			text = documented.ReplaceAllStringFunc(text, func(found string) string {
				parts := documented.FindStringSubmatch(found)
				if t.has(parts[2]) {
					return found
				}
				return parts[1] + address + parts[2]
			})
			// The order of imports follows their paths.
			formatted, err := format.Source([]byte(text))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			text = string(formatted)
		case ".md":
			if !strings.HasPrefix(name, "docs/") {
				continue
			}
			// The library's app names its stacks so.
			text = strings.ReplaceAll(text, "onesynth-"+t.name+"-dev", t.project.Name+"-dev")
			text = pictures.ReplaceAllString(text, "")
			text = linked.ReplaceAllStringFunc(text, func(found string) string {
				parts := linked.FindStringSubmatch(found)
				if to := path.Join(path.Dir(name), parts[1]); !t.has(to) {
					return "](" + address + to + parts[2] + ")"
				}
				return found
			})
		case ".txt":
			if path.Base(name) == path.Base(golden) {
				text = built.ReplaceAllString(text, "")
			}
		}
		t.files[name] = []byte(text)
	}
	return nil
}

// has reports whether the project has a file, or files in a folder.
func (t taking) has(name string) bool {
	for file := range t.files {
		if file == name || strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}
