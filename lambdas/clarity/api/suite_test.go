package api_test

import (
	"log/slog"
	"testing"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/api"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// began is the moment at which these tests begin.
func began() time.Time { return time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC) }

// described is the document, read and parsed once.
var described = httpapitest.Once(clarity.Platform())

func suite(t testing.TB) httpapitest.Suite {
	t.Helper()
	s := claritytest.New(t).Service // It admits callers.
	return httpapitest.Suite{
		Platform: clarity.Platform(), Document: described(t).JSON,
		API: func(keys idempotency.Claims, log *slog.Logger) *kit.API {
			return api.Handler(s, httpapi.Config{Idempotency: httpapi.Idempotency{Keys: keys}, Log: log, Clock: began})
		},
		Errors: append(httpapitest.KitErrors(), []httpapitest.ServiceError{
			{Err: &clarity.RunningError{Until: began().Add(time.Second)}, Status: 409, Passing: true},
			{Err: &clarity.LimitError{Until: began().Add(time.Hour)}, Status: 429, Passing: true},
			{Err: clarity.ErrBeingDeleted, Status: 409, Passing: true},
			{Err: &problem.VersionError{What: "the attempt", Current: 7}, Status: 412},
			{Err: validate.Errorf("nextToken", validate.RuleFormat, "is odd"), Status: 400},
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
	httpapitest.ShowsExtra(t, clarity.Platform(), func(extra []schema.Extra) *kit.API {
		return api.Handler(&service.Service{}, httpapi.Config{Extra: extra})
	})
}
