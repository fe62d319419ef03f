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

// repeatWait is how long a repeat waits for the first request, because published clients know no
// answer for a request that is still running. It is much longer than an ask takes: a first request
// that has not ended by then has most likely died.
const repeatWait = 2 * time.Second

// asker asks, and with an idempotency key asks once.
type asker struct {
	service AgentService
	keys    idempotency.Claims
	log     *slog.Logger
	metrics *kit.Metrics
}

// ask stores a question. If the ask repeats one with the same idempotency key, it returns the first
// answer instead.
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
	// A request with invalid content does not use up its key.
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

// content returns the bytes that identify an ask. They are the same wherever the key is, and
// whether or not defaults are spelled out. JSON separates fields of any content. Never change the
// form: keys of the last 24 hours have a digest of these bytes.
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

// answer returns the answer to an ask that has created a question.
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
