package routes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/onesynth-cdk/onesynth/local/console"
)

// Run is a running assembly.
type Run struct {
	// API and Console are the addresses of the platform's API and of the run's console.
	API, Console string
	// Seed loads the initial data of a platform, if it has some.
	Seed func(ctx context.Context, platform string) error
	// Answered, unless nil, gets each answered request to the API.
	Answered func(Exchange)
}

// Exchange is a request to the API with its answer.
type Exchange struct {
	Method, Path string
	Header       http.Header
	Body         []byte // empty: none
	Status       int
	Answer       []byte
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
	return r.send(ctx, http.MethodGet, path, nil)
}

// Post sends a POST request to the console, and reads the response into out, unless that is
// nil.
func (r *Run) Post(ctx context.Context, path string, body, out any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	answer, err := r.send(ctx, http.MethodPost, path, bytes.NewReader(encoded))
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(answer, out)
}

func (r *Run) send(ctx context.Context, method, path string, body io.Reader) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, r.Console+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set(console.Header, "bench")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s of the console: %s: %s", method, path, response.Status, answer)
	}
	return answer, nil
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

// caller makes requests to an API, one after another.
type caller struct {
	run  *Run
	http *http.Client
}

// ErrThrottled is the error of a request that the throttle of the API refused.
var ErrThrottled = errors.New("the API takes no more requests in this second")

// call makes one request and reads its answer into out, unless that is nil.
func (c *caller) call(ctx context.Context, method, path string, header http.Header, want int, body, out any) error {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.run.API+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	if header != nil {
		request.Header = header
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if c.run.Answered != nil {
		c.run.Answered(Exchange{Method: method, Path: path, Header: request.Header, Body: encoded, Status: response.StatusCode, Answer: answer})
	}
	if response.StatusCode == http.StatusTooManyRequests && want != http.StatusTooManyRequests {
		err = ErrThrottled
	}
	if response.StatusCode != want {
		return errors.Join(fmt.Errorf("%s %s: got %d, want %d: %s", method, path, response.StatusCode, want, answer), err)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
