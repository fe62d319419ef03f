package fcm_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	gojwt "github.com/golang-jwt/jwt/v5"
	"golang.org/x/oauth2/jwt"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/services/fcm"
)

const scope = "https://www.googleapis.com/auth/firebase.messaging"

func newInbox(t *testing.T) *fcm.Inbox {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	i := fcm.New("http://" + server.Listener.Addr().String())
	server.Config.Handler = i
	server.Start()
	t.Cleanup(server.Close)
	return i
}

// account is a client's configuration with the inbox's service account key.
func account(t *testing.T, i *fcm.Inbox, scopes ...string) *jwt.Config {
	t.Helper()
	document,
		err := i.ServiceAccount(
		`{"type":"service_account","project_id":"unset","client_email":"unset","private_key":"generated"}`)
	must.OK(t, err)
	var key struct {
		Email        string `json:"client_email"`
		PrivateKey   string `json:"private_key"`
		PrivateKeyID string `json:"private_key_id"`
		TokenURL     string `json:"token_uri"`
	}
	must.OK(t, json.Unmarshal([]byte(document), &key))
	return &jwt.Config{Email: key.Email, PrivateKey: []byte(key.PrivateKey), PrivateKeyID: key.PrivateKeyID,
		TokenURL: key.TokenURL, Scopes: scopes}
}

func send(t *testing.T, client *http.Client, i *fcm.Inbox, body string) (int, http.Header, string) {
	t.Helper()
	response := must.Get(client.Post(i.URL()+"/v1/projects/local/messages:send", "application/json",
		strings.NewReader(body)))(t)
	defer response.Body.Close()
	text := must.Get(io.ReadAll(response.Body))(t)
	return response.StatusCode, response.Header, string(text)
}

func TestSend(t *testing.T) {
	t.Parallel()
	i := newInbox(t)
	client := account(t, i, scope).Client(context.Background())
	status, _,
		body := send(t, client, i,
		`{"message":{"token":"device","notification":{"title":"T","body":"ü"},"webpush":{"fcm_options":{"link":"/q/1"}}}}`)
	if status != 200 || !strings.Contains(body, `"projects/local/messages/`) {
		t.Fatalf("got %d %s", status, body)
	}
	messages := i.Messages()
	if len(messages) != 1 || messages[0].Token != "device" || !strings.Contains(string(messages[0].Message), `"ü"`) ||
		!strings.Contains(body, messages[0].Name) {
		t.Errorf("got %+v", messages)
	}
	if status, _, _ := send(t, client, i, `{"validate_only":true,"message":{"token":"device"}}`); status != 200 ||
		len(i.Messages()) != 1 {
		t.Errorf("validate_only: got %d, %d messages", status, len(i.Messages()))
	}
	i.Clear()
	if got := i.Messages(); len(got) != 0 {
		t.Errorf("after Clear: %d messages", len(got))
	}
}

func TestSendRefuses(t *testing.T) {
	t.Parallel()
	i := newInbox(t)
	client := account(t, i, scope).Client(context.Background())
	for _, fault := range []fcm.Fault{fcm.Unregistered, fcm.QuotaExceeded} {
		must.OK(t, i.Fail("by-call-"+string(fault), fault))
	}
	if err := i.Fail("x", "NO_SUCH_FAULT"); err == nil {
		t.Error("an unknown fault was accepted")
	}
	for name, test := range map[string]struct {
		body      string
		code      int
		status    string
		errorCode string
	}{
		"Unregistered": {`{"message":{"token":"unregistered-1"}}`, 404, "NOT_FOUND", "UNREGISTERED"},
		"Invalid":      {`{"message":{"token":"invalid-1"}}`, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"},
		"Quota":        {`{"message":{"token":"quota-1"}}`, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"},
		"Unavailable":  {`{"message":{"token":"unavailable-1"}}`, 503, "UNAVAILABLE", "UNAVAILABLE"},
		"ThirdParty":   {`{"message":{"token":"third-party-1"}}`, 401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"},
		"Mismatch":     {`{"message":{"token":"mismatch-1"}}`, 403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"},
		"Internal":     {`{"message":{"token":"internal-1"}}`, 500, "INTERNAL", "INTERNAL"},
		"ByCall":       {`{"message":{"token":"by-call-UNREGISTERED"}}`, 404, "NOT_FOUND", "UNREGISTERED"},
		"NoTarget":     {`{"message":{"notification":{}}}`, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"},
		"TwoTargets":   {`{"message":{"token":"a","topic":"b"}}`, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"},
		"NoMessage":    {`{}`, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"},
		"NoJSON":       {`{`, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"},
		"DataNumber":   {`{"message":{"token":"a","data":{"n":1}}}`, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"},
		"TooBig": {`{"message":{"token":"a","data":{"n":"` + strings.Repeat("x", fcm.MaxPayload) + `"}}}`, 400,
			"INVALID_ARGUMENT", "INVALID_ARGUMENT"},
		"FarTooBig": {strings.Repeat("x", fcm.MaxMessage+1), 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, header, body := send(t, client, i, test.body)
			var document struct {
				Error struct {
					Code    int
					Status  string
					Details []struct{ ErrorCode string }
				}
			}
			if err := json.Unmarshal([]byte(body), &document); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			if code != test.code || document.Error.Code != test.code || document.Error.Status != test.status ||
				document.Error.Details[0].ErrorCode != test.errorCode {
				t.Errorf("got %d %s", code, body)
			}
			if (code == 429 || code == 503) != (header.Get("Retry-After") != "") {
				t.Errorf("Retry-After is %q", header.Get("Retry-After"))
			}
		})
	}
	t.Cleanup(func() {
		if got := i.Messages(); len(got) != 0 {
			t.Errorf("refused messages were kept: %+v", got)
		}
	})
}

func TestFaultEnds(t *testing.T) {
	t.Parallel()
	i := newInbox(t)
	client := account(t, i, scope).Client(context.Background())
	for _, step := range []struct {
		fault fcm.Fault
		want  int
	}{{fcm.Unavailable, 503}, {"", 200}} {
		must.OK(t, i.Fail("device", step.fault))
		if code, _, body := send(t, client, i, `{"message":{"token":"device"}}`); code != step.want {
			t.Errorf("got %d %s, want %d", code, body, step.want)
		}
	}
}

func TestUnauthenticated(t *testing.T) {
	t.Parallel()
	i := newInbox(t)
	if code, _, body := send(t, http.DefaultClient, i, `{"message":{"token":"a"}}`); code != 401 ||
		!strings.Contains(body, "UNAUTHENTICATED") {
		t.Errorf("got %d %s", code, body)
	}
}

func TestTokenEndpointRefuses(t *testing.T) {
	t.Parallel()
	i := newInbox(t)
	config := account(t, i, scope)
	stranger := account(t, newInbox(t), scope)
	now := time.Now()
	assertion := func(c *jwt.Config, change func(gojwt.MapClaims)) string {
		claims := gojwt.MapClaims{"iss": c.Email, "aud": i.URL() + "/token", "scope": scope, "iat": now.Unix(),
			"exp": now.Add(time.Hour).Unix()}
		if change != nil {
			change(claims)
		}
		key := must.Get(gojwt.ParseRSAPrivateKeyFromPEM(c.PrivateKey))(t)
		return must.Get(gojwt.NewWithClaims(gojwt.SigningMethodRS256, claims).SignedString(key))(t)
	}
	const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	for name, test := range map[string]struct{ grant, assertion, want string }{
		"OK":      {grant, assertion(config, nil), ""},
		"Grant":   {"password", assertion(config, nil), "unsupported_grant_type"},
		"Key":     {grant, assertion(stranger, nil), "invalid_grant"},
		"Account": {grant, assertion(config, func(c gojwt.MapClaims) { c["iss"] = "x@y" }), "invalid_grant"},
		"Audience": {grant, assertion(config, func(c gojwt.MapClaims) {
			c["aud"] = "https://oauth2.googleapis.com/token"
		}), "invalid_grant"},
		"Expired": {grant, assertion(config, func(c gojwt.MapClaims) { c["exp"] = now.Add(-time.Hour).Unix() }),
			"invalid_grant"},
		"Scope": {grant, assertion(config, func(c gojwt.MapClaims) { c["scope"] = "email" }), "invalid_scope"},
		"Empty": {grant, "", "invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := must.Get(http.PostForm(i.URL()+"/token",
				url.Values{"grant_type": {test.grant}, "assertion": {test.assertion}}))(t)
			defer response.Body.Close()
			var document struct{ Error string }
			must.OK(t, json.NewDecoder(response.Body).Decode(&document))
			if document.Error != test.want {
				t.Errorf("got %d %q, want %q", response.StatusCode, document.Error, test.want)
			}
		})
	}
}

func TestServiceAccountKeepsNames(t *testing.T) {
	t.Parallel()
	i := newInbox(t)
	document, err := i.ServiceAccount(`{"type":"service_account","project_id":"p","client_email":"a@p.example"}`)
	if err != nil || !strings.Contains(document, `"a@p.example"`) || !strings.Contains(document, `"project_id":"p"`) {
		t.Errorf("got %s, %v", document, err)
	}
	if _, err := i.ServiceAccount(`[]`); err == nil {
		t.Error("a template that is no object was accepted")
	}
}

// A page is the device of a token: it gets what was sent while it was away, then what comes, in the form of browsers.
func TestDevice(t *testing.T) {
	t.Parallel()
	i := newInbox(t)
	client := account(t, i, scope).Client(context.Background())
	listen := func() *bufio.Reader {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, i.URL()+"/devices/page%2F1", nil))(t)
		r.Header.Set("Origin", "http://127.0.0.1:8080")
		response := must.Get(http.DefaultClient.Do(r))(t)
		t.Cleanup(func() { _ = response.Body.Close() })
		if got := response.Header; got.Get("Content-Type") != "text/event-stream" ||
			got.Get("Access-Control-Allow-Origin") != "http://127.0.0.1:8080" {
			t.Errorf("got the headers %v", got)
		}
		return bufio.NewReader(response.Body)
	}
	// next returns the data of the next event, without the id of its message.
	next := func(from *bufio.Reader) string {
		t.Helper()
		for {
			line := must.Get(from.ReadString('\n'))(t)
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				before, after, _ := strings.Cut(strings.TrimSpace(data), `"fcmMessageId":"projects/local/messages/`)
				_, after, _ = strings.Cut(after, `",`)
				return before + after
			}
		}
	}
	sent := func(message string) {
		t.Helper()
		if status, _, body := send(t, client, i, `{"message":{"token":"page/1",`+message+`}}`); status != 200 {
			t.Fatalf("got %d %s", status, body)
		}
	}
	page := listen()
	sent("\"notification\":{\"title\":\"T\",\n\"body\":\"ü\"},\"data\":{\"link\":\"/q/1\"}")
	if got, want := next(page), `{"data":{"link":"/q/1"},"from":"local","notification":{"title":"T","body":"ü"}}`; got !=
		want {
		t.Errorf("got %s, want %s", got, want)
	}
	sent(`"notification":{"title":"T"},` +
		`"webpush":{"notification":{"title":"W"},"fcm_options":{"link":"https://a.example"}}`)
	if got, want := next(page), `{"fcmOptions":{"link":"https://a.example"},"from":"local",`+
		`"notification":{"title":"W"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// The end of the inbox ends the page's request. What comes then waits for the next one, 100 messages at most.
	i.Close()
	i.Close()
	if rest, err := io.ReadAll(page); err != nil || len(rest) > 1 {
		t.Errorf("got %q, %v", rest, err)
	}
	for n := range 101 {
		sent(fmt.Sprintf(`"data":{"n":"%d"}`, n))
	}
	page = listen()
	if got, want := next(page), `{"data":{"n":"1"},"from":"local"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if rest, err := io.ReadAll(page); err != nil || strings.Count(string(rest), "data: ") != 99 {
		t.Errorf("got %d more, %v", strings.Count(string(rest), "data: "), err)
	}
}
