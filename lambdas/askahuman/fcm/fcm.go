// Package fcm sends push notifications through Firebase Cloud Messaging's HTTP v1
// API (Firebase documentation: "FCM HTTP v1 API", "Error codes for the HTTP v1
// API").
package fcm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"
	"golang.org/x/sync/singleflight"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
)

const (
	// Endpoint is Google's own.
	Endpoint = "https://fcm.googleapis.com"

	scope           = "https://www.googleapis.com/auth/firebase.messaging"
	defaultTokenURI = "https://oauth2.googleapis.com/token"
	// unset is in a secret that has not been filled in.
	unset = "unset"
	// timeout bounds one request when the caller brings no client of their own.
	timeout = 10 * time.Second
	// connections is how many stay open between notifications where the service
	// does not speak HTTP/2.
	connections = 16
	// answerLimit is how much of an answer is read, in bytes.
	answerLimit = 64 << 10
)

var (
	// ErrNotConfigured: the credentials are the placeholder that the platform was
	// created with.
	ErrNotConfigured = errors.New("push is not configured: put the key file of a Firebase service account (Firebase " +
		"console, Project settings, Service accounts, Generate new private key) into the secret as its value")
	// ErrUnauthorized: the credentials were refused. They may have been replaced
	// since they were read.
	ErrUnauthorized = errors.New("the push service refused the credentials: check that the service account still " +
		"exists, holds the role Firebase Cloud Messaging API Admin, and that its key is the one in the secret")
)

// Client sends push notifications. It is safe for concurrent use.
type Client struct {
	config jwt.Config
	http   *http.Client
	url    string

	fetching singleflight.Group
	current  atomic.Pointer[oauth2.Token]
}

// New returns a client for the project of a service account, whose key file serviceAccountJSON is.
// endpoint is the base URL of the service; empty is [Endpoint]. client should have a timeout; nil
// is one of New's own. New does not use the network.
//
// It returns [ErrNotConfigured] for the placeholder, or an error that says what is
// wrong with the key file and never shows any of it.
func New(serviceAccountJSON []byte, endpoint string, client *http.Client) (*Client, error) {
	var account struct {
		Type         string `json:"type"`
		ProjectID    string `json:"project_id"`
		ClientEmail  string `json:"client_email"`
		PrivateKey   string `json:"private_key"`
		PrivateKeyID string `json:"private_key_id"`
		TokenURI     string `json:"token_uri"`
	}
	if err := json.Unmarshal(serviceAccountJSON, &account); err != nil {
		// The text of err could quote the secret.
		return nil, errors.New("the push credentials are not the JSON key file of a service account: put the file " +
			"into the secret unchanged")
	}
	block, _ := pem.Decode([]byte(account.PrivateKey))
	switch {
	case account.ProjectID == unset || account.ClientEmail == unset:
		return nil, ErrNotConfigured
	case account.Type != "service_account":
		return nil,
			errors.New(`the push credentials are not those of a service account: "type" must be "service_account"`)
	case account.ProjectID == "" || account.ClientEmail == "":
		return nil, errors.New("the push credentials lack project_id or client_email: put the key file into the " +
			"secret unchanged")
	case block == nil:
		return nil, fmt.Errorf("%w: private_key is not a PEM block", ErrNotConfigured)
	}
	if !isRSA(block.Bytes) {
		return nil, errors.New("the push credentials' private_key is not an RSA key in PKCS #8 or PKCS #1: put the " +
			"key file into the secret unchanged")
	}
	account.TokenURI = cmp.Or(account.TokenURI, defaultTokenURI)
	endpoint = cmp.Or(endpoint, Endpoint)
	if client == nil {
		client = newHTTPClient()
	}
	return &Client{
		config: jwt.Config{
			Email:        account.ClientEmail,
			PrivateKey:   []byte(account.PrivateKey),
			PrivateKeyID: account.PrivateKeyID,
			TokenURL:     account.TokenURI,
			Scopes:       []string{scope},
		},
		http: client,
		url: strings.TrimSuffix(endpoint, "/") + "/v1/projects/" + url.PathEscape(account.ProjectID) +
			"/messages:send",
	}, nil
}

func newHTTPClient() *http.Client {
	client := &http.Client{Timeout: timeout}
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		transport := standard.Clone()
		transport.MaxIdleConnsPerHost = connections
		client.Transport = transport
	}
	return client
}

func isRSA(der []byte) bool {
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		_, ok := key.(*rsa.PrivateKey)
		return ok
	}
	_, err := x509.ParsePKCS1PrivateKey(der)
	return err == nil
}

// messageOf is the body of messages:send.
func messageOf(m askahuman.PushMessage) map[string]any {
	message := map[string]any{
		"token":        m.Token,
		"notification": map[string]string{"title": m.Title, "body": m.Body},
		// link and url are the same: pages read one or the other.
		"data": map[string]string{"link": m.Link, "url": m.Link, "question_id": m.QuestionID, "type": string(m.Type)},
	}
	// FCM refuses a message whose link is not https ("WebpushFcmOptions"). The
	// page's own service worker reads the data.
	if strings.HasPrefix(m.Link, "https://") {
		message["webpush"] = map[string]any{"fcm_options": map[string]string{"link": m.Link}}
	}
	return map[string]any{"message": message}
}

// Send sends one notification. It returns [askahuman.ErrDeadToken], a
// [*askahuman.PushUnavailableError], [ErrUnauthorized], or another error that
// names FCM's error code.
func (c *Client) Send(ctx context.Context, m askahuman.PushMessage) error {
	body, err := json.Marshal(messageOf(m))
	if err != nil {
		return fmt.Errorf("encode the push message: %w", err)
	}
	token, err := c.token(ctx)
	if err != nil {
		return err
	}
	err = c.post(ctx, body, token)
	if !errors.Is(err, ErrUnauthorized) {
		return err
	}
	// A token can be revoked before it ends: one try with a new one.
	c.current.CompareAndSwap(token, nil)
	if token, err = c.token(ctx); err != nil {
		return err
	}
	return c.post(ctx, body, token)
}

// token returns an access token. Concurrent callers share one fetch, so that a slow or failing token endpoint gets one
// request instead of one from each.
func (c *Client) token(ctx context.Context) (*oauth2.Token, error) {
	if current := c.current.Load(); current.Valid() {
		return current, nil
	}
	fetched := c.fetching.DoChan("", func() (any, error) {
		// Another fetch may have ended between the look above and this one.
		if current := c.current.Load(); current.Valid() {
			return current, nil
		}
		token, err := c.fetchToken()
		if err == nil {
			c.current.Store(token)
		}
		return token, err
	})
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("get an access token: %w", ctx.Err())
	case result := <-fetched:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(*oauth2.Token), nil
	}
}

// fetchToken requests a new token. It serves all waiting callers, so it uses no caller's context:
// the client's timeout bounds it.
func (c *Client) fetchToken() (*oauth2.Token, error) {
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, c.http)
	token, err := c.config.TokenSource(ctx).Token()
	if err == nil {
		return token, nil
	}
	refusal, answered := errors.AsType[*oauth2.RetrieveError](err)
	if !answered {
		return nil, &askahuman.PushUnavailableError{Err: fmt.Errorf("get an access token: %w", err)}
	}
	// The error leaves out the answer's body, because it belongs to an exchange of credentials.
	status := refusal.Response.StatusCode
	if status == http.StatusTooManyRequests || status >= 500 {
		return nil, &askahuman.PushUnavailableError{
			RetryAfter: webhook.RetryAfter(refusal.Response.Header.Get("Retry-After"), time.Now()),
			Err:        fmt.Errorf("get an access token: status %d", status),
		}
	}
	return nil, fmt.Errorf("get an access token: status %d: %w", status, ErrUnauthorized)
}

func (c *Client) post(ctx context.Context, body []byte, token *oauth2.Token) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	token.SetAuthHeader(request)
	response, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("push: %w", ctx.Err())
		}
		return &askahuman.PushUnavailableError{Err: err}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	if response.StatusCode == http.StatusOK {
		// FCM accepted the message, even if part of the answer was lost.
		return nil
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("push: %w", ctx.Err())
	}
	return refusalOf(response, answer)
}

// refusal is an error in the form of all Google APIs, with FCM's own code in the
// details.
type refusal struct {
	Error struct {
		Message string `json:"message"`
		Status  string `json:"status"`
		Details []struct {
			ErrorCode       string `json:"errorCode"`
			FieldViolations []struct {
				Field string `json:"field"`
			} `json:"fieldViolations"`
		} `json:"details"`
	} `json:"error"`
}

func (r refusal) code() string {
	for _, detail := range r.Error.Details {
		if detail.ErrorCode != "" {
			return detail.ErrorCode
		}
	}
	return r.Error.Status
}

// isAboutToken reports whether an INVALID_ARGUMENT is the token's fault and not
// the message's.
func (r refusal) isAboutToken() bool {
	for _, detail := range r.Error.Details {
		for _, violation := range detail.FieldViolations {
			if violation.Field == "message.token" {
				return true
			}
		}
	}
	return strings.Contains(r.Error.Message, "not a valid FCM registration token")
}

func refusalOf(response *http.Response, body []byte) error {
	var r refusal
	// An answer of another form, such as a proxy's page, is judged by its status.
	_ = json.Unmarshal(body, &r)
	err := fmt.Errorf("push: status %d %s: %s", response.StatusCode, r.code(), r.Error.Message)
	switch status := response.StatusCode; {
	case status == http.StatusNotFound && r.code() == "UNREGISTERED",
		status == http.StatusForbidden && r.code() == "SENDER_ID_MISMATCH",
		status == http.StatusBadRequest && r.isAboutToken():
		return fmt.Errorf("%w (%w)", askahuman.ErrDeadToken, err)
	case status == http.StatusTooManyRequests || status >= 500:
		return &askahuman.PushUnavailableError{
			RetryAfter: webhook.RetryAfter(response.Header.Get("Retry-After"), time.Now()), Err: err}
	case status == http.StatusUnauthorized && r.code() != "THIRD_PARTY_AUTH_ERROR":
		return fmt.Errorf("%w (%w)", ErrUnauthorized, err)
	}
	return err
}
