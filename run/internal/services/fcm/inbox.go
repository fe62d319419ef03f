// Package fcm stands in for Firebase Cloud Messaging: it speaks the HTTP v1 protocol and its OAuth 2.0
// token endpoint ("FCM HTTP v1 API", Firebase documentation), keeps every message for people and tests to
// read, and fails on request in Google's own shapes. It also stands in for the push service of a browser: a page of
// the run that is open is a device.
package fcm

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Limits of the protocol.
const (
	// MaxMessage is the largest request, in bytes. FCM's own payload limit is 4096 bytes.
	MaxMessage = 64 << 10
	// MaxPayload is the largest notification and data payload, in bytes.
	MaxPayload = 4096
	// keptMessages bounds the memory of a long run; older messages are dropped.
	keptMessages = 10_000

	scope     = "https://www.googleapis.com/auth/firebase.messaging"
	grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

// Fault is an FCM error code that the inbox can answer with.
type Fault string

// The error codes of FCM HTTP v1 ("ErrorCode").
const (
	Unregistered        Fault = "UNREGISTERED"
	InvalidArgument     Fault = "INVALID_ARGUMENT"
	QuotaExceeded       Fault = "QUOTA_EXCEEDED"
	Unavailable         Fault = "UNAVAILABLE"
	ThirdPartyAuthError Fault = "THIRD_PARTY_AUTH_ERROR"
	SenderIDMismatch    Fault = "SENDER_ID_MISMATCH"
	Internal            Fault = "INTERNAL"
)

type shape struct {
	code            int
	status, message string
}

var shapes = map[Fault]shape{
	Unregistered: {http.StatusNotFound, "NOT_FOUND", "Requested entity was not found."},
	InvalidArgument: {http.StatusBadRequest, "INVALID_ARGUMENT",
		"The registration token is not a valid FCM registration token"},
	QuotaExceeded: {http.StatusTooManyRequests, "RESOURCE_EXHAUSTED",
		"Quota exceeded for quota metric 'Messages'"},
	Unavailable:         {http.StatusServiceUnavailable, "UNAVAILABLE", "The service is currently unavailable."},
	ThirdPartyAuthError: {http.StatusUnauthorized, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service"},
	SenderIDMismatch:    {http.StatusForbidden, "PERMISSION_DENIED", "SenderId mismatch"},
	Internal:            {http.StatusInternalServerError, "INTERNAL", "Internal error encountered."},
}

// prefixes of device tokens that always fail, for tests over HTTP alone.
var prefixes = map[string]Fault{
	"unregistered-": Unregistered, "invalid-": InvalidArgument, "quota-": QuotaExceeded, "unavailable-": Unavailable,
	"third-party-": ThirdPartyAuthError, "mismatch-": SenderIDMismatch, "internal-": Internal,
}

// Message is one message that the inbox took.
type Message struct {
	// Name is the id that the sender received.
	Name    string `json:"name"`
	Project string `json:"project"`
	// Token is the token of the device.
	Token    string    `json:"token"`
	Received time.Time `json:"received"`
	// Message is the message object as it was sent.
	Message json.RawMessage `json:"message"`
}

// Inbox is an http.Handler. Make one with New.
type Inbox struct {
	url string
	now func() time.Time
	mux *http.ServeMux
	key func() (*rsa.PrivateKey, error)

	mu       sync.Mutex
	accounts map[string]*rsa.PublicKey // by client_email
	tokens   map[string]time.Time      // access tokens and their end
	faults   map[string]Fault
	messages []Message
	devices  map[string]*device // pages, by token

	closing sync.Once
	closed  chan struct{}
}

// New returns an inbox that is served at the URL (no trailing slash). Its RSA key is made when it is first needed.
func New(url string) *Inbox {
	i := &Inbox{
		url: strings.TrimSuffix(url, "/"), now: time.Now, mux: http.NewServeMux(),
		key:      sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }),
		accounts: map[string]*rsa.PublicKey{}, tokens: map[string]time.Time{}, faults: map[string]Fault{},
		devices: map[string]*device{}, closed: make(chan struct{}),
	}
	i.mux.HandleFunc("POST /token", i.token)
	i.mux.HandleFunc("POST /v1/projects/{project}/{call}", i.send)
	i.mux.HandleFunc("GET "+devicePrefix+"{token}", i.listen)
	return i
}

// URL is where the inbox is served.
func (i *Inbox) URL() string { return i.url }

// ServeHTTP serves the token endpoint (/token), messages:send, and the pages that are devices.
func (i *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) { i.mux.ServeHTTP(w, r) }

// ServiceAccount fills a service account key, the JSON document that Google's console downloads, for this
// inbox: the private key, its id and the token endpoint. The template's project_id and client_email are kept
// when they name an account, and replaced when they are placeholders (no "@" in client_email). It fails when
// the template is no JSON object.
func (i *Inbox) ServiceAccount(template string) (string, error) {
	document := map[string]any{}
	if template != "" {
		if err := json.Unmarshal([]byte(template), &document); err != nil {
			return "", fmt.Errorf("service account template: %w", err)
		}
	}
	key, err := i.key()
	if err != nil {
		return "", fmt.Errorf("service account key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("service account key: %w", err)
	}
	email, _ := document["client_email"].(string)
	project, _ := document["project_id"].(string)
	if !strings.Contains(email, "@") || project == "" {
		project = "local"
		email = "push@local.iam.gserviceaccount.com"
	}
	maps.Copy(document, map[string]any{
		"type": "service_account", "project_id": project, "client_email": email,
		"private_key_id": keyID(&key.PublicKey),
		"private_key":    string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"token_uri":      i.url + "/token",
	})
	encoded, err := json.Marshal(document)
	if err != nil {
		return "", fmt.Errorf("service account: %w", err)
	}
	i.mu.Lock()
	i.accounts[email] = &key.PublicKey
	i.mu.Unlock()
	return string(encoded), nil
}

func keyID(key *rsa.PublicKey) string {
	hash := crypto.SHA256.New()
	hash.Write(x509.MarshalPKCS1PublicKey(key))
	return hex.EncodeToString(hash.Sum(nil)[:20])
}

// Messages returns the messages that the inbox took, oldest first.
func (i *Inbox) Messages() []Message {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]Message{}, i.messages...)
}

// Clear drops every message.
func (i *Inbox) Clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.messages = nil
}

// Fail makes every message to a device token fail; "" lets it pass again. An unknown fault is an error.
func (i *Inbox) Fail(token string, fault Fault) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if fault == "" {
		delete(i.faults, token)
		return nil
	}
	if _, ok := shapes[fault]; !ok {
		return fmt.Errorf("fault %q: FCM knows UNREGISTERED, INVALID_ARGUMENT, QUOTA_EXCEEDED, UNAVAILABLE, "+
			"THIRD_PARTY_AUTH_ERROR, SENDER_ID_MISMATCH and INTERNAL", fault)
	}
	i.faults[token] = fault
	return nil
}

// token is the OAuth 2.0 token endpoint for service accounts (RFC 7523).
func (i *Inbox) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, MaxMessage)
	if err := r.ParseForm(); err != nil {
		oauthError(w, "invalid_request", "the request is not a form")
		return
	}
	if got := r.PostForm.Get("grant_type"); got != grantType {
		oauthError(w, "unsupported_grant_type", "Invalid grant_type: "+got)
		return
	}
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithAudience(i.url+"/token"),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithTimeFunc(i.now))
	_, err := parser.ParseWithClaims(r.PostForm.Get("assertion"), claims, func(*jwt.Token) (any, error) {
		email, _ := claims["iss"].(string)
		i.mu.Lock()
		defer i.mu.Unlock()
		if key, ok := i.accounts[email]; ok {
			return key, nil
		}
		return nil, errors.New("account not found")
	})
	if err != nil {
		oauthError(w, "invalid_grant", "Invalid JWT: "+err.Error())
		return
	}
	asked, _ := claims["scope"].(string)
	if !strings.Contains(" "+asked+" ", " "+scope+" ") &&
		!strings.Contains(asked, "https://www.googleapis.com/auth/cloud-platform") {
		oauthError(w, "invalid_scope", "ask for "+scope)
		return
	}
	access := "ya29." + random()
	i.mu.Lock()
	for token, end := range i.tokens {
		if end.Before(i.now()) {
			delete(i.tokens, token)
		}
	}
	i.tokens[access] = i.now().Add(time.Hour)
	i.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{"access_token": access, "expires_in": 3599, "token_type": "Bearer"})
}

func oauthError(w http.ResponseWriter, code, description string) {
	writeJSON(w, http.StatusBadRequest, map[string]string{"error": code, "error_description": description})
}

func (i *Inbox) authorised(r *http.Request) bool {
	access, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	end, ok := i.tokens[access]
	return ok && i.now().Before(end)
}

// send is projects.messages.send.
func (i *Inbox) send(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("call") != "messages:send" {
		googleError(w, http.StatusNotFound, "NOT_FOUND", "no such method: "+r.PathValue("call"), "")
		return
	}
	if !i.authorised(r) {
		googleError(w, http.StatusUnauthorized, "UNAUTHENTICATED",
			"Request had invalid authentication credentials. Expected OAuth 2 access token.", "")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage))
	if err != nil {
		googleError(w, http.StatusBadRequest, "INVALID_ARGUMENT", "Request payload size exceeds the limit",
			InvalidArgument)
		return
	}
	var request struct {
		ValidateOnly bool `json:"validate_only"`
		Message      json.RawMessage
	}
	var message struct {
		Token, Topic, Condition string
		Data                    map[string]string
		Notification            json.RawMessage
	}
	if err := json.Unmarshal(body, &request); err != nil {
		googleError(w, http.StatusBadRequest, "INVALID_ARGUMENT", "Invalid JSON payload received. "+err.Error(),
			InvalidArgument)
		return
	}
	if err := json.Unmarshal(request.Message, &message); err != nil {
		googleError(w, http.StatusBadRequest, "INVALID_ARGUMENT", "Invalid value at 'message': "+err.Error(),
			InvalidArgument)
		return
	}
	targets := 0
	for _, target := range []string{message.Token, message.Topic, message.Condition} {
		if target != "" {
			targets++
		}
	}
	size := len(message.Notification)
	for name, value := range message.Data {
		size += len(name) + len(value)
	}
	switch {
	case targets != 1:
		googleError(w, http.StatusBadRequest, "INVALID_ARGUMENT",
			"Recipient of the message is not set: give one of token, topic and condition.", InvalidArgument)
		return
	case size > MaxPayload:
		googleError(w, http.StatusBadRequest, "INVALID_ARGUMENT",
			fmt.Sprintf("Message is too big: %d bytes, at most %d", size, MaxPayload), InvalidArgument)
		return
	}
	if fault := i.fault(message.Token); fault != "" {
		s := shapes[fault]
		if fault == QuotaExceeded || fault == Unavailable {
			w.Header().Set("Retry-After", "1")
		}
		googleError(w, s.code, s.status, s.message, fault)
		return
	}
	name := "projects/" + r.PathValue("project") + "/messages/" + random()
	if !request.ValidateOnly {
		i.mu.Lock()
		if len(i.messages) == keptMessages {
			i.messages = append(i.messages[:0:0], i.messages[keptMessages/10:]...)
		}
		m := Message{Name: name, Project: r.PathValue("project"), Token: message.Token, Received: i.now().UTC(),
			Message: request.Message}
		i.messages = append(i.messages, m)
		i.deliver(m)
		i.mu.Unlock()
	}
	writeJSON(w, http.StatusOK, map[string]string{"name": name})
}

func (i *Inbox) fault(token string) Fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	if fault, ok := i.faults[token]; ok {
		return fault
	}
	for prefix, fault := range prefixes {
		if strings.HasPrefix(token, prefix) {
			return fault
		}
	}
	return ""
}

func googleError(w http.ResponseWriter, code int, status, message string, fault Fault) {
	document := map[string]any{"code": code, "message": message, "status": status}
	if fault != "" {
		document["details"] = []map[string]string{
			{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": string(fault)}}
	}
	writeJSON(w, code, map[string]any{"error": document})
}

func writeJSON(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(document)
}

func random() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
