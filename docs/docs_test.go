// Package docs checks the documents: their links, and how large they are.
package docs

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	code    = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inline  = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	target  = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	text    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// page is a document without its blocks of code.
type page struct{ path, content string }

// pages are all documents of the repository, but for those that tests read.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			switch entry.Name() {
			case "node_modules", "testdata", "bin", ".git", ".local", "cdk.out":
				return fs.SkipDir
			}
		case strings.HasSuffix(path, ".md"):
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all = append(all, page{path, code.ReplaceAllString(string(content), "")})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// anchors are the names by which GitHub's pages link to the headings of a document.
func anchors(content string) map[string]bool {
	named := map[string]bool{}
	for _, found := range heading.FindAllStringSubmatch(content, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, text.ReplaceAllString(found[1], "$1"))
		if named[name] {
			name += "-1"
		}
		named[name] = true
	}
	return named
}

// Each link inside the repository leads to a file that is there, and to a heading that it has.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		for _, found := range target.FindAllStringSubmatch(inline.ReplaceAllString(p.content, ""), -1) {
			link, err := url.Parse(found[1] + found[2])
			if err != nil {
				t.Errorf("%s: %v", p.path, err)
				continue
			}
			if link.IsAbs() {
				continue
			}
			path := p.path
			if link.Path != "" {
				path = filepath.Join(filepath.Dir(p.path), filepath.FromSlash(link.Path))
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %q leads nowhere", p.path, found[0])
				continue
			}
			if link.Fragment == "" || !strings.HasSuffix(path, ".md") {
				continue
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !anchors(code.ReplaceAllString(string(content), ""))[link.Fragment] {
				t.Errorf("%s: %s has no heading %q", p.path, path, link.Fragment)
			}
		}
	}
}
