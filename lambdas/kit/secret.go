package kit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Secret is one secret string of AWS Secrets Manager, which it reads at the first request and then keeps. It is safe
// for concurrent use.
type Secret struct {
	client *secretsmanager.Client
	arn    string
	maxAge time.Duration
	clock  wire.Clock

	mu     sync.Mutex
	value  string
	readAt time.Time
}

// NewSecret returns the secret with that ARN. After maxAge the secret reads its string again; with zero it keeps it for
// the life of the process.
func NewSecret(config aws.Config, arn string, maxAge time.Duration) *Secret {
	return &Secret{client: secretsmanager.NewFromConfig(config), arn: arn, maxAge: maxAge}
}

// ReadSecret returns the secret whose ARN is in an environment variable, for a function that needs it to start.
func ReadSecret(ctx context.Context, environment Environment, variable string) (string, error) {
	arn, err := environment.Require(variable)
	if err != nil {
		return "", err
	}
	return NewSecret(environment.AWS, arn[0], 0).Value(ctx)
}

// Value returns the secret string, which is never empty. After an error the next call tries again. The error is ErrBusy
// or ErrUnanswered of package retry if that may succeed.
func (s *Secret) Value(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.value != "" && (s.maxAge == 0 || s.clock.Now().Sub(s.readAt) < s.maxAge) {
		return s.value, nil
	}
	output, err := s.client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &s.arn})
	if err != nil {
		return "", fmt.Errorf("reading the secret %s: %w", s.arn, Failure(err))
	}
	value := aws.ToString(output.SecretString)
	if value == "" {
		return "", fmt.Errorf("reading the secret %s: %w", s.arn, errors.New("it has no string value: put one"))
	}
	s.value, s.readAt = value, s.clock.Now()
	return value, nil
}

// Forget makes the next Value read the secret again, for a caller who has learned that the value is no longer valid.
func (s *Secret) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value = ""
}
