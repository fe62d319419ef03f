// Package scaffold writes a new platform: a Go module with a contract, a construct, functions, tests, a CDK app, and
// workflows of GitHub Actions. It builds, passes its tests and runs. The platform is a small one to change, or a copy
// of one of this library's.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// templates are the files of all platforms, of the small one, and of one that is taken over. The delimiters of their
// actions are [[ and ]].
//
//go:embed templates
var templates embed.FS

// DevelopmentVersion is the version that a go.mod names for a library in a folder.
const DevelopmentVersion = "v0.0.0"

// Documents begins the address of the library's files, before the version: whoever publishes the module under another
// path chooses another one.
const Documents = "https://github.com/onesynth-cdk/onesynth/blob"

// Limits of a name.
const longestName = 40

// nameForm is the form of a name.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// reservedNames name folders that the Go toolchain treats in a way of its own.
var reservedNames = []string{"internal", "testdata", "vendor"}

// ErrExists says that the folder exists and is not empty.
var ErrExists = errors.New("the folder is not empty")

// Project says what to write.
type Project struct {
	// Name is the platform's name: at most 40 lower-case letters, digits and single hyphens, beginning with a letter.
	Name string
	// Folder is the folder to write. It must not exist, or be empty but for .git. Default: Name.
	Folder string
	// Module is the path of its Go module. Default: example.com/Name.
	Module string
	// Checkout is the folder of a checkout of this library, for a version that no module proxy has. Without it, Version
	// is required.
	Checkout string
	// Version is the version of this library, such as v0.1.0. Leave it out with Checkout.
	Version string
	// From is the platform of this library that the project takes over, such as todo. Default: none; the project is a
	// small one that keeps notes.
	From string
	// Library is the folder with the source of the version. From requires it. Leave it out with Checkout.
	Library string
}

// names are what the templates use.
type names struct {
	Name, Module, Library, Version string
	// Documents is the constant.
	Documents string
	// Title is the name as people write it, Platform as packages do, and ID as constructs do.
	Title, Platform, ID string
	// Construct is the folder of the construct, and Package its last element.
	Construct, Package string
	// From is the platform that is taken over, or "", and Page its page.
	From, Page string
}

// LibraryModule returns the path of this library's module, which changes if the module is published under another path.
func LibraryModule() string {
	return strings.TrimSuffix(reflect.TypeFor[Project]().PkgPath(), "/run/command/scaffold")
}

// Write writes the project, and returns the paths of its files below the folder, with slashes. It overwrites nothing.
// The error says all that is wrong with the project; it is [ErrExists] if the folder is taken.
func (p Project) Write() (files []string, err error) {
	if p.Folder == "" {
		p.Folder = p.Name
	}
	if p.Module == "" {
		p.Module = "example.com/" + p.Name
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	contents, err := p.render()
	if err != nil {
		return nil, err
	}
	for name, content := range contents {
		file := filepath.Join(p.Folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, fmt.Errorf("writing %s: %w", p.Folder, err)
		}
		if err := create(file, content); err != nil {
			return nil, fmt.Errorf("writing %s: %w", p.Folder, err)
		}
		files = append(files, name)
	}
	slices.Sort(files)
	return files, nil
}

// create writes a file that does not exist.
func create(name string, content []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// check returns all that is wrong.
func (p Project) check() error {
	var problems []error
	add := func(format string, arguments ...any) { problems = append(problems, fmt.Errorf(format, arguments...)) }
	switch {
	case !nameForm.MatchString(p.Name) || len(p.Name) > longestName:
		add("name: got %q: write at most %d lower-case letters, digits and single hyphens, a letter first, such as "+
			"short-links", p.Name, longestName)
	case slices.Contains(reservedNames, p.Name):
		add("name: got %q, which means something else to the Go toolchain: choose another one", p.Name)
	}
	if err := module.CheckPath(p.Module); err != nil &&
		(nameForm.MatchString(p.Name) || p.Module != "example.com/"+p.Name) {
		add("module: got %q: %w: write the path of a Go module, such as github.com/you/short-links", p.Module,
			pathProblem(err))
	} else if p.Module == LibraryModule() {
		add("module: got %q, which is this library's own: write a path of yours", p.Module)
	}
	switch {
	case p.Checkout == "" && p.Version == "":
		add("library: this command was built from a checkout, whose version no module proxy has: name the checkout " +
			"with --onesynth DIR")
	case p.Checkout == "" && module.Check(LibraryModule(), p.Version) != nil:
		add("library: got version %q: write one that a module proxy has, such as v0.1.0", p.Version)
	case p.Checkout != "" && !isLibrary(p.Checkout):
		add("library: got %q, which has no go.mod of %s: name the folder of a checkout with --onesynth DIR",
			p.Checkout, LibraryModule())
	case p.From != "":
		if err := p.checkFrom(); err != nil {
			problems = append(problems, err)
		}
	}
	if err := checkFolder(p.Folder); err != nil {
		add("folder: %w", err)
	}
	return errors.Join(problems...)
}

// isLibrary reports whether a folder has this library.
func isLibrary(folder string) bool {
	found, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	return err == nil && modfile.ModulePath(found) == LibraryModule()
}

// pathProblem is why a path is none, without the path.
func pathProblem(err error) error {
	if invalid, ok := errors.AsType[*module.InvalidPathError](err); ok {
		return invalid.Err
	}
	return err
}

// checkFolder returns an error if the folder has something in it.
func checkFolder(folder string) error {
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("got %q: %w: name another one", folder, err)
	}
	for _, entry := range entries {
		// git init, or a clone of an empty repository, leaves this.
		if entry.Name() != ".git" {
			return fmt.Errorf("got %q, which has %s in it: %w: name another one", folder, entry.Name(), ErrExists)
		}
	}
	return nil
}

// render returns the contents of all files, by name.
func (p Project) render() (map[string][]byte, error) {
	words := strings.Split(p.Name, "-")
	n := names{Name: p.Name, Module: p.Module, Library: LibraryModule(), Version: p.Version, Documents: Documents,
		Platform: strings.Join(words, ""), Construct: "construct", Package: "construct", From: p.From}
	for _, word := range words {
		n.ID += strings.ToUpper(word[:1]) + word[1:]
	}
	n.Title = strings.ToUpper(p.Name[:1]) + strings.ReplaceAll(p.Name[1:], "-", " ")
	if p.Checkout != "" {
		n.Version = DevelopmentVersion
	}
	contents, own := map[string][]byte{}, "notes"
	if p.From != "" {
		var err error
		if contents, n.ID, err = p.takeOver(); err != nil {
			return nil, fmt.Errorf("taking over %s: %w", p.From, err)
		}
		own, n.Construct, n.Package, n.Page = "taken", "constructs/"+p.From, p.From, pageOf(p.From)
	}
	for _, part := range []string{"all", own} {
		part = "templates/" + part
		err := fs.WalkDir(templates, part, func(source string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := renderFile(source, n)
			name := destination(strings.TrimPrefix(source, part+"/"), n)
			if err == nil && name == "go.mod" && p.Checkout != "" {
				content, err = replaceLibrary(content, p.Checkout)
			}
			contents[name] = content
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return contents, nil
}

// renderFile returns the content of a file.
func renderFile(source string, n names) ([]byte, error) {
	text, err := templates.ReadFile(source)
	if err != nil {
		return nil, err
	}
	parsed, err := template.New(source).Delims("[[", "]]").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	if err := parsed.Execute(&content, n); err != nil {
		return nil, err
	}
	if !strings.HasSuffix(source, ".go.tmpl") {
		return content.Bytes(), nil
	}
	formatted, err := format.Source(content.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return formatted, nil
}

// destination returns where the file of a template goes. Names that begin with a dot, and packages below a platform's
// name, have others among the templates.
func destination(source string, n names) string {
	folder, file := path.Split(strings.TrimSuffix(source, ".tmpl"))
	switch {
	case file == "gitignore" || file == "npmrc":
		file = "." + file
	case strings.HasPrefix(folder, "github/"):
		folder = "." + folder
	case strings.HasPrefix(folder, "lambdas/"):
		folder = path.Join("lambdas", n.Platform, strings.TrimPrefix(folder, "lambdas/"))
	case folder == "constructs/":
		folder = n.Construct
	}
	return path.Join(folder, file)
}

// replaceLibrary makes a go.mod take the library from a folder.
func replaceLibrary(content []byte, folder string) ([]byte, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	requirements, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		return nil, err
	}
	if err := requirements.AddReplace(LibraryModule(), "", absolute, ""); err != nil {
		return nil, err
	}
	return requirements.Format()
}
