package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
	"github.com/onesynth-cdk/onesynth/run/internal/services/cognito"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/webhooks"
)

func TestToken(t *testing.T) {
	t.Parallel()
	one := console.API{Stack: "one", Issuer: "https://one.example", Audience: []string{"a", "b"}}
	two := console.API{Stack: "two", Issuer: "https://two.example", Audience: []string{"c"}}
	open := console.API{Stack: "open"}
	both := one
	for range 2 {
		both.Admit(nil)
		both.Admit(&apigateway.Authorizer{Issuer: one.Issuer, Audience: one.Audience})
		both.Admit(&apigateway.Authorizer{Issuer: two.Issuer, Audience: two.Audience})
	}
	issuer := apigateway.NewIssuer("")
	for name, test := range map[string]struct {
		apis   []console.API
		body   string
		status int
		says   string // in the answer, for refusals
		claims map[string]any
	}{
		"OnlyIssuer": {[]console.API{open, one}, `{"sub":"alice"}`, 200, "",
			map[string]any{"iss": "https://one.example", "aud": "a", "sub": "alice"}},
		"SameIssuer": {[]console.API{one, {Issuer: one.Issuer, Audience: []string{"z"}}}, `{"sub":"x","aud":"z"}`,
			200, "", map[string]any{"iss": "https://one.example", "aud": "z"}},
		"ByAudience": {[]console.API{one, two}, `{"sub":"x","aud":"c"}`, 200, "",
			map[string]any{"iss": "https://two.example", "aud": "c"}},
		"ByIssuer": {[]console.API{one, two}, `{"sub":"x","iss":"https://two.example"}`, 200, "",
			map[string]any{"iss": "https://two.example", "aud": "c"}},
		"Foreign": {[]console.API{one}, `{"sub":"x","aud":"other"}`, 200, "",
			map[string]any{"iss": "https://one.example", "aud": "other"}},
		"Claims": {[]console.API{one}, `{"sub":"x","scope":"p q","claims":{"client_id":"k","n":1}}`, 200, "",
			map[string]any{"scope": "p q", "client_id": "k", "n": 1.0}},
		"UnknownIssuer": {nil, `{"sub":"x","iss":"https://any.example"}`, 200, "",
			map[string]any{"iss": "https://any.example"}},
		"SeveralAPIs": {[]console.API{one, two}, `{"sub":"x"}`, 200, "",
			map[string]any{"iss": apigateway.RunIssuer, "aud": []any{"a", "c"}}},
		"OneIssuer": {[]console.API{one, {Stack: "x", Issuer: one.Issuer, Audience: []string{"z"}}, one},
			`{"sub":"x"}`, 200, "", map[string]any{"iss": "https://one.example", "aud": []any{"a", "z"}}},
		"Authorizers": {[]console.API{both}, `{"sub":"x"}`, 200, "",
			map[string]any{"iss": apigateway.RunIssuer, "aud": []any{"a", "c"}}},
		"OneOfBoth": {[]console.API{both}, `{"sub":"x","iss":"https://two.example"}`, 200, "",
			map[string]any{"iss": "https://two.example", "aud": "c"}},
		"ByStack": {[]console.API{open, one, two}, `{"sub":"x","stack":"two"}`, 200, "",
			map[string]any{"iss": "https://two.example", "aud": "c"}},
		"OpenStack":    {[]console.API{open, one}, `{"sub":"x","stack":"open"}`, 400, "those that have one: one", nil},
		"NoStack":      {[]console.API{open, one, two}, `{"sub":"x","stack":"three"}`, 400, "one, two", nil},
		"NoAuthorizer": {[]console.API{open}, `{"sub":"x"}`, 409, "no token", nil},
		"NoSubject":    {[]console.API{one}, `{"sub":""}`, 400, "subject", nil},
		"LineFeed":     {[]console.API{one}, `{"sub":"x\ny"}`, 400, `sub: got \"x\\ny\"`, nil},
		"ZeroLife":     {[]console.API{one}, `{"sub":"x","expires":"0s"}`, 400, "expires", nil},
		"NotJSON":      {[]console.API{one}, `sub=x`, 400, "body", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := console.New(console.Parts{APIs: test.apis, Issuer: issuer, Users: &users{}})
			w := httptest.NewRecorder()
			c.ServeHTTP(w, post("/token", test.body))
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) {
				t.Fatalf("got %d %s", w.Code, w.Body)
			}
			if test.status != 200 {
				return
			}
			var token console.Token
			must.OK(t, json.Unmarshal(w.Body.Bytes(), &token))
			claims := jwt.MapClaims{}
			must.Get(jwt.ParseWithClaims(token.AccessToken, claims, func(j *jwt.Token) (any, error) {
				return issuer.PublicKey("", j.Header["kid"].(string))
			}))(t)
			for name, want := range test.claims {
				if difference := cmp.Diff(want, claims[name]); difference != "" {
					t.Errorf("%s: %s", name, difference)
				}
			}
		})
	}
}

// users remember who signs up. The subject refused does not.
type users struct {
	console.Users
	signedUp []string
}

func (u *users) SignUp(_ context.Context, issuer string, user cognito.User) error {
	if user.Subject == "refused" {
		return cognito.ErrNotConfirmed
	}
	u.signedUp = append(u.signedUp, fmt.Sprint(issuer, user))
	return nil
}

// A token is for users of the pools of its issuer, as its claims have it; one for several issuers is for users of each.
func TestTokenSignsUp(t *testing.T) {
	t.Parallel()
	one := console.API{Stack: "one", Issuer: "https://one.example", Audience: []string{"a", "b"}}
	two := console.API{Stack: "two", Issuer: "https://two.example", Audience: []string{"c"}}
	issuer := apigateway.NewIssuer("")
	for name, test := range map[string]struct {
		body   string
		status int
		want   []string // issuer{subject email [clients]}
	}{
		"ByStack": {`{"sub":"x","stack":"one"}`, 200, []string{"https://one.example{x  [a]}"}},
		"SeveralAPIs": {`{"sub":"x"}`, 200, []string{"https://one.example{x  [a c]}",
			"https://two.example{x  [a c]}"}},
		"ByAudience": {`{"sub":"x","aud":"b"}`, 200, []string{"https://one.example{x  [b]}"}},
		"Foreign":    {`{"sub":"x","iss":"https://any.example"}`, 200, []string{"https://any.example{x  []}"}},
		"ForeignClaim": {`{"sub":"x","claims":{"iss":"https://any.example"}}`, 200,
			[]string{"https://any.example{x  [a c]}"}},
		"Claims": {`{"sub":"x","stack":"one","claims":{"sub":"y","email":"y@b.example","client_id":"k"}}`, 200,
			[]string{"https://one.example{y y@b.example [k]}"}},
		"AudienceIs": {`{"sub":"x","stack":"one","claims":{"aud":"k"}}`, 200, []string{"https://one.example{x  [k]}"}},
		"Refused":    {`{"sub":"refused"}`, 502, nil},
		"NoToken":    {`{"sub":"x","stack":"three"}`, 400, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := &users{}
			c := console.New(console.Parts{APIs: []console.API{one, two}, Issuer: issuer, Users: u})
			w := httptest.NewRecorder()
			c.ServeHTTP(w, post("/token", test.body))
			if w.Code != test.status || strings.Contains(w.Body.String(), "access_token") != (test.status == 200) {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
			if diff := cmp.Diff(test.want, u.signedUp); diff != "" {
				t.Errorf("signed up (-want +got):\n%s", diff)
			}
		})
	}
}

// post is a request with the header that changes need.
func post(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set(console.Header, "test")
	return r
}

// What changes something needs the header, which no page of another origin and no webhook can send. The message names
// it.
func TestChangesNeedTheHeader(t *testing.T) {
	t.Parallel()
	server := must.Get(services.New(services.Options{Assembly: assemblytest.Load(t, "{}"),
		DynamoDB: dynamodb.ServiceOptions{EngineURL: "http://127.0.0.1:1"}}))(t)
	for name, test := range map[string]struct {
		method, path, header string
		status               int
	}{
		"With":     {"POST", "/faults", "1", 200},
		"Without":  {"POST", "/faults", "", 403},
		"Delete":   {"DELETE", "/capacity", "1", 204},
		"Deletes":  {"DELETE", "/capacity", "", 403},
		"Unknown":  {"PUT", "/faults", "", 403},
		"Read":     {"GET", "/faults", "", 200},
		"Head":     {"HEAD", "/faults", "", 200},
		"Webhook":  {"POST", "/webhooks/in/me", "", 204},
		"Above":    {"POST", "/webhooks/in/../../faults", "", 307},
		"Secrets":  {"POST", "/webhooks/secrets", "", 403},
		"Endpoint": {"POST", "/webhooks/in", "", 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(test.method, test.path, strings.NewReader("{}"))
			if test.header != "" {
				r.Header.Set(console.Header, test.header)
			}
			w := httptest.NewRecorder()
			console.New(console.Parts{AWS: server, Webhooks: &webhooks.Receiver{}}).ServeHTTP(w, r)
			if w.Code != test.status || w.Code == 403 &&
				!strings.Contains(w.Body.String(), "curl -H 'Onesynth-Console: 1'") {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
}

// Programs get the list of what there is, and browsers the page.
func TestHome(t *testing.T) {
	t.Parallel()
	c := console.New(console.Parts{})
	for accept, want := range map[string]string{
		"":                 "application/json",
		"*/*":              "application/json",
		"application/json": "application/json",
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8": "text/html; charset=utf-8",
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:8079/", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		if w.Code != 200 || w.Header().Get("Content-Type") != want || w.Header().Get("Vary") != "Accept" {
			t.Errorf("%q: got %d %v", accept, w.Code, w.Header())
		}
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	c := console.New(console.Parts{})
	get := func(path, etag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:8079"+path, nil)
		r.Header.Set("If-None-Match", etag)
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		return w
	}
	// The address of the files changes with them, so that browsers keep them.
	base := regexp.MustCompile(`/page/[0-9a-f]+/`).FindString(get("/page/index.html", "").Body.String())
	for path, kind := range map[string]string{
		"/page/index.html": "text/html; charset=utf-8", base + "page.css": "text/css; charset=utf-8",
		base + "views/tables.js": "text/javascript; charset=utf-8", base + "icon.svg": "image/svg+xml",
	} {
		w := get(path, "")
		header := w.Header()
		policy := header.Get("Content-Security-Policy")
		if w.Code != 200 || header.Get("Content-Type") != kind || header.Get("X-Content-Type-Options") != "nosniff" ||
			strings.Contains(header.Get("Cache-Control"), "immutable") == strings.HasSuffix(path, ".html") ||
			header.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
			header.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(policy, "default-src 'none'") ||
			!strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") ||
			strings.Contains(policy, "http") {
			t.Errorf("%s: got %d %v", path, w.Code, header)
		}
		if strings.Contains(w.Body.String(), "innerHTML") {
			t.Errorf("%s writes HTML", path)
		}
		if again := get(path, header.Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s: got %d again", path, again.Code)
		}
	}
	for _, path := range []string{"/page/", base + "none.js", "/page/../console.go", base + "views",
		base + "index.html"} {
		if w := get(path, ""); w.Code == 200 {
			t.Errorf("%s: got %d", path, w.Code)
		}
	}
}

// Where there is nothing, people get the page, which says so, and programs an error.
func TestNowhere(t *testing.T) {
	t.Parallel()
	c := console.New(console.Parts{})
	for name, test := range map[string]struct{ method, accept, kind string }{
		"People":   {"GET", "text/html,*/*;q=0.8", "text/html; charset=utf-8"},
		"Programs": {"GET", "*/*", "application/json"},
		"Changes":  {"POST", "text/html", "application/json"},
	} {
		r := httptest.NewRequest(test.method, "http://localhost:8079/nowhere", nil)
		r.Header.Set("Accept", test.accept)
		r.Header.Set(console.Header, "test")
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		if w.Code != 404 || w.Header().Get("Content-Type") != test.kind {
			t.Errorf("%s: got %d %v", name, w.Code, w.Header())
		}
		if people := test.kind != "application/json"; people !=
			strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") ||
			people == strings.Contains(w.Body.String(), "no "+test.method+" /nowhere here") {
			t.Errorf("%s: got %v %s", name, w.Header(), w.Body)
		}
	}
}

// The event of an invocation is JSON, as AWS Lambda's is.
func TestInvokeErr(t *testing.T) {
	t.Parallel()
	c := console.New(console.Parts{})
	w := httptest.NewRecorder()
	c.ServeHTTP(w, post("/functions/worker/invoke", "next=0"))
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "event as JSON") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// A query ends when the one who asked leaves, also one whose request has no length.
func TestQueryEndsWithItsReader(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]func(string) io.Reader{
		"Length": func(text string) io.Reader { return strings.NewReader(text) },
		"Chunks": func(text string) io.Reader { return io.MultiReader(strings.NewReader(text)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began, ended := make(chan struct{}), make(chan error, 1)
			server := httptest.NewServer(console.New(
				console.Parts{QueryLake: func(ctx context.Context, _ catalog.Question) (catalog.Answer, error) {
					close(began)
					<-ctx.Done()
					ended <- ctx.Err()
					return catalog.Answer{}, ctx.Err()
				}}))
			defer server.Close()
			ctx, leave := context.WithCancel(t.Context())
			request := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/lakes/query",
				body(`{"sql": "SELECT 1"}`)))(t)
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Onesynth-Console", "1")
			go func() {
				<-began
				leave()
			}()
			if response, err := http.DefaultClient.Do(request); err == nil {
				t.Fatalf("got %s", response.Status)
			}
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}
