package fcm_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/fcm"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/pushtest"
)

func clientOf(t *testing.T, g *pushtest.Server) *fcm.Client {
	t.Helper()
	return must.Get(fcm.New(g.Account(t, nil), g.URL(), nil))(t)
}

func message() service.PushMessage {
	return service.PushMessage{Token: "device", Title: "A title", Body: "Is \"this\" <ok>? 👍",
		Link: "https://example.com/q/1", QuestionID: "1", Type: askahuman.TypeText}
}

func TestSend(t *testing.T) {
	t.Parallel()
	g := pushtest.Start(t)
	for link, want := range map[string]map[string]any{
		"https://example.com/q/1": {"fcm_options": map[string]any{"link": "https://example.com/q/1"}},
		"http://localhost:1/q/1":  nil,
		"/q/1":                    nil,
	} {
		t.Run(link, func(t *testing.T) {
			g.Clear()
			m := message()
			m.Link = link
			must.OK(t, clientOf(t, g).Send(t.Context(), m))
			expected := map[string]any{
				"token":        "device",
				"notification": map[string]any{"title": "A title", "body": "Is \"this\" <ok>? 👍"},
				"data":         map[string]any{"link": link, "url": link, "question_id": "1", "type": "text"},
			}
			if want != nil {
				expected["webpush"] = want
			}
			var sent map[string]any
			must.OK(t, json.Unmarshal(g.Messages()[0].Message, &sent))
			if diff := gocmp.Diff(expected, sent); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

// counting makes the server count requests for access tokens, and answer 401 to messages whose token refused reports.
func counting(g *pushtest.Server, refused func(authorization string) bool) (tokens *atomic.Int32) {
	tokens = &atomic.Int32{}
	g.Instead(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			tokens.Add(1)
			return false
		}
		if !refused(r.Header.Get("Authorization")) {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	return tokens
}

func TestSendReusesItsToken(t *testing.T) {
	t.Parallel()
	g := pushtest.Start(t)
	tokens := counting(g, func(string) bool { return false })
	client := clientOf(t, g)
	var group sync.WaitGroup
	for range 24 {
		group.Go(func() {
			if err := client.Send(context.Background(), message()); err != nil {
				t.Errorf("Send: %v", err)
			}
		})
	}
	group.Wait()
	if tokens.Load() != 1 || len(g.Messages()) != 24 {
		t.Errorf("%d tokens for %d messages, want 1 for 24", tokens.Load(), len(g.Messages()))
	}
}

func TestSendWithARevokedToken(t *testing.T) {
	t.Parallel()
	g := pushtest.Start(t)
	client := clientOf(t, g)
	must.OK(t, client.Send(t.Context(), message()))
	revoked := ""
	tokens := counting(g, func(token string) bool {
		revoked = cmp.Or(revoked, token)
		return token == revoked
	})
	if err := client.Send(t.Context(), message()); err != nil {
		t.Errorf("after the token was revoked: %v", err)
	}
	if tokens.Load() != 1 {
		t.Errorf("%d further tokens, want 1", tokens.Load())
	}
	counting(g, func(string) bool { return true })
	if err := client.Send(t.Context(), message()); !errors.Is(err, fcm.ErrUnauthorized) {
		t.Errorf("when every token is refused: %v, want ErrUnauthorized", err)
	}
}

func TestSendRefused(t *testing.T) {
	t.Parallel()
	g := pushtest.Start(t)
	const violation = `{"error":{"code":400,"message":"Invalid value","status":"INVALID_ARGUMENT","details":[
		{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"},
		{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":%q,"description":"Invalid value"}]}]}}`
	raw := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.WriteHeader(status); fmt.Fprint(w, body) }
	}
	type kind struct {
		dead, unavailable, unauthorized bool
	}
	for name, test := range map[string]struct {
		device     string                    // one of the prefixes that Firebase refuses here
		answer     func(http.ResponseWriter) // in place of Firebase's
		retryAfter string
		want       kind
		wait       time.Duration
	}{
		"unregistered":       {device: "unregistered-device", want: kind{dead: true}},
		"not a token":        {device: "invalid-device", want: kind{dead: true}},
		"sender id mismatch": {device: "mismatch-device", want: kind{dead: true}},
		"third party":        {device: "third-party-device"},
		"quota":              {device: "quota-device", want: kind{unavailable: true}, wait: time.Second},
		"unavailable":        {device: "unavailable-device", want: kind{unavailable: true}, wait: time.Second},
		"internal":           {device: "internal-device", want: kind{unavailable: true}},
		"quota, not said how long": {answer: raw(429, `{"error":{"status":"RESOURCE_EXHAUSTED"}}`),
			want: kind{unavailable: true}},
		"quota, for longer": {answer: raw(429, `{"error":{"status":"RESOURCE_EXHAUSTED"}}`), retryAfter: "30",
			want: kind{unavailable: true}, wait: 30 * time.Second},
		"quota, nonsense": {answer: raw(429, `{"error":{"status":"RESOURCE_EXHAUSTED"}}`), retryAfter: "soon",
			want: kind{unavailable: true}},
		"project not found": {answer: raw(404, `{"error":{"status":"NOT_FOUND","details":[]}}`)},
		"token field":       {answer: raw(400, fmt.Sprintf(violation, "message.token")), want: kind{dead: true}},
		"another field":     {answer: raw(400, fmt.Sprintf(violation, "message.webpush.fcm_options.link"))},
		"permission denied": {answer: raw(403, `{"error":{"status":"PERMISSION_DENIED","details":[]}}`)},
		"unauthenticated": {answer: raw(401, `{"error":{"status":"UNAUTHENTICATED","details":[]}}`),
			want: kind{unauthorized: true}},
		"a proxy's page":        {answer: raw(502, "<html>Bad gateway</html>"), want: kind{unavailable: true}},
		"not JSON":              {answer: raw(400, "nope")},
		"JSON of another shape": {answer: raw(400, `{"error":"text"}`)},
		"nothing":               {answer: raw(400, "")},
		"far too much":          {answer: raw(404, strings.Repeat("x", 1<<20))},
	} {
		t.Run(name, func(t *testing.T) {
			g.Instead(func(w http.ResponseWriter, r *http.Request) bool {
				if test.answer == nil || r.URL.Path == "/token" {
					return false
				}
				if test.retryAfter != "" {
					w.Header().Set("Retry-After", test.retryAfter)
				}
				test.answer(w)
				return true
			})
			m := message()
			m.Token = cmp.Or(test.device, m.Token)
			err := clientOf(t, g).Send(t.Context(), m)
			if err == nil {
				t.Fatal("Send returned no error")
			}
			unavailable, isUnavailable := errors.AsType[*service.PushUnavailableError](err)
			got := kind{errors.Is(err, service.ErrDeadToken), isUnavailable, errors.Is(err, fcm.ErrUnauthorized)}
			if got != test.want {
				t.Errorf("error is %+v, want %+v: %v", got, test.want, err)
			}
			if isUnavailable && unavailable.RetryAfter != test.wait {
				t.Errorf("retry after %v, want %v", unavailable.RetryAfter, test.wait)
			}
			wantNoSecret(t, err)
		})
	}
}

// wantNoSecret checks that an error can be logged.
func wantNoSecret(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{"PRIVATE KEY", "ya29.", "device", "assertion"} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows %q: %v", secret, err)
		}
	}
}

func TestSendWithoutAToken(t *testing.T) {
	t.Parallel()
	g := pushtest.Start(t)
	for name, test := range map[string]struct {
		status                    int
		unavailable, unauthorized bool
	}{
		"the account is gone": {400, false, true},
		"unauthorised":        {401, false, true},
		"too many":            {429, true, false},
		"down":                {503, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			g.Instead(func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(test.status)
				fmt.Fprint(w, `{"error":"invalid_grant","error_description":"secret assertion"}`)
				return true
			})
			client := clientOf(t, g)
			err := client.Send(t.Context(), message())
			_, unavailable := errors.AsType[*service.PushUnavailableError](err)
			if unavailable != test.unavailable || errors.Is(err, fcm.ErrUnauthorized) != test.unauthorized {
				t.Errorf("error = %v", err)
			}
			wantNoSecret(t, err)
			g.Instead(nil)
			if err := client.Send(t.Context(), message()); err != nil {
				t.Errorf("when tokens are issued again: %v", err)
			}
		})
	}
}

func TestSendToNobody(t *testing.T) {
	t.Parallel()
	for name, hasToken := range map[string]bool{"no token": false, "a token": true} {
		g := pushtest.Start(t)
		client := clientOf(t, g)
		if hasToken {
			must.OK(t, client.Send(t.Context(), message()))
		}
		g.Close()
		err := client.Send(t.Context(), message())
		if _, ok := errors.AsType[*service.PushUnavailableError](err); !ok {
			t.Errorf("with %s: %v, want unavailable", name, err)
		}
	}
}

func TestSendCancelled(t *testing.T) {
	t.Parallel()
	g := pushtest.Start(t)
	client := clientOf(t, g)
	must.OK(t, client.Send(t.Context(), message()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := client.Send(ctx, message())
	if _, unavailable := errors.AsType[*service.PushUnavailableError](err); unavailable ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
	if err := clientOf(t, g).Send(ctx, message()); !errors.Is(err, context.Canceled) {
		t.Errorf("while waiting for a token: %v, want context.Canceled", err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	g := pushtest.Start(t)
	onCurve := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	elliptical := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY",
		Bytes: must.Get(x509.MarshalPKCS8PrivateKey(onCurve))(t)}))
	pkcs1 := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
		Bytes: x509.MarshalPKCS1PrivateKey(must.Get(rsa.GenerateKey(rand.Reader, 2048))(t))}))
	for name, test := range map[string]struct {
		file          []byte
		valid         bool
		notConfigured bool
	}{
		"a key file":        {file: g.Account(t, nil), valid: true},
		"a PKCS #1 key":     {file: g.Account(t, map[string]any{"private_key": pkcs1}), valid: true},
		"without token_uri": {file: g.Account(t, map[string]any{"token_uri": ""}), valid: true},
		"the placeholder": {file: []byte(
			`{"type":"service_account","project_id":"unset","client_email":"unset","token_uri":"https://oauth2.googleapis.com/token","private_key":"k,J]=nS0me/random"}`),
			notConfigured: true},
		"private key not PEM": {file: g.Account(t, map[string]any{"private_key": "nS0me/random"}),
			notConfigured: true},
		"no private key":          {file: g.Account(t, map[string]any{"private_key": ""}), notConfigured: true},
		"empty":                   {file: nil},
		"not JSON":                {file: []byte("-----BEGIN PRIVATE KEY-----")},
		"null":                    {file: []byte("null")},
		"a list":                  {file: []byte("[]")},
		"wrong types":             {file: g.Account(t, map[string]any{"project_id": 5})},
		"another kind of account": {file: g.Account(t, map[string]any{"type": "authorized_user"})},
		"no project":              {file: g.Account(t, map[string]any{"project_id": ""})},
		"an elliptic key":         {file: g.Account(t, map[string]any{"private_key": elliptical})},
		"PEM of rubbish": {file: g.Account(t,
			map[string]any{"private_key": string(
				pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("rubbish")}))})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := fcm.New(test.file, "", nil)
			if (err == nil) != test.valid || (client != nil) != test.valid {
				t.Fatalf("New = %v, %v; valid %v", client, err, test.valid)
			}
			if errors.Is(err, fcm.ErrNotConfigured) != test.notConfigured {
				t.Errorf("error = %v; not configured %v", err, test.notConfigured)
			}
			if err != nil && (strings.Contains(err.Error(), "rubbish") || strings.Contains(err.Error(), "S0me")) {
				t.Errorf("the error shows the secret: %v", err)
			}
		})
	}
}
