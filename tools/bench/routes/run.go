package routes

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// Run is a running assembly with one API.
type Run struct {
	// API and Console are the addresses of the platform's API and of the run's console.
	API, Console string
	// Seed loads the initial data of a platform, if it has some.
	Seed func(ctx context.Context, platform string) error
	// Answered, unless nil, gets each answered request to the API.
	Answered func(Exchange)

	document func() (Document, error)
	// held, unless nil, is where a request to the API is kept instead of sent.
	held *Request
}

// NewRun returns the run with those addresses.
func NewRun(api, console string, seed func(ctx context.Context, platform string) error) *Run {
	r := &Run{API: api, Console: console, Seed: seed}
	r.document = sync.OnceValues(func() (document Document, err error) {
		address, err := r.DocumentAddress(context.Background())
		if err != nil {
			return document, err
		}
		reply, err := Demand(http.StatusOK)(r.client(address).Send(context.Background(), http.MethodGet, "", nil, nil))
		if err != nil {
			return document, err
		}
		return document, json.Unmarshal(reply.Body, &document)
	})
	return r
}

// DocumentAddress is the address of the API's OpenAPI document.
func (r *Run) DocumentAddress(ctx context.Context) (string, error) {
	var index struct{ APIs []struct{ OpenAPI string } }
	if err := r.Get(ctx, "/", &index); err != nil {
		return "", err
	}
	if len(index.APIs) == 0 || index.APIs[0].OpenAPI == "" {
		return "", fmt.Errorf("the console names no OpenAPI document: %v", index)
	}
	return index.APIs[0].OpenAPI, nil
}

// Exchange is a request to the API with its answer.
type Exchange struct {
	Method, Path string
	Header       http.Header
	Body         []byte // empty: none
	Status       int
	Answer       []byte
}

// Demand returns a function that takes what a client returns, and fails unless the reply has that status.
func Demand(status int) func(onesynthtest.Reply, error) (onesynthtest.Reply, error) {
	return func(r onesynthtest.Reply, err error) (onesynthtest.Reply, error) {
		if err == nil && r.Status != status {
			err = fmt.Errorf("got %v; want %d", r, status)
		}
		return r, err
	}
}

func (r *Run) client(address string) *onesynthtest.Client {
	return &onesynthtest.Client{URL: address, HTTP: http.DefaultClient,
		Header: http.Header{run.ConsoleHeader: {"bench"}, "Accept": {"application/json"}}}
}

// Get reads a page of the console.
func (r *Run) Get(ctx context.Context, path string, out any) error {
	body, err := r.Read(ctx, path)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, out)
}

// Read reads a path of the console.
func (r *Run) Read(ctx context.Context, path string) ([]byte, error) {
	reply, err := Demand(http.StatusOK)(r.client(r.Console).Send(ctx, http.MethodGet, path, nil, nil))
	return reply.Body, err
}

// Post sends a POST request to the console, and reads the response into out, unless that is nil.
func (r *Run) Post(ctx context.Context, path string, body, out any) error {
	reply, err := r.client(r.Console).Send(ctx, http.MethodPost, path, nil, body)
	switch {
	case err != nil:
		return err
	case reply.Status >= http.StatusMultipleChoices:
		return fmt.Errorf("console: got %v", reply)
	case out == nil:
		return nil
	}
	return json.Unmarshal(reply.Body, out)
}

// Token returns a token of the subject for the APIs of the run. The user is in those groups of Amazon Cognito.
func (r *Run) Token(ctx context.Context, subject string, groups ...string) (string, error) {
	var minted struct {
		AccessToken string `json:"access_token"`
	}
	claims := map[string]any{}
	if len(groups) > 0 {
		claims["cognito:groups"] = groups
	}
	err := r.Post(ctx, "/token", map[string]any{"sub": subject, "claims": claims}, &minted)
	return minted.AccessToken, err
}

// Step is a request, or what comes before one.
type Step func(context.Context) error

// patiently makes the step, and makes it again later if the API's throttle refuses it.
func (s Step) patiently(ctx context.Context) error {
	for {
		if err := s(ctx); !errors.Is(err, ErrThrottled) {
			return err
		}
		if err := Pause(ctx); err != nil {
			return err
		}
	}
}

// ErrThrottled is the error of a request that the throttle of the API refused.
var ErrThrottled = errors.New("the API takes no more requests in this second")

// Pause waits after a throttled request.
func Pause(ctx context.Context) error { return wait(ctx, 10*time.Millisecond) }

func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// given is what a client says itself in a request: the rest of the body is derived.
type given map[string]any

// caller makes requests to an API, one after another.
type caller struct {
	*onesynthtest.Client
	run *Run
	// known is what answers have said, by name: it is for variables of paths, queries and bodies.
	known map[string]any
	route Route
	// before, unless nil, comes before each request.
	before func()
}

func newCaller(run *Run) caller {
	client := &onesynthtest.Client{URL: run.API, HTTP: &http.Client{Transport: &http.Transport{}},
		Header: http.Header{}}
	return caller{Client: client, run: run, known: map[string]any{}}
}

// on returns the caller, for clients that embed it.
func (c *caller) on() *caller { return c }

// as makes the caller another user in those groups.
func (c *caller) as(ctx context.Context, subject string, groups ...string) error {
	token, err := c.run.Token(ctx, subject, groups...)
	c.Header.Set("Authorization", "Bearer "+token)
	return err
}

// knows reports whether an answer has said that.
func (c *caller) knows(name string) bool { return c.known[name] != nil }

// fill puts what is known into the variables of a path of the schema: {id} after /attempts/ is attemptId or attempt_id.
func (c *caller) fill(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		name, ok := strings.CutPrefix(part, "{")
		if !ok {
			continue
		}
		one := strings.TrimSuffix(parts[i-1], "s")
		for _, name := range []string{strings.TrimSuffix(name, "}"), one + "Id", one + "_id"} {
			if c.knows(name) {
				parts[i] = fmt.Sprint(c.known[name])
				break
			}
		}
	}
	return strings.Join(parts, "/")
}

// body derives the body of a request of the API.
func (c *caller) body(method, path string, body given) (map[string]any, error) {
	document, err := c.run.document()
	if err != nil {
		return nil, err
	}
	return document.Operation(method, path).Body(body, c.known)
}

// request makes the request of the caller's route, with a body that has what is given.
func (c *caller) request(ctx context.Context, body given) error {
	r := c.route
	return c.send(ctx, r.Method, r.Path, r.Query, r.Status, body, nil)
}

// call makes a request of another route, such as "POST /attempts", and reads its answer into out, unless that is nil.
func (c *caller) call(ctx context.Context, request string, body given, out any) error {
	method, path := onesynthtest.Split(request)
	path, query, _ := strings.Cut(path, "?")
	return c.send(ctx, method, path, query, 0, body, out)
}

// send makes one request, which the document describes. want is the status of its answer: 0 is the one that the
// document declares for success. What a change answers is known from then on.
func (c *caller) send(ctx context.Context, method, path, query string, want int, body given, out any) error {
	if c.before != nil {
		c.before()
	}
	document, err := c.run.document()
	if err != nil {
		return err
	}
	operation := document.Operation(method, path)
	for _, p := range operation.Parameters {
		if p.In == "query" && p.Required {
			query = fmt.Sprintf("%s=%v", p.Name, c.known[p.Name])
		}
	}
	var encoded any
	header := maps.Clone(c.Header)
	content, err := operation.Body(body, c.known)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if content != nil {
		if encoded, err = json.Marshal(content); err != nil {
			return err
		}
		header.Set("Content-Type", "application/json")
	}
	path = strings.TrimSuffix(c.fill(path)+"?"+query, "?")
	if held := c.run.held; held != nil {
		if c.IdempotencyKeys {
			header.Set("Idempotency-Key", rand.Text())
		}
		client := *c.Client
		*held = Request{Header: header, Known: c.known, Body: content,
			Send: func(ctx context.Context) (onesynthtest.Reply, error) {
				return client.Send(ctx, method, path, header, encoded)
			}}
		return errHeld
	}
	reply, err := c.Send(ctx, method, path, header, encoded)
	if err != nil {
		return err
	}
	if c.run.Answered != nil {
		sent, _ := encoded.([]byte)
		c.run.Answered(Exchange{method, path, header, sent, reply.Status, reply.Body})
	}
	switch {
	case reply.Status == http.StatusTooManyRequests:
		return fmt.Errorf("%v: %w", reply, ErrThrottled)
	case want != 0 && reply.Status != want, want == 0 && !operation.Succeeds(reply.Status):
		return fmt.Errorf("got %v; the document declares no such success", reply)
	case out != nil:
		return json.Unmarshal(reply.Body, out)
	case method != http.MethodGet && len(reply.Body) > 0 && want == 0:
		return json.Unmarshal(reply.Body, &c.known)
	}
	return nil
}
