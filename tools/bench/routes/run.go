package routes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

	loaded *loaded
	// held, unless nil, is where a request to the API is kept instead of sent.
	held *Request
}

// loaded is what a platform has once its initial data are there.
type loaded struct {
	sync.Once
	known map[string]any
	err   error
}

// NewRun returns the run with those addresses.
func NewRun(api, console string, seed func(ctx context.Context, platform string) error) *Run {
	return &Run{API: api, Console: console, Seed: seed, loaded: &loaded{}}
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
