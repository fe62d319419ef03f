package loopback_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/loopback"
)

const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36"

type header = map[string]string

// The columns are what a listener without pages, one with pages, and one that allows https://app.example take.
func TestGuard(t *testing.T) {
	t.Parallel()
	const local = "localhost:8079"
	guards := []loopback.Guard{
		{Listener: "it"},
		{Listener: "it", Pages: true},
		{Listener: "it", Pages: true, Allows: func(_ *http.Request, origin string) bool {
			return origin == "https://app.example"
		}},
	}
	own := header{"Origin": "http://localhost:8079", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors",
		"User-Agent": chrome}
	fetch := func(site, mode, destination string) header {
		return header{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": destination,
			"User-Agent": chrome}
	}
	from := func(origin string) header {
		h := maps.Clone(fetch("cross-site", "cors", "empty"))
		h["Origin"] = origin
		return h
	}
	for name, test := range map[string]struct {
		method, host string
		header       header
		taken        [3]bool
	}{
		"Loopback":       {"GET", "127.0.0.1:8079", nil, [3]bool{true, true, true}},
		"OtherLoopback":  {"GET", "127.1.2.3", nil, [3]bool{true, true, true}},
		"Localhost":      {"GET", local, nil, [3]bool{true, true, true}},
		"IPv6":           {"GET", "[::1]:8079", nil, [3]bool{true, true, true}},
		"NoPort":         {"GET", "localhost", nil, [3]bool{true, true, true}},
		"NoPortIPv6":     {"GET", "[::1]", nil, [3]bool{true, true, true}},
		"NoHost":         {"GET", "", nil, [3]bool{}},
		"Rebound":        {"GET", "evil.example:8079", nil, [3]bool{}},
		"ReboundAllowed": {"POST", "evil.example:8079", from("https://app.example"), [3]bool{}},
		"ReboundOwn":     {"POST", "evil.example:8079", header{"Origin": "http://evil.example:8079"}, [3]bool{}},
		"Subdomain":      {"GET", "localhost.evil.example", nil, [3]bool{}},
		"NetworkAddress": {"GET", "192.168.1.5:8079", nil, [3]bool{}},
		"Wildcard":       {"GET", "0.0.0.0:8079", nil, [3]bool{}},

		"Curl": {"POST", local, header{"User-Agent": "curl/8.5.0",
			"Content-Type": "application/x-www-form-urlencoded"}, [3]bool{true, true, true}},
		"Node": {"POST", local, header{"User-Agent": "node", "Accept": "*/*", "Accept-Language": "*",
			"Sec-Fetch-Mode": "cors"}, [3]bool{true, true, true}},
		"OldBrowser": {"GET", local, header{"User-Agent": chrome}, [3]bool{false, true, true}},

		"Own":               {"POST", local, own, [3]bool{false, true, true}},
		"OwnRead":           {"GET", local, fetch("same-origin", "cors", "empty"), [3]bool{false, true, true}},
		"OtherLoopbackName": {"GET", local, header{"Origin": "http://127.0.0.1:8079"}, [3]bool{}},
		"OtherPort":         {"GET", local, header{"Origin": "http://localhost:3000"}, [3]bool{}},
		"OriginOfTLS":       {"GET", local, header{"Origin": "https://localhost:8079"}, [3]bool{}},
		"Opaque":            {"POST", local, header{"Origin": "null"}, [3]bool{}},
		"Foreign":           {"POST", local, from("https://evil.example"), [3]bool{}},
		"Allowed":           {"POST", local, from("https://app.example"), [3]bool{false, false, true}},

		"CrossSitePost": {"POST", local, fetch("cross-site", "no-cors", "empty"), [3]bool{}},
		"SameSitePost":  {"POST", local, fetch("same-site", "no-cors", "empty"), [3]bool{}},
		"Form":          {"POST", local, fetch("same-site", "navigate", "document"), [3]bool{}},
		"Script":        {"GET", local, fetch("cross-site", "no-cors", "script"), [3]bool{}},
		"Image":         {"GET", local, fetch("same-site", "no-cors", "image"), [3]bool{}},
		"Frame":         {"GET", local, fetch("cross-site", "navigate", "iframe"), [3]bool{}},
		"Followed":      {"GET", local, fetch("cross-site", "navigate", "document"), [3]bool{false, true, true}},
		"Typed":         {"GET", local, fetch("none", "navigate", "document"), [3]bool{false, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, guard := range guards {
				r := httptest.NewRequest(test.method, "/", nil)
				r.Host = test.host
				for name, value := range test.header {
					r.Header.Set(name, value)
				}
				w := httptest.NewRecorder()
				guard.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(http.StatusNoContent)
				})).ServeHTTP(w, r)
				switch {
				case test.taken[i] && w.Code != http.StatusNoContent:
					t.Errorf("guard %d: got %d %s", i, w.Code, w.Body)
				case !test.taken[i] && (w.Code != http.StatusForbidden ||
					!strings.Contains(w.Body.String(), `"error":`) || !strings.Contains(w.Body.String(), "it")):
					t.Errorf("guard %d: got %d %s, want 403", i, w.Code, w.Body)
				}
			}
		})
	}
}

// A refusal says which headers decide.
func TestRefusalsNameTheHeader(t *testing.T) {
	t.Parallel()
	allows := func(*http.Request, string) bool { return false }
	for name, test := range map[string]struct {
		guard loopback.Guard
		host  string
		set   string
		want  []string
	}{
		"Host": {loopback.Guard{Listener: "the console", Pages: true}, "evil.example", "",
			[]string{"evil.example", "the console", "header Host"}},
		"Page": {loopback.Guard{Listener: "the console", Pages: true}, "localhost", "https://a.example",
			[]string{"https://a.example", "the console", "neither Origin nor Sec-Fetch-Site"}},
		"Closed": {loopback.Guard{Listener: "DynamoDB"}, "localhost", "https://a.example",
			[]string{"DynamoDB", "neither Origin nor Sec-Fetch-Site"}},
		"CORS": {loopback.Guard{Listener: "the API items", Pages: true, Allows: allows}, "localhost",
			"https://a.example", []string{"https://a.example", "the API items", "CORS configuration"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = test.host
			if test.set != "" {
				r.Header.Set("Origin", test.set)
			}
			w := httptest.NewRecorder()
			test.guard.Handler(nil).ServeHTTP(w, r)
			for _, want := range test.want {
				if !strings.Contains(w.Body.String(), want) {
					t.Errorf("got %s, want %q in it", w.Body, want)
				}
			}
		})
	}
}
