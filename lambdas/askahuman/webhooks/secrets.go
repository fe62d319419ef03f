package webhooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	// KeepFormer is for how long a secret is valid after it was rotated.
	KeepFormer = 24 * time.Hour
	// maxFormer is how many former secrets are valid at most: a webhook has a signature by each.
	maxFormer = 6
)

// Secrets derives the secrets of agents from one key of the platform: no secret of an agent is stored.
type Secrets struct {
	// Key reads the platform's key. Required.
	Key func(ctx context.Context) (string, error)
	// DB has the versions. Required.
	DB    *dynamo.DB
	Clock wire.Clock
}

// versionKey is a key in the Guards table.
func versionKey(agentID string) []any {
	return []any{fmt.Sprintf("WEBHOOKS#%x", sha256.Sum256([]byte(agentID)))}
}

// version reads which secret of an agent is the present one; the zero value: the agent has rotated none.
func (s *Secrets) version(ctx context.Context, agentID string) (version askahuman.SecretVersion, err error) {
	_, err = s.DB.Get(ctx, "GetWebhookSecret", &version, versionKey(agentID)...)
	return version, err
}

// Valid returns the secrets of an agent that are valid now, the present one first.
func (s *Secrets) Valid(ctx context.Context, agentID string) ([]webhook.Secret, error) {
	version, err := s.version(ctx, agentID)
	if err != nil {
		return nil, err
	}
	return s.derive(ctx, agentID, version)
}

// Rotate makes another secret the present one, and returns those that are valid then. The former one is valid for
// [KeepFormer] more. It repeats what another rotation came before, as [retry.Do] does.
func (s *Secrets) Rotate(ctx context.Context, agentID string) (secrets []webhook.Secret, err error) {
	err = retry.Do(ctx, func() error {
		version, err := s.version(ctx, agentID)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		next := askahuman.SecretVersion{
			Number: version.Number + 1, Rotated: append([]time.Time{now},
				valid(version, now)...),
		}
		if err := s.keep(ctx, agentID, next); err != nil {
			return fmt.Errorf("rotate the secret of webhooks: %w", err)
		}
		secrets, err = s.derive(ctx, agentID, next)
		return err
	})
	return secrets, err
}

// keep stores the next version, or returns [retry.ErrStale] if the stored one has not the number before it.
func (s *Secrets) keep(ctx context.Context, agentID string, next askahuman.SecretVersion) error {
	former := dynamo.Equal("secret_version", next.Number-1)
	if next.Number == 1 {
		former = dynamo.Absent("secret_version")
	}
	update, err := dynamo.Changes(next, "secret_version", "rotated_at")
	if err != nil {
		return err
	}
	return dynamo.UnlessStale(s.DB.Update(ctx, "RotateWebhookSecret", versionKey(agentID), update, former, nil))
}

// valid are the rotations whose former secret is still valid.
func valid(v askahuman.SecretVersion, now time.Time) []time.Time {
	for i, at := range v.Rotated {
		if i == maxFormer || now.Sub(at) >= KeepFormer {
			return v.Rotated[:i]
		}
	}
	return v.Rotated
}

func (s *Secrets) derive(ctx context.Context, agentID string, version askahuman.SecretVersion) ([]webhook.Secret,
	error) {
	key, err := s.Key(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the key of webhook secrets: %w", err)
	}
	secrets := make([]webhook.Secret, 0, 1+len(version.Rotated))
	for i := range 1 + len(valid(version, s.Clock.Now())) {
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
