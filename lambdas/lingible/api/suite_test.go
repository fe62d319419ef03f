package api_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/model"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/api"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// began is the moment at which these tests begin.
func began() time.Time { return time.Date(2026, 2, 2, 15, 30, 0, 0, time.UTC) }

// described is the document, read and parsed once.
var described = httpapitest.Once(api.Document)

func suite(t testing.TB) httpapitest.Suite {
	t.Helper()
	s := lingibletest.New(t).Service // It admits callers.
	return httpapitest.Suite{
		Platform: lingible.Platform(), Document: described(t).JSON,
		API: func(keys idempotency.Claims, log *slog.Logger) *kit.API {
			return (&api.API{Service: s, Keys: keys, Limiter: httpapitest.Unlimited{}, Log: log,
				Clock: began}).Handler()
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
	const read = "200 400 401 403 422 429 500 503"
	described(t).HasStatuses(t, map[string]string{
		"post /translate":                           "200 400 401 403 409 413 415 422 429 500 503",
		"get /translations":                         read,
		"delete /translations":                      "204 400 401 403 429 500 503",
		"delete /translations/{id}":                 "204 400 401 403 404 429 500 503",
		"get /user/profile":                         "200 400 401 403 429 500 503",
		"get /user/usage":                           "200 400 401 403 429 500 503",
		"post /user/upgrade":                        "200 400 401 403 413 415 422 429 500 503",
		"delete /user/account":                      "202 400 401 403 413 415 422 429 500 503",
		"post /slang/submit":                        "201 400 401 403 409 413 415 422 429 500 503",
		"get /slang/mine":                           read,
		"get /slang/pending":                        read,
		"post /slang/upvote/{submission_id}":        "200 400 401 403 404 409 413 415 422 429 500 503",
		"post /slang/admin/approve/{submission_id}": "200 400 401 403 404 409 413 415 422 429 500 503",
		"post /slang/admin/reject/{submission_id}":  "200 400 401 403 404 409 413 415 422 429 500 503",
		"get /trending":                             read,
		"get /quiz/question":                        "200 400 401 403 404 422 429 500 503",
		"post /quiz/answer":                         "200 400 401 403 404 409 413 415 422 429 500 503",
		"get /quiz/progress":                        "200 400 401 403 404 422 429 500 503",
		"post /quiz/end":                            "200 400 401 403 404 413 415 422 429 500 503",
		"get /quiz/history":                         "200 400 401 403 429 500 503",
		"get /openapi.json":                         "200 400 429 500 503",
		"get /health":                               "200 400 429 500 503",
	})
}

// The document shows what a team adds to records.
func TestDocumentShowsExtra(t *testing.T) {
	t.Parallel()
	httpapitest.ShowsExtra(t, lingible.Platform(), func(extra []schema.Extra) *kit.API {
		return (&api.API{Extra: extra, Limiter: httpapitest.Unlimited{}, Clock: began}).Handler()
	})
}
