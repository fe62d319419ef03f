// Package webapp serves a web page whose views a browser draws, such as Ask-a-Human's. A platform's page is a folder
// of files; what any such page needs is here: the document, the service worker, the headers, the modules that
// a page's own modules import (folder modules), and the texts that belong to those (folder files/texts).
//
// A page's own files are app.js and page.css, which go generate makes of the page's modules and of these,
// texts/<language>.json, icon.svg, and, if people can install the page, manifest.webmanifest with its icons. A text of
// the page replaces the one of the same name here. service-worker.js, if the page has one, follows the worker of this
// package.
package webapp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/site"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

//go:embed files
var own embed.FS

// Config describes a page.
type Config struct {
	// Name is the page's name, and Description its purpose in a sentence.
	Name, Description string
	// Key begins the names under which the page stores values in a browser, such as "ask-a-human".
	Key string
	// Home is the address of the first view. The assets are below it, as in "/operator/assets/". Default: "/".
	Home string
	// Views are the addresses of the other views, as http.ServeMux has them, such as "/q/{question_id}".
	Views []string
	// Files has the page's own files in the folder files.
	Files fs.FS
	// Settings are the page's settings, which its modules read; they go to browsers as JSON. Default: none.
	Settings any
	// Connect are further origins to which the page may send requests (connect-src), such as "https://example.com".
	// Default: none.
	Connect []string
}

// ParseSettings reads the settings of a page as JSON; empty text leaves them as they are. It refuses unknown fields.
func ParseSettings(text string, settings any) error {
	if text == "" {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(settings); err != nil {
		return fmt.Errorf("reading the settings of the page: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("reading the settings of the page: something follows them")
	}
	return nil
}

// document is what the templates get.
type document struct {
	Config
	// First is the style of the moment before page.css is there.
	First template.CSS
	// Manifest is the address of the manifest; empty if nobody can install the page.
	Manifest string
	// Pattern is a regular expression that matches the addresses of the views.
	Pattern string
}

const (
	shell    = "index.html"
	worker   = "service-worker.js"
	manifest = "manifest.webmanifest"
	first    = "first.css"
)

// New returns the handler of the page's routes: its views, "GET /assets/{path+}" below the first one, and, of a page
// with a manifest, the worker and the manifest beside that. A page at "/" also answers "GET /{path+}": a browser gets a
// view which says that there is no such page, and everyone else an error.
func New(c Config) (*kit.API, error) {
	c.Home = cmp.Or(c.Home, "/")
	files, err := withOwn(c.Files)
	if err != nil {
		return nil, fmt.Errorf("the page %s: %w", c.Name, err)
	}
	d := document{Config: c, First: template.CSS(files[first]), Pattern: pattern(append([]string{c.Home}, c.Views...))}
	delete(files, first)
	documents := map[string]string{c.Home: shell}
	for _, view := range c.Views {
		documents[view] = shell
	}
	if files[manifest] != nil {
		d.Manifest = path.Join(c.Home, manifest)
		documents[d.Manifest], documents[path.Join(c.Home, worker)] = manifest, worker
	} else {
		delete(files, worker)
	}
	page, err := site.New(site.Config{Contents: files, Documents: documents, Data: d, Header: c.header(d.First),
		Prefix: strings.TrimSuffix(c.Home, "/") + site.Prefix, NotFound: http.HandlerFunc(missing)})
	if err != nil {
		return nil, fmt.Errorf("the page %s: %w", c.Name, err)
	}
	mux := http.NewServeMux()
	page.Register(mux)
	if c.Home == "/" {
		mux.HandleFunc("GET /{path...}", func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.Header.Get("Accept"), "text/html") {
				refuse(w, http.StatusText(http.StatusNotFound))
				return
			}
			page.Answer(w, r, c.Home, http.StatusNotFound)
		})
	}
	return &kit.API{Routes: mux, Error: Failure, Binary: true}, nil
}

// withOwn returns the page's files with those of this package.
func withOwn(files fs.FS) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, whole := range []fs.FS{own, files} {
		from, err := fs.Sub(whole, "files")
		if err != nil {
			return nil, err
		}
		err = fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(from, name)
			if err != nil {
				return err
			}
			before := all[name]
			switch {
			case before == nil:
			case path.Dir(name) == "texts":
				if content, err = merged(before, content); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			case name == worker:
				content = slices.Concat(before, []byte("\n"), content)
			}
			all[name] = content
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// merged returns the texts of both files; those of the second replace those of the first.
func merged(general, special []byte) ([]byte, error) {
	texts := map[string]any{}
	for _, content := range [][]byte{general, special} {
		if err := json.Unmarshal(content, &texts); err != nil {
			return nil, err
		}
	}
	var all bytes.Buffer
	encoder := json.NewEncoder(&all)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(texts)
	return all.Bytes(), err
}

var parameter = regexp.MustCompile(`\\\{\w+\\\}`)

// pattern is the regular expression of the addresses of views, for JavaScript.
func pattern(views []string) string {
	all := slices.Clone(views)
	for i, view := range all {
		all[i] = parameter.ReplaceAllString(regexp.QuoteMeta(view), `[^/]+`)
	}
	return "^(" + strings.Join(all, "|") + ")$"
}

// header are the headers of each answer. Texts of strangers can start nothing: scripts come from files alone, styles
// from files and from the document's own, which its hash names, and a text never becomes markup (Trusted Types).
func (c Config) header(style template.CSS) http.Header {
	sum := sha256.Sum256([]byte(style))
	policy := []string{
		"default-src 'none'", "script-src 'self'",
		"style-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", "img-src 'self'",
		strings.Join(append([]string{"connect-src 'self'"}, c.Connect...), " "),
		"manifest-src 'self'", "worker-src 'self'",
		"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
		"trusted-types service-worker",
	}
	return http.Header{
		"Content-Security-Policy":      {strings.Join(policy, "; ")},
		"Cross-Origin-Opener-Policy":   {"same-origin"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Permissions-Policy": {"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), " +
			"usb=()"},
		// The address of a view is for people whom it was shown to.
		"Referrer-Policy": {"no-referrer"},
		// A browser that knows no Content-Security-Policy.
		"X-Frame-Options": {"DENY"},
	}
}

func missing(w http.ResponseWriter, _ *http.Request) {
	refuse(w, "there is no such file: load the page again")
}

func refuse(w http.ResponseWriter, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	content, _ := json.Marshal(refusal{message}) // a text always encodes
	_, _ = w.Write(content)
}

// refusal is an error in the form of API Gateway. A page is outside of the API's document, and at an address of nothing
// it answers in the gateway's place.
type refusal struct {
	Message string `json:"message"`
}

// Failure returns the status and the body of the answer to an error of a page's function, for [kit.API.Error]. It
// reveals only errors of the request.
func Failure(_ context.Context, err error) (int, any) {
	var refused *validate.Error
	if !errors.As(err, &refused) {
		return http.StatusInternalServerError, refusal{"something went wrong here: try again"}
	}
	status := refused.Status
	if status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
		status = http.StatusBadRequest
	}
	return status, refusal{refused.Error()}
}
