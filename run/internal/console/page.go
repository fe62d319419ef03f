package console

// The page for people. Its scripts make it from the JSON that programs get.

import (
	"embed"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"strings"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/site"
)

//go:embed page
var files embed.FS

// pagePath is the address of the page itself. Its other files are below the same folder.
const pagePath = "/page/index.html"

// contentSecurityPolicy lets the page load its own files, and nothing else. Texts that strangers stored can start
// nothing.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src " +
	"'self' data:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types " +
	"'none'"

func newPage() *site.Site {
	own, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // the folder is in the binary
	}
	page, err := site.New(site.Config{
		Files: own, Documents: map[string]string{pagePath: "index.html"}, Prefix: "/page/",
		Header: http.Header{
			"Content-Security-Policy": {contentSecurityPolicy}, "X-Content-Type-Options": {"nosniff"},
			"Referrer-Policy": {"no-referrer"}, "Cross-Origin-Opener-Policy": {"same-origin"},
		},
		NotFound: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			writeJSON(w, http.StatusNotFound, map[string]string{"error": "the page has no file " + r.URL.Path})
		}),
	})
	if err != nil {
		panic(err) // so are the files
	}
	return page
}

// home answers people with the page, and programs with the list of what there is.
func (c *Console) home(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	if wantsPage(r.Header.Get("Accept")) {
		c.page.Answer(w, r, pagePath, http.StatusOK)
		return
	}
	c.answer(c.index)(w, r)
}

// nowhere answers requests that the console does not have: people with the page, which says so, and programs with an
// error.
func (c *Console) nowhere(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	if r.Method == http.MethodGet && wantsPage(r.Header.Get("Accept")) {
		c.page.Answer(w, r, pagePath, http.StatusNotFound)
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
