// Package page is the web page on which people answer. It is files that a browser runs: they read and
// write through the routes of people, on the page's own origin, and the function that serves them may do
// nothing else.
//
// modules/app.js names the views; each is a module of its own. What any page needs they import from package
// [webapp]. A browser gets all modules as one file, files/app.js, and all styles as files/page.css, which go
// generate makes of them. files/texts has the texts that people read, a file for each language.
package page

import (
	"embed"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
)

//go:generate go run github.com/evanw/esbuild/cmd/esbuild@v0.25.0 modules/app.js modules/page.css --outdir=files --bundle --format=esm --target=es2022 --charset=utf8 --minify "--banner:js=// Made of ../modules by go generate." "--banner:css=/* Made of ../modules by go generate. */"

//go:embed files
var files embed.FS

// Settings are what the page may offer. The zero value is a page without notifications and reports, which says nothing
// of points.
type Settings struct {
	// Firebase is the web app of a Firebase project. Nil: the page offers no notifications.
	Firebase *Firebase `json:"firebase,omitempty"`
	// Inbox is the address of a local run's push inbox. The page gets notifications from there while it is open, and
	// none of Firebase. Default: none.
	Inbox string `json:"inbox,omitempty"`
	// Reports says that people can report a question.
	Reports bool `json:"reports,omitempty"`
	// Points are what actions earn, by the names of package askahuman, such as "text".
	Points map[string]int `json:"points,omitempty"`
	// Links are the operator's, such as to an imprint. They stand at the foot of each view.
	Links []Link `json:"links,omitempty"`
}

// InboxVariable is the environment variable with [Settings].Inbox. Only a local run sets it.
const InboxVariable = "ONESYNTH_LOOPBACK_PUSH"

// Link is a page of the operator.
type Link struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Firebase are the public settings of a web app, by the names that the Firebase console gives them.
type Firebase struct {
	APIKey    string `json:"apiKey"`
	ProjectID string `json:"projectId"`
	AppID     string `json:"appId"`
	VAPIDKey  string `json:"vapidKey"`
}

// ParseSettings reads the settings as JSON; empty text is the zero value. It refuses unknown fields.
func ParseSettings(text string) (s Settings, err error) {
	err = webapp.ParseSettings(text, &s)
	return s, err
}

// New returns the handler of the page's routes.
func New(s Settings) (*kit.API, error) {
	c := webapp.Config{
		Name: "Ask-a-Human", Description: "AI agents ask. People answer, without an account.", Key: "ask-a-human",
		Views: []string{"/q/{question_id}", "/me", "/answers", "/leaderboard", "/settings"},
		Files: files, Settings: s,
	}
	switch {
	case s.Inbox != "":
		c.Connect = []string{s.Inbox}
	case s.Firebase != nil:
		// Where a browser becomes a device that Firebase Cloud Messaging knows.
		c.Connect = []string{"https://firebaseinstallations.googleapis.com", "https://fcmregistrations.googleapis.com"}
	}
	return webapp.New(c)
}
