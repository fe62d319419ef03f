// Package client calls the API of a platform. [Call] takes the same [schema.Operation] that the platform serves: it
// makes the request from the operation's parameters and body, and returns the answer in the operation's form.
//
// The package is no part of the language of contracts, which know no HTTP.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Client sends requests to one API over HTTP.
type Client struct {
	// URL is the base URL of the API, such as "https://api.example.com". The paths of routes follow it.
	URL string
	// HTTP makes the requests, and follows no redirect: that is an answer. Nil: one with [http.DefaultTransport] and
	// without a time-out.
	HTTP *http.Client
	// Header has headers of every request, such as the caller's Authorization. A request's own headers replace them.
	Header http.Header
}

// Sender sends requests. [*Client] does so once; others may send again what has failed.
type Sender interface {
	// Send sends a request with a path and query below the API's URL. The body is a []byte, which is sent as it is, or
	// a value to send as JSON, or nil for none. An error is one of the connection: every status is a reply.
	Send(ctx context.Context, method, path string, header http.Header, body any) (Reply, error)
}

// Reply is the answer to a request, of any status.
type Reply struct {
	// Request is the method and path.
	Request string
	Status  int
	Header  http.Header
	Body    []byte
	// Retries is the number of attempts before this one. The API may have carried out one of them.
	Retries int
}

// String returns the reply for messages about failures. It cuts the body after 600 bytes.
func (r Reply) String() string { return fmt.Sprintf("%s: %d %.600s", r.Request, r.Status, r.Body) }

// RetryAfter returns how long the API asks the client to wait before it sends the request again, from a second to a
// day. ok is false if the API does not ask.
func (r Reply) RetryAfter() (after time.Duration, ok bool) {
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	asked := seconds > 0 && (err == nil || errors.Is(err, strconv.ErrRange))
	return time.Duration(min(seconds, 24*60*60)) * time.Second, asked
}

// longestReply is far above the 6 MB that AWS Lambda answers at most.
const longestReply = 64 << 20

// Send implements [Sender].
func (c *Client) Send(ctx context.Context, method, path string, header http.Header, body any) (Reply, error) {
	reply := Reply{Request: method + " " + path}
	encoded, raw := body.([]byte)
	if body != nil && !raw {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return reply, fmt.Errorf("%s: encode the body: %w", reply.Request, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(encoded))
	if err != nil {
		return reply, err
	}
	for _, all := range []http.Header{c.Header, header} {
		for name, values := range all {
			request.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if body != nil && !raw && request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/json")
	}
	once := http.Client{}
	if c.HTTP != nil {
		once = *c.HTTP
	}
	// The headers may have secrets.
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := once.Do(request)
	if err != nil {
		return reply, err
	}
	defer response.Body.Close()
	reply.Status, reply.Header = response.StatusCode, response.Header
	if reply.Body, err = io.ReadAll(io.LimitReader(response.Body, longestReply+1)); err != nil {
		return reply, fmt.Errorf("%s: read the answer: %w", reply.Request, err)
	}
	if len(reply.Body) > longestReply {
		return reply, fmt.Errorf("%s: the answer has more than %d bytes, which is the most allowed", reply.Request,
			longestReply)
	}
	return reply, nil
}
