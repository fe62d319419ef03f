package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
	maxKeyLength   = 255
)

// idempotencyKey is the key of a mutation.
func idempotencyKey(header string) (string, error) {
	wrong := ""
	switch length := len([]rune(header)); {
	case header == "":
		wrong = fmt.Sprintf("is missing: send the header with a key of your choice, 1 to %d printable ASCII characters, the same with each attempt at one request and a new one with the next request", maxKeyLength)
	case length > maxKeyLength:
		wrong = fmt.Sprintf("has %d characters; at most %d are allowed", length, maxKeyLength)
	case strings.ContainsFunc(header, func(r rune) bool { return r < ' ' || r > '~' }):
		wrong = "holds characters that are not printable ASCII: use letters, digits and punctuation, such as a UUID"
	default:
		return header, nil
	}
	return "", unreadable(keyHeader, wrong)
}

// unreadable is a request with a header that cannot be read.
func unreadable(field, message string) error {
	return &httpapi.InvalidError{Status: http.StatusBadRequest, Problems: []httpapi.Problem{{Field: field, Message: message}}}
}

// content is all that makes a request what it is. No two different ones have the
// same: only the body, which is last, can hold a line feed.
func content(method, path, ifMatch string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n%s\n%s\n", method, path, ifMatch)
	b.Write(body)
	return b.Bytes()
}

// answer is the answer to a mutation.
type answer struct {
	Status      int
	ContentType string `header:"Content-Type" hidden:"true"`
	ETag        string `header:"ETag" hidden:"true"`
	Location    string `header:"Location" hidden:"true"`
	Replayed    string `header:"Idempotency-Replayed" hidden:"true"`
	Body        []byte
}

// answerOf is a kept response as HTTP has it: with the headers that follow from it,
// so that a replay has them too.
func answerOf(response idempotency.Response, replayed bool) *answer {
	a := &answer{Status: response.Status, Body: response.Body}
	if replayed {
		a.Replayed = "true"
	}
	if len(response.Body) == 0 {
		return a
	}
	a.ContentType = "application/json"
	var thing struct {
		TaskID  string `json:"task_id"`
		Version int    `json:"version"`
	}
	if response.Status >= http.StatusMultipleChoices || json.Unmarshal(response.Body, &thing) != nil {
		return a
	}
	if thing.Version > 0 {
		a.ETag = etag(thing.Version)
	}
	if response.Status == http.StatusCreated {
		a.Location = "/api/v1/users/me"
		if thing.TaskID != "" {
			a.Location = "/api/v1/tasks/" + thing.TaskID
		}
	}
	return a
}

// mutate declares a mutation. work does it, and render gives status and body of
// its answer from its result, nil for no body; the store passes the same result
// to the transaction that keeps the answer.
func mutate[I, R any](s *server, op operation, work func(context.Context, request, *I) (R, error), render func(*I, R) (int, any)) {
	httpapi.Register(s.Server, s.describe(op), func(ctx context.Context, input *I) (*answer, error) {
		return s.once(ctx, func(result any) (idempotency.Response, error) {
			typed, ok := result.(R)
			if !ok && result != nil {
				return idempotency.Response{}, fmt.Errorf("the store keeps the answer to a %T; the operation gives a %T", result, typed)
			}
			return response(render(input, typed))
		}, func(ctx context.Context) (any, error) {
			return work(ctx, requestFrom(ctx), input)
		})
	})
}

// once carries out a request with an idempotency key, or gives the answer that it
// had before.
func (s *server) once(ctx context.Context, render func(result any) (idempotency.Response, error), work func(context.Context) (any, error)) (*answer, error) {
	r := requestFrom(ctx)
	claim, replay, err := s.keys.Begin(ctx, r.user, r.key, r.content, 0)
	if err != nil {
		return nil, err
	}
	if replay != nil {
		return answerOf(*replay, true), nil
	}
	result, err := work(idempotency.WithClaim(ctx, claim, render))
	if kept, ok := claim.Kept(); ok && err == nil {
		return answerOf(kept, false), nil
	}
	if err != nil && !isFinal(err) {
		s.release(ctx, claim)
		return nil, err
	}
	// Nothing was written: the work failed for good, or there was nothing to do.
	var final idempotency.Response
	if err != nil {
		final, err = s.failureResponse(err)
	} else {
		final, err = render(result)
	}
	if err != nil {
		s.release(ctx, claim)
		return nil, err
	}
	switch err := s.keys.Settle(ctx, claim, final); {
	case errors.Is(err, idempotency.ErrClaimLost):
		return nil, err
	case err != nil:
		// The answer holds: the next attempt would find the same.
		s.log.WarnContext(ctx, "an answer was not kept", "error", err.Error())
		s.release(ctx, claim)
	}
	return answerOf(final, false), nil
}

func (s *server) release(ctx context.Context, claim *idempotency.Claim) {
	if err := s.keys.Release(ctx, claim); err != nil {
		s.log.WarnContext(ctx, "an idempotency key was not released: until its lease ends the request counts as running", "error", err.Error())
	}
}

// isFinal reports whether a request that failed with err would fail again, so that
// its answer is kept.
func isFinal(err error) bool {
	for _, passing := range []error{todo.ErrUserNotFound, todo.ErrUserBeingDeleted, idempotency.ErrClaimLost} {
		if errors.Is(err, passing) {
			return false
		}
	}
	return failure(err, time.Time{}).Status < http.StatusInternalServerError
}

func (s *server) failureResponse(err error) (idempotency.Response, error) {
	failed := failure(err, s.now())
	return response(failed.Status, failed.Body)
}

// response is an answer in the bytes in which it is sent, and kept.
func response(status int, body any) (idempotency.Response, error) {
	if body == nil {
		return idempotency.Response{Status: status}, nil
	}
	var b bytes.Buffer
	if err := httpapi.WriteJSON(&b, body); err != nil {
		return idempotency.Response{}, fmt.Errorf("writing the answer: %w", err)
	}
	return idempotency.Response{Status: status, Body: b.Bytes()}, nil
}
