package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
)

// IdempotencyKeys remember requests by their idempotency keys; [idempotency.Keys]
// do, and its methods say what these do.
type IdempotencyKeys interface {
	Begin(ctx context.Context, scope, key string, request []byte, lease time.Duration) (*idempotency.Claim, *idempotency.Response, error)
	Settle(ctx context.Context, claim *idempotency.Claim, response idempotency.Response) error
	Release(ctx context.Context, claim *idempotency.Claim) error
}

// Published clients know no answer that says that a request is still running. So a
// repeat waits for the first request, and looks at ever longer intervals. It waits much
// longer than an ask takes: a request that then still runs has most likely died.
const (
	patience      = 2 * time.Second
	firstInterval = 10 * time.Millisecond
	lastInterval  = 200 * time.Millisecond
)

// asker asks, and with an idempotency key asks once.
type asker struct {
	service AgentService
	keys    IdempotencyKeys
	log     *slog.Logger
	metrics *kit.Metrics
}

// ask stores a question, unless the ask repeats one with the same idempotency key:
// then it returns the first answer.
func (a asker) ask(ctx context.Context, agent string, ask askahuman.Ask) (Submission, error) {
	if ask.IdempotencyKey == "" {
		return a.store(ctx, agent, ask)
	}
	if a.keys == nil {
		return Submission{}, errors.New("an ask has an idempotency key, and there is nothing to remember it")
	}
	// A request that is refused for its content does not use its key up.
	ask = ask.WithDefaults()
	if err := ask.Validate(); err != nil {
		return Submission{}, err
	}
	request, err := requestOf(ask)
	if err != nil {
		return Submission{}, err
	}
	claim, replay, err := a.claim(ctx, agent, ask.IdempotencyKey, request)
	if err != nil {
		return Submission{}, err
	}
	if replay != nil {
		var earlier Submission
		if err := json.Unmarshal(replay.Body, &earlier); err != nil {
			return Submission{}, fmt.Errorf("read the kept answer: %w", err)
		}
		return earlier, nil
	}
	made, err := a.store(idempotency.WithClaim(ctx, claim, answer), agent, ask)
	if err != nil {
		a.release(ctx, claim)
		return Submission{}, err
	}
	if _, kept := claim.Kept(); !kept {
		// The store does not keep answers with its work.
		response, err := responseOf(made)
		if err != nil {
			return Submission{}, err
		}
		if err := a.keys.Settle(ctx, claim, response); err != nil {
			return Submission{}, err
		}
	}
	return made, nil
}

func (a asker) store(ctx context.Context, agent string, ask askahuman.Ask) (Submission, error) {
	question, err := a.service.Ask(ctx, agent, ask)
	if err != nil {
		return Submission{}, err
	}
	a.metrics.Emit(ctx, kit.Count("Asked", 1))
	return submission(question), nil
}

// claim begins an attempt at a request. While another one runs, it waits, for no
// longer than patience.
func (a asker) claim(ctx context.Context, agent, key string, request []byte) (*idempotency.Claim, *idempotency.Response, error) {
	end := time.Now().Add(patience)
	for interval := firstInterval; ; interval = min(2*interval, lastInterval) {
		claim, replay, err := a.keys.Begin(ctx, agent, key, request, 0)
		if _, running := errors.AsType[*idempotency.RunningError](err); !running || time.Now().Add(interval).After(end) {
			return claim, replay, err
		}
		timer := time.NewTimer(interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, nil, err
		case <-timer.C:
		}
	}
}

// release lets the next attempt carry the request out at once, since that may
// succeed. If releasing fails, the next attempt has to wait until the lease ends.
func (a asker) release(ctx context.Context, claim *idempotency.Claim) {
	if err := a.keys.Release(ctx, claim); err != nil {
		a.log.WarnContext(ctx, "an idempotency key could not be released", "error", err.Error())
	}
}

// requestOf is what makes two asks the same. The place of their key does not matter,
// nor whether they spelled the defaults out. JSON keeps fields of any content apart.
func requestOf(ask askahuman.Ask) ([]byte, error) {
	ask.IdempotencyKey = ""
	request, err := json.Marshal(ask)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return request, nil
}

// answer is the answer to an ask that has made a question.
func answer(result any) (idempotency.Response, error) {
	question, ok := result.(askahuman.Question)
	if !ok {
		return idempotency.Response{}, fmt.Errorf("the result of an ask is %T, not a question", result)
	}
	return responseOf(submission(question))
}

func responseOf(made Submission) (idempotency.Response, error) {
	body, err := json.Marshal(made)
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
		ExpiresAt:  timestamp(question.Deadline),
		CreatedAt:  timestamp(question.CreatedAt),
	}
}
