package cognito_test

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
	"github.com/onesynth-cdk/onesynth/run/internal/services/cognito"
)

const (
	callback = "http://127.0.0.1:8080/operator?from=sign-in"
	leaving  = "http://127.0.0.1:8080/operator"
)

// people loads a pool with two groups. Of its clients, Page is for a page, App is an app's whose refresh tokens do not
// rotate, Secret has a secret, Job is a program's, and the pool of Hidden has no domain.
func people(t testing.TB) *assembly.Assembly {
	t.Helper()
	return assemblytest.LoadFile(t, "testdata/people.json", "CALLBACK", callback, "LEAVING", leaving, `"PERMISSION": 0`,
		permission)
}

// browser is one that keeps cookies, and does not follow redirects.
type browser struct {
	http.Client
	t      testing.TB
	issuer *apigateway.Issuer
	a      *assembly.Assembly
}

const address = "http://127.0.0.1:8079"

func newBrowser(t testing.TB) (*browser, *function) {
	t.Helper()
	a, f := people(t), &function{answer: takes}
	issuer := apigateway.NewIssuer("")
	read := must.Get(cognito.New(a, cognito.Options{Functions: f, Tokens: issuer}))(t)
	return browserOf(t, a, read, issuer), f
}

func browserOf(t testing.TB, a *assembly.Assembly, of *cognito.Pools, issuer *apigateway.Issuer) *browser {
	t.Helper()
	return &browser{t: t, issuer: issuer, a: a, Client: http.Client{
		Transport: direct{of.Endpoints()}, Jar: must.Get(cookiejar.New(nil))(t),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// direct hands requests to a handler, without a connection.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

type answer struct {
	status   int
	location *url.URL
	body     string
	header   http.Header
}

func (b *browser) send(r *http.Request) answer {
	b.t.Helper()
	r.RequestURI = "" // that of a server's request
	got := must.Get(b.Do(r))(b.t)
	text := must.Get(io.ReadAll(got.Body))(b.t)
	location := must.Get(url.Parse(got.Header.Get("Location")))(b.t)
	return answer{got.StatusCode, location, string(text), got.Header}
}

func (b *browser) get(target string) answer {
	b.t.Helper()
	return b.send(httptest.NewRequest(http.MethodGet, address+target, nil))
}

func (b *browser) post(target string, form url.Values) answer {
	b.t.Helper()
	r := httptest.NewRequest(http.MethodPost, address+target, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.send(r)
}

func (b *browser) client(id string) string { return refOf(b.a, id) }

const proof = "a-verifier-of-43-characters-at-the-very-least"

// query is one that signs in at the client Page, with changes; an empty text leaves a parameter out.
func (b *browser) query(changes map[string]string) string {
	query := url.Values{"response_type": {"code"}, "client_id": {b.client("Page")}, "redirect_uri": {callback},
		"scope": {"openid email"}, "state": {"s t"}, "nonce": {"n"}, "code_challenge_method": {"S256"},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(proof)}}
	return "?" + changed(query, changes).Encode()
}

func changed(form url.Values, changes map[string]string) url.Values {
	for name, value := range changes {
		if form.Set(name, value); value == "" {
			form.Del(name)
		}
	}
	return form
}

var (
	action = regexp.MustCompile(`action="([^"]*)"`)
	stamp  = regexp.MustCompile(`name="_csrf" value="([^"]*)"`)
)

// fill sends the form to sign in that the answer has.
func (b *browser) fill(shown answer, name string, groups ...string) answer {
	b.t.Helper()
	to, own := action.FindStringSubmatch(shown.body), stamp.FindStringSubmatch(shown.body)
	if to == nil || own == nil {
		b.t.Fatalf("no form in %d %s", shown.status, shown.body)
	}
	return b.post(html.UnescapeString(to[1]), url.Values{"_csrf": {own[1]}, "username": {name}, "group": groups})
}

// code signs a user in, and returns a code for the client of the query.
func (b *browser) code(query string) string {
	b.t.Helper()
	got := b.get("/oauth2/authorize" + query)
	if got.location.Path == "/login" {
		got = b.fill(b.get(got.location.String()), "olga", "operators")
	}
	code := got.location.Query().Get("code")
	if code == "" {
		b.t.Fatalf("no code in %d %s %s", got.status, got.location, got.body)
	}
	return code
}

// exchange exchanges the code, with changes as those of query.
func (b *browser) exchange(code string, changes map[string]string) answer {
	b.t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {b.client("Page")}, "code": {code},
		"redirect_uri": {callback}, "code_verifier": {proof}}
	return b.post("/oauth2/token", changed(form, changes))
}

// tokens are those of an answer that has some.
func tokens(t testing.TB, got answer) map[string]any {
	t.Helper()
	var read map[string]any
	if err := json.Unmarshal([]byte(got.body), &read); err != nil || got.status != 200 {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	return read
}

func (b *browser) refresh(token any) answer {
	b.t.Helper()
	return b.post("/oauth2/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {b.client("Page")},
		"refresh_token": {token.(string)}})
}

func (b *browser) claims(token any) jwt.MapClaims {
	b.t.Helper()
	claims := jwt.MapClaims{}
	if _, err := jwt.ParseWithClaims(token.(string), claims, func(read *jwt.Token) (any, error) {
		return b.issuer.PublicKey("", read.Header["kid"].(string))
	}); err != nil {
		b.t.Fatal(err)
	}
	return claims
}

// golang.org/x/oauth2 signs someone in at the endpoints, and stays signed in.
func TestOAuth2Client(t *testing.T) {
	t.Parallel()
	b, f := newBrowser(t)
	ctx := context.WithValue(t.Context(), oauth2.HTTPClient, &http.Client{Transport: b.Transport})
	config := oauth2.Config{ClientID: b.client("Page"), RedirectURL: callback, Scopes: []string{"openid", "email"},
		Endpoint: oauth2.Endpoint{AuthURL: address + "/oauth2/authorize", TokenURL: address + "/oauth2/token",
			AuthStyle: oauth2.AuthStyleInParams}}
	to := must.Get(url.Parse(config.AuthCodeURL("state", oauth2.S256ChallengeOption(proof),
		oauth2.SetAuthURLParam("nonce", "n-1"))))(t)
	form := b.get(b.get(to.RequestURI()).location.String())
	if !strings.Contains(form.body, "knows no passwords") || strings.Contains(form.body, "<b>") {
		t.Errorf("the form is %s", form.body)
	}
	back := b.fill(form, "olga", "operators")
	if got := back.location.Query(); got.Get("state") != "state" || got.Get("from") != "sign-in" ||
		back.location.Host != "127.0.0.1:8080" {
		t.Fatalf("sent back to %s", back.location)
	}
	got := must.Get(config.Exchange(ctx, back.location.Query().Get("code"), oauth2.VerifierOption(proof)))(t)
	access, identity := b.claims(got.AccessToken), b.claims(got.Extra("id_token"))
	want := map[string]any{"iss": issuerOf(b.a, "Users"), "sub": "olga", "username": "olga", "token_use": "access",
		"client_id": b.client("Page"), "scope": "openid email", "cognito:groups": []any{"operators"}, "aud": nil}
	for name, value := range want {
		if difference := cmp.Diff(value, access[name]); difference != "" {
			t.Errorf("access token: %s: %s", name, difference)
		}
	}
	want = map[string]any{"iss": issuerOf(b.a, "Users"), "sub": "olga", "cognito:username": "olga", "token_use": "id",
		"aud": b.client("Page"), "nonce": "n-1", "email": "olga@example.com", "cognito:groups": []any{"operators"}}
	for name, value := range want {
		if difference := cmp.Diff(value, identity[name]); difference != "" {
			t.Errorf("identity token: %s: %s", name, difference)
		}
	}
	if lasts := access["exp"].(float64) - access["iat"].(float64); lasts != 15*60 {
		t.Errorf("the access token lasts %v s", lasts)
	}
	got.Expiry = time.Now().Add(-time.Minute)
	next, err := config.TokenSource(ctx, got).Token()
	if err != nil || next.AccessToken == got.AccessToken || next.RefreshToken == got.RefreshToken {
		t.Errorf("refreshed to %v: %v", next, err)
	}
	if len(f.got) != 1 || !strings.Contains(f.got[0], `"userName":"olga"`) {
		t.Errorf("the function of sign-ups got %v", f.got)
	}
	// The browser stays signed in.
	b.code(b.query(nil))
	if len(f.got) != 1 {
		t.Errorf("the function of sign-ups got %v", f.got)
	}
}

// What is wrong with the client or its callback URL is shown to the person, and never leads elsewhere. All else goes
// back to the client.
func TestAuthorizeRefuses(t *testing.T) {
	t.Parallel()
	b, _ := newBrowser(t)
	for name, test := range map[string]struct {
		changes map[string]string
		code    string
		says    string
		back    bool
	}{
		"NoClient":       {map[string]string{"client_id": ""}, "invalid_client", b.client("Page"), false},
		"OtherClient":    {map[string]string{"client_id": "x"}, "invalid_client", b.client("App"), false},
		"Program":        {map[string]string{"client_id": b.client("Job")}, "unauthorized_client", "OAuthFlows", false},
		"Secret":         {map[string]string{"client_id": b.client("Secret")}, "invalid_client", "has a secret", false},
		"NoDomain":       {map[string]string{"client_id": b.client("Hidden")}, "invalid_client", "no domain", false},
		"NoCallback":     {map[string]string{"redirect_uri": ""}, "redirect_mismatch", "https://a.example/in", false},
		"LongerPath":     {map[string]string{"redirect_uri": "https://a.example/in/"}, "redirect_mismatch", "", false},
		"OtherHost":      {map[string]string{"redirect_uri": "https://a.example.x/in"}, "redirect_mismatch", "", false},
		"OtherClientsIn": {map[string]string{"redirect_uri": "tasks://in"}, "redirect_mismatch", "", false},
		"LogoutURL":      {map[string]string{"redirect_uri": leaving}, "redirect_mismatch", "", false},
		"Script":         {map[string]string{"redirect_uri": "javascript:alert(1)"}, "redirect_mismatch", "", false},
		"NoResponse":     {map[string]string{"response_type": ""}, "invalid_request", "write code", true},
		"Implicit":       {map[string]string{"response_type": "token"}, "unauthorized_client", "", true},
		"NoProof":        {map[string]string{"code_challenge": ""}, "invalid_request", "43", true},
		"ShortProof":     {map[string]string{"code_challenge": "abc"}, "invalid_request", "43", true},
		"NoMethod":       {map[string]string{"code_challenge_method": ""}, "invalid_request", "write S256", true},
		"Plain":          {map[string]string{"code_challenge_method": "plain"}, "invalid_request", "write S256", true},
		"Scope":          {map[string]string{"scope": "openid askahuman/call"}, "invalid_scope", "openid email", true},
		"Silent":         {map[string]string{"prompt": "none"}, "login_required", "nobody is signed in", true},
		"NoneAndLogin":   {map[string]string{"prompt": "none login"}, "invalid_request", "none alone", true},
		"OtherPrompt":    {map[string]string{"prompt": "Login"}, "invalid_request", "select_account", true},
	} {
		for _, path := range []string{"/oauth2/authorize", "/login"} {
			got := b.get(path + b.query(test.changes))
			if test.back {
				query := got.location.Query()
				if got.status != http.StatusSeeOther || !strings.HasPrefix(got.location.String(), leaving+"?") ||
					query.Get("error") != test.code || query.Get("state") != "s t" || query.Get("code") != "" ||
					!strings.Contains(query.Get("error_description"), test.says) {
					t.Errorf("%s %s: got %d %s", name, path, got.status, got.location)
				}
			} else if got.status != http.StatusBadRequest || got.location.String() != "" ||
				!strings.Contains(got.body, test.code) || !strings.Contains(html.UnescapeString(got.body), test.says) {
				t.Errorf("%s %s: got %d %s %s", name, path, got.status, got.location, got.body)
			}
		}
	}
	if got := b.get("/oauth2/authorize" + b.query(nil) + "&redirect_uri=https://a.example/in"); got.status != 400 {
		t.Errorf("twice: got %d %s", got.status, got.location)
	}
	if got := b.get("/oauth2/authorize" + b.query(map[string]string{"scope": "", "state": ""})); got.status != 302 {
		t.Errorf("without scope and state: got %d %s", got.status, got.location)
	}
}

// The form is for the browser that got it, and for users that Amazon Cognito could have.
func TestLoginRefuses(t *testing.T) {
	t.Parallel()
	b, f := newBrowser(t)
	shown := b.get("/login" + b.query(nil))
	for name, test := range map[string]struct {
		user, group string
		says        string
	}{
		"NoName":        {"", "operators", "Write 1 to 128"},
		"Blank":         {"  ", "operators", "Write 1 to 128"},
		"Long":          {strings.Repeat("ä", 129), "operators", "has 129 characters"},
		"Space":         {"olga x", "operators", "without spaces"},
		"Control":       {"olga\x00", "operators", "without spaces"},
		"LineFeed":      {"olga\n", "operators", "line breaks"},
		"Lines":         {"olga\nx", "operators", "line breaks"},
		"Return":        {"\rolga", "operators", "line breaks"},
		"LineSeparator": {"olga\u2028", "operators", "line breaks"},
		"NotUTF8":       {"olga\xff", "operators", "without spaces"},
		"NotGroup":      {"olga", "admin", `The group "admin" is none of the user pool's: night <b>shift, operators.`},
	} {
		if got := b.fill(shown, test.user, test.group); got.status != http.StatusBadRequest ||
			!strings.Contains(html.UnescapeString(got.body), test.says) {
			t.Errorf("%s: got %d %s", name, got.status, got.body)
		}
	}
	other, _ := newBrowser(t)
	other.Transport = b.Transport
	for name, stranger := range map[string]func() answer{
		"NoCookie":    func() answer { return other.fill(shown, "olga") },
		"OtherCookie": func() answer { other.get("/login" + b.query(nil)); return other.fill(shown, "olga") },
		"NoStamp": func() answer {
			return b.post("/login"+b.query(nil), url.Values{"username": {"olga"}})
		},
	} {
		if got := stranger(); got.status != http.StatusForbidden || got.location.String() != "" {
			t.Errorf("%s: got %d %s", name, got.status, got.location)
		}
	}
	if got := b.post("/login"+b.query(map[string]string{"redirect_uri": "https://evil.example"}), nil); got.status !=
		http.StatusBadRequest {
		t.Errorf("another callback URL: got %d", got.status)
	}
	if len(f.got) != 0 {
		t.Errorf("signed up: %v", f.got)
	}
	f.answer = hangsUp
	if got := b.fill(shown, "olga"); got.status != http.StatusBadGateway ||
		!strings.Contains(got.body, "greeter failed") {
		t.Errorf("a sign-up that fails: got %d %s", got.status, got.body)
	}
	policy := shown.header.Get("Content-Security-Policy")
	if !strings.HasSuffix(policy, "form-action 'self' http://127.0.0.1:8080") || strings.Contains(policy, "unsafe") {
		t.Errorf("the form has %s", policy)
	}
}

// A prompt decides whether somebody who is signed in sees the form (OpenID Connect Core 1.0, section 3.1.2.1).
func TestPrompt(t *testing.T) {
	t.Parallel()
	b, _ := newBrowser(t)
	b.code(b.query(nil))
	for prompt, shows := range map[string]bool{"": false, "none": false, "login": true, "consent": true,
		"select_account": true, "login consent": true} {
		query := b.query(map[string]string{"prompt": prompt})
		got := b.get("/oauth2/authorize" + query)
		if shown := got.location.Path == "/login"; shown != shows || !shown && got.location.Query().Get("code") == "" {
			t.Errorf("prompt=%s: sent to %s", prompt, got.location)
		}
		if !shows {
			continue
		}
		got = b.fill(b.get(got.location.String()), "oskar")
		claims := b.claims(tokens(t, b.exchange(got.location.Query().Get("code"), nil))["access_token"])
		if claims["username"] != "oskar" {
			t.Errorf("prompt=%s: signed in as %v", prompt, claims["username"])
		}
	}
	if got := b.get("/login" + b.query(map[string]string{"prompt": "none"})); got.location.Query().Get("code") == "" {
		t.Errorf("the form at prompt=none: got %d %s", got.status, got.location)
	}
}

// A code that is used twice may be in the hands of a thief: what came of it ends, at any time (RFC 6749, section
// 4.1.2).
func TestCodeTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBrowser(t)
		for _, later := range []time.Duration{0, time.Hour} {
			code, other := b.code(b.query(nil)), b.code(b.query(nil))
			first, stays := tokens(t, b.exchange(code, nil)), tokens(t, b.exchange(other, nil))
			next := tokens(t, b.refresh(first["refresh_token"]))
			time.Sleep(later)
			if got := b.exchange(code, nil); !refusedWith(got, "invalid_grant") {
				t.Errorf("after %v: got %d %s", later, got.status, got.body)
			}
			for _, token := range []any{first["refresh_token"], next["refresh_token"]} {
				if got := b.refresh(token); !refusedWith(got, "invalid_grant") {
					t.Errorf("after %v: a refresh token of the code: got %d %s", later, got.status, got.body)
				}
			}
			tokens(t, b.refresh(stays["refresh_token"]))
		}
	})
	// Whichever of two at once is first, no token that they give lives on.
	b, _ := newBrowser(t)
	b.code(b.query(nil))
	for range 50 {
		code := b.code(b.query(nil))
		answers := make([]answer, 2)
		var both sync.WaitGroup
		for i := range answers {
			both.Go(func() { answers[i] = b.exchange(code, nil) })
		}
		both.Wait()
		for _, got := range answers {
			if refusedWith(got, "invalid_grant") {
				continue
			}
			if again := b.refresh(tokens(t, got)["refresh_token"]); !refusedWith(again, "invalid_grant") {
				t.Fatalf("got %d %s", again.status, again.body)
			}
		}
	}
}

func TestTokenRefuses(t *testing.T) {
	t.Parallel()
	b, _ := newBrowser(t)
	for name, test := range map[string]struct {
		changes map[string]string
		code    string
	}{
		"NoGrant":     {map[string]string{"grant_type": ""}, "unsupported_grant_type"},
		"OtherGrant":  {map[string]string{"grant_type": "client_credentials"}, "unsupported_grant_type"},
		"NoClient":    {map[string]string{"client_id": ""}, "invalid_request"},
		"Unknown":     {map[string]string{"client_id": "x"}, "invalid_client"},
		"OtherClient": {map[string]string{"client_id": b.client("App")}, "invalid_grant"},
		"Program":     {map[string]string{"client_id": b.client("Job")}, "unauthorized_client"},
		"Secret":      {map[string]string{"client_secret": "s"}, "invalid_client"},
		"NoCode":      {map[string]string{"code": ""}, "invalid_request"},
		"OtherCode":   {map[string]string{"code": "x"}, "invalid_grant"},
		"NoCallback":  {map[string]string{"redirect_uri": ""}, "invalid_request"},
		"OtherIn":     {map[string]string{"redirect_uri": "https://a.example/in"}, "invalid_grant"},
		"NoProof":     {map[string]string{"code_verifier": ""}, "invalid_request"},
		"OtherProof":  {map[string]string{"code_verifier": proof + "x"}, "invalid_grant"},
		"ChallengeAsProof": {map[string]string{"code_verifier": oauth2.S256ChallengeFromVerifier(proof)},
			"invalid_grant"},
		"NoRefreshToken": {map[string]string{"grant_type": "refresh_token"}, "invalid_request"},
		"CodeAsToken":    {map[string]string{"grant_type": "refresh_token", "refresh_token": "x"}, "invalid_grant"},
	} {
		if got := b.exchange(b.code(b.query(nil)), test.changes); !refusedWith(got, test.code) {
			t.Errorf("%s: got %d %s", name, got.status, got.body)
		}
	}
	code := b.code(b.query(nil))
	answered := tokens(t, b.exchange(code, nil))
	if got := b.exchange(code, nil); !refusedWith(got, "invalid_grant") {
		t.Errorf("a code once more: got %d %s", got.status, got.body)
	}
	// A code that came with a wrong proof may be a thief's.
	code = b.code(b.query(nil))
	b.exchange(code, map[string]string{"code_verifier": proof + "x"})
	if got := b.exchange(code, nil); !refusedWith(got, "invalid_grant") {
		t.Errorf("a code after a wrong proof: got %d %s", got.status, got.body)
	}
	if got := b.post("/oauth2/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {b.client("App")},
		"refresh_token": {answered["refresh_token"].(string)}}); !refusedWith(got, "invalid_grant") {
		t.Errorf("a refresh token of another client: got %d %s", got.status, got.body)
	}
	for name, change := range map[string]func(*http.Request){
		"JSON": func(r *http.Request) { r.Header.Set("Content-Type", "application/json") },
		"Basic": func(r *http.Request) {
			r.SetBasicAuth(b.client("Page"), "")
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		},
	} {
		r := httptest.NewRequest(http.MethodPost, address+"/oauth2/token", strings.NewReader("client_id=x&client_id=y"))
		change(r)
		if got := b.send(r); got.status != http.StatusBadRequest {
			t.Errorf("%s: got %d %s", name, got.status, got.body)
		}
	}
	if got := b.post("/oauth2/token", url.Values{"code": {strings.Repeat("x", 70_000)}}); got.status != 400 {
		t.Errorf("a large form: got %d", got.status)
	}
	if got := tokens(t, b.exchange(b.code(b.query(map[string]string{"scope": "email"})), nil)); got["id_token"] != nil {
		t.Error("an identity token without the scope openid")
	}
}

func refusedWith(got answer, code string) bool {
	var read struct {
		Error       string
		Description string `json:"error_description"`
	}
	return json.Unmarshal([]byte(got.body), &read) == nil && got.status == http.StatusBadRequest &&
		read.Error == code && read.Description != "" && got.header.Get("Cache-Control") == "no-store"
}

// Codes, sessions and refresh tokens end. A refresh token that was used has a little time to be tried again.
func TestAges(t *testing.T) {
	t.Parallel()
	b, _ := newBrowser(t)
	synctest.Test(t, func(t *testing.T) {
		b.t = t
		code := b.code(b.query(nil))
		time.Sleep(5 * time.Minute)
		if got := b.exchange(code, nil); !refusedWith(got, "invalid_grant") {
			t.Errorf("an old code: got %d %s", got.status, got.body)
		}
		first := tokens(t, b.exchange(b.code(b.query(nil)), nil))
		origin := b.claims(first["access_token"])["origin_jti"]
		time.Sleep(55*time.Minute - time.Second)
		if got := b.get("/oauth2/authorize" + b.query(nil)); got.location.Path != "/operator" {
			t.Errorf("a session of an hour: sent to %s", got.location)
		}
		time.Sleep(time.Second)
		if got := b.get("/oauth2/authorize" + b.query(nil)); got.location.Path != "/login" {
			t.Errorf("an old session: sent to %s", got.location)
		}
		second := tokens(t, b.refresh(first["refresh_token"]))
		if b.claims(second["access_token"])["origin_jti"] != origin {
			t.Error("another sign-in")
		}
		time.Sleep(29 * time.Second)
		tokens(t, b.refresh(first["refresh_token"]))
		time.Sleep(time.Second)
		if got := b.refresh(first["refresh_token"]); !refusedWith(got, "invalid_grant") {
			t.Errorf("a used refresh token: got %d %s", got.status, got.body)
		}
		time.Sleep(7*time.Hour + 5*time.Minute)
		if got := b.refresh(second["refresh_token"]); !refusedWith(got, "invalid_grant") {
			t.Errorf("an old refresh token, with the time of the first: got %d %s", got.status, got.body)
		}
		// Without rotation the token stays.
		app := map[string]string{"client_id": b.client("App"), "redirect_uri": "tasks://in"}
		kept := tokens(t, b.exchange(b.code(b.query(app)), app))
		again := map[string]string{"client_id": b.client("App"), "grant_type": "refresh_token",
			"refresh_token": kept["refresh_token"].(string)}
		for range 2 {
			time.Sleep(24 * time.Hour)
			if got := tokens(t, b.exchange("", again)); got["refresh_token"] != nil || got["id_token"] == nil {
				t.Errorf("got %v", got)
			}
		}
		time.Sleep(28 * 24 * time.Hour)
		if got := b.exchange("", again); !refusedWith(got, "invalid_grant") {
			t.Errorf("after 30 days: got %d %s", got.status, got.body)
		}
	})
}

func TestLogoutAndRevoke(t *testing.T) {
	t.Parallel()
	b, _ := newBrowser(t)
	answered := tokens(t, b.exchange(b.code(b.query(nil)), nil))
	for name, query := range map[string]url.Values{
		"NoClient":  {"logout_uri": {leaving}},
		"Nowhere":   {"client_id": {b.client("Page")}},
		"Elsewhere": {"client_id": {b.client("Page")}, "logout_uri": {"https://evil.example"}},
		"Empty":     {"client_id": {b.client("Page")}, "logout_uri": {""}},
		"Callback":  {"client_id": {b.client("Page")}, "logout_uri": {callback}},
	} {
		if got := b.get("/logout?" + query.Encode()); got.status != 400 || got.location.String() != "" {
			t.Errorf("%s: got %d %s", name, got.status, got.location)
		}
	}
	if got := b.get("/oauth2/authorize" + b.query(nil)); got.location.Path == "/login" {
		t.Error("a refused request has signed out")
	}
	leave := url.Values{"client_id": {b.client("Page")}, "logout_uri": {leaving}}
	if got := b.get("/logout?" + leave.Encode()); got.status != 302 || got.location.String() != leaving {
		t.Errorf("got %d %s", got.status, got.location)
	}
	if got := b.get("/oauth2/authorize" + b.query(nil)); got.location.Path != "/login" {
		t.Errorf("still signed in: sent to %s", got.location)
	}
	if got := b.get("/logout" + b.query(nil)); got.location.Path != "/login" {
		t.Errorf("to sign in again: sent to %s", got.location)
	}
	next := tokens(t, b.refresh(answered["refresh_token"]))
	page := b.client("Page")
	for name, test := range map[string]struct {
		form url.Values
		code string
	}{
		"NoToken":  {url.Values{"client_id": {page}}, "invalid_request"},
		"NoClient": {url.Values{"token": {"x"}}, "invalid_request"},
		"AccessToken": {url.Values{"client_id": {page}, "token": {answered["access_token"].(string)}},
			"unsupported_token_type"},
		"NotRevoked": {url.Values{"client_id": {b.client("App")}, "token": {"x"}}, "invalid_request"},
	} {
		if got := b.post("/oauth2/revoke", test.form); !refusedWith(got, test.code) {
			t.Errorf("%s: got %d %s", name, got.status, got.body)
		}
	}
	for range 2 {
		if got := b.post("/oauth2/revoke", url.Values{"client_id": {page},
			"token": {next["refresh_token"].(string)}}); got.status != 200 || got.body != "" {
			t.Errorf("got %d %s", got.status, got.body)
		}
	}
	for _, revoked := range []any{answered["refresh_token"], next["refresh_token"]} {
		if got := b.refresh(revoked); !refusedWith(got, "invalid_grant") {
			t.Errorf("revoked: got %d %s", got.status, got.body)
		}
	}
}

// Pages at callback URLs read the answers with tokens, and no others.
func TestPagesFetchTokens(t *testing.T) {
	t.Parallel()
	b, _ := newBrowser(t)
	for origin, want := range map[string]string{"http://127.0.0.1:8080": "http://127.0.0.1:8080",
		"https://a.example": "https://a.example", "https://evil.example": "", "http://127.0.0.1:8081": "", "null": "",
		"": ""} {
		r := httptest.NewRequest(http.MethodPost, address+"/oauth2/token", nil)
		r.Header.Set("Origin", origin)
		if got := b.send(r).header; got.Get("Access-Control-Allow-Origin") != want ||
			!slices.Contains(got.Values("Vary"), "Origin") {
			t.Errorf("%q: got %v", origin, got)
		}
	}
}

// Who is signed in stays so when an assembly takes the place of another.
func TestKeepSignedIn(t *testing.T) {
	t.Parallel()
	b, _ := newBrowser(t)
	former := must.Get(cognito.New(b.a, cognito.Options{Functions: &function{answer: takes}, Tokens: b.issuer}))(t)
	next := must.Get(cognito.New(b.a, cognito.Options{Functions: &function{answer: takes}, Tokens: b.issuer}))(t)
	b = browserOf(t, b.a, former, b.issuer)
	code := b.code(b.query(nil))
	next.Keep(former)
	b.Transport = browserOf(t, b.a, next, b.issuer).Transport
	tokens(t, b.exchange(code, nil))
	b.code(b.query(nil))
}

func TestValidityErr(t *testing.T) {
	t.Parallel()
	a := assemblytest.Load(t, `{"Users": {"Type": "AWS::Cognito::UserPool"},
		"Page": {"Type": "AWS::Cognito::UserPoolClient", "Properties": {"UserPoolId": {"Ref": "Users"}, "AccessTokenValidity": 5,
			"TokenValidityUnits": {"AccessToken": "weeks"}}}}`)
	if _, err := cognito.New(a, cognito.Options{}); err == nil || !strings.Contains(err.Error(), `"5" weeks`) {
		t.Errorf("got %v", err)
	}
}
