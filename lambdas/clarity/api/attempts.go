package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// AttemptPath is the path of an attempt.
type AttemptPath struct {
	ID string `path:"id" doc:"The attempt's id." example:"550e8400-e29b-41d4-a716-446655440000"`
}

// Page are the parameters of a list.
type Page struct {
	Limit     int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many to return at most. A page may have fewer and still be continued."`
	NextToken string `query:"nextToken" doc:"The nextToken of the page before."`
}

type (
	submitInput = httpapi.Input[clarity.Submission]
	saveInput   struct {
		AttemptPath
		httpapi.Input[clarity.Save]
	}
)

// evaluated says how requests that complete an attempt evaluate it.
const evaluated = " The answer waits for the evaluation. An attempt whose evaluation fails, takes too long, or is " +
	"put off by the limit of evaluations a day is stored all the same: evaluation is null, evaluationFailure says " +
	"why, and it is evaluated later without another request."

func (s *server) registerAttempts() {
	precisely := httpapi.Forms{"path.id": httpapi.Format("uuid")}
	of := []error{clarity.ErrAttemptNotFound, clarity.ErrForbidden}
	versioned := map[string]string{"ETag": "The attempt's version, for If-Match."}

	httpapi.Mutate(s.Server, httpapi.Operation{ID: "createAttempt", Status: http.StatusCreated,
		Form: clarity.Attempt{}, KeyOptional: true,
		Headers:     map[string]string{"ETag": versioned["ETag"], "Location": "The path of the attempt."},
		Location:    "/attempts/{attemptId}",
		Description: "Stores an attempt, and evaluates a completed one." + evaluated,
		Errors:      []error{clarity.ErrScenarioNotFound, clarity.ErrScenarioInactive, &clarity.RunningError{}},
	}, func(ctx context.Context, input *submitInput) (clarity.Attempt, error) {
		id, err := attemptID(ctx, input.Body)
		if err != nil {
			return clarity.Attempt{}, err
		}
		a, err := s.api.Service.Submit(ctx, httpapi.CallerFrom(ctx).ID, id, input.Body)
		return a, s.orNone(ctx, err)
	}, func(_ context.Context, _ *submitInput, a clarity.Attempt) (int, any) {
		return http.StatusCreated, withoutAnswers(a)
	})

	httpapi.Mutate(s.Server, httpapi.Operation{ID: "saveAttempt", Form: clarity.Attempt{}, KeyOptional: true,
		Headers: versioned, IfMatch: "the attempt",
		Description: "Changes an attempt in progress. Completing it evaluates it, and makes the time of submission " +
			"its timestamp." + evaluated,
		Stricter: precisely,
		Errors:   append(of, clarity.ErrScenarioNotFound, clarity.ErrNotInProgress, &clarity.RunningError{}),
	}, func(ctx context.Context, input *saveInput) (clarity.Attempt, error) {
		return httpapi.IfMatch(ctx, func(version int) (clarity.Attempt, error) {
			return s.api.Service.Save(ctx, httpapi.CallerFrom(ctx).ID, input.ID, input.Body, version,
				idempotency.ClaimFrom(ctx) != nil)
		})
	}, func(_ context.Context, _ *saveInput, a clarity.Attempt) (int, any) {
		return http.StatusOK, withoutAnswers(a)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "listAttempts",
		Description: "Returns a page of the caller's attempts. A list follows a change of an attempt within a " +
			"moment; the attempt itself follows at once.",
	}, func(ctx context.Context, page *Page) (clarity.AttemptList, error) {
		return s.api.Service.Attempts(ctx, httpapi.CallerFrom(ctx).ID, page.Limit, page.NextToken)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "readAttempt", Headers: versioned,
		Description: "Returns an attempt.",
		Stricter:    precisely,
		Errors:      of,
	}, func(ctx context.Context, input *AttemptPath) (clarity.Attempt, error) {
		return s.api.Service.Attempt(ctx, httpapi.CallerFrom(ctx).ID, input.ID)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "evaluateAttempt",
		Description: "Evaluates a completed attempt that has no evaluation. An attempt that has one keeps it. If the " +
			"evaluation fails, the answer has none, and says why.",
		Stricter: precisely,
		Errors:   append(of, clarity.ErrNotCompleted, &clarity.RunningError{}, &clarity.LimitError{}),
	}, func(ctx context.Context, input *AttemptPath) (clarity.Attempt, error) {
		a, err := s.api.Service.Evaluate(ctx, httpapi.CallerFrom(ctx).ID, input.ID)
		return withoutAnswers(a), err
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
