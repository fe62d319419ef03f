package site_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/site"
)

var long = strings.Repeat("/* a long comment */\n", 100)

func files() fstest.MapFS {
	all := fstest.MapFS{}
	for name, content := range map[string]string{
		"index.html": `<html data-settings="{{json .}}"><script src="{{asset "app.js"}}"></script></html>`,
		"worker.js":  `const all = {{json (assets "*.js")}};`,
		"app.js":     "import './b/c.js';\n" + long,
		"b/c.js":     "import '../later.js';",
		"later.js":   "export default 1;",
		"icon.png":   long,
		"tiny.css":   "a{}",
	} {
		all[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return all
}

var documents = map[string]string{"/": "index.html", "/q/{id}": "index.html", "/worker.js": "worker.js"}

// serve returns what a page answers to a request.
func serve(t *testing.T, c site.Config) func(path string, header ...string) *http.Response {
	t.Helper()
	page := must.Get(site.New(c))(t)
	mux := http.NewServeMux()
	page.Register(mux)
	return func(path string, header ...string) *http.Response {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w.Result()
	}
}

func text(t *testing.T, r io.Reader) string {
	t.Helper()
	return string(must.Get(io.ReadAll(r))(t))
}

func config() site.Config {
	return site.Config{
		Files: files(), Documents: documents, Data: map[string]string{"key": `a"b`},
		Header: http.Header{"Content-Security-Policy": {"default-src 'none'"}},
	}
}

var base = regexp.MustCompile(`/assets/[0-9a-f]{20}/`)

func TestDocuments(t *testing.T) {
	t.Parallel()
	get := serve(t, config())
	response := get("/")
	content := text(t, response.Body)
	hash := base.FindString(content)
	want := `<html data-settings="{&#34;key&#34;:&#34;a\&#34;b&#34;}"><script src="` + hash +
		`app.js"></script></html>`
	if hash == "" || content != want {
		t.Errorf("got\n%s\nwant\n%s", content, want)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache",
		"Content-Security-Policy": "default-src 'none'", "Vary": "Accept-Encoding",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := text(t, get("/q/x").Body); got != content {
		t.Errorf("another route of the document has %s", got)
	}
	if got, want := text(t, get("/worker.js").Body),
		`const all = ["`+hash+`app.js","`+hash+`later.js"];`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, path := range []string{"/other", "/index.html", "/assets/", hash + "index.html",
		"/assets/0123456789/app.js"} {
		if response := get(path); response.StatusCode != http.StatusNotFound ||
			strings.Contains(response.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: got %d with %v", path, response.StatusCode, response.Header)
		}
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	get := serve(t, config())
	hash := base.FindString(text(t, get("/").Body))
	for name, kind := range map[string]string{"app.js": "text/javascript; charset=utf-8", "icon.png": "image/png",
		"tiny.css": "text/css; charset=utf-8"} {
		response := get(hash+name, "Accept-Encoding", "gzip")
		if got := response.Header.Get("Cache-Control"); response.StatusCode != http.StatusOK ||
			got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: got %d with Cache-Control %q", name, response.StatusCode, got)
		}
		if got := response.Header.Get("Content-Type"); got != kind {
			t.Errorf("%s: got %s, want %s", name, got, kind)
		}
		var body io.Reader = response.Body
		// A picture is compressed already, and a short text would get longer.
		packed := name == "app.js"
		if got := response.Header.Get("Content-Encoding") == "gzip"; got != packed {
			t.Errorf("%s: compressed: got %v, want %v", name, got, packed)
		} else if packed {
			body = must.Get(gzip.NewReader(body))(t)
		}
		if got, want := text(t, body), string(files()[name].Data); got != want {
			t.Errorf("%s: got %.60s, want %.60s", name, got, want)
		}
	}
	changed := config()
	changed.Files.(fstest.MapFS)["later.js"].Data = []byte("export default 2;")
	if next := base.FindString(text(t, serve(t, changed)("/").Body)); next == hash {
		t.Error("a changed asset leaves the addresses of all as they were")
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	get := serve(t, config())
	tag := get("/").Header.Get("ETag")
	for header, want := range map[string]int{
		"": 200, `"other"`: 200, `W/`: 200, tag: 304, strings.TrimPrefix(tag, "W/"): 304, `"other" , ` + tag: 304,
		"*": 304,
	} {
		response := get("/", "If-None-Match", header)
		if response.StatusCode != want {
			t.Errorf("If-None-Match %s: got %d, want %d", header, response.StatusCode, want)
		}
		if response.StatusCode == http.StatusNotModified &&
			(response.Header.Get("ETag") != tag || response.Header.Get("Cache-Control") == "" ||
				text(t, response.Body) != "") {
			t.Errorf("got 304 with %v", response.Header)
		}
	}
	hash := base.FindString(text(t, get("/").Body))
	for header, want := range map[string]string{
		"": "", "identity": "", "br": "br", "gzip, br": "br", "br;q=0, gzip": "gzip", "gzip;q=0": "",
		"gzip; q=0.0, br": "br", "gzip": "gzip", "deflate, GZIP;q=0.5": "gzip", "gzip;q=x": "",
	} {
		response := get(hash+"app.js", "Accept-Encoding", header)
		if got := response.Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %q: got %q, want %q", header, got, want)
		} else if got == "br" && text(t, brotli.NewReader(response.Body)) != string(files()["app.js"].Data) {
			t.Errorf("Accept-Encoding %q: the unpacked text is another one", header)
		}
	}
}

// A document with another status than 200 is whole for every browser, and kept by none.
func TestAnswer(t *testing.T) {
	t.Parallel()
	page := must.Get(site.New(config()))(t)
	r := httptest.NewRequest(http.MethodGet, "/nowhere", nil)
	r.Header.Set("If-None-Match", "*")
	w := httptest.NewRecorder()
	page.Answer(w, r, "/", http.StatusNotFound)
	if header := w.Header(); w.Code != http.StatusNotFound || header.Get("Cache-Control") != "no-store" ||
		header.Get("ETag") != "" || header.Get("Content-Security-Policy") == "" ||
		!strings.Contains(w.Body.String(), "<script") {
		t.Errorf("got %d %v %s", w.Code, header, w.Body)
	}
}

func TestNewErr(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, content, want string }{
		"Kind":       {"a.exe", "x", "a.exe"},
		"Template":   {"index.html", "{{", "index.html"},
		"NoAsset":    {"worker.js", `{{asset "b.js"}}`, "b.js"},
		"BadPattern": {"worker.js", `{{assets "["}}`, "worker.js"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config()
			c.Files.(fstest.MapFS)[test.file] = &fstest.MapFile{Data: []byte(test.content)}
			if _, err := site.New(c); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, which does not name %s", err, test.want)
			}
		})
	}
	c := config()
	c.Documents = map[string]string{"/": "gone.html", "/b": "none.html"}
	if _, err := site.New(c); err == nil || !strings.Contains(err.Error(), "gone.html") ||
		!strings.Contains(err.Error(), "none.html") {
		t.Errorf("got %v, want both documents that are missing", err)
	}
}
