package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

const firebase = `{"firebase":{"apiKey":"key\"<&","projectId":"p","appId":"a","vapidKey":"v"},"reports":true}`

// serve returns what the page answers to a request.
func serve(t *testing.T, settings string) func(path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	parsed, err := ParseSettings(settings)
	if err != nil {
		t.Fatal(err)
	}
	api, err := New(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return func(path string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		return w
	}
}

// The page serves the routes that the schema declares, and no others.
func TestRoutes(t *testing.T) {
	t.Parallel()
	get := serve(t, "")
	served := 0
	for _, route := range askahuman.Platform().Routes {
		if route.Function != "webpage" {
			continue
		}
		served++
		path := strings.ReplaceAll(route.Path, "{question_id}", "x")
		if route.Path == "/assets/{path+}" {
			path = asset(t, get, "page.css")
		}
		if w := get(path); w.Code != http.StatusOK {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
	if want := len(documents()) + 1; served != want {
		t.Errorf("the schema has %d routes of the page, want %d", served, want)
	}
	for _, path := range []string{"/q/", "/q/a/b", "/index.html", "/page.css", "/assets/", "/assets/old/app.js",
		"/human/questions"} {
		w := get(path)
		var body struct {
			Error struct{ Code, Message string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); w.Code != http.StatusNotFound || err != nil ||
			body.Error.Code != "NOT_FOUND" || body.Error.Message == "" {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: got Cache-Control %q, want no-store", path, got)
		}
	}
}

// asset returns the address of an asset.
func asset(t *testing.T, get func(string, ...string) *httptest.ResponseRecorder, name string) string {
	t.Helper()
	found := regexp.MustCompile(`/assets/[0-9a-f]+/` + regexp.QuoteMeta(name)).FindString(get("/").Body.String())
	if found == "" {
		t.Fatalf("the page does not name %s", name)
	}
	return found
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for settings, hosts := range map[string]bool{"": false, firebase: true} {
		get := serve(t, settings)
		for _, path := range []string{"/", "/service-worker.js", asset(t, get, "app.js")} {
			header := get(path).Header()
			policy := header.Get("Content-Security-Policy")
			for _, want := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'",
				"require-trusted-types-for 'script'"} {
				if !strings.Contains(policy, want) {
					t.Errorf("%s: the policy %q lacks %q", path, policy, want)
				}
			}
			if got := strings.Contains(policy, "googleapis.com"); got != hosts || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: with %s: got the policy %q", path, settings, policy)
			}
			for _, name := range []string{"Referrer-Policy", "Permissions-Policy", "Cross-Origin-Opener-Policy",
				"X-Content-Type-Options"} {
				if header.Get(name) == "" {
					t.Errorf("%s: there is no %s", path, name)
				}
			}
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	// The document has them as an attribute, in which no text ends the attribute.
	if got, want := serve(t, firebase)("/").Body.String(),
		`data-settings="{&#34;firebase&#34;:{&#34;apiKey&#34;:&#34;key\&#34;\u003c\u0026&#34;`; !strings.Contains(got,
		want) {
		t.Errorf("got %.300s, which lacks %s", got, want)
	}
	for _, wrong := range []string{"{", `{"fire":1}`, `{} {}`, "[]"} {
		if _, err := ParseSettings(wrong); err == nil {
			t.Errorf("%s: got no error", wrong)
		}
	}
}

// An error that no one foresaw says nothing of itself.
func TestFailure(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]int{
		io.ErrUnexpectedEOF: 500,
		validate.Refused(http.StatusMethodNotAllowed, "method", validate.Constraint{}, "x"): 405,
		validate.Refused(http.StatusBadRequest, "request", validate.Constraint{}, "x"):      400,
	} {
		status, body := failure(context.Background(), err)
		text, failed := json.Marshal(body)
		if status != want || failed != nil || strings.Contains(string(text), io.ErrUnexpectedEOF.Error()) {
			t.Errorf("%v: got %d %s", err, status, text)
		}
	}
}

// budget is the most that the first view may take, in bytes as a browser receives them.
const budget = 60_000

// The first view is the document, its style, the modules that it needs and the longest texts.
func TestBudget(t *testing.T) {
	t.Parallel()
	get := serve(t, firebase)
	received := func(path string) int {
		w := get(path, "Accept-Encoding", "br")
		if w.Code != http.StatusOK {
			t.Fatalf("%s: got %d", path, w.Code)
		}
		return w.Body.Len()
	}
	document := get("/").Body.String()
	sum, texts := received("/"), 0
	for _, path := range slices.Compact(slices.Sorted(
		slices.Values(regexp.MustCompile(`/assets/[0-9a-f]+/[\w./-]+`).FindAllString(document, -1)))) {
		switch {
		case strings.Contains(path, "/texts/"):
			texts = max(texts, received(path))
		case !strings.Contains(path, "icon-"): // for a home screen
			sum += received(path)
		}
	}
	if sum += texts; sum > budget || sum < 10_000 {
		t.Errorf("the first view has %d bytes, want %d at the most", sum, budget)
	}
	t.Logf("the first view has %d bytes", sum)
}

// Each language has the same texts, with the same values in them.
func TestTexts(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(files, "files/texts/*.json")
	if err != nil || len(names) < 2 {
		t.Fatalf("got %v, %v", names, err)
	}
	english := readTexts(t, "files/texts/en.json")
	for _, name := range names {
		texts := readTexts(t, name)
		for _, key := range slices.Sorted(maps.Keys(english)) {
			if got, want := placeholders(texts[key]),
				placeholders(english[key]); texts[key] == nil || !slices.Equal(got, want) {
				t.Errorf("%s: %s has the values %v, want %v", name, key, got, want)
			}
		}
		for key := range texts {
			if english[key] == nil {
				t.Errorf("%s: %s is not in English", name, key)
			}
		}
	}
}

// readTexts returns the forms of each text of a language.
func readTexts(t *testing.T, name string) map[string][]string {
	t.Helper()
	content, err := files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var parsed map[string]any
	if err := json.Unmarshal(content, &parsed); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	texts := map[string][]string{}
	for key, value := range parsed {
		switch value := value.(type) {
		case string:
			texts[key] = []string{value}
		case map[string]any:
			if value["other"] == nil {
				t.Errorf("%s: %s lacks the form other", name, key)
			}
			for _, form := range value {
				texts[key] = append(texts[key], form.(string))
			}
		}
	}
	return texts
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

func placeholders(forms []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(placeholder.FindAllString(strings.Join(forms, " "), -1))))
}

// Every text that a module names is there, and every text is named.
func TestTextsAreUsed(t *testing.T) {
	t.Parallel()
	texts := readTexts(t, "files/texts/en.json")
	names, err := filepath.Glob("modules/*.js")
	if err != nil || len(names) == 0 {
		t.Fatalf("got the modules %v, %v", names, err)
	}
	var source bytes.Buffer
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(content)
	}
	// What is computed: a prefix and a value, with a suffix or none.
	computed := regexp.MustCompile("`([a-z]+\\.\\w*)\\$\\{[^}]+\\}(\\.\\w+)?`").FindAllSubmatch(source.Bytes(), -1)
	used := func(key string) bool {
		return bytes.Contains(source.Bytes(), []byte("'"+key+"'")) ||
			slices.ContainsFunc(computed, func(found [][]byte) bool {
				return strings.HasPrefix(key, string(found[1])) && strings.HasSuffix(key, string(found[2]))
			})
	}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if !used(key) && key != "direction" {
			t.Errorf("no module uses the text %s", key)
		}
	}
	for _, found := range regexp.MustCompile(`\bt\('([\w.]+)'`).FindAllSubmatch(source.Bytes(), -1) {
		if key := string(found[1]); texts[key] == nil {
			t.Errorf("there is no text %s", key)
		}
	}
}

// What a browser gets compressed is what it gets plain.
func TestCompressed(t *testing.T) {
	t.Parallel()
	get := serve(t, "")
	for accepted, open := range map[string]func(io.Reader) (io.Reader, error){
		"gzip":     func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"gzip, br": func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	} {
		w := get("/", "Accept-Encoding", accepted)
		unpacked, err := open(w.Body)
		if err != nil || w.Header().Get("Content-Encoding") == "" {
			t.Fatalf("%s: got %v, %v", accepted, w.Header(), err)
		}
		if content, err := io.ReadAll(unpacked); err != nil || string(content) != get("/").Body.String() {
			t.Errorf("%s: got %.100s, %v", accepted, content, err)
		}
	}
}
