package api_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/wire"
	"github.com/onesynth-cdk/onesynth/schema"
)

// began is the moment at which these tests begin.
func began() time.Time { return time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC) }

// stub has one attempt, scenario and profile. Every method calls work once.
type stub struct{ work func() error }

func (s stub) attempt() (clarity.Attempt, error) {
	judged := clarity.Judgement{Feedback: "Good.", ModelID: "stub"}
	for _, d := range clarity.Dimensions() {
		judged.Dimensions = append(judged.Dimensions, clarity.DimensionScore{Name: d, Score: 3, Rationale: []string{"It is clear."}, Uncertain: d == clarity.Humility})
	}
	return clarity.Attempt{
		ID: "550e8400-e29b-41d4-a716-446655440000", UserID: "caller", ScenarioID: "s", Timestamp: wire.Time(began()), Status: clarity.Completed, Version: 3,
		Answers: []clarity.Answer{}, EvaluationStatus: clarity.EvaluationDone,
		Evaluation: &clarity.Evaluation{OverallScore: 75, Judgement: judged, EvaluatedAt: wire.Time(began())},
	}, s.work()
}

func (s stub) Submit(context.Context, string, string, clarity.Submission) (clarity.Attempt, error) {
	return s.attempt()
}
func (s stub) Save(_ context.Context, _, _ string, _ clarity.Save, ifVersion int, _ bool) (clarity.Attempt, error) {
	a, err := s.attempt()
	if err == nil && ifVersion != 0 && ifVersion != a.Version {
		err = &clarity.VersionError{Current: a.Version}
	}
	return a, err
}
func (s stub) Evaluate(context.Context, string, string) (clarity.Attempt, error) { return s.attempt() }
func (s stub) Attempt(context.Context, string, string) (clarity.Attempt, error)  { return s.attempt() }
func (s stub) Attempts(context.Context, string, int, string) (clarity.AttemptList, error) {
	a, err := s.attempt()
	return clarity.AttemptList{Attempts: []clarity.Attempt{a}, NextToken: "AQ"}, err
}
func (s stub) Scenario(context.Context, string) (clarity.Scenario, error) {
	return clarity.Scenario{ID: "s", Difficulty: clarity.Beginner, Questions: []clarity.Question{}, CreatedAt: wire.Time(began())}, s.work()
}
func (s stub) Scenarios(context.Context, clarity.Difficulty) ([]clarity.Scenario, error) {
	return []clarity.Scenario{{ID: "s", Difficulty: clarity.Beginner, Questions: []clarity.Question{}}}, s.work()
}
func (s stub) LatestProfile(context.Context, string) (clarity.Profile, error) {
	return clarity.Profile{
		UserID: "caller", Timestamp: wire.Time(began()), RecentOverallScores: []int{}, Dimensions: []clarity.DimensionStatistics{},
		Weaknesses: []clarity.Weakness{}, Improvements: []clarity.Improvement{}, Recommendations: []string{},
	}, s.work()
}
func (s stub) Profiles(context.Context, string, int, string) (clarity.ProfileList, error) {
	return clarity.ProfileList{Profiles: []clarity.Profile{}}, s.work()
}

// described is the document, read and parsed once.
var described = httpapitest.Once(api.Document)

func suite(t testing.TB) httpapitest.Suite {
	t.Helper()
	return httpapitest.Suite{
		Platform: schema.Clarity(), Document: described(t).JSON,
		Serve: func(work func() error, keys idempotency.Claims, log *slog.Logger) *kit.API {
			s := stub{work}
			return (&api.API{Service: s, Scenarios: s, Profiles: s, Keys: keys, Log: log, Now: began}).Handler()
		},
		Errors: append(httpapitest.KitErrors(), []httpapitest.ServiceError{
			{Err: clarity.ErrAttemptNotFound, Status: 404},
			{Err: clarity.ErrScenarioNotFound, Status: 404},
			{Err: clarity.ErrNoScenarios, Status: 404},
			{Err: clarity.ErrNoProfile, Status: 404},
			{Err: clarity.ErrForbidden, Status: 403},
			{Err: clarity.ErrScenarioInactive, Status: 409},
			{Err: clarity.ErrNotInProgress, Status: 409},
			{Err: clarity.ErrNotCompleted, Status: 409},
			{Err: &clarity.RunningError{Until: began().Add(time.Second)}, Status: 409, Passing: true},
			{Err: &clarity.LimitError{Until: began().Add(time.Hour)}, Status: 429, Passing: true},
			{Err: &clarity.VersionError{Current: 7}, Status: 412},
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
	described(t).HasStatuses(t, map[string]string{
		"post /attempts":                "201 400 401 404 409 413 415 429 500 503",
		"get /attempts":                 "200 400 401 429 500 503",
		"get /attempts/{id}":            "200 400 401 403 404 429 500 503",
		"put /attempts/{id}":            "200 400 401 403 404 409 412 413 415 429 500 503",
		"post /attempts/{id}/evaluate":  "200 400 401 403 404 409 413 415 429 500 503",
		"get /scenarios":                "200 400 401 429 500 503",
		"get /scenarios/{id}":           "200 400 401 404 429 500 503",
		"get /users/me/profile":         "200 400 401 404 429 500 503",
		"get /users/me/profile/history": "200 400 401 429 500 503",
		"get /openapi.json":             "200 400 429 500 503",
	})
}
