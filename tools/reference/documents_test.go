package reference_test

// The documents: their links, and how large they are.

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/tools/reference"
)

var (
	code    = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inline  = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	target  = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	// paragraph matches a line that can be broken: no HTML, no heading, and more than one word.
	paragraph = regexp.MustCompile(`^ *[^ <#]\S* +\S`)
	text      = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// page is a document, and its content without blocks of code.
type page struct{ path, whole, content string }

// pages are all documents of the repository, but for those that tests read.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	must.OK(t, filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
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
			all = append(all, page{path, string(content), code.ReplaceAllString(string(content), "")})
		}
		return nil
	}))
	return all
}

// anchors are the addresses of a document's headings.
func anchors(content string) map[string]bool {
	named := map[string]bool{}
	for _, found := range heading.FindAllStringSubmatch(content, -1) {
		anchor := reference.Anchor(text.ReplaceAllString(found[1], "$1"))
		if named[anchor] {
			anchor += "-1"
		}
		named[anchor] = true
	}
	return named
}

// Each link inside the repository leads to a file that is there, and to a heading that it has.
func TestLinks(t *testing.T) {
	t.Parallel()
	headings := map[string]map[string]bool{}
	headingsOf := func(path string) map[string]bool {
		if headings[path] == nil {
			content := must.Get(os.ReadFile(path))(t)
			headings[path] = anchors(code.ReplaceAllString(string(content), ""))
		}
		return headings[path]
	}
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
			if link.Fragment != "" && strings.HasSuffix(path, ".md") && !headingsOf(path)["#"+link.Fragment] {
				t.Errorf("%s: %s has no heading %q", p.path, path, link.Fragment)
			}
		}
	}
}

// A page is short enough to be read: at most 250 lines, written by hand, and 45,000 words in all pages of docs. Its
// paragraphs end at column 120, and a cell of a table has at most 200 characters. References are generated, and as long
// and wide as what they list.
func TestSizes(t *testing.T) {
	t.Parallel()
	const (
		maxLines, maxColumns, maxCell, maxWords = 250, 120, 200, 45_000
	)
	words := 0
	for _, p := range pages(t) {
		generated := strings.HasPrefix(filepath.ToSlash(p.path), "../../docs/reference/")
		if !generated && strings.HasPrefix(filepath.ToSlash(p.path), "../../docs/") {
			words += len(strings.Fields(p.whole))
			if lines := strings.Count(p.whole, "\n"); lines > maxLines {
				t.Errorf("%s has %d lines, more than %d: say less, or make a page of a part", p.path, lines, maxLines)
			}
		}
		for line := range strings.Lines(p.content) {
			line = strings.TrimSuffix(line, "\n")
			if cells, ok := strings.CutPrefix(line, "|"); ok {
				for cell := range strings.SplitSeq(cells, " | ") {
					if n := utf8.RuneCountInString(cell); n > maxCell {
						t.Errorf("%s: a cell has %d characters, more than %d: make it a list: %.40s…", p.path, n,
							maxCell, cell)
					}
				}
			} else if n := utf8.RuneCountInString(line); n > maxColumns && !generated && paragraph.MatchString(line) {
				t.Errorf("%s: a line has %d characters, more than %d: %.40s…", p.path, n, maxColumns, line)
			}
		}
	}
	if words > maxWords {
		t.Errorf("the pages of docs have %d words, more than %d", words, maxWords)
	}
}
