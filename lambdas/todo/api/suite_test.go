package api_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/api"
	"github.com/onesynth-cdk/onesynth/schema"
)

// document is the document, read once.
var document = sync.OnceValues(api.Document)

func readDocument(t testing.TB) (httpapitest.Document, string) {
	t.Helper()
	body, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return httpapitest.Parse(t, body), string(body)
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func suite(t testing.TB) httpapitest.Suite {
	t.Helper()
	_, document := readDocument(t)
	return httpapitest.Suite{
		Platform: schema.Todo(), Document: []byte(document),
		Serve: func(work func() error, keys idempotency.Claims, log *slog.Logger) *kit.API {
			return newWire(&stub{work: work, id: "0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"}, keys, log)
		},
		Errors: []httpapitest.ServiceError{
			{Err: todo.ErrUserNotFound, Status: 404, Passing: true},
			{Err: todo.ErrTaskNotFound, Status: 404},
			{Err: todo.ErrUserExists, Status: 409},
			{Err: todo.ErrEmailTaken, Status: 409},
			{Err: todo.ErrUserBeingDeleted, Status: 409, Passing: true},
			{Err: todo.ErrTaskCompleted, Status: 400},
			{Err: &todo.VersionError{Current: 7}, Status: 412},
			{Err: idempotency.ErrClaimLost, Status: 409, Passing: true},
			{Err: retry.ErrBusy, Status: 503, Passing: true},
			{Err: retry.ErrUnanswered, Status: 503, Passing: true},
			{Err: retry.ErrStale, Status: 503, Passing: true},
			{Err: validate.Errorf("cursor", validate.RuleFormat, "is odd"), Status: 422},
			{Err: context.DeadlineExceeded, Status: 503, Passing: true},
		},
	}
}

// The routes keep what all APIs of the kit promise.
func TestSuite(t *testing.T) { suite(t).Run(t) }

func FuzzAPI(f *testing.F) { suite(f).Fuzz(f) }
