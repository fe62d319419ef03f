package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

const (
	image  = `<img src=x onerror=alert(1)>`
	script = `<script>alert(2)</script>`
)

// push sends a message to a device through the run's inbox, as a function would.
func push(t *testing.T, runner *run.Runner, device, title, body string) {
	t.Helper()
	text, err := runtest.Of(runner).ServiceAccount()
	if err != nil {
		t.Fatal(err)
	}
	var account struct {
		Email string `json:"client_email"`
		Key   string `json:"private_key"`
		URI   string `json:"token_uri"`
	}
	if err := json.Unmarshal([]byte(text), &account); err != nil {
		t.Fatal(err)
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(account.Key))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{
		"iss": account.Email, "aud": account.URI, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		"scope": "https://www.googleapis.com/auth/firebase.messaging",
	}).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.PostForm(account.URI,
		url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {signed}})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var token struct {
		Access string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&token); err != nil {
		t.Fatal(err)
	}
	message, err := json.Marshal(map[string]any{
		"message": map[string]any{"token": device, "notification": map[string]string{"title": title, "body": body},
			"data": map[string]string{"kind": "sample"}}})
	if err != nil {
		t.Fatal(err)
	}
	if status, err := call(t, http.MethodPost, runtest.Of(runner).PushURL()+"/v1/projects/local/messages:send",
		token.Access, string(message)); err != nil || status != http.StatusOK {
		t.Fatalf("got %d, %v", status, err)
	}
}

// What strangers stored is text, in every view.
func TestStrangersTexts(t *testing.T) {
	runner, _ := suite.Start(t)
	table := quietTables(t, runner)[0]
	put(t, runner, table, item(table, image, map[string]string{"note": script, image: "name"}))
	on := runtest.Of(runner)
	queue := on.Queues()[0]
	if err := errors.Join(on.Purge(queue), on.Send(queue, `{"text": "`+image+script+`"}`, nil)); err != nil {
		t.Fatal(err)
	}
	push(t, runner, "device-"+script, image, script)
	bucket := on.Buckets()[0]
	for key, content := range map[string]string{"strangers/" + image +
		".html": "<!doctype html><script>alert(3)</script>", "strangers/" + strings.Repeat("long", 60): "text"} {
		if err := on.PutObject(bucket, key, "text/html", []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	api := on.APIs()[0].URL
	if _, err := call(t, http.MethodGet, api+"/"+url.PathEscape(image+script), "", ""); err != nil {
		t.Fatal(err)
	}
	_, tab := open(t, "", browser.Options{})
	tab.Excuse("404") // an address that names nothing
	for _, one := range []struct{ view, sees string }{
		{tableView(table, "&partition="+url.QueryEscape(image)), image},
		{"#/queues/" + url.PathEscape(queue), image},
		{"#/push", image},
		{"#/buckets/" + url.PathEscape(bucket) + "?prefix=" + url.QueryEscape("strangers/"), image},
		{"#/requests", "onerror"},
		{"#/requests/" + newest(runner, "onerror").ID, "onerror"},
		{"#/requests?search=" + url.QueryEscape(image), ""},
		{"#/map?stack=" + url.QueryEscape(image), image},
		{"#/" + url.PathEscape(script), ""},
		{"#/tables/" + url.PathEscape(image), image},
		{itemView(t, table, image), image},
		{"#/user-pools", ""},
		{"#/parameters", ""},
		{"#/schedules/" + url.PathEscape(image), ""},
	} {
		goTo(tab, one.view)
		if one.sees != "" {
			tab.See(one.sees)
		}
		if made := browser.Evaluate[int](tab,
			"document.querySelectorAll('body script, img[src=\"x\"], main b').length"); made != 0 {
			t.Errorf("%s: %d elements were made of texts", one.view, made)
		}
	}
	goTo(tab, tableView(table, "&partition="+url.QueryEscape(image)))
	// A heading has the same name.
	browser.Evaluate[bool](tab, "document.querySelector('main tbody button').click(), true")
	tab.Until("document.querySelector('dialog[open]')")
	tab.Click("Close")
	goTo(tab, "#/buckets/"+url.PathEscape(bucket)+"?prefix="+url.QueryEscape("strangers/"))
	tab.Click(image + ".html")
	tab.See("alert(3)")
	tab.Click("Close")

	// An object is never a page at the console's origin.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		runner.ConsoleURL()+"/buckets/"+bucket+"/objects/"+url.PathEscape("strangers/"+image+".html"), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _ = response.Body.Close(); response.StatusCode != 200 ||
		response.Header.Get("Content-Type") != "application/octet-stream" ||
		response.Header.Get("Content-Disposition") != "attachment" {
		t.Errorf("got %s %v", response.Status, response.Header)
	}
}
