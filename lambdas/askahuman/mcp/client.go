package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// Client calls the routes of agents. Each of its calls may be repeated without doing anything twice.
type Client struct {
	// URL is where the API is, such as "https://api.example.com".
	URL string
	// Transport carries requests. Nil: [http.DefaultTransport].
	Transport http.RoundTripper
	// Header is sent with each request: X-Agent-Id, or Authorization.
	Header http.Header
	// Attempts is how often a request is sent that had no answer, or that the API could not carry out
	// for now. Zero: once.
	Attempts int
}

const (
	// longestReply is far above 50 answers of 5,000 characters in JSON.
	longestReply = 4 << 20
	// replyTime is how long a request may take beside the time that it waits for news: API Gateway's 30
	// seconds, less the longest wait.
	replyTime = 10 * time.Second
)

// Refusal is an answer of the API that is an error.
type Refusal struct {
	// Status is the status of HTTP, and Code what the API calls the error, such as "RATE_LIMITED".
	// Empty: the answer has not the form of the API's errors.
	Status int
	Code   string
	// Message says what is wrong, in a sentence.
	Message string
	// Problems are what is wrong with the request, by field.
	Problems []api.Problem
	// RetryAfter is when to come back. Zero: the API does not say.
	RetryAfter time.Duration
	// Reset is when the next window of the rate limit begins. Zero: the API does not say.
	Reset time.Time
}

// Error is the message.
func (r *Refusal) Error() string { return cmp.Or(r.Message, http.StatusText(r.Status)) }

// passing reports whether the same request may succeed in a moment.
func (r *Refusal) passing() bool {
	return r.Status >= http.StatusInternalServerError || r.Code == "REQUEST_IN_PROGRESS"
}

// Ask stores a question. body is the question as JSON, and has an idempotency key.
func (c *Client) Ask(ctx context.Context, body []byte) (asked askahuman.Submission, err error) {
	return asked, c.call(ctx, http.MethodPost, "/agent/questions", nil, body, replyTime, &asked)
}

// Question reads a question with its answers. wait and seen are those of the API; the empty text leaves
// either out.
func (c *Client) Question(ctx context.Context, id, wait, seen string) (question askahuman.QuestionWithResponses,
	err error) {
	query := url.Values{}
	within := replyTime
	for name, value := range map[string]string{"wait": wait, "seen": seen} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if seconds, err := strconv.Atoi(wait); err == nil {
		within += time.Duration(seconds) * time.Second
	}
	return question, c.call(ctx, http.MethodGet, "/agent/questions/"+url.PathEscape(id), query, nil, within, &question)
}

// Questions reads a page of the agent's questions.
func (c *Client) Questions(ctx context.Context, query url.Values) (page askahuman.AgentQuestionList, err error) {
	return page, c.call(ctx, http.MethodGet, "/agent/questions", query, nil, replyTime, &page)
}

// Close closes a question.
func (c *Client) Close(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/agent/questions/"+url.PathEscape(id), nil, nil, replyTime, nil)
}

// call sends a request, again if that may help, and reads the answer into out; nil: it has none. It
// returns a [*Refusal], or the error of the transport.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body []byte, within time.Duration,
	out any) error {
	for attempt := 1; ; attempt++ {
		err := c.attempt(ctx, method, path, query, body, within, out)
		if err == nil || attempt >= c.Attempts || ctx.Err() != nil {
			return err
		}
		pause := retry.Delay(attempt)
		if refusal, ok := errors.AsType[*Refusal](err); ok {
			// A tool does not wait longer than for an answer.
			if !refusal.passing() || refusal.RetryAfter > replyTime {
				return err
			}
			pause = max(pause, refusal.RetryAfter)
		}
		if retry.Pause(ctx, pause) != nil {
			return err
		}
	}
}

func (c *Client) attempt(ctx context.Context, method, path string, query url.Values, body []byte, within time.Duration,
	out any) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	address := strings.TrimRight(c.URL, "/") + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("call the API: %w", err)
	}
	for name, values := range c.Header {
		request.Header[name] = values
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	transport := c.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	// Without redirects: the header has secrets.
	response, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("call the API: %w", err)
	}
	defer response.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(response.Body, longestReply))
	if err != nil {
		return fmt.Errorf("read the answer of the API: %w", err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return refusalOf(response, reply)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(reply, out); err != nil {
		return fmt.Errorf("read the answer of the API: %w", err)
	}
	return nil
}

func refusalOf(response *http.Response, reply []byte) *Refusal {
	refusal := &Refusal{Status: response.StatusCode}
	var body api.ErrorResponse
	if json.Unmarshal(reply, &body) == nil {
		refusal.Code, refusal.Message = body.Error.Code, body.Error.Message
		if body.Error.Details != nil {
			refusal.Problems = body.Error.Details.Problems
		}
	}
	refusal.RetryAfter = webhook.RetryAfter(response.Header.Get("Retry-After"), time.Now())
	if second, err := strconv.ParseInt(response.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
		refusal.Reset = time.Unix(second, 0).UTC()
	}
	return refusal
}

// identifying are the headers by which an agent says who it is.
func identifying(header http.Header) http.Header {
	kept := http.Header{}
	for _, name := range []string{"Authorization", askahuman.AgentHeader} {
		if values := header.Values(name); len(values) > 0 {
			kept[http.CanonicalHeaderKey(name)] = values
		}
	}
	return kept
}
