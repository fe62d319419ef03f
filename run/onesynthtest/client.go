package onesynthtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Client sends requests to a platform, from one address.
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
	request, all := map[string]any{"sub": id}, map[string]any{}
	for _, some := range claims {
		maps.Copy(all, some)
	}
	if len(all) > 0 {
		request["claims"] = all
	}
	client := NewClient(t, p)
	client.Header = http.Header{"Authorization": {"Bearer " + p.Token(t, request)}}
	return client
}

// Groups returns the claims of a user who is in these groups of the user pool.
func Groups(names ...string) map[string]any { return map[string]any{"cognito:groups": names} }

// Reply is the platform's answer to a request.
type Reply struct {
	// Request is the method and path.
	Request string
	Status  int
	Header  http.Header
	Body    []byte
	// Retries is how often the client had made the request before, by [Client.Retry]. The platform
	// may have carried out an earlier attempt.
	Retries int
}

// String returns the reply for failure messages.
func (r Reply) String() string {
	const most = 600
	return fmt.Sprintf("%s: %d %.*s", r.Request, r.Status, most, r.Body)
}

// RetryAfter returns how long the platform asks the client to wait before it makes the request
// again, at least a second and at most a day; ok is false if it does not ask.
func (r Reply) RetryAfter() (after time.Duration, ok bool) {
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	asked := seconds > 0 && (err == nil || errors.Is(err, strconv.ErrRange))
	return time.Duration(min(seconds, 24*60*60)) * time.Second, asked
}

// Send makes a request, and makes it again as Retry says. It sends a []byte body as it is, another body as JSON, and
// for nil no body. An error is one of the connection: every status is a reply.
func (c *Client) Send(ctx context.Context, method, path string, header http.Header, body any) (Reply, error) {
	if c.IdempotencyKeys && method != http.MethodGet && header.Get("Idempotency-Key") == "" {
		with := Key(Unique("key"))
		maps.Copy(with, header)
		header = with
	}
	for retries := 0; ; retries++ {
		r, err := c.sendOnce(ctx, method, path, header, body)
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

func (c *Client) sendOnce(ctx context.Context, method, path string, header http.Header, body any) (Reply, error) {
	var content io.Reader
	sent := http.Header{}
	maps.Copy(sent, c.Header)
	maps.Copy(sent, header)
	header = sent
	switch body := body.(type) {
	case nil:
	case []byte:
		content = bytes.NewReader(body)
	default:
		encoded, err := json.Marshal(body)
		if err != nil {
			return Reply{}, fmt.Errorf("encode the request: %w", err)
		}
		content = bytes.NewReader(encoded)
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "application/json")
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, content)
	if err != nil {
		return Reply{}, err
	}
	request.Header = header
	response, err := c.HTTP.Do(request)
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return Reply{}, fmt.Errorf("read the reply to %s %s: %w", method, path, err)
	}
	return Reply{Request: method + " " + path, Status: response.StatusCode, Header: response.Header, Body: received},
		nil
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
