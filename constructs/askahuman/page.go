package askahuman

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Firebase are the settings that a web app of a Firebase project shows to browsers. None is a secret.
// The Firebase console has all of them, in the project's settings: the first three below "Your apps", the
// last one below "Cloud Messaging", "Web Push certificates". Set all of them, or none.
type Firebase struct {
	// APIKey is the web app's apiKey, such as "AIzaSy…".
	APIKey string `json:"apiKey"`
	// ProjectID is the id of the project, such as "my-project".
	ProjectID string `json:"projectId"`
	// AppID is the web app's appId, such as "1:123456789012:web:0123456789abcdef".
	AppID string `json:"appId"`
	// VAPIDKey is the public key of the key pair, 87 characters of base64url that begin with "B".
	VAPIDKey string `json:"vapidKey"`
}

// What the Firebase console gives.
var (
	firebaseAPIKey  = regexp.MustCompile(`^[A-Za-z0-9_-]{20,100}$`)
	firebaseProject = regexp.MustCompile(`^[a-z][a-z0-9-]{4,28}[a-z0-9]$`)
	firebaseApp     = regexp.MustCompile(`^1:[0-9]{4,20}:web:[0-9a-f]{8,64}$`)
	vapidKey        = regexp.MustCompile(`^B[A-Za-z0-9_-]{86}$`)
)

// check adds a finding for each setting that is wrong; none at all is right.
func (f Firebase) check(found *finding.List, path string) {
	if f == (Firebase{}) {
		return
	}
	for _, setting := range []struct {
		name, got, allowed, remedy string
		pattern                    *regexp.Regexp
	}{
		{"APIKey", f.APIKey, "the apiKey of a web app, 20 to 100 letters, digits, _ and -",
			"copy it from the web app's settings in the Firebase console", firebaseAPIKey},
		{"ProjectID", f.ProjectID, "the id of a project, 6 to 30 lower-case letters, digits and -",
			"copy it from the project's settings in the Firebase console", firebaseProject},
		{"AppID", f.AppID, `the appId of a web app, such as "1:123456789012:web:0123456789abcdef"`,
			"copy it from the web app's settings in the Firebase console", firebaseApp},
		{"VAPIDKey", f.VAPIDKey, "the public key of a Web Push certificate, 87 characters that begin with B",
			"copy the key pair from Cloud Messaging in the Firebase console", vapidKey},
	} {
		if !setting.pattern.MatchString(setting.got) && !props.IsToken(setting.got) {
			found.Add(path+"."+setting.name, setting.got, setting.allowed, setting.remedy)
		}
	}
}

// Link is a page of whoever runs the page for people.
type Link struct {
	// Name is what people read, 1 to 40 characters, such as "Privacy".
	Name string `json:"name"`
	// URL is where it leads: an https or mailto URL of up to 300 bytes, or a path of the same site, such as "/privacy".
	URL string `json:"url"`
}

var linkURL = regexp.MustCompile(`^(https://[^\s<>"]+|mailto:[^\s<>"]+@[^\s<>"]+|/[^/\s<>"][^\s<>"]*)$`)

func (l Link) check(found *finding.List, path string) {
	if n := utf8.RuneCountInString(strings.TrimSpace(l.Name)); n < 1 || n > 40 {
		found.Add(path+".Name", l.Name, "1 to 40 characters", `write what people read, such as "Privacy"`)
	}
	if !props.IsToken(l.URL) && (len(l.URL) > 300 || !linkURL.MatchString(l.URL)) {
		found.Add(path+".URL", l.URL, "an https or mailto URL of up to 300 bytes, or a path that begins with one slash",
			`write it such as "https://example.com/privacy"`)
	}
}

// pageSettings is what the page may offer, for lambdas/askahuman/page.
func (p Props) pageSettings() string {
	settings := struct {
		Firebase *Firebase      `json:"firebase,omitempty"`
		Reports  bool           `json:"reports,omitempty"`
		Points   map[string]int `json:"points,omitempty"`
		Links    []Link         `json:"links,omitempty"`
	}{
		Firebase: props.Optional(p.Firebase), Points: p.rules().Points, Links: p.Links,
		// People can report a question where the API takes reports.
		Reports: !p.WithoutModeration,
	}
	text, err := json.Marshal(settings)
	if err != nil {
		// Texts, numbers and a Boolean always encode.
		panic(fmt.Sprintf("askahuman: encoding the page's settings: %v", err))
	}
	return string(text)
}
