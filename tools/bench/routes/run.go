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
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

// Run is a running assembly with one API.
type Run struct {
	// API and Console are the addresses of the platform's API and of the run's console.
	API, Console string
	// Seed loads the initial data of a platform, if it has some.
	Seed func(ctx context.Context, platform string) error

	once   sync.Once
	failed error
}

// load loads the initial data of a platform that has some, and lets its schedules work with them: once.
func (r *Run) load(ctx context.Context, p schema.Platform) error {
	r.once.Do(func() {
		if _, ok := p.Seeder(); !ok {
			return
		}
		if r.failed = r.Seed(ctx, p.Name); r.failed == nil {
			r.failed = r.Schedules(ctx)
		}
	})
	return r.failed
}

// Schedules runs each schedule of the run once.
func (r *Run) Schedules(ctx context.Context) error {
	var all []struct{ Name string }
	err := r.Get(ctx, "/schedules", &all)
	for _, s := range all {
		if err == nil {
			err = r.Post(ctx, "/schedules/"+s.Name+"/run", nil, nil)
		}
	}
	return err
}

// Exchange is a request to the API with its answer.
type Exchange struct {
	client.Request
	Reply client.Reply
}

// Demand returns a function that takes what a client returns, and fails unless the reply has that status.
func Demand(status int) func(client.Reply, error) (client.Reply, error) {
	return func(r client.Reply, err error) (client.Reply, error) {
		if err == nil && r.Status != status {
			err = fmt.Errorf("got %v; want %d", r, status)
		}
		return r, err
	}
}

// Get reads a page of the console: as JSON, or as it is into a *[]byte.
func (r *Run) Get(ctx context.Context, path string, out any) error {
	return r.ask(ctx, http.MethodGet, path, nil, out)
}

// Post sends a POST request to the console, and reads the response as [Run.Get] does, unless out is nil.
func (r *Run) Post(ctx context.Context, path string, body, out any) error {
	return r.ask(ctx, http.MethodPost, path, body, out)
}

func (r *Run) ask(ctx context.Context, method, path string, body, out any) error {
	console := client.Client{URL: r.Console, Header: http.Header{run.ConsoleHeader: {"bench"},
		"Accept": {"application/json"}}}
	reply, err := console.Send(ctx, method, path, nil, body)
	switch raw, ok := out.(*[]byte); {
	case err != nil || out == nil && reply.Status < http.StatusMultipleChoices:
		return err
	case reply.Status >= http.StatusMultipleChoices:
		return fmt.Errorf("console: got %v", reply)
	case ok:
		*raw = reply.Body
		return nil
	}
	return json.Unmarshal(reply.Body, out)
}

// Token returns a token of the subject for the APIs of the run. The user is in those groups of Amazon Cognito.
func (r *Run) Token(ctx context.Context, subject string, groups ...string) (string, error) {
	var minted []byte
	request := map[string]any{"sub": subject}
	if len(groups) > 0 {
		request["claims"] = onesynthtest.Groups(groups...)
	}
	err := r.Post(ctx, "/token", request, &minted)
	return onesynthtest.Field(minted, "access_token"), err
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

// Pause waits after a throttled request, and between two looks at what is to come.
func Pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Millisecond):
		return nil
	}
}
