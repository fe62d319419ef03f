package api_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/api"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// began is the moment at which these tests begin.
func began() time.Time { return time.Date(2026, 2, 2, 15, 30, 0, 0, time.UTC) }

// described is the document, read and parsed once.
var described = httpapitest.Once(lingible.Platform())

func suite(t testing.TB) httpapitest.Suite {
	t.Helper()
	s := lingibletest.New(t).Service // It admits callers.
	return httpapitest.Suite{
		Platform: lingible.Platform(), Document: described(t).JSON,
		API: func(keys idempotency.Claims, log *slog.Logger) *kit.API {
			return api.Handler(s, httpapi.Config{Idempotency: httpapi.Idempotency{Keys: keys},
				Limiter: httpapitest.Unlimited{}, Log: log, Clock: began})
		},
		Errors: append(httpapitest.KitErrors(), []httpapitest.ServiceError{
			{Err: lingible.ErrUserDeleted, Status: 403, Passing: true},
			{Err: &lingible.SubscriptionError{What: "this"}, Status: 403, Passing: true},
			{Err: &lingible.UsageError{What: "translations a day", Limit: 10, Until: began().Add(time.Hour)},
				Status: 429, Passing: true},
			{Err: &model.Error{Failure: model.Throttled, Err: retry.ErrBusy}, Status: 503, Passing: true},
			{Err: validate.Errorf("cursor", validate.RuleFormat, "is odd"), Status: 422},
		}...),
	}
}

// The routes keep what all APIs of the kit promise.
func TestSuite(t *testing.T) { suite(t).Run(t) }

func FuzzAPI(f *testing.F) { suite(f).Fuzz(f) }

func TestDocument(t *testing.T) {
	t.Parallel()
	httpapitest.SameAsFile(t, "testdata/openapi.json", described(t).JSON)
}

// The document shows what a team adds to records.
func TestDocumentShowsExtra(t *testing.T) {
	t.Parallel()
	httpapitest.ShowsExtra(t, lingible.Platform(), func(extra []schema.Extra) *kit.API {
		return api.Handler(&service.Service{}, httpapi.Config{Extra: extra, Limiter: httpapitest.Unlimited{},
			Clock: began})
	})
}
