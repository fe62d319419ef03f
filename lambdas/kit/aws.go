package kit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// loadAWS reads the configuration that Lambda puts into the environment, without using the network.
func loadAWS(ctx context.Context) (aws.Config, error) {
	loaded, err := config.LoadDefaultConfig(ctx, config.WithRetryer(Retryer))
	return WithAttemptTimeout(loaded, AttemptTimeout), err
}

// AttemptTimeout ends an unanswered attempt at a request to an AWS service. DynamoDB, Secrets Manager and SQS need far
// less, and an invocation still has time for further attempts.
const AttemptTimeout = 2 * time.Second

// WithAttemptTimeout returns the configuration with a time-out for each attempt at a request, from the connection to
// the end of the answer. It is for services whose requests take longer or shorter than others'. [Retryer] repeats the
// attempt, although AWS may have carried out the first, as when an answer is lost. An HTTP client in the configuration
// that is not the SDK's own keeps its time-out.
func WithAttemptTimeout(config aws.Config, timeout time.Duration) aws.Config {
	switch client := config.HTTPClient.(type) {
	case nil:
		config.HTTPClient = awshttp.NewBuildableClient().WithTimeout(timeout)
	case *awshttp.BuildableClient:
		config.HTTPClient = client.WithTimeout(timeout)
	}
	return config
}

// Retryer repeats requests as package retry says, within the context's [retry.Budget]: those that AWS refused for load
// or did not answer, those that met another transaction in DynamoDB, and those whose connection broke. Nothing else
// repeats a request.
func Retryer() aws.Retryer {
	return policy{awsretry.NewStandard(func(o *awsretry.StandardOptions) {
		o.MaxAttempts = retry.Attempts
		o.Backoff = awsretry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
			return retry.Delay(attempt), nil
		})
		o.Retryables = append(o.Retryables, awsretry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			if contended(err) {
				return aws.TrueTernary
			}
			return aws.UnknownTernary
		}))
	})}
}

// policy is the SDK's standard retry mode, with the context's budget instead of the SDK's budget
// for all requests of a process.
type policy struct{ *awsretry.Standard }

// GetAttemptToken begins an attempt.
func (p policy) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	end, err := retry.BudgetFrom(ctx).Begin()
	if err != nil {
		return nil, err
	}
	return func(err error) error {
		end(outcome(err))
		return nil
	}, nil
}

// GetRetryToken lets a request be repeated.
func (p policy) GetRetryToken(ctx context.Context, _ error) (func(error) error, error) {
	return func(error) error { return nil }, retry.BudgetFrom(ctx).Again()
}

// contended reports whether DynamoDB refused a request because of concurrent ones. The SDK would
// not repeat it.
func contended(err error) bool {
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		_, conflict := errors.AsType[*types.TransactionConflictException](err)
		return conflict
	}
	found := false
	for _, reason := range canceled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "", "None":
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
			found = true
		default:
			return false
		}
	}
	return found
}

var (
	throttled = awsretry.IsErrorThrottles(awsretry.DefaultThrottles)
	retryable = awsretry.IsErrorRetryables(awsretry.DefaultRetryables)
	timedOut  = awsretry.IsErrorTimeouts(awsretry.DefaultTimeouts)
)

// outcome is how a request, or an attempt at it, ended.
func outcome(err error) retry.Outcome {
	// An earlier attempt at the same transaction, which had no answer, may still succeed.
	_, inProgress := errors.AsType[*types.TransactionInProgressException](err)
	switch {
	case err == nil:
		return retry.Answered
	case errors.Is(err, context.Canceled):
		return retry.Abandoned
	case inProgress, errors.Is(err, context.DeadlineExceeded), timedOut.IsErrorTimeout(err).Bool():
		return retry.Unanswered
	case contended(err), throttled.IsErrorThrottle(err).Bool():
		return retry.Refused
	case retryable.IsErrorRetryable(err).Bool():
		return retry.Unanswered
	case errors.Is(err, retry.ErrExhausted):
		return retry.Refused
	default:
		return retry.Answered
	}
}

// Failure classifies the error of a request to AWS. The result also matches [retry.ErrBusy] or [retry.ErrUnanswered] if
// another attempt may succeed, and otherwise is err. Failure of nil is nil.
func Failure(err error) error {
	switch outcome(err) {
	case retry.Refused:
		return fmt.Errorf("%w (%w)", retry.ErrBusy, err)
	case retry.Unanswered:
		return fmt.Errorf("%w (%w)", retry.ErrUnanswered, err)
	default:
		return err
	}
}
