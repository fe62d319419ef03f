package kit

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
)

// loadAWS reads the configuration that Lambda puts into the environment: it
// asks nothing of the network.
func loadAWS(ctx context.Context) (aws.Config, error) {
	loaded, err := config.LoadDefaultConfig(ctx, config.WithRetryer(Retryer))
	return WithAttemptTimeout(loaded, AttemptTimeout), err
}

// AttemptTimeout ends an attempt at a request to an AWS service that has not been
// answered: far above what DynamoDB, Secrets Manager and SQS take, and far enough
// below what is left of an invocation for another attempt or several.
const AttemptTimeout = 2 * time.Second

// WithAttemptTimeout returns the configuration for clients that end each attempt at
// a request, from the connection to the end of the answer, after that time. It is
// for services whose requests take longer or shorter than others'. The attempt is
// made again, as [Retryer] says. AWS may have carried it out, as if its answer had
// been lost. A client of the configuration that is not the SDK's own stays as it is.
func WithAttemptTimeout(config aws.Config, timeout time.Duration) aws.Config {
	switch client := config.HTTPClient.(type) {
	case nil:
		config.HTTPClient = awshttp.NewBuildableClient().WithTimeout(timeout)
	case *awshttp.BuildableClient:
		config.HTTPClient = client.WithTimeout(timeout)
	}
	return config
}

// Retryer is the SDK's standard retry mode for a caller who waits: 8 attempts,
// and a delay of 25 ms, doubled for each attempt up to 400 ms, with full jitter.
// The standard delays begin at a second, which suits a batch; and its retry
// quota, which is for a process with many requests in flight, is off: a function
// has one.
func Retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = 8
		o.RateLimiter = ratelimit.None
		o.Backoff = retry.BackoffDelayerFunc(backoff)
	})
}

// backoff is the delay before the attempt that follows the given one, from 0.
func backoff(attempt int, _ error) (time.Duration, error) {
	delay := 400 * time.Millisecond
	if attempt < 4 {
		delay = 25 * time.Millisecond << max(attempt, 0)
	}
	return rand.N(delay) + 1, nil
}
