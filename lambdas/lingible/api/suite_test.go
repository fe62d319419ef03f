package api_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/model"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/api"
	"github.com/onesynth-cdk/onesynth/schema"
)

// began is the moment at which these tests begin.
func began() time.Time { return time.Date(2026, 2, 2, 15, 30, 0, 0, time.UTC) }

// The stubs of the services, one for each room. Every method calls work once, but for Admit.
type (
	stubUsers      struct{ work func() error }
	stubTranslator struct{ work func() error }
	stubModeration struct{ work func() error }
	stubTrends     struct{ work func() error }
)

func (stubUsers) Admit(caller lingible.Caller) (lingible.Caller, func(context.Context) error) {
	return caller, func(context.Context) error { return nil }
}
func (s stubUsers) Balance(context.Context, lingible.Caller) (lingible.Balance, error) {
	return lingible.Balance{Tier: lingible.Free, ResetDailyAt: began()}, s.work()
}
func (s stubUsers) Profile(context.Context, lingible.Caller) (lingible.User, error) {
	return lingible.User{ID: "caller", Tier: lingible.Free, Status: lingible.Active, CreatedAt: began(), UpdatedAt: began()}, s.work()
}
func (s stubUsers) Upgrade(ctx context.Context, caller lingible.Caller) (lingible.User, error) {
	return s.Profile(ctx, caller)
}
func (s stubUsers) Delete(context.Context, lingible.Caller) error { return s.work() }

func (s stubTranslator) Translate(context.Context, lingible.Caller, lingible.TranslationInput) (lingible.ChargedTranslation, error) {
	return lingible.ChargedTranslation{Translation: translation()}, s.work()
}
func (s stubTranslator) Translations(context.Context, lingible.Caller, int, string) (lingible.TranslationList, error) {
	return lingible.TranslationList{Translations: []lingible.Translation{translation()}, NextCursor: "AQ"}, s.work()
}
func (s stubTranslator) Delete(context.Context, string, string) error { return s.work() }
func (s stubTranslator) DeleteAll(context.Context, string) error      { return s.work() }

func translation() lingible.Translation {
	return lingible.Translation{
		ID: "019d0000-0000-7000-8000-000000000000", OriginalText: "no cap", TranslatedText: "honestly", Direction: lingible.ToStandard,
		Confidence: 1, ModelUsed: "stub", CreatedAt: began(),
	}
}

func (s stubModeration) Submit(context.Context, lingible.Caller, lingible.Proposal) (lingible.Submission, error) {
	return lingible.Submission{
		ID: "550e8400-e29b-41d4-a716-446655440000", UserID: "caller", Proposal: lingible.Proposal{Term: "no cap", Meaning: "Honestly", Example: "No cap, it works."},
		Status: lingible.Pending, CreatedAt: began(), ValidationStatus: lingible.Pending,
	}, s.work()
}
func (s stubModeration) Mine(context.Context, string, int, string) (lingible.SubmissionList, error) {
	return lingible.SubmissionList{Submissions: []lingible.Submission{}}, s.work()
}
func (s stubModeration) Pending(ctx context.Context, most int, from string) (lingible.SubmissionList, error) {
	return s.Mine(ctx, "", most, from)
}
func (s stubModeration) Vote(_ context.Context, _ lingible.Caller, id string) (lingible.Vote, error) {
	return lingible.Vote{SubmissionID: id, Upvotes: 1, Status: lingible.Validated}, s.work()
}
func (s stubModeration) Approve(ctx context.Context, _, _ string) (lingible.Submission, error) {
	return s.Submit(ctx, lingible.Caller{}, lingible.Proposal{})
}
func (s stubModeration) Reject(ctx context.Context, _, _ string) (lingible.Submission, error) {
	return s.Submit(ctx, lingible.Caller{}, lingible.Proposal{})
}

func (s stubTrends) List(context.Context, lingible.Caller, lingible.TrendQuery) ([]lingible.Trend, error) {
	return nil, s.work()
}

// described is the document, read and parsed once.
var described = httpapitest.Once(api.Document)

func suite(t testing.TB) httpapitest.Suite {
	t.Helper()
	return httpapitest.Suite{
		Platform: schema.Lingible(), Document: described(t).JSON,
		Serve: func(work func() error, keys idempotency.Claims, log *slog.Logger) *kit.API {
			return (&api.API{
				Users: stubUsers{work}, Translator: stubTranslator{work}, Moderation: stubModeration{work}, Trends: stubTrends{work}, Quiz: stubQuiz{work},
				Keys: keys, Limiter: httpapitest.Unlimited{}, Log: log, Now: began,
			}).Handler()
		},
		Errors: append(httpapitest.KitErrors(), []httpapitest.ServiceError{
			{Err: lingible.ErrTranslationNotFound, Status: 404},
			{Err: lingible.ErrSubmissionNotFound, Status: 404},
			{Err: lingible.ErrNoQuiz, Status: 404},
			{Err: lingible.ErrNoQuestion, Status: 404},
			{Err: lingible.ErrNoTerms, Status: 404},
			{Err: lingible.ErrTermKnown, Status: 409},
			{Err: lingible.ErrAlreadySubmitted, Status: 409},
			{Err: lingible.ErrOwnSubmission, Status: 409},
			{Err: lingible.ErrAlreadyVoted, Status: 409},
			{Err: lingible.ErrNotOpen, Status: 409},
			{Err: lingible.ErrDecided, Status: 409},
			{Err: lingible.ErrNoSuchQuestion, Status: 409},
			{Err: lingible.ErrAnswered, Status: 409},
			{Err: lingible.ErrUserDeleted, Status: 403, Passing: true},
			{Err: &lingible.SubscriptionError{What: "this"}, Status: 403, Passing: true},
			{Err: &lingible.UsageError{What: "translations a day", Limit: 10, Until: began().Add(time.Hour)}, Status: 429, Passing: true},
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
