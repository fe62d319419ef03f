package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
)

// repeatWait is how long a repeat waits for the first request, since published clients
// know no answer that says that a request is still running. It is much longer than an ask
// takes: a request that then still runs has most likely died.
const repeatWait = 2 * time.Second

// asker asks, and with an idempotency key asks once.
type asker struct {
	service AgentService
	keys    idempotency.Claims
	log     *slog.Logger
	metrics *kit.Metrics
}

// ask stores a question, unless the ask repeats one with the same idempotency key:
// then it returns the first answer.
func (a asker) ask(ctx context.Context, agent string, ask askahuman.Ask) (made Submission, err error) {
	store := func(ctx context.Context) (any, error) {
		question, err := a.service.Ask(ctx, agent, ask)
		if err == nil {
			a.metrics.Emit(ctx, kit.Count("Asked", 1))
		}
		return question, err
	}
	if ask.IdempotencyKey == nil {
		question, err := store(ctx)
		if err != nil {
			return Submission{}, err
		}
		return submission(question.(askahuman.Question)), nil
	}
	// A request that is refused for its content does not use its key up.
	ask = ask.WithDefaults()
	if err := ask.Validate(); err != nil {
		return Submission{}, err
	}
	content, err := content(ask)
	if err != nil {
		return Submission{}, err
	}
	response, _, err := idempotency.Request{
		Keys: a.keys, Scope: agent, Key: *ask.IdempotencyKey, Content: content, Wait: repeatWait, Answer: answer, Log: a.log,
	}.Do(ctx, store)
	if err != nil {
		return Submission{}, err
	}
	if err := json.Unmarshal(response.Body, &made); err != nil {
		return Submission{}, fmt.Errorf("read the kept answer: %w", err)
	}
	return made, nil
}

// content is all that makes an ask what it is: the place of the key does not matter, nor
// whether defaults were spelled out. JSON keeps fields of any content apart. Keys of the last
// 24 hours have a digest of these very bytes, so their form stays.
func content(ask askahuman.Ask) ([]byte, error) {
	content, err := json.Marshal(struct {
		Prompt            string
		Type              askahuman.QuestionType
		Options, Audience []string
		Responses         int
		Timeout           time.Duration
		IdempotencyKey    string
	}{ask.Prompt, ask.Type, ask.Options, ask.Audience, *ask.MinResponses, time.Duration(*ask.TimeoutSeconds) * time.Second, ""})
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return content, nil
}

// answer is the answer to an ask that has made a question.
func answer(result any) (idempotency.Response, error) {
	question, ok := result.(askahuman.Question)
	if !ok {
		return idempotency.Response{}, fmt.Errorf("the result of an ask is %T, not a question", result)
	}
	body, err := json.Marshal(submission(question))
	if err != nil {
		return idempotency.Response{}, fmt.Errorf("encode the answer: %w", err)
	}
	return idempotency.Response{Status: http.StatusCreated, Body: body}, nil
}

func submission(question askahuman.Question) Submission {
	return Submission{
		QuestionID: question.ID,
		Status:     string(question.Status),
		PollURL:    "/agent/questions/" + question.ID,
		ExpiresAt:  askahuman.FormatTime(question.Deadline),
		CreatedAt:  askahuman.FormatTime(question.CreatedAt),
	}
}
