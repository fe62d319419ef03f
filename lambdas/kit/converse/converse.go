// Package converse asks a language model of Amazon Bedrock, by the API operation Converse.
//
// A [Client] makes at most [Attempts] requests for one reply. It logs nothing, and its errors quote neither prompts nor
// replies.
package converse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/model"
)

const (
	// Attempts limits the requests that a client makes for one reply.
	Attempts = 3
	// attemptTimeout ends an attempt that has no reply. Contexts usually end before.
	attemptTimeout = time.Minute
	// laterDelay makes the pauses after refused requests the longest of package retry: a quota of
	// requests a minute is not there again within milliseconds.
	laterDelay = 5
)

// Client asks one model. It is safe for concurrent use.
type Client struct {
	api       *bedrockruntime.Client
	model     string
	guardrail *types.GuardrailConfiguration
}

// Open returns a client for the model that the function finds in its environment
// ([schema.Function.CallsModel]). The variable AWS_ENDPOINT_URL_BEDROCK_RUNTIME of the AWS SDKs
// leads it to another endpoint. An error names a variable that is missing.
func Open(environment kit.Environment) (*Client, error) {
	model, err := environment.Require(schema.ModelVariable)
	if err != nil {
		return nil, err
	}
	c := &Client{model: model[0]}
	if id := environment.Getenv(schema.GuardrailVariable); id != "" {
		version, err := environment.Require(schema.GuardrailVersionVariable)
		if err != nil {
			return nil, err
		}
		c.guardrail = &types.GuardrailConfiguration{GuardrailIdentifier: &id, GuardrailVersion: &version[0]}
	}
	c.api = bedrockruntime.NewFromConfig(kit.WithAttemptTimeout(environment.AWS, attemptTimeout),
		func(o *bedrockruntime.Options) {
			o.Retryer = patient{kit.Retryer().(aws.RetryerV2)}
		})
	return c, nil
}

// ModelID returns what the client calls: the id of a model or of an inference profile, or an ARN.
func (c *Client) ModelID() string { return c.model }

// patient is [kit.Retryer] for a service with few requests, which take seconds each and are paid.
type patient struct{ aws.RetryerV2 }

func (patient) MaxAttempts() int { return Attempts }

func (patient) RetryDelay(attempt int, _ error) (time.Duration, error) {
	return retry.Delay(attempt + laterDelay), nil
}

// IsErrorRetryable adds a model that is being loaded ("ModelNotReadyException", Converse).
func (p patient) IsErrorRetryable(err error) bool {
	_, notReady := errors.AsType[*types.ModelNotReadyException](err)
	return notReady || p.RetryerV2.IsErrorRetryable(err)
}

// Request asks a model for a reply.
type Request struct {
	// System says what the model has to do, and User is the message that it replies to. Both are
	// required.
	System, User string
	// MaxTokens bounds the reply, in tokens of the model. Default: the model's own bound.
	MaxTokens int32
	// Temperature is how varied replies are, from 0 to 1. Default: the model's own.
	Temperature *float32
}

// Converse returns the text of the model's reply. Its error is a [*model.Error], or matches [context.Canceled] if the
// context was canceled. Like a write it first waits for [dynamo.BeforeWrites], whose error it returns unchanged.
func (c *Client) Converse(ctx context.Context, r Request) (string, error) {
	if err := dynamo.Await(ctx); err != nil {
		return "", err
	}
	parameters := &types.InferenceConfiguration{Temperature: r.Temperature}
	if r.MaxTokens > 0 {
		parameters.MaxTokens = &r.MaxTokens
	}
	output, err := c.api.Converse(ctx, &bedrockruntime.ConverseInput{
		ModelId: &c.model,
		System:  []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: r.System}},
		Messages: []types.Message{{Role: types.ConversationRoleUser,
			Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: r.User}}}},
		InferenceConfig: parameters,
		GuardrailConfig: c.guardrail,
	})
	if err != nil {
		return "", failure(ctx, err)
	}
	switch output.StopReason {
	case types.StopReasonEndTurn, types.StopReasonStopSequence:
		return text(output), nil
	case types.StopReasonGuardrailIntervened, types.StopReasonContentFiltered, "refusal":
		return "", model.Errorf(model.Declined, "the reply ends with %s", output.StopReason)
	default:
		return "", model.Errorf(model.Unusable, "the reply is not complete: it ends with %.40q", output.StopReason)
	}
}

// text is what a reply says, without the reasoning that some models put before it.
func text(output *bedrockruntime.ConverseOutput) string {
	message, _ := output.Output.(*types.ConverseOutputMemberMessage)
	if message == nil {
		return ""
	}
	var said strings.Builder
	for _, block := range message.Value.Content {
		if block, ok := block.(*types.ContentBlockMemberText); ok {
			said.WriteString(block.Value)
		}
	}
	return said.String()
}

// failure is the error of a request that had no reply.
func failure(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("asking the model: %w", ctx.Err())
	}
	kind := model.Unavailable
	api, refused := errors.AsType[smithy.APIError](err)
	switch outcome := kit.Failure(err); {
	case refused && slices.Contains([]string{"ThrottlingException", "ServiceQuotaExceededException",
		"ModelNotReadyException"}, api.ErrorCode()):
		kind = model.Throttled
	case refused && api.ErrorCode() == "ModelTimeoutException", ctx.Err() != nil, timedOut(err):
		kind = model.TimedOut
	case errors.Is(outcome, retry.ErrBusy):
		kind = model.Throttled
	}
	return model.Errorf(kind, "%s", cause(err))
}

// timedOut reports whether an attempt ended at its time-out.
func timedOut(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// cause says for operators what failed. It leaves out the message of the service where that may
// quote the request.
func cause(err error) string {
	api, refused := errors.AsType[smithy.APIError](err)
	if _, unreadable := errors.AsType[*smithy.DeserializationError](err); unreadable && !refused {
		return "the response cannot be read"
	}
	if !refused {
		return fmt.Sprintf("%.300s", err)
	}
	id := ""
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		id = " (request " + response.RequestID + ")"
	}
	switch code := api.ErrorCode(); {
	case slices.Contains([]string{"AccessDeniedException", "ResourceNotFoundException", "ThrottlingException",
		"ServiceQuotaExceededException", "ModelNotReadyException", "ServiceUnavailableException"}, code):
		return fmt.Sprintf("%s%s: %.300s", code, id, api.ErrorMessage())
	case code == "ValidationException":
		return code + id + ": check that the model can be called by this id in this region (many need an inference " +
			"profile), by Converse, and with a system prompt and a temperature"
	default:
		return fmt.Sprintf("%.60s%s", code, id)
	}
}
