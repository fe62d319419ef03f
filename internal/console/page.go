package console

// The page for people. Its scripts make it from the JSON that programs get.

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed page
var files embed.FS

// asset is a file of the page.
type asset struct {
	content    []byte
	kind, etag string
}

// assets are the files of the page, by their paths below /page/.
type assets map[string]asset

// contentSecurityPolicy lets the page load its own files, and nothing else. Texts that strangers stored can start
// nothing.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src " +
	"'self' data:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types " +
	"'none'"

func readAssets() assets {
	all := assets{}
	err := fs.WalkDir(files, "page", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		sum := sha256.Sum256(content)
		all["/"+name] = asset{content, kindOf(name), `"` + hex.EncodeToString(sum[:8]) + `"`}
		return err
	})
	if err != nil {
		panic(err) // the files are in the binary
	}
	return all
}

// kindOf does not ask the machine's tables of types, which may have another for scripts.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}

// ServeHTTP serves a file of the page by its path.
func (a assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.serve(w, r, r.URL.Path, http.StatusOK)
}

// serve answers with a file and a status.
func (a assets) serve(w http.ResponseWriter, r *http.Request, name string, status int) {
	found, ok := a[name]
	if !ok {
		writeJSON(w, http.StatusNotFound, map[string]string{"error": "the page has no file " + name})
		return
	}
	header := w.Header()
	header.Set("Content-Type", found.kind)
	header.Set("ETag", found.etag)
	// The next version of the command may be another page at the same address.
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	if status == http.StatusOK && r.Header.Get("If-None-Match") == found.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(found.content)
}

// home answers people with the page, and programs with the list of what there is.
func (c *Console) home(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	if wantsPage(r.Header.Get("Accept")) {
		c.pages.serve(w, r, "/page/index.html", http.StatusOK)
		return
	}
	c.answer(c.index)(w, r)
}

// nowhere answers requests that the console does not have: people with the page, which says so, and programs with an
// error.
func (c *Console) nowhere(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	if r.Method == http.MethodGet && wantsPage(r.Header.Get("Accept")) {
		c.pages.serve(w, r, "/page/index.html", http.StatusNotFound)
		return
	}
	c.answer(func(r *http.Request) (any, error) {
		return nil, &Problem{http.StatusNotFound,
			fmt.Sprintf("no %s %s here: GET / lists what there is", r.Method, r.URL.Path)}
	})(w, r)
}

// wantsPage reports whether a request names HTML, as those of browsers do.
func wantsPage(accept string) bool {
	for kind := range strings.SplitSeq(accept, ",") {
		if media, _, err := mime.ParseMediaType(kind); err == nil && media == "text/html" {
			return true
		}
	}
	return false
}
