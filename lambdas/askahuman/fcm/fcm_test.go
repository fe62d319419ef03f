package fcm_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/fcm"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/fcm/fcmtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func clientOf(t *testing.T, g *fcmtest.Google) *fcm.Client {
	t.Helper()
	return must.Get(fcm.New(g.Account(nil), g.URL, nil))(t)
}

func message() service.PushMessage {
	return service.PushMessage{Token: "device", Title: "A title", Body: "Is \"this\" <ok>? 👍",
		Link: "https://example.com/q/1", QuestionID: "1", Type: askahuman.TypeText}
}

func TestSend(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]map[string]any{
		"https://example.com/q/1": {"fcm_options": map[string]any{"link": "https://example.com/q/1"}},
		"http://localhost:1/q/1":  nil,
		"/q/1":                    nil,
	} {
		t.Run(link, func(t *testing.T) {
			t.Parallel()
			g := fcmtest.New(t)
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
			if diff := cmp.Diff([]map[string]any{{"message": expected}}, g.Requests); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSendReusesItsToken(t *testing.T) {
	t.Parallel()
	g := fcmtest.New(t)
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
	if g.Tokens != 1 || len(g.Requests) != 24 {
		t.Errorf("%d tokens for %d messages, want 1 for 24", g.Tokens, len(g.Requests))
	}
}

func TestSendWithARevokedToken(t *testing.T) {
	t.Parallel()
	g := fcmtest.New(t)
	client := clientOf(t, g)
	must.OK(t, client.Send(t.Context(), message()))
	g.Revoked["token-1"] = true
	if err := client.Send(t.Context(), message()); err != nil {
		t.Errorf("after the token was revoked: %v", err)
	}
	if g.Tokens != 2 {
		t.Errorf("%d tokens, want 2", g.Tokens)
	}
	for i := range 10 {
		g.Revoked[fmt.Sprint("token-", i)] = true
	}
	if err := client.Send(t.Context(), message()); !errors.Is(err, fcm.ErrUnauthorized) {
		t.Errorf("when every token is refused: %v, want ErrUnauthorized", err)
	}
}

func TestSendRefused(t *testing.T) {
	t.Parallel()
	const violation = `{"error":{"code":400,"message":"Invalid value","status":"INVALID_ARGUMENT","details":[
		{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"},
		{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":%q,"description":"Invalid value"}]}]}}`
	raw := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.WriteHeader(status); fmt.Fprint(w, body) }
	}
	google := func(status int, name, code, message string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { fcmtest.Refuse(w, status, name, code, message) }
	}
	type kind struct {
		dead, unavailable, unauthorized bool
	}
	for name, test := range map[string]struct {
		answer     func(http.ResponseWriter)
		retryAfter string
		want       kind
		wait       time.Duration
	}{
		"unregistered": {answer: google(404, "NOT_FOUND", "UNREGISTERED",
			"Requested entity was not found."), want: kind{dead: true}},
		"project not found": {answer: google(404, "NOT_FOUND", "", "Requested entity was not found.")},
		"not a token": {answer: google(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT",
			"The registration token is not a valid FCM registration token"), want: kind{dead: true}},
		"token field":   {answer: raw(400, fmt.Sprintf(violation, "message.token")), want: kind{dead: true}},
		"another field": {answer: raw(400, fmt.Sprintf(violation, "message.webpush.fcm_options.link"))},
		"sender id mismatch": {answer: google(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH",
			"SenderId mismatch"), want: kind{dead: true}},
		"permission denied": {answer: google(403, "PERMISSION_DENIED", "", "Permission denied")},
		"third party": {answer: google(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR",
			"Auth error from APNS or Web Push Service")},
		"unauthenticated": {answer: google(401, "UNAUTHENTICATED", "", "Invalid credentials"),
			want: kind{unauthorized: true}},
		"quota": {answer: google(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", "Quota exceeded"),
			retryAfter: "7", want: kind{unavailable: true}, wait: 7 * time.Second},
		"quota, not said how long": {answer: google(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", "Quota exceeded"),
			want: kind{unavailable: true}},
		"quota, nonsense": {answer: google(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", "Quota exceeded"),
			retryAfter: "soon", want: kind{unavailable: true}},
		"internal": {answer: google(500, "INTERNAL", "INTERNAL", "Internal error"),
			want: kind{unavailable: true}},
		"unavailable": {answer: google(503, "UNAVAILABLE", "UNAVAILABLE", "Unavailable"), retryAfter: "30",
			want: kind{unavailable: true}, wait: 30 * time.Second},
		"a proxy's page":        {answer: raw(502, "<html>Bad gateway</html>"), want: kind{unavailable: true}},
		"not JSON":              {answer: raw(400, "nope")},
		"JSON of another shape": {answer: raw(400, `{"error":"text"}`)},
		"nothing":               {answer: raw(400, "")},
		"far too much":          {answer: raw(404, strings.Repeat("x", 1<<20))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := fcmtest.New(t)
			g.Answer = func(w http.ResponseWriter) bool {
				if test.retryAfter != "" {
					w.Header().Set("Retry-After", test.retryAfter)
				}
				test.answer(w)
				return true
			}
			err := clientOf(t, g).Send(t.Context(), message())
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
	for _, secret := range []string{"PRIVATE KEY", "token-1", "device", "assertion"} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows %q: %v", secret, err)
		}
	}
}

func TestSendWithoutAToken(t *testing.T) {
	t.Parallel()
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
			t.Parallel()
			g := fcmtest.New(t)
			g.Authorise = func(w http.ResponseWriter) bool {
				w.WriteHeader(test.status)
				fmt.Fprint(w, `{"error":"invalid_grant","error_description":"secret assertion"}`)
				return true
			}
			client := clientOf(t, g)
			err := client.Send(t.Context(), message())
			_, unavailable := errors.AsType[*service.PushUnavailableError](err)
			if unavailable != test.unavailable || errors.Is(err, fcm.ErrUnauthorized) != test.unauthorized {
				t.Errorf("error = %v", err)
			}
			wantNoSecret(t, err)
			g.Lock()
			g.Authorise = nil
			g.Unlock()
			if err := client.Send(t.Context(), message()); err != nil {
				t.Errorf("when tokens are issued again: %v", err)
			}
		})
	}
}

func TestSendToNobody(t *testing.T) {
	t.Parallel()
	for name, hasToken := range map[string]bool{"no token": false, "a token": true} {
		g := fcmtest.New(t)
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
	g := fcmtest.New(t)
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
	g := fcmtest.New(t)
	onCurve := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	pkcs1 := string(pem.EncodeToMemory(&pem.Block{
		Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(fcmtest.Key())}))
	for name, test := range map[string]struct {
		file          []byte
		valid         bool
		notConfigured bool
	}{
		"a key file":        {file: g.Account(nil), valid: true},
		"a PKCS #1 key":     {file: g.Account(map[string]any{"private_key": pkcs1}), valid: true},
		"without token_uri": {file: g.Account(map[string]any{"token_uri": ""}), valid: true},
		"the placeholder": {file: []byte(
			`{"type":"service_account","project_id":"unset","client_email":"unset","token_uri":"https://oauth2.googleapis.com/token","private_key":"k,J]=nS0me/random"}`),
			notConfigured: true},
		"private key not PEM": {file: g.Account(map[string]any{"private_key": "nS0me/random"}),
			notConfigured: true},
		"no private key":          {file: g.Account(map[string]any{"private_key": ""}), notConfigured: true},
		"empty":                   {file: nil},
		"not JSON":                {file: []byte("-----BEGIN PRIVATE KEY-----")},
		"null":                    {file: []byte("null")},
		"a list":                  {file: []byte("[]")},
		"wrong types":             {file: g.Account(map[string]any{"project_id": 5})},
		"another kind of account": {file: g.Account(map[string]any{"type": "authorized_user"})},
		"no project":              {file: g.Account(map[string]any{"project_id": ""})},
		"an elliptic key":         {file: g.Account(map[string]any{"private_key": fcmtest.PKCS8(onCurve)})},
		"PEM of rubbish": {file: g.Account(
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
