package dynamodb

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/schema"
)

var _ askahuman.AgentKeyStore = (*AgentKeys)(nil)

// AgentKeys stores the keys of agents in the table of schema.AgentKeys. It is safe for
// concurrent use.
type AgentKeys struct{ db *dynamo.DB }

// NewAgentKeys returns a store on the table.
func NewAgentKeys(db *dynamo.DB) *AgentKeys { return &AgentKeys{db: db} }

// OpenAgentKeys returns the store of a function on the table that its environment names, or nil if
// it names none: then agents have no keys.
func OpenAgentKeys(environment kit.Environment, function string) (*AgentKeys, error) {
	if environment.Getenv(schema.AgentKeys().Tables[0].EnvironmentVariable()) == "" {
		return nil, nil
	}
	db, err := dynamo.Open(environment, schema.AskAHumanWith(schema.AskAHumanParts{AgentKeys: true}), function)
	if err != nil {
		return nil, err
	}
	return NewAgentKeys(db), nil
}

// listedKey is the key of all items in the index.
const listedKey = "KEY"

// CreateAgentKey implements [askahuman.AgentKeyStore]. It has no condition: no other key has the
// hash, and a condition would fail a repeat after a lost answer.
func (s *AgentKeys) CreateAgentKey(ctx context.Context, key askahuman.AgentKey) error {
	return s.db.Update(ctx, "CreateAgentKey", []any{key.Hash},
		expression.Set(dynamo.Name("agent_id"), expression.Value(key.AgentID)).
			Set(dynamo.Name("listed"), expression.Value(listedKey)).
			Set(dynamo.Name("created_at"), expression.Value(formatTime(key.CreatedAt))),
		expression.ConditionBuilder{}, nil)
}

// AgentKey implements [askahuman.AgentKeyStore].
func (s *AgentKeys) AgentKey(ctx context.Context, hash string) (askahuman.AgentKey, error) {
	key := askahuman.AgentKey{Hash: hash}
	found, err := s.db.Get(ctx, "GetAgentKey", &key, hash)
	if err == nil && !found {
		err = askahuman.ErrAgentKeyNotFound
	}
	return key, err
}

// AgentKeys implements [askahuman.AgentKeyStore].
func (s *AgentKeys) AgentKeys(ctx context.Context) ([]askahuman.AgentKey, error) {
	var keys []askahuman.AgentKey
	for key, err := range dynamo.Read[askahuman.AgentKey](ctx, s.db, "ListAgentKeys", dynamo.Query{Values: []any{listedKey}}) {
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// RevokeAgentKey implements [askahuman.AgentKeyStore].
func (s *AgentKeys) RevokeAgentKey(ctx context.Context, hash string, now time.Time) error {
	revoked := dynamo.Name("revoked_at")
	found, err := dynamo.Held(s.db.Update(ctx, "RevokeAgentKey", []any{hash},
		expression.Set(revoked, expression.IfNotExists(revoked, expression.Value(formatTime(now)))), kept(), nil))
	if err == nil && !found {
		return askahuman.ErrAgentKeyNotFound
	}
	return err
}

// MarkAgentKeyUsed implements [askahuman.AgentKeyStore].
func (s *AgentKeys) MarkAgentKeyUsed(ctx context.Context, hash string, since, now time.Time) (bool, error) {
	return dynamo.Held(s.db.Update(ctx, "MarkAgentKeyUsed", []any{hash},
		expression.Set(dynamo.Name("last_used_at"), expression.Value(formatTime(now))),
		kept().And(dynamo.Absent("revoked_at"),
			dynamo.Absent("last_used_at").Or(dynamo.Name("last_used_at").LessThanEqual(expression.Value(formatTime(since))))), nil))
}

// kept is true of a key that exists: no update may create one.
func kept() expression.ConditionBuilder {
	return expression.AttributeExists(dynamo.Name("key_hash"))
}
