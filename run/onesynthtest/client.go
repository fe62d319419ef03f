package onesynthtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

// Client sends requests to a platform, from one address: any by [Client.Send], and those of operations by [Call]. A
// redirect is a reply, and is not followed.
type Client struct {
	// URL is the base URL of the platform's API.
	URL string
	// HTTP makes the requests.
	HTTP *http.Client
	// Header has headers of every request. A request's own headers replace them.
	Header http.Header
	// Retry are statuses of replies after which the client makes the request again: after the time of Retry-After, or
	// after a second, if API Gateway itself answered. Default: none.
	Retry []int
	// IdempotencyKeys gives each request but a GET a new Idempotency-Key, unless its headers have one.
	IdempotencyKeys bool
}

// Busy are the statuses by which a platform tells a client to make the request again:
// 503, and 409 while an earlier attempt runs.
var Busy = []int{http.StatusServiceUnavailable, http.StatusConflict}

// maxRetries is how often a client makes a request again.
const maxRetries = 20

// addresses counts the loopback addresses that have been given to clients.
var addresses atomic.Uint32

// NewClient returns a client, with its own address if the target has several: a platform may limit requests by address.
func NewClient(t testing.TB, target *Target) *Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true}
	if target.Run != nil {
		n := addresses.Add(1)
		from := &net.TCPAddr{IP: net.IPv4(127, 1, byte(n>>8), byte(n))}
		transport.DialContext = (&net.Dialer{LocalAddr: from}).DialContext
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &Client{URL: target.URL, HTTP: &http.Client{Transport: transport, Timeout: time.Minute}}
}

// As returns a client that calls as a user: with a token of the run's issuer that has the subject id and further
// claims, such as [Groups].
func (p *Target) As(t testing.TB, id string, claims ...map[string]any) *Client {
	t.Helper()
	all := map[string]any{}
	for _, some := range claims {
		maps.Copy(all, some)
	}
	c := NewClient(t, p)
	c.Header = http.Header{"Authorization": {"Bearer " + p.Token(t, map[string]any{"sub": id, "claims": all})}}
	return c
}

// Groups returns the claims of a user who is in these groups of the user pool.
func Groups(names ...string) map[string]any { return map[string]any{"cognito:groups": names} }

// Reply is the platform's answer to a request.
type Reply = client.Reply

// Send implements [client.Sender]. It makes the request again as Retry says.
func (c *Client) Send(ctx context.Context, method, path string, header http.Header, body any) (Reply, error) {
	if c.IdempotencyKeys && method != http.MethodGet && header.Get("Idempotency-Key") == "" {
		with := Key(Unique("key"))
		maps.Copy(with, header)
		header = with
	}
	once := client.Client{URL: c.URL, HTTP: c.HTTP, Header: c.Header}
	for retries := 0; ; retries++ {
		r, err := once.Send(ctx, method, path, header, body)
		r.Retries = retries
		after, told := r.RetryAfter()
		if err != nil || !slices.Contains(c.Retry, r.Status) || retries == maxRetries {
			return r, err
		}
		if !told {
			if r.Status != http.StatusServiceUnavailable {
				return r, nil
			}
			after = time.Second
		}
		select {
		case <-time.After(after):
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
}

// MustSend is Send, and fails the test if the connection fails.
func (c *Client) MustSend(t testing.TB, method, path string, header http.Header, body any) Reply {
	t.Helper()
	r, err := c.Send(t.Context(), method, path, header, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// Try is MustSend without further headers.
func (c *Client) Try(t testing.TB, method, path string, body any) Reply {
	t.Helper()
	return c.MustSend(t, method, path, nil, body)
}

// Call sends a request of an operation, and fails the test if it does not succeed, or if the answer has fields that the
// operation's form lacks. For an expected refusal, call [client.Call]: it returns the error.
func Call[P, B, A any](t testing.TB, by client.Sender, op schema.Operation[P, B, A], params P, body B,
	options ...client.Option) client.Answer[A] {
	t.Helper()
	answer := must.Get(client.Call(t.Context(), by, op, params, body, options...))(t)
	if reflect.TypeFor[A]().Kind() == reflect.Struct && answer.Further == nil && len(answer.Body) > 0 {
		Read[A](t, answer.Reply, answer.Status)
	}
	return answer
}

// Key returns the header that makes a request idempotent.
func Key(key string) http.Header { return http.Header{"Idempotency-Key": {key}} }

// Read decodes a reply, which must have that status.
func Read[T any](t testing.TB, r Reply, status int) T {
	t.Helper()
	var value T
	if r.Status != status {
		t.Fatalf("got %v; want status %d", r, status)
	}
	if status == http.StatusNoContent {
		if len(r.Body) > 0 {
			t.Fatalf("got %v; want no body", r)
		}
		return value
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("got %v: %v", r, err)
	}
	return value
}

// Field returns a text of a JSON object, or "" if it is missing.
func Field(body []byte, name string) string {
	var object map[string]any
	_ = json.Unmarshal(body, &object)
	text, _ := object[name].(string)
	return text
}

// Unique makes a name that no other test and no earlier run has used.
func Unique(prefix string) string { return prefix + "-" + strings.ToLower(Random(12)) }

// Random returns n random letters and digits, at most 26.
func Random(n int) string { return rand.Text()[:n] }

// Together calls do n times at the same moment and waits for all calls.
func Together(n int, do func(i int) error) error {
	start := make(chan struct{})
	failures := make(chan error, n)
	for i := range n {
		go func() {
			<-start
			failures <- do(i)
		}()
	}
	close(start)
	var failed error
	for range n {
		failed = errors.Join(failed, <-failures)
	}
	return failed
}

// Split returns the method and path of a request.
func Split(request string) (method, path string) {
	method, path, _ = strings.Cut(request, " ")
	return method, path
}
