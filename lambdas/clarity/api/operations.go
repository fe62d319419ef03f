package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
)

// requestBy is a request without a body.
type requestBy[P any] = httpapi.Request[P, schema.None]

func bindAttempts(server *httpapi.Server, s *service.Service) {
	httpapi.BindWork(server, clarity.CreateAttempt, httpapi.Work[schema.None, clarity.Submission, clarity.Attempt]{
		Do: func(ctx context.Context, r httpapi.Request[schema.None, clarity.Submission]) (clarity.Attempt, error) {
			id, err := attemptID(ctx, r.Body)
			if err != nil {
				return clarity.Attempt{}, err
			}
			a, err := s.Submit(ctx, r.Caller.ID, id, r.Body)
			return a, orNone(ctx, s, err)
		},
		Answer: func(a clarity.Attempt) (int, any) { return http.StatusCreated, withoutAnswers(a) },
	})
	httpapi.BindWork(server, clarity.SaveAttempt, httpapi.Work[clarity.AttemptParams, clarity.Save, clarity.Attempt]{
		Do: func(ctx context.Context,
			r httpapi.Request[clarity.AttemptParams, clarity.Save]) (clarity.Attempt, error) {
			return httpapi.IfMatch(ctx, func(version int) (clarity.Attempt, error) {
				return s.Save(ctx, r.Caller.ID, r.Params.ID, r.Body, version,
					idempotency.ClaimFrom(ctx) != nil)
			})
		},
		Answer: func(a clarity.Attempt) (int, any) { return http.StatusOK, withoutAnswers(a) },
	})
	httpapi.Bind(server, clarity.ListAttempts,
		func(ctx context.Context, r requestBy[clarity.PageParams]) (clarity.AttemptList, error) {
			return s.Attempts(ctx, r.Caller.ID, r.Params.Limit, r.Params.NextToken)
		})
	httpapi.Bind(server, clarity.ReadAttempt,
		func(ctx context.Context, r requestBy[clarity.AttemptParams]) (clarity.Attempt, error) {
			return s.Attempt(ctx, r.Caller.ID, r.Params.ID)
		})
	httpapi.Bind(server, clarity.EvaluateAttempt,
		func(ctx context.Context, r requestBy[clarity.AttemptParams]) (clarity.Attempt, error) {
			a, err := s.Evaluate(ctx, r.Caller.ID, r.Params.ID)
			return withoutAnswers(a), err
		})
}

func bindOthers(server *httpapi.Server, s *service.Service) {
	httpapi.Bind(server, clarity.ListScenarios,
		func(ctx context.Context, r requestBy[clarity.ScenariosParams]) (clarity.ScenarioList, error) {
			found, err := s.Scenarios.Active(ctx, r.Params.Difficulty)
			return clarity.ScenarioList{Scenarios: append([]clarity.Scenario{}, found...)}, err
		})
	httpapi.Bind(server, clarity.ReadScenario,
		func(ctx context.Context, r requestBy[clarity.ScenarioParams]) (clarity.Scenario, error) {
			scenario, err := s.Scenarios.Scenario(ctx, r.Params.ID)
			return scenario, orNone(ctx, s, err)
		})
	httpapi.Bind(server, clarity.ReadProfile,
		func(ctx context.Context, r requestBy[schema.None]) (clarity.Profile, error) {
			return s.LatestProfile(ctx, r.Caller.ID)
		})
	httpapi.Bind(server, clarity.ListProfiles,
		func(ctx context.Context, r requestBy[clarity.PageParams]) (clarity.ProfileList, error) {
			return s.Profiles(ctx, r.Caller.ID, r.Params.Limit, r.Params.NextToken)
		})
	httpapi.Bind(server, clarity.ExportData,
		func(ctx context.Context, r requestBy[clarity.PageParams]) (clarity.Data, error) {
			return s.Data(ctx, r.Caller.ID, r.Params.Limit, r.Params.NextToken)
		})
	httpapi.Bind(server, clarity.DeleteUser,
		func(ctx context.Context, r requestBy[schema.None]) (clarity.Deletion, error) {
			return clarity.Deletion{Status: "deleting"}, s.DeleteUser(ctx, r.Caller.ID)
		})
}

// attemptID is the id of the attempt that a request makes, the same in each attempt at a request with
// an idempotency key: so an attempt after a killed function finds what that has stored. It follows
// from the request, too, because a key may come again with another request after a day. A request
// without a key has no id yet, which is "".
func attemptID(ctx context.Context, in clarity.Submission) (string, error) {
	claim := idempotency.ClaimFrom(ctx)
	if claim == nil {
		return "", nil
	}
	content, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("make the attempt's id: %w", err)
	}
	return uuid.NewHash(sha256.New(), uuid.NameSpaceOID, fmt.Appendf(nil, "%q %s", claim.Key(), content), 8).String(),
		nil
}

// withoutAnswers is an attempt as it answers the request that has its answers.
func withoutAnswers(a clarity.Attempt) clarity.Attempt {
	a.Answers = nil
	return a
}

// orNone makes [clarity.ErrScenarioNotFound] say so if no scenario is active at all.
func orNone(ctx context.Context, s *service.Service, err error) error {
	if !errors.Is(err, clarity.ErrScenarioNotFound) {
		return err
	}
	if list, failed := s.Scenarios.Active(ctx, ""); failed == nil && len(list) == 0 {
		return clarity.ErrNoScenarios
	}
	return err
}
