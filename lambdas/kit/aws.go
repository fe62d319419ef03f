package kit

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
)

// loadAWS reads the configuration that Lambda puts into the environment: it
// asks nothing of the network.
func loadAWS(ctx context.Context) (aws.Config, error) {
	return config.LoadDefaultConfig(ctx, config.WithRetryer(Retryer))
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
