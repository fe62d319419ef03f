// Package fcmtest stands in for Firebase Cloud Messaging.
package fcmtest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

// Key is the key of the service account of each test.
var Key = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// PKCS8 returns a key as a key file has it.
func PKCS8(key any) string {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// Google speaks the protocol of Google's token endpoint and of FCM, for the time of a test. A test that sets its fields
// while requests are made locks it.
type Google struct {
	*httptest.Server
	sync.Mutex
	// Tokens counts those that were issued: token-1, token-2 and so on. Those that are Revoked are refused.
	Tokens  int
	Revoked map[string]bool
	// Requests are the bodies of messages:send, those that Answer refused included.
	Requests []map[string]any
	// Answer answers messages:send, and Authorise the token endpoint, unless it returns false. Nil: the message is
	// taken, and a token issued.
	Answer, Authorise func(http.ResponseWriter) bool
}

// New starts a server.
func New(t testing.TB) *Google {
	t.Helper()
	g := &Google{Revoked: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", g.token)
	mux.HandleFunc("POST /v1/projects/{project}/messages:send", g.send)
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

func (g *Google) token(w http.ResponseWriter, r *http.Request) {
	g.Lock()
	defer g.Unlock()
	if g.Authorise != nil && g.Authorise(w) {
		return
	}
	if err := g.checkAssertion(r); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":"invalid_grant","error_description":%q}`, err)
		return
	}
	g.Tokens++
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":3599,"token_type":"Bearer"}`, g.Tokens)
}

// checkAssertion does what Google does ("Using OAuth 2.0 for Server to Server
// Applications").
func (g *Google) checkAssertion(r *http.Request) error {
	if grant := r.FormValue("grant_type"); grant != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		return fmt.Errorf("grant_type %q", grant)
	}
	var claims struct {
		jwt.RegisteredClaims
		Scope string `json:"scope"`
	}
	if _, err := jwt.ParseWithClaims(r.FormValue("assertion"), &claims, func(*jwt.Token) (any, error) {
		return &Key().PublicKey, nil
	}, jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer("push@project.example"),
		jwt.WithAudience(g.URL+"/token"), jwt.WithExpirationRequired()); err != nil {
		return err
	}
	if !strings.Contains(claims.Scope, "https://www.googleapis.com/auth/firebase.messaging") {
		return fmt.Errorf("the scope %q", claims.Scope)
	}
	return nil
}

func (g *Google) send(w http.ResponseWriter, r *http.Request) {
	g.Lock()
	defer g.Unlock()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !strings.HasPrefix(token, "token-") || g.Revoked[token] {
		Refuse(w, 401, "UNAUTHENTICATED", "", "Request had invalid authentication credentials.")
		return
	}
	if r.PathValue("project") != "project" {
		Refuse(w, 404, "NOT_FOUND", "", "Requested entity was not found.")
		return
	}
	body, err := io.ReadAll(r.Body)
	var message map[string]any
	if err != nil || json.Unmarshal(body, &message) != nil {
		Refuse(w, 400, "INVALID_ARGUMENT", "", "Invalid JSON payload received.")
		return
	}
	g.Requests = append(g.Requests, message)
	if g.Answer != nil && g.Answer(w) {
		return
	}
	fmt.Fprint(w, `{"name":"projects/project/messages/0:1"}`)
}

// Refuse writes an error of FCM, with its code unless that is empty.
func Refuse(w http.ResponseWriter, status int, name, code, message string) {
	details := "[]"
	if code != "" {
		details = fmt.Sprintf(`[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":%q}]`, code)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%d,"message":%q,"status":%q,"details":%s}}`, status, message, name, details)
}

// Account returns a key file, with changes.
func (g *Google) Account(change map[string]any) []byte {
	file := map[string]any{
		"type": "service_account", "project_id": "project", "private_key_id": "k1", "private_key": PKCS8(Key()),
		"client_email": "push@project.example", "client_id": "1", "token_uri": g.URL + "/token",
	}
	maps.Copy(file, change)
	encoded, err := json.Marshal(file)
	if err != nil {
		panic(err)
	}
	return encoded
}
