// Package page is the web page on which people answer. It is files that a browser runs: they read and
// write through the routes of people, on the page's own origin, and the function that serves them may do
// nothing else.
//
// modules/app.js says which view an address shows; a view is a module of its own. A browser gets all modules as one
// file, files/app.js, which go generate makes of them. files/texts has all texts that people read, a file
// for each language.
package page

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/site"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

//go:generate go run github.com/evanw/esbuild/cmd/esbuild@v0.25.0 modules/app.js --outfile=files/app.js --bundle --format=esm --target=es2022 --charset=utf8 --minify "--banner:js=// Made of ../modules by go generate."

//go:embed files
var files embed.FS

// Settings are what the page may offer. The zero value is a page without notifications and reports, which says nothing
// of points.
type Settings struct {
	// Firebase is the web app of a Firebase project. Nil: the page offers no notifications.
	Firebase *Firebase `json:"firebase,omitempty"`
	// Reports says that people can report a question.
	Reports bool `json:"reports,omitempty"`
	// Points are what actions earn, by the names of package askahuman, such as "text".
	Points map[string]int `json:"points,omitempty"`
}

// Firebase are the public settings of a web app, by the names that the Firebase console gives them.
type Firebase struct {
	APIKey    string `json:"apiKey"`
	ProjectID string `json:"projectId"`
	AppID     string `json:"appId"`
	VAPIDKey  string `json:"vapidKey"`
}

// ParseSettings reads the settings as JSON; empty text is the zero value. It refuses unknown fields.
func ParseSettings(text string) (Settings, error) {
	var s Settings
	if text == "" {
		return s, nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return Settings{}, fmt.Errorf("reading the settings of the page: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Settings{}, errors.New("reading the settings of the page: something follows them")
	}
	return s, nil
}

// documents are the files with an address of their own. The views share one: the page itself shows what
// the address names, so an installed page opens each of them without a network.
func documents() map[string]string {
	const shell = "index.html"
	return map[string]string{
		"/": shell, "/q/{question_id}": shell, "/me": shell, "/leaderboard": shell, "/settings": shell,
		"/manifest.webmanifest": "manifest.webmanifest", "/service-worker.js": "service-worker.js",
	}
}

// Where a browser becomes a device that Firebase Cloud Messaging knows.
const firebaseHosts = " https://firebaseinstallations.googleapis.com https://fcmregistrations.googleapis.com"

// header are the headers of each answer. Texts of strangers can start nothing: scripts and styles come
// from files alone, and a text never becomes markup (Trusted Types).
func (s Settings) header() http.Header {
	connect := "'self'"
	if s.Firebase != nil {
		connect += firebaseHosts
	}
	policy := []string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src " + connect,
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
		// The address of a question is for people whom it was shown to.
		"Referrer-Policy": {"no-referrer"},
		// A browser that knows no Content-Security-Policy.
		"X-Frame-Options": {"DENY"},
	}
}

// New returns the handler of the page's routes.
func New(s Settings) (*kit.API, error) {
	root, err := fs.Sub(files, "files")
	if err != nil {
		return nil, fmt.Errorf("the page: %w", err)
	}
	page, err := site.New(site.Config{
		Files: root, Documents: documents(), Data: s, Header: s.header(),
		NotFound: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			status, body := failure(context.Background(),
				validate.Refused(http.StatusNotFound, "path", validate.Constraint{},
					"the page has no such file: load the page again"))
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(body)
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("the page: %w", err)
	}
	mux := http.NewServeMux()
	page.Register(mux)
	return &kit.API{Routes: mux, Error: failure, Binary: true}, nil
}

// failure is an error in the form of the platform's API.
func failure(_ context.Context, err error) (int, any) {
	type body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	answer := func(status int, code, message string) (int, any) {
		return status, map[string]body{"error": {code, message}}
	}
	var refused *validate.Error
	if !errors.As(err, &refused) {
		return answer(http.StatusInternalServerError, "SERVER_ERROR", "something went wrong here: try again")
	}
	switch refused.Status {
	case http.StatusNotFound:
		return answer(refused.Status, "NOT_FOUND", refused.Error())
	case http.StatusMethodNotAllowed:
		return answer(refused.Status, "METHOD_NOT_ALLOWED", refused.Error())
	}
	return answer(http.StatusBadRequest, "VALIDATION_ERROR", refused.Error())
}
