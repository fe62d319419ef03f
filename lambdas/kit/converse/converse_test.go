package converse_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse/conversetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema/model"
)

const prompt = "my own very private answer"

func open(t *testing.T, s *conversetest.Server, variables map[string]string) *converse.Client {
	t.Helper()
	return must.Get(converse.Open(s.Environment(variables)))(t)
}

// What a model is asked is in the request as it was given, and nothing else.
func TestRequest(t *testing.T) {
	t.Parallel()
	type body = map[string]any
	text := func(s string) []any { return []any{body{"text": s}} }
	for name, test := range map[string]struct {
		variables map[string]string
		request   converse.Request
		want      body
	}{
		"OK": {nil, converse.Request{System: "judge", User: prompt, MaxTokens: 500, Temperature: aws.Float32(0)},
			body{"inferenceConfig": body{"maxTokens": 500.0, "temperature": 0.0}}},
		"OKDefaults": {nil, converse.Request{System: "judge", User: prompt}, body{"inferenceConfig": body{}}},
		"OKGuardrail": {map[string]string{"GUARDRAIL_ID": "a1b2", "GUARDRAIL_VERSION": "7"},
			converse.Request{System: "judge", User: prompt, MaxTokens: 1},
			body{"inferenceConfig": body{"maxTokens": 1.0},
				"guardrailConfig": body{"guardrailIdentifier": "a1b2", "guardrailVersion": "7"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := conversetest.Start(t, conversetest.Says("all right", "end_turn"))
			c := open(t, server, test.variables)
			got, err := c.Converse(t.Context(), test.request)
			if got != "all right" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			test.want["system"], test.want["messages"] = text("judge"),
				[]any{body{"role": "user", "content": text(prompt)}}
			want := []conversetest.Request{{Model: conversetest.Model, System: "judge", User: prompt, Body: test.want}}
			if diff := cmp.Diff(want, server.Requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if c.ModelID() != conversetest.Model {
				t.Errorf("got the model %s", c.ModelID())
			}
		})
	}
}

// A reply is a text or one of the errors, which have no part of the prompt or of the reply. No
// reply costs more than three requests.
func TestConverse(t *testing.T) {
	t.Parallel()
	good := conversetest.Says("all right", "end_turn")
	throttled := conversetest.Fails(http.StatusTooManyRequests, "ThrottlingException", "Too many requests")
	const leak = "the private reply"
	for name, test := range map[string]struct {
		replies  []conversetest.Reply
		want     model.Failure // "": none
		text     string        // of the reply, or in the error
		requests int
	}{
		"OK":             {[]conversetest.Reply{good}, "", "all right", 1},
		"OKStopSequence": {[]conversetest.Reply{conversetest.Says("all", "stop_sequence")}, "", "all", 1},
		"OKReasoning": {[]conversetest.Reply{conversetest.Writes(
			`{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm"}}},{"text":"a"},{"text":"b"}]}},"stopReason":"end_turn"}`)},
			"", "ab", 1},
		"OKNothing":        {[]conversetest.Reply{conversetest.Writes(`{"stopReason":"end_turn"}`)}, "", "", 1},
		"OKThrottledFirst": {[]conversetest.Reply{throttled, good}, "", "all right", 2},
		"OKNotReadyFirst": {[]conversetest.Reply{
			conversetest.Fails(http.StatusTooManyRequests, "ModelNotReadyException", ""), good}, "", "all right", 2},
		"OKFailedTwice": {[]conversetest.Reply{
			conversetest.Fails(http.StatusInternalServerError, "InternalServerException", ""),
			conversetest.Fails(http.StatusServiceUnavailable, "ServiceUnavailableException", ""), good}, "",
			"all right", 3},
		"ErrThrottled": {[]conversetest.Reply{throttled}, model.Throttled,
			"ThrottlingException (request request-of-the-test): Too many requests", converse.Attempts},
		"ErrQuota": {[]conversetest.Reply{
			conversetest.Fails(http.StatusBadRequest, "ServiceQuotaExceededException", "Quota")}, model.Throttled,
			"Quota", 1},
		"ErrNotReady": {[]conversetest.Reply{
			conversetest.Fails(http.StatusTooManyRequests, "ModelNotReadyException", "Not ready")}, model.Throttled,
			"Not ready", converse.Attempts},
		"ErrModelTimedOut": {[]conversetest.Reply{
			conversetest.Fails(http.StatusRequestTimeout, "ModelTimeoutException", "")}, model.TimedOut,
			"ModelTimeoutException", 1},
		"ErrFailed": {[]conversetest.Reply{
			conversetest.Fails(http.StatusInternalServerError, "InternalServerException", leak)}, model.Unavailable,
			"InternalServerException", converse.Attempts},
		"ErrModel": {[]conversetest.Reply{
			conversetest.Fails(http.StatusFailedDependency, "ModelErrorException", leak)}, model.Unavailable,
			"ModelErrorException", 1},
		"ErrDenied": {[]conversetest.Reply{
			conversetest.Fails(http.StatusForbidden, "AccessDeniedException",
				"not authorized to perform: bedrock:InvokeModel")}, model.Unavailable, "bedrock:InvokeModel", 1},
		"ErrInvalid": {[]conversetest.Reply{
			conversetest.Fails(http.StatusBadRequest, "ValidationException", leak)}, model.Unavailable,
			"inference profile", 1},
		"ErrNoJSON": {[]conversetest.Reply{conversetest.Writes(leak)}, model.Unavailable, "", 1},
		"ErrOtherShape": {[]conversetest.Reply{
			conversetest.Writes(`{"output":"` + leak + `","stopReason":"end_turn"}`)}, model.Unavailable, "", 1},
		"ErrMaxTokens": {[]conversetest.Reply{conversetest.Says(leak, "max_tokens")}, model.Unusable,
			"max_tokens", 1},
		"ErrContextWindow": {[]conversetest.Reply{conversetest.Says(leak, "model_context_window_exceeded")},
			model.Unusable, "model_context_window_exceeded", 1},
		"ErrUnknownReason": {[]conversetest.Reply{conversetest.Says(leak, "news")}, model.Unusable, "news", 1},
		"ErrNoReason":      {[]conversetest.Reply{conversetest.Writes(`{}`)}, model.Unusable, "", 1},
		"ErrGuardrail": {[]conversetest.Reply{conversetest.Says(leak, "guardrail_intervened")}, model.Declined,
			"guardrail_intervened", 1},
		"ErrContentFiltered": {[]conversetest.Reply{conversetest.Says(leak, "content_filtered")}, model.Declined,
			"content_filtered", 1},
		"ErrRefused": {[]conversetest.Reply{conversetest.Says(leak, "refusal")}, model.Declined, "refusal", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := conversetest.Start(t, test.replies...)
			got, err := open(t, server, nil).Converse(t.Context(), converse.Request{System: "judge", User: prompt})
			if failed, _ := errors.AsType[*model.Error](err); (err != nil) != (test.want != "") ||
				err != nil && (failed == nil || failed.Failure != test.want) {
				t.Fatalf("got %q, %v, want %q", got, err, test.want)
			}
			if err == nil && got != test.text || err != nil &&
				(got != "" || !strings.Contains(err.Error(), test.text)) {
				t.Errorf("got %q, %v, want %q", got, err, test.text)
			}
			if err != nil && (strings.Contains(err.Error(), leak) || strings.Contains(err.Error(), "private")) {
				t.Errorf("the error has a part of a prompt or a reply: %v", err)
			}
			if n := len(server.Requests()); n != test.requests {
				t.Errorf("got %d requests, want %d", n, test.requests)
			}
		})
	}
}

// A request ends with its context, also while it waits for the next attempt, and draws on the
// budget of the invocation.
func TestConverseEnds(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	soon, stop := context.WithDeadline(t.Context(), time.Now().Add(50*time.Millisecond))
	t.Cleanup(stop)
	spent := retry.NewBudget(1)
	throttled := conversetest.Fails(http.StatusTooManyRequests, "ThrottlingException", "Too many requests")
	for name, test := range map[string]struct {
		ctx      context.Context
		reply    conversetest.Reply
		want     model.Failure
		requests int
	}{
		"ErrSlow":     {soon, conversetest.Hangs, model.TimedOut, 1},
		"ErrCanceled": {canceled, conversetest.Hangs, "", 0},
		"ErrSpent":    {retry.WithBudget(t.Context(), spent), throttled, model.Throttled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := conversetest.Start(t, test.reply)
			_, err := open(t, server, nil).Converse(test.ctx, converse.Request{System: "judge", User: prompt})
			failed, _ := errors.AsType[*model.Error](err)
			if test.want == "" && !errors.Is(err, context.Canceled) ||
				test.want != "" && (failed == nil || failed.Failure != test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if n := len(server.Requests()); n > test.requests {
				t.Errorf("got %d requests, want %d", n, test.requests)
			}
		})
	}
}

// A request that is refused before it may write asks no model.
func TestConverseWaits(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	server := conversetest.Start(t, conversetest.Says("all right", "end_turn"))
	ctx := dynamo.BeforeWrites(t.Context(), func(context.Context) error { return refused })
	if got, err := open(t, server, nil).Converse(ctx, converse.Request{System: "judge", User: prompt}); !errors.Is(err,
		refused) || len(server.Requests()) > 0 {
		t.Errorf("got %q, %v after %d requests", got, err, len(server.Requests()))
	}
}

// The environment says which model, which guardrail and which endpoint.
func TestOpen(t *testing.T) {
	server := conversetest.Start(t, conversetest.Says("all right", "end_turn"))
	environment := server.Environment(nil)
	t.Setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", *environment.AWS.BaseEndpoint)
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	loaded := must.Get(config.LoadDefaultConfig(t.Context(), config.WithRegion("eu-central-1"),
		config.WithCredentialsProvider(environment.AWS.Credentials)))(t)
	environment.AWS = loaded
	c := must.Get(converse.Open(environment))(t)
	if got, err := c.Converse(t.Context(), converse.Request{System: "judge", User: prompt}); got != "all right" ||
		err != nil {
		t.Errorf("got %q, %v from the endpoint of the environment", got, err)
	}
	if _, err := converse.Open(server.Environment(map[string]string{"GUARDRAIL_ID": "a1"})); err == nil ||
		!strings.Contains(err.Error(), "GUARDRAIL_VERSION") {
		t.Errorf("a guardrail without a version: got %v", err)
	}
	environment.Getenv = func(string) string { return "" }
	if _, err := converse.Open(environment); err == nil || !strings.Contains(err.Error(), "MODEL_ID") {
		t.Errorf("no model: got %v", err)
	}
}
