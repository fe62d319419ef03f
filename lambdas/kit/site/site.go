// Package site serves a set of files as a web page, from within a function's binary.
//
// A file is an asset or a document. Assets are below /assets/<hash of all assets>/. So one refers to another by its
// name, and browsers and CDNs keep each for as long as they like: a change of any file gives all a new address.
// Documents have a lasting address, such as "/", and browsers ask for them again each time, by their ETag. The site
// compresses both once.
//
// Documents are templates (html/template for .html, else text/template) with these functions:
//
//	asset "app.js"       the address of an asset
//	assets "texts/*"     the addresses of the assets that match a pattern of package path
//	json .               a value as JSON
package site

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	texttemplate "text/template"

	"github.com/andybalholm/brotli"
)

// Prefix begins the paths of assets, unless a page has its own. A schema has the route "GET /assets/{path+}" for them.
const Prefix = "/assets/"

// Config describes a page.
type Config struct {
	// Files has the documents; all other files in it are assets. Their names end in .html, .css, .js, .json,
	// .webmanifest, .svg, .png or .txt. Default: none but Contents.
	Files fs.FS
	// Contents are further files, by name; one replaces the file of that name. Default: none.
	Contents map[string][]byte
	// Documents names the files of documents by their paths, as http.ServeMux has them, such as "/q/{question_id}":
	// "index.html".
	Documents map[string]string
	// Prefix begins the paths of assets, such as "/operator/assets/". Default: [Prefix].
	Prefix string
	// Data is what the templates of documents get. Default: nil.
	Data any
	// Header has further headers of each answer, such as a Content-Security-Policy. Default: none.
	Header http.Header
	// NotFound answers for a missing asset, such as one of an earlier version. Default: [http.NotFoundHandler].
	NotFound http.Handler
}

// Site is a page that is ready to be served.
type Site struct {
	prefix    string
	header    http.Header
	notFound  http.Handler
	documents map[string]*file
	assets    map[string]*file // by path
}

// New reads the files and fills in the documents. Its error names every document that is missing or fails, and every
// file of an unknown kind.
func New(c Config) (*Site, error) {
	documents := map[string]bool{}
	for _, name := range c.Documents {
		documents[name] = true
	}
	contents, problems := map[string][]byte{}, []error(nil)
	if c.Files != nil {
		err := fs.WalkDir(c.Files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			contents[name], err = fs.ReadFile(c.Files, name)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("site: reading the files: %w", err)
		}
	}
	maps.Copy(contents, c.Contents)
	assets := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		if kindOf(name) == "" {
			problems = append(problems, fmt.Errorf("site: got the file %s, allowed are .html, .css, .js, .json, "+
				".webmanifest, .svg, .png and .txt: rename it, or leave it out", name))
		}
		if !documents[name] {
			assets[name] = contents[name]
		}
	}
	s := &Site{prefix: cmp.Or(c.Prefix, Prefix), header: c.Header, notFound: c.NotFound,
		documents: map[string]*file{}, assets: map[string]*file{}}
	if s.notFound == nil {
		s.notFound = http.NotFoundHandler()
	}
	a := addresses{base: s.prefix + hashOf(assets) + "/", assets: assets}
	for name, content := range assets {
		s.assets[a.base+name] = newFile(name, content, "public, max-age=31536000, immutable")
	}
	made := map[string]*file{}
	for _, route := range slices.Sorted(maps.Keys(c.Documents)) {
		name := c.Documents[route]
		if made[name] == nil {
			content, ok := contents[name]
			if !ok {
				problems = append(problems, fmt.Errorf(
					"site: %s is to be the file %s, which is not there: add it, or correct the name", route, name))
				continue
			}
			filled, err := a.fill(name, string(content), c.Data)
			if err != nil {
				problems = append(problems, fmt.Errorf("site: filling in %s: %w", name, err))
				continue
			}
			made[name] = newFile(name, filled, "no-cache")
		}
		s.documents[route] = made[name]
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return s, nil
}

// Register adds the routes of the page to a mux, for GET alone, because an API of API Gateway has a route for each
// method.
func (s *Site) Register(mux *http.ServeMux) {
	for route, document := range s.documents {
		if route == "/" {
			route = "/{$}"
		}
		mux.HandleFunc("GET "+route, func(w http.ResponseWriter, r *http.Request) {
			s.serve(w, r, document, http.StatusOK)
		})
	}
	mux.HandleFunc("GET "+s.prefix+"{path...}", func(w http.ResponseWriter, r *http.Request) {
		if asset := s.assets[r.URL.Path]; asset != nil {
			s.serve(w, r, asset, http.StatusOK)
			return
		}
		s.notFound.ServeHTTP(w, r)
	})
}

// Answer writes the document of a path of [Config.Documents] with a status, such as 404 for an address that the page
// does not have. Browsers keep the answer only if the status is 200. It panics if the page has no such document.
func (s *Site) Answer(w http.ResponseWriter, r *http.Request, path string, status int) {
	s.serve(w, r, s.documents[path], status)
}

func (s *Site) serve(w http.ResponseWriter, r *http.Request, f *file, status int) {
	header := w.Header()
	for name, values := range s.header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	header.Add("Vary", "Accept-Encoding")
	header.Set("Cache-Control", "no-store")
	if status == http.StatusOK {
		header.Set("Cache-Control", f.caching)
		header.Set("ETag", f.tag)
		if matches(r.Header.Get("If-None-Match"), f.tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	header.Set("Content-Type", f.kind)
	content := f.content
	for _, c := range codings {
		if takes(r.Header.Get("Accept-Encoding"), c.name) {
			if packed := f.packed[c.name](); packed != nil {
				header.Set("Content-Encoding", c.name)
				content = packed
			}
			break
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	_, _ = w.Write(content)
}

// file is what is served.
type file struct {
	content            []byte
	kind, tag, caching string
	// packed returns the content in a coding, or nil where that saves nothing.
	packed map[string]func() []byte
}

// codings are the ways to compress, the best first.
var codings = []struct {
	name   string
	writer func(io.Writer) io.WriteCloser
}{
	// A higher level takes ten times as long in a function's share of a processor, and saves a few bytes in a hundred.
	{"br", func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 6) }},
	{"gzip", func(w io.Writer) io.WriteCloser { return must(gzip.NewWriterLevel(w, gzip.BestCompression)) }},
}

func must(w *gzip.Writer, err error) *gzip.Writer {
	if err != nil {
		panic(err) // the level is one of the package's
	}
	return w
}

func newFile(name string, content []byte, caching string) *file {
	f := &file{content: content, kind: kindOf(name), caching: caching}
	sum := sha256.Sum256(content)
	// The tag is weak, because it is the same for the compressed form, which has other bytes.
	f.tag = `W/"` + hex.EncodeToString(sum[:12]) + `"`
	f.packed = map[string]func() []byte{}
	for _, c := range codings {
		f.packed[c.name] = sync.OnceValue(func() []byte {
			if path.Ext(name) == ".png" {
				return nil
			}
			var packed bytes.Buffer
			w := c.writer(&packed)
			if _, err := w.Write(content); err != nil {
				panic(err) // a buffer takes everything
			}
			if err := w.Close(); err != nil {
				panic(err)
			}
			if packed.Len() >= len(content) {
				return nil
			}
			return packed.Bytes()
		})
	}
	return f
}

// kindOf does not use the machine's tables of types, which a function lacks.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".json":
		return "application/json"
	case ".webmanifest":
		return "application/manifest+json"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return ""
}

// hashOf names a set of files by their names and contents.
func hashOf(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%d %s %d ", len(name), name, len(files[name]))
		sum.Write(files[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

// addresses are the functions of the templates.
type addresses struct {
	base   string
	assets map[string][]byte
}

func (a addresses) fill(name, content string, data any) ([]byte, error) {
	functions := map[string]any{"asset": a.asset, "assets": a.matching, "json": asJSON}
	var filled bytes.Buffer
	if path.Ext(name) == ".html" {
		parsed, err := template.New(name).Funcs(functions).Parse(content)
		if err != nil {
			return nil, err
		}
		err = parsed.Execute(&filled, data)
		return filled.Bytes(), err
	}
	parsed, err := texttemplate.New(name).Funcs(functions).Parse(content)
	if err != nil {
		return nil, err
	}
	err = parsed.Execute(&filled, data)
	return filled.Bytes(), err
}

func asJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

func (a addresses) asset(name string) (string, error) {
	if _, ok := a.assets[name]; !ok {
		return "", fmt.Errorf("there is no asset %s: correct the name", name)
	}
	return a.base + name, nil
}

func (a addresses) matching(pattern string) ([]string, error) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(a.assets)) {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, a.base+name)
		}
	}
	return all, nil
}

// matches reports whether a header If-None-Match has the tag (RFC 9110, section 13.1.2).
func matches(header, tag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		one = strings.TrimSpace(one)
		if one == "*" || cmp.Or(strings.TrimPrefix(one, "W/"), " ") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// takes reports whether a header Accept-Encoding names a coding, and does not refuse it by a weight of
// zero (RFC 9110, section 12.5.3).
func takes(header, name string) bool {
	for one := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), name) {
			continue
		}
		_, value, weighed := strings.Cut(strings.ReplaceAll(weight, " ", ""), "=")
		q, err := strconv.ParseFloat(value, 64)
		return !weighed || err == nil && q > 0
	}
	return false
}
