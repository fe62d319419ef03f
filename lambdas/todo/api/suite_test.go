package api_test

import (
	"log/slog"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/api"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// described is the document, read and parsed once.
var described = httpapitest.Once(todo.Platform())

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func suite(t testing.TB) httpapitest.Suite {
	t.Helper()
	return httpapitest.Suite{
		Platform: todo.Platform(), Document: described(t).JSON,
		API: func(keys idempotency.Claims, log *slog.Logger) *kit.API { return newWire(keys, log) },
		Errors: append(httpapitest.KitErrors(), []httpapitest.ServiceError{
			{Err: todo.ErrUserNotFound, Status: 404, Passing: true},
			{Err: todo.ErrUserBeingDeleted, Status: 409, Passing: true},
			{Err: &problem.VersionError{What: "the task", Current: 7}, Status: 412},
			{Err: validate.Errorf("cursor", validate.RuleFormat, "is odd"), Status: 422},
		}...),
	}
}

// The routes keep what all APIs of the kit promise.
func TestSuite(t *testing.T) { suite(t).Run(t) }

func FuzzAPI(f *testing.F) { suite(f).Fuzz(f) }

// The document shows what a team adds to records.
func TestDocumentShowsExtra(t *testing.T) {
	t.Parallel()
	httpapitest.ShowsExtra(t, todo.Platform(), func(extra []schema.Extra) *kit.API {
		return api.Handler(&service.Service{}, httpapi.Config{Extra: extra})
	})
}
