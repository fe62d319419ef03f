package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// Timeout is the default time of an attempt: to find and reach the endpoint, and to read its answer.
	Timeout = 5 * time.Second
	// LargestAnswer limits the bytes that a client reads of an answer's headers, and of its body. It drops them.
	LargestAnswer = 64 << 10
	// LargestBody limits the body of a webhook, in bytes.
	LargestBody = 64 << 10
)

// Client sends webhooks. It connects to no address that Addresses forbids, even if the endpoint's name leads there only
// at the moment of the connection. It uses no proxy and follows no redirect. The zero value is ready to use, and safe
// for concurrent use.
type Client struct {
	// Addresses says where webhooks may go.
	Addresses Addresses
	// Timeout bounds an attempt. Default: the constant Timeout.
	Timeout time.Duration
	// Resolver finds the addresses of names. Default: [net.DefaultResolver].
	Resolver *net.Resolver
	// TLS says which endpoints to trust. Default: by the system's certificates, from TLS 1.2 on.
	TLS *tls.Config
	// Connecting is called before each connection, with the reason if the client refuses it. Nil: nothing is called.
	Connecting func(address netip.AddrPort, refused error)

	once sync.Once
	http *http.Client
}

// Answer is the answer of an endpoint.
type Answer struct {
	// Status is the status code.
	Status int
	// RetryAfter is how long a 429 or 503 asks the client to wait; 0 if it does not say.
	RetryAfter time.Duration
}

// OK reports whether the endpoint has taken the webhook. A redirect is no success.
func (a Answer) OK() bool { return a.Status >= 200 && a.Status < 300 }

// Gone reports whether the endpoint wants no more of these (410, "Webhook delivery", Standard Webhooks).
func (a Answer) Gone() bool { return a.Status == http.StatusGone }

// Post sends a body with these headers, in one attempt, and returns the answer, whatever its status. An error means
// that there is no answer; it wraps a [ForbiddenError] if the endpoint's address is forbidden.
func (c *Client) Post(ctx context.Context, url string, header http.Header, body []byte) (Answer, error) {
	c.once.Do(c.prepare)
	if len(body) > LargestBody {
		return Answer{}, fmt.Errorf("a webhook of %d bytes, allowed are %d", len(body), LargestBody)
	}
	if err := c.Addresses.CheckURL(url); err != nil {
		return Answer{}, fmt.Errorf("the address of the endpoint: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	request.Header = header.Clone()
	response, err := c.http.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	// An endpoint whose answer is not read could take the closed connection for a failure. Its status
	// has come already, so it counts whether or not the rest does.
	_, _ = io.CopyN(io.Discard, response.Body, LargestAnswer)
	answer := Answer{Status: response.StatusCode}
	if answer.Status == http.StatusTooManyRequests || answer.Status == http.StatusServiceUnavailable {
		answer.RetryAfter = RetryAfter(response.Header.Get("Retry-After"), time.Now())
	}
	return answer, nil
}

// longestRetry bounds what an endpoint may ask for, so that no number is too large for a duration.
const longestRetry = 24 * time.Hour

// RetryAfter reads the header: seconds or a date (RFC 9110, section 10.2.3). A longer time than a day is a day. Zero:
// the text is neither.
func RetryAfter(text string, now time.Time) time.Duration {
	if text != "" && strings.Trim(text, "0123456789") == "" {
		// A number that is too large for 64 bits gives the largest one, and an error.
		seconds, _ := strconv.ParseUint(text, 10, 64)
		return time.Duration(min(seconds, uint64(longestRetry/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(at.Sub(now), longestRetry))
	}
	return 0
}

func (c *Client) prepare() {
	timeout := cmp.Or(c.Timeout, Timeout)
	trust := cmp.Or(c.TLS.Clone(), &tls.Config{})
	trust.MinVersion = max(trust.MinVersion, tls.VersionTLS12)
	dialer := &net.Dialer{Resolver: c.Resolver, ControlContext: c.control}
	c.http = &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			Proxy: nil, DialContext: dialer.DialContext, TLSClientConfig: trust, MaxResponseHeaderBytes: LargestAnswer,
			// A function sleeps between its invocations, and connections do not outlive that.
			DisableKeepAlives: true,
			// An answer is dropped, so there is nothing to unpack.
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// control sees the address of a connection after its name was resolved, and before a packet is sent.
func (c *Client) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err == nil {
		err = c.Addresses.connection(to)
	}
	if c.Connecting != nil {
		c.Connecting(to, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", network, err)
	}
	return nil
}
