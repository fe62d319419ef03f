package todo

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// What the page and the form of a sign-in have.
var (
	settingsOfPage = regexp.MustCompile(`"signIn":(\{[^}]*\})`)
	formOfSignIn   = regexp.MustCompile(`(?s)<form[^>]* action="([^"]+)".*name="_csrf" value="([^"]+)"`)
)

// People reach the page at the address before the firewall, sign in, come back there, and use the API through it. The
// firewall calls the API by the API's own name.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	const people = "https://tasks.example.com"
	behind := onesynthtest.Suite{Platform: todo.With(todo.Parts{Page: true}), Construct: "Todo", App: "publicapp"}
	t.Cleanup(func() { behind.Close() })
	on := behind.OwnRun(t, run.Options{})
	api := must.Get(url.Parse(on.URL))(t)
	firewall := httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(api) }})
	t.Cleanup(firewall.Close)
	// The client takes this server for all names below example.com.
	browser := firewall.Client()
	browser.Jar = must.Get(cookiejar.New(nil))(t)
	var back *url.URL
	browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), people) {
			back = r.URL
			return http.ErrUseLastResponse
		}
		return nil
	}
	read := func(reply *http.Response, err error) string {
		t.Helper()
		must.OK(t, err)
		defer reply.Body.Close()
		body := must.Get(io.ReadAll(reply.Body))(t)
		return string(body)
	}

	page := read(browser.Get(people + "/"))
	var settings struct{ URL, Client, Page string }
	if found := settingsOfPage.FindStringSubmatch(html.UnescapeString(page)); found == nil ||
		json.Unmarshal([]byte(found[1]), &settings) != nil || settings.Page != people+"/" {
		t.Fatalf("the page says of the sign-in %v: %s", settings, page)
	}
	proof := strings.Repeat("proof", 10)
	challenge := sha256.Sum256([]byte(proof))
	form := read(browser.Get(settings.URL + "/oauth2/authorize?" + url.Values{"response_type": {"code"},
		"client_id": {settings.Client}, "redirect_uri": {settings.Page}, "scope": {"openid email"}, "state": {"state"},
		"code_challenge_method": {"S256"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])},
	}.Encode()))
	fields := formOfSignIn.FindStringSubmatch(form)
	if fields == nil {
		t.Fatalf("there is no form to sign in: %s", form)
	}
	read(browser.PostForm(settings.URL+html.UnescapeString(fields[1]),
		url.Values{"_csrf": {fields[2]}, "username": {"ann"}}))
	if back == nil || back.Query().Get("code") == "" {
		t.Fatalf("the sign-in led to %v, want %s with a code", back, people)
	}
	// The page's script fetches the token from its own origin.
	grant := url.Values{"grant_type": {"authorization_code"}, "client_id": {settings.Client},
		"code": {back.Query().Get("code")}, "redirect_uri": {settings.Page}, "code_verifier": {proof}}
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, settings.URL+"/oauth2/token",
		strings.NewReader(grant.Encode())))(t)
	request.Header = http.Header{"Origin": {people}, "Content-Type": {"application/x-www-form-urlencoded"}}
	var tokens struct {
		Access string `json:"access_token"`
	}
	if answer := read(browser.Do(request)); json.Unmarshal([]byte(answer), &tokens) != nil || tokens.Access == "" {
		t.Fatalf("got no token, but %s", answer)
	}
	request = must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, people+"/api/v1/users/me",
		strings.NewReader(`{"email": "ann@example.com", "name": "Ann"}`)))(t)
	request.Header = http.Header{"Authorization": {"Bearer " + tokens.Access}, "Origin": {people},
		"Content-Type": {"application/json"}, "Idempotency-Key": {"user"}}
	if answer := read(browser.Do(request)); !strings.Contains(answer, `"name":"Ann"`) {
		t.Errorf("the API answered %s", answer)
	}
}
