package page

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp/webapptest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

const firebase = `{"firebase":{"apiKey":"key\"<&","projectId":"p","appId":"a","vapidKey":"v"},"reports":true}`

// with returns the page as it is with the settings.
func with(t *testing.T, settings string) webapptest.Page {
	t.Helper()
	parsed := must.Get(ParseSettings(settings))(t)
	api := must.Get(New(parsed))(t)
	return webapptest.Page{API: api, Modules: []string{"modules", "../../kit/webapp/modules"}, Budget: 31_000}
}

// What any page holds, this one holds, with Firebase and without.
func TestPage(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(t *testing.T, p webapptest.Page){
		"routes": func(t *testing.T, p webapptest.Page) {
			p.CheckRoutes(t, askahuman.Platform().Routes, "webpage", "/q/", "/q/a/b", "/human/questions")
		},
		"budget":  func(t *testing.T, p webapptest.Page) { p.CheckBudget(t) },
		"icons":   func(t *testing.T, _ webapptest.Page) { webapptest.CheckIcons(t, "files") },
		"texts":   func(t *testing.T, p webapptest.Page) { p.CheckTexts(t) },
		"classes": func(t *testing.T, p webapptest.Page) { p.CheckClasses(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, with(t, firebase))
		})
	}
	with(t, "").CheckHeaders(t)
	with(t, firebase).CheckHeaders(t, "https://firebaseinstallations.googleapis.com",
		"https://fcmregistrations.googleapis.com")
	// A page that has the inbox of a local run asks no service of Google.
	with(t, `{"inbox":"http://127.0.0.1:1","firebase":{"apiKey":"a"}}`).CheckHeaders(t, "http://127.0.0.1:1")
}

// The page calls the API by the operations of its document.
func TestOperations(t *testing.T) {
	t.Parallel()
	webapptest.CheckOperations(t, "modules/operations.js", "../api/testdata/openapi-header.json", "people")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	// The document has them as an attribute, in which no text ends the attribute.
	if got, want := with(t, firebase).Get("/").Body.String(),
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
