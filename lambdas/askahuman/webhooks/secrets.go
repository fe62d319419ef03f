package webhooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
)

const (
	// KeepFormer is for how long a secret is valid after it was rotated.
	KeepFormer = 24 * time.Hour
	// mostFormer is how many former secrets are valid at most: a webhook has a signature by each.
	mostFormer = 6
)

// Version says which secret of an agent is the present one, and until when former ones are valid. The zero value is the first.
type Version struct {
	// Number counts rotations.
	Number int `dynamodbav:"secret_version"`
	// Rotated are the times of the latest rotations, the last one first: the first time ended secret Number-1.
	Rotated []time.Time `dynamodbav:"rotated_at"`
}

// SecretStore keeps the versions of agents' secrets, and no secret.
type SecretStore interface {
	// WebhookSecretVersion reads the version as it is now; the zero value: the agent has rotated none.
	WebhookSecretVersion(ctx context.Context, agentID string) (Version, error)
	// RotateWebhookSecret stores the next version if the stored one has the number before it. False: it has another one.
	RotateWebhookSecret(ctx context.Context, agentID string, next Version) (bool, error)
}

// Secrets derives the secrets of agents from one key of the platform: no secret of an agent is stored.
type Secrets struct {
	// Key reads the platform's key. Required.
	Key func(ctx context.Context) (string, error)
	// Store keeps the versions. Required.
	Store SecretStore
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// Valid returns the secrets of an agent that are valid now, the present one first.
func (s *Secrets) Valid(ctx context.Context, agentID string) ([]webhook.Secret, error) {
	version, err := s.Store.WebhookSecretVersion(ctx, agentID)
	if err != nil {
		return nil, err
	}
	return s.derive(ctx, agentID, version)
}

// Rotate makes another secret the present one, and returns those that are valid then. The former one is valid for [KeepFormer] more.
// It repeats what another rotation came before, as [retry.Do] does.
func (s *Secrets) Rotate(ctx context.Context, agentID string) (secrets []webhook.Secret, err error) {
	err = retry.Do(ctx, func() error {
		version, err := s.Store.WebhookSecretVersion(ctx, agentID)
		if err != nil {
			return err
		}
		now := s.now()
		next := Version{Number: version.Number + 1, Rotated: append([]time.Time{now.UTC().Truncate(time.Millisecond)}, version.valid(now)...)}
		rotated, err := s.Store.RotateWebhookSecret(ctx, agentID, next)
		if err != nil {
			return err
		}
		if !rotated {
			return fmt.Errorf("rotate the secret of webhooks: %w", retry.ErrStale)
		}
		secrets, err = s.derive(ctx, agentID, next)
		return err
	})
	return secrets, err
}

// valid are the rotations whose former secret is still valid.
func (v Version) valid(now time.Time) []time.Time {
	for i, at := range v.Rotated {
		if i == mostFormer || now.Sub(at) >= KeepFormer {
			return v.Rotated[:i]
		}
	}
	return v.Rotated
}

func (s *Secrets) derive(ctx context.Context, agentID string, version Version) ([]webhook.Secret, error) {
	key, err := s.Key(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the key of webhook secrets: %w", err)
	}
	secrets := make([]webhook.Secret, 0, 1+len(version.Rotated))
	for i := range 1 + len(version.valid(s.now())) {
		mac := hmac.New(sha256.New, []byte(key))
		fmt.Fprintf(mac, "webhook secret\x00%d\x00%s", version.Number-i, agentID)
		secret, err := webhook.NewSecret(mac.Sum(nil))
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

func (s *Secrets) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}
