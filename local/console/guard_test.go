package console_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/local/console"
)

// faultless has no faults, and takes any.
type faultless struct{ console.Cloud }

func (faultless) Faults() any            { return map[string]int{} }
func (faultless) SetFaults([]byte) error { return nil }

const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36"

func TestGuard(t *testing.T) {
	t.Parallel()
	c := console.New(console.Options{Cloud: faultless{}})
	own := map[string]string{"Origin": "http://localhost:8079", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "User-Agent": chrome}
	with := func(headers map[string]string, more ...string) map[string]string {
		all := map[string]string{}
		for name, value := range headers {
			all[name] = value
		}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	for name, test := range map[string]struct {
		method, host string
		headers      map[string]string
		status       int
	}{
		"Loopback":          {"GET", "127.0.0.1:8079", nil, 200},
		"Localhost":         {"GET", "localhost:8079", nil, 200},
		"IPv6":              {"GET", "[::1]:8079", nil, 200},
		"NoPort":            {"GET", "localhost", nil, 200},
		"Rebound":           {"GET", "evil.example:8079", nil, 403},
		"Subdomain":         {"GET", "localhost.evil.example", nil, 403},
		"NetworkAddress":    {"GET", "192.168.1.5:8079", nil, 403},
		"Wildcard":          {"GET", "0.0.0.0:8079", nil, 403},
		"OwnOrigin":         {"GET", "localhost:8079", own, 200},
		"ForeignOrigin":     {"GET", "localhost:8079", map[string]string{"Origin": "http://localhost:3000"}, 403},
		"OtherLoopbackName": {"GET", "localhost:8079", map[string]string{"Origin": "http://127.0.0.1:8079"}, 403},
		"OriginOfTLS":       {"GET", "localhost:8079", map[string]string{"Origin": "https://localhost:8079"}, 403},
		"OpaqueOrigin":      {"POST", "localhost:8079", map[string]string{"Origin": "null"}, 403},
		"Program":           {"POST", "localhost:8079", map[string]string{"User-Agent": "curl/8.5.0", "Content-Type": "application/x-www-form-urlencoded"}, 200},
		"OwnPost":           {"POST", "localhost:8079", with(own, "Content-Type", "application/json; charset=utf-8"), 200},
		"OwnFormPost":       {"POST", "localhost:8079", with(own, "Content-Type", "text/plain"), 403},
		"BrowserWithoutAll": {"POST", "localhost:8079", map[string]string{"User-Agent": chrome, "Content-Type": "text/plain"}, 403},
		"BrowserNoType":     {"POST", "localhost:8079", map[string]string{"User-Agent": chrome}, 403},
		"CrossSitePost":     {"POST", "localhost:8079", map[string]string{"Sec-Fetch-Site": "cross-site", "Content-Type": "application/json"}, 403},
		"SameSitePost":      {"POST", "localhost:8079", map[string]string{"Sec-Fetch-Site": "same-site", "Content-Type": "application/json"}, 403},
		"NavigatingPost":    {"POST", "localhost:8079", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Content-Type": "application/json"}, 403},
		"CrossSiteRead":     {"GET", "localhost:8079", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, 403},
		"SameSiteRead":      {"GET", "localhost:8079", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 403},
		"Framed":            {"GET", "localhost:8079", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403},
		"Followed":          {"GET", "localhost:8079", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200},
		"Typed":             {"GET", "localhost:8079", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "/"
			if test.method == "POST" {
				path = "/faults"
			}
			r := httptest.NewRequest(test.method, path, strings.NewReader("{}"))
			r.Host = test.host
			for name, value := range test.headers {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			c.ServeHTTP(w, r)
			if w.Code != test.status {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
}

// Programs get the list of what there is, and browsers the page.
func TestHome(t *testing.T) {
	t.Parallel()
	c := console.New(console.Options{})
	for accept, want := range map[string]string{
		"":                 "application/json",
		"*/*":              "application/json",
		"application/json": "application/json",
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8": "text/html; charset=utf-8",
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:8079/", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		if w.Code != 200 || w.Header().Get("Content-Type") != want || w.Header().Get("Vary") != "Accept" {
			t.Errorf("%q: got %d %v", accept, w.Code, w.Header())
		}
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	c := console.New(console.Options{})
	get := func(path, etag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:8079"+path, nil)
		r.Header.Set("If-None-Match", etag)
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		return w
	}
	for path, kind := range map[string]string{
		"/page/index.html": "text/html; charset=utf-8", "/page/page.css": "text/css; charset=utf-8",
		"/page/views/tables.js": "text/javascript; charset=utf-8", "/page/icon.svg": "image/svg+xml",
	} {
		w := get(path, "")
		header := w.Header()
		policy := header.Get("Content-Security-Policy")
		if w.Code != 200 || header.Get("Content-Type") != kind || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-cache" ||
			header.Get("Cross-Origin-Resource-Policy") != "same-origin" || header.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(policy, "default-src 'none'") ||
			!strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s: got %d %v", path, w.Code, header)
		}
		if strings.Contains(w.Body.String(), "innerHTML") {
			t.Errorf("%s writes HTML", path)
		}
		if again := get(path, header.Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s: got %d again", path, again.Code)
		}
	}
	for _, path := range []string{"/page/", "/page/none.js", "/page/../console.go", "/page/views"} {
		if w := get(path, ""); w.Code == 200 {
			t.Errorf("%s: got %d", path, w.Code)
		}
	}
}
