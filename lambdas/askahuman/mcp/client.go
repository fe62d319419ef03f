package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

// Client calls the routes of agents. Each of its calls may be repeated without doing anything twice. An error is a
// [*client.Refusal], or one of the transport.
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

	// wait is how long an answer may wait for news.
	wait time.Duration
}

// replyTime is how long a request may take beside the time that it waits for news: API Gateway's 30
// seconds, less the longest wait.
const replyTime = 10 * time.Second

// listParams are the parameters of a list as a model gives them: the API judges them.
type listParams struct {
	Status string      `query:"status"`
	Cursor string      `query:"cursor"`
	Limit  json.Number `query:"limit"`
}

// The operations with what a model gives, which may be of any form.
var (
	askAnything  = schema.Operation[askahuman.AskParams, json.RawMessage, askahuman.Submission](askahuman.AskQuestion)
	listAnything = schema.Operation[listParams, schema.None, askahuman.AgentQuestionList](askahuman.ListQuestions)
)

// Ask stores a question. body is the question as JSON, and has an idempotency key.
func (c *Client) Ask(ctx context.Context, body []byte) (askahuman.Submission, error) {
	answer, err := client.Call(ctx, c, askAnything, askahuman.AskParams{}, body)
	return answer.Value, err
}

// Question reads a question with its answers.
func (c *Client) Question(ctx context.Context, of askahuman.NewsParams) (askahuman.QuestionWithResponses, error) {
	waiting := *c
	waiting.wait = time.Duration(of.Wait) * time.Second
	answer, err := client.Call(ctx, &waiting, askahuman.ReadQuestion, of, schema.None{})
	return answer.Value, err
}

// Send implements [client.Sender]. It sends a request again if that may help.
func (c *Client) Send(ctx context.Context, method, path string, header http.Header, body any) (client.Reply, error) {
	once := client.Client{URL: strings.TrimRight(c.URL, "/"), HTTP: &http.Client{Transport: c.Transport},
		Header: c.Header}
	for attempt := 1; ; attempt++ {
		limited, cancel := context.WithTimeout(ctx, replyTime+c.wait)
		reply, err := once.Send(limited, method, path, header, body)
		cancel()
		passing := err != nil || reply.Status >= http.StatusInternalServerError ||
			client.RefusalOf(reply).Code == "REQUEST_IN_PROGRESS"
		after, _ := reply.RetryAfter()
		// A tool does not wait longer than for an answer.
		if !passing || after > replyTime || attempt >= c.Attempts || ctx.Err() != nil ||
			retry.Pause(ctx, max(retry.Delay(attempt), after)) != nil {
			return reply, err
		}
	}
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
