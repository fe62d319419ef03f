// Package webapptest checks the files of a page that package webapp serves.
package webapptest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Page is a page under test.
type Page struct {
	// API serves the page.
	API *kit.API
	// Home is the address of the first view. Default: "/".
	Home string
	// Modules are the folders of the modules that the page is made of.
	Modules []string
	// Budget limits the first view, in bytes as a browser receives them.
	Budget int
}

// Get returns the page's answer to a GET. header has names and values of headers, in turn.
func (p Page) Get(path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	p.API.ServeHTTP(w, r)
	return w
}

func (p Page) home() string { return cmp.Or(p.Home, "/") }

// assets begins the addresses of a page's assets.
const assets = `(?:/[\w-]+)*/assets/[0-9a-f]+/`

// Asset returns the address of an asset that the document names.
func (p Page) Asset(t *testing.T, name string) string {
	t.Helper()
	found := regexp.MustCompile(assets + regexp.QuoteMeta(name)).FindString(p.Get(p.home()).Body.String())
	if found == "" {
		t.Fatalf("the page does not name %s", name)
	}
	return found
}

// CheckRoutes checks that the page serves the routes that a platform declares for its function, and nothing else.
func (p Page) CheckRoutes(t *testing.T, routes []schema.Route, function string, unknown ...string) {
	t.Helper()
	served := 0
	for _, route := range routes {
		if route.Function != function {
			continue
		}
		served++
		if route.Path == "/{path+}" {
			w := p.Get("/no/such", "Accept", "text/html,*/*")
			if w.Code != http.StatusNotFound || w.Header().Get("Cache-Control") != "no-store" ||
				!strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
				t.Errorf("an address of nothing: got %d %v", w.Code, w.Header())
			}
			continue
		}
		path := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(route.Path, "x")
		if strings.HasSuffix(route.Path, "/assets/{path+}") {
			path = p.Asset(t, "page.css")
		}
		if w := p.Get(path); w.Code != http.StatusOK {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
	if served == 0 {
		t.Errorf("no route has the function %s", function)
	}
	for _, path := range append([]string{"/index.html", "/page.css", "/assets/", "/assets/old/app.js"}, unknown...) {
		w := p.Get(path)
		var body struct{ Message string }
		if err := json.Unmarshal(w.Body.Bytes(), &body); w.Code != http.StatusNotFound || err != nil ||
			body.Message == "" {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: got Cache-Control %q, want no-store", path, got)
		}
	}
}

// CheckHeaders checks that each answer has the security headers of package webapp: the page sends requests only to its
// own origin and to the hosts.
func (p Page) CheckHeaders(t *testing.T, hosts ...string) {
	t.Helper()
	for _, path := range []string{p.home(), p.Asset(t, "app.js")} {
		policy := p.Get(path).Header().Get("Content-Security-Policy")
		connect := "connect-src " + strings.Join(append([]string{"'self'"}, hosts...), " ") + ";"
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || !strings.Contains(policy, connect) {
			t.Errorf("%s: got the policy %q, want %q in it", path, policy, connect)
		}
	}
}

// CheckBudget checks the size of the first view: the document, its style, its modules and the longest texts.
func (p Page) CheckBudget(t *testing.T) {
	t.Helper()
	received := func(path string) int {
		w := p.Get(path, "Accept-Encoding", "br")
		if w.Code != http.StatusOK {
			t.Fatalf("%s: got %d", path, w.Code)
		}
		return w.Body.Len()
	}
	document := p.Get(p.home()).Body.String()
	sum, texts := received(p.home()), 0
	for _, path := range slices.Compact(slices.Sorted(
		slices.Values(regexp.MustCompile(assets+`[\w./-]+`).FindAllString(document, -1)))) {
		switch {
		case strings.Contains(path, "/texts/"):
			texts = max(texts, received(path))
		case !strings.Contains(path, "icon-"): // for a home screen
			sum += received(path)
		}
	}
	if sum += texts; sum > p.Budget || sum < 5_000 {
		t.Errorf("the first view has %d bytes, want %d at the most", sum, p.Budget)
	}
	t.Logf("the first view has %d bytes", sum)
}

// CheckIcons checks the icons of an installed page in a folder: they have the sizes of their names and 8 KiB at most,
// and fill their square, since some systems cut icons to shapes of their own.
func CheckIcons(t *testing.T, folder string) {
	t.Helper()
	for _, size := range []int{192, 512} {
		name := filepath.Join(folder, fmt.Sprintf("icon-%d.png", size))
		content := must.Get(os.ReadFile(name))(t)
		icon, err := png.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		opaque, ok := icon.(interface{ Opaque() bool })
		if icon.Bounds() != image.Rect(0, 0, size, size) || len(content) > 8<<10 || !ok || !opaque.Opaque() {
			t.Errorf("%s has %v and %d bytes, opaque: %t", name, icon.Bounds(), len(content), ok && opaque.Opaque())
		}
	}
}

// CheckTexts checks that each language has the same texts with the same values in them, that a module uses every text
// which begins with none of the prefixes, and that every text that a module names is there.
func (p Page) CheckTexts(t *testing.T, prefixes ...string) {
	t.Helper()
	document := p.Get(p.home()).Body.String()
	names := slices.Compact(slices.Sorted(slices.Values(
		regexp.MustCompile(assets+`texts/[\w-]+\.json`).FindAllString(document, -1))))
	if len(names) < 2 {
		t.Fatalf("got the texts %v", names)
	}
	english := p.texts(t, p.Asset(t, "texts/en.json"))
	for _, name := range names {
		texts := p.texts(t, name)
		for _, key := range slices.Sorted(maps.Keys(english)) {
			got, want := placeholders(texts[key]), placeholders(english[key])
			if texts[key] == nil || !slices.Equal(got, want) {
				t.Errorf("%s: %s has the values %v, want %v", name, key, got, want)
			}
		}
		for key := range texts {
			if english[key] == nil {
				t.Errorf("%s: %s is not in English", name, key)
			}
		}
	}
	source := p.source(t)
	// What is computed: a prefix and a value, with a suffix or none.
	computed := regexp.MustCompile("`([a-z]+\\.\\w*)\\$\\{[^}]+\\}(\\.\\w+)?`").FindAllSubmatch(source, -1)
	for _, key := range slices.Sorted(maps.Keys(english)) {
		used := key == "direction" || bytes.Contains(source, []byte("'"+key+"'")) ||
			slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) ||
			slices.ContainsFunc(computed, func(found [][]byte) bool {
				return strings.HasPrefix(key, string(found[1])) && strings.HasSuffix(key, string(found[2]))
			})
		if !used {
			t.Errorf("no module uses the text %s", key)
		}
	}
	for _, found := range regexp.MustCompile(`\bt\('([\w.]+)'`).FindAllSubmatch(source, -1) {
		if key := string(found[1]); english[key] == nil {
			t.Errorf("there is no text %s", key)
		}
	}
}

// CheckClasses checks that the page's styles give no class of the kit another meaning. A style of the kit's own class
// stands in the kit, or behind a class of the page.
func (p Page) CheckClasses(t *testing.T) {
	t.Helper()
	last := len(p.Modules) - 1
	kit := map[string]bool{}
	// A platform that was taken over has the kit's modules beside it. The kit's first style is in the document alone.
	first := firstStyle.FindSubmatch(p.Get(p.home()).Body.Bytes())
	if first == nil {
		t.Fatal("the document has no style")
	}
	own := must.Get(os.ReadFile(filepath.Join(p.Modules[last], "kit.css")))(t)
	for _, selector := range append(selectors(first[1]), selectors(own)...) {
		for _, class := range classes.FindAllString(selector, -1) {
			kit[class] = true
		}
	}
	for _, folder := range p.Modules[:last] {
		for _, selector := range selectors(must.Get(os.ReadFile(filepath.Join(folder, "page.css")))(t)) {
			if named := classes.FindAllString(selector, -1); len(named) == 1 && named[0] == selector && kit[selector] {
				t.Errorf("%s: %s is a class of the kit: choose another name", folder, selector)
			}
		}
	}
}

var (
	classes    = regexp.MustCompile(`\.[a-z][\w-]*`)
	comments   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	rules      = regexp.MustCompile(`([^{};]+)\{`)
	firstStyle = regexp.MustCompile(`(?s)<style[^>]*>(.*?)</style>`)
)

// selectors returns the selectors of a text of styles.
func selectors(text []byte) (all []string) {
	for _, rule := range rules.FindAllSubmatch(comments.ReplaceAll(text, nil), -1) {
		for selector := range strings.SplitSeq(string(rule[1]), ",") {
			all = append(all, strings.TrimSpace(selector))
		}
	}
	return all
}

// Run runs a script by Node.js, in a time zone far from UTC (Pacific/Auckland). If the script fails, the test fails
// with its output. Go runs the test again when the script, one of the files that it reads, or Node.js changes.
func Run(t *testing.T, script string, reads ...string) {
	t.Helper()
	_ = os.Getenv("ONESYNTH_TOOLS")
	for _, file := range append(reads, script) {
		must.Get(os.ReadFile(file))(t)
	}
	command := exec.CommandContext(t.Context(), "node", script)
	command.Env = append(os.Environ(), "TZ=Pacific/Auckland")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// CheckOperations checks that the file is the module of the operations of an OpenAPI document that have a tag, or
// writes it with the flag -update.
func CheckOperations(t *testing.T, file, document, tag string) {
	t.Helper()
	content := must.Get(os.ReadFile(document))(t)
	want := must.Get(webapp.Operations(content, tag))(t)
	if goldentest.Check(t, file, want); t.Failed() {
		t.Logf("%s follows from %s: after -update, go generate embeds it", file, document)
	}
}

// source is what the modules say.
func (p Page) source(t *testing.T) []byte {
	t.Helper()
	var source bytes.Buffer
	for _, folder := range p.Modules {
		names, err := filepath.Glob(filepath.Join(folder, "*.js"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: got the modules %v, %v", folder, names, err)
		}
		for _, name := range names {
			source.Write(must.Get(os.ReadFile(name))(t))
		}
	}
	return source.Bytes()
}

// texts returns the forms of each text of a language.
func (p Page) texts(t *testing.T, address string) map[string][]string {
	t.Helper()
	var parsed map[string]any
	if err := json.Unmarshal(p.Get(address).Body.Bytes(), &parsed); err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	texts := map[string][]string{}
	for key, value := range parsed {
		switch value := value.(type) {
		case string:
			texts[key] = []string{value}
		case map[string]any:
			if value["other"] == nil {
				t.Errorf("%s: %s lacks the form other", address, key)
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
