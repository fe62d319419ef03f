package askahuman

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	// AgentKeyPrefix begins every key, so that people and secret scanners know one
	// when they see it. 52 letters and digits of base32 (A-Z, 2-7) follow.
	AgentKeyPrefix = "aah_"
	// markEvery is how exact the last use of a key is.
	markEvery = time.Hour
	// markTimeout bounds how long a request waits for the mark of a key's use.
	markTimeout = 250 * time.Millisecond
)

// CheckAgentID returns an [*validate.Error] on the field unless id can be an agent's:
// 1 to [askahuman.MaxAgentIDLength] printable characters.
func CheckAgentID(field, id string) error {
	var p validate.Problems
	switch length := utf8.RuneCountInString(id); {
	case id == "":
		p.Add(field, validate.RuleRequired, "is missing; give an id of your choice, 1 to %d printable characters",
			askahuman.MaxAgentIDLength)
	case length > askahuman.MaxAgentIDLength:
		p.Length(field, id, 1, askahuman.MaxAgentIDLength)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }):
		p.Add(field, validate.RuleFormat, "holds characters that cannot be printed; use letters, digits, punctuation "+
			"and spaces")
	}
	return p.Err()
}

// AgentKeys issues keys to agents, and identifies agents by them. It keeps only the hash of a key: a lost key cannot be
// recovered, only revoked. It is safe for concurrent use.
type AgentKeys struct {
	// DB has the table of [askahuman.AgentKeys].
	DB *dynamo.DB
	// Unmarked is called when the last use of a key could not be stored, which does not fail the request. Nil is
	// allowed.
	Unmarked func(context.Context, error)
	Clock    wire.Clock
}

// OpenAgentKeys returns the keys of a function in the table that its environment names, or nil if it names none: then
// agents have no keys.
func OpenAgentKeys(environment kit.Environment, function string) (*AgentKeys, error) {
	if environment.Getenv(askahuman.AgentKeys().Tables[0].EnvironmentVariable()) == "" {
		return nil, nil
	}
	db, err := dynamo.Open(environment, askahuman.With(askahuman.Parts{AgentKeys: true}), function)
	if err != nil {
		return nil, err
	}
	return &AgentKeys{DB: db}, nil
}

// listedKey is the key of all items in the index.
const listedKey = "KEY"

// Issue makes a key for an agent, which may have several. The key is returned here
// and nowhere else. It returns an [*validate.Error] for a name that cannot be an
// agent's.
func (a *AgentKeys) Issue(ctx context.Context, agentID string) (key string, kept askahuman.AgentKey, err error) {
	if err := CheckAgentID("name", agentID); err != nil {
		return "", askahuman.AgentKey{}, err
	}
	if strings.HasPrefix(agentID, AgentKeyPrefix) {
		return "", askahuman.AgentKey{}, validate.Errorf("name", validate.RuleFormat,
			"begins with %s, as keys do; give the agent's name, which is no secret", AgentKeyPrefix)
	}
	key = AgentKeyPrefix + rand.Text() + rand.Text()
	kept = askahuman.AgentKey{Hash: askahuman.HashAgentKey(key), AgentID: agentID, CreatedAt: a.Clock.Now()}
	// Without a condition: no other key has the hash, and one would fail a repeat after a lost answer.
	err = a.DB.Update(ctx, "CreateAgentKey", []any{kept.Hash},
		expression.Set(dynamo.Name("agent_id"), expression.Value(agentID)).
			Set(dynamo.Name("listed"), expression.Value(listedKey)).
			Set(dynamo.Name("created_at"), expression.Value(dynamo.FormatTime(kept.CreatedAt))),
		expression.ConditionBuilder{}, nil)
	if err != nil {
		return "", askahuman.AgentKey{}, err
	}
	return key, kept, nil
}

// Agent returns the agent that a key names. It returns [askahuman.ErrUnknownAgentKey] for a text that is no
// key, an unknown key and a revoked one. Each takes one read of the store.
func (a *AgentKeys) Agent(ctx context.Context, key string) (agentID string, err error) {
	kept := askahuman.AgentKey{Hash: askahuman.HashAgentKey(key)}
	switch found, err := a.DB.Get(ctx, "GetAgentKey", &kept, kept.Hash); {
	case err != nil:
		return "", err
	case !found || !kept.RevokedAt.IsZero():
		return "", askahuman.ErrUnknownAgentKey
	}
	now := a.Clock.Now()
	if since := now.Add(-markEvery); !kept.LastUsedAt.After(since) {
		marking, cancel := context.WithTimeout(ctx, markTimeout)
		defer cancel()
		if _, err := a.mark(marking, kept.Hash, since, now); err != nil && a.Unmarked != nil {
			a.Unmarked(ctx, err)
		}
	}
	return kept.AgentID, nil
}

// mark keeps now as the last use of a key, unless the key is revoked or was used after since. It reports whether it
// did.
func (a *AgentKeys) mark(ctx context.Context, hash string, since, now time.Time) (bool, error) {
	used := dynamo.Name("last_used_at")
	return dynamo.Satisfied(a.DB.Update(ctx, "MarkAgentKeyUsed", []any{hash},
		expression.Set(used, expression.Value(dynamo.FormatTime(now))),
		keyExists().And(dynamo.Absent("revoked_at"),
			dynamo.Absent("last_used_at").Or(used.LessThanEqual(expression.Value(dynamo.FormatTime(since))))), nil))
}

// keyExists is true of a key that exists: no update may create one.
func keyExists() expression.ConditionBuilder {
	return expression.AttributeExists(dynamo.Name("key_hash"))
}

// List returns all keys, by agent, the oldest first. A key that was issued a moment ago may be
// missing.
func (a *AgentKeys) List(ctx context.Context) ([]askahuman.AgentKey, error) {
	var keys []askahuman.AgentKey
	for key, err := range dynamo.Read[askahuman.AgentKey](ctx, a.DB, "ListAgentKeys",
		dynamo.Query{Values: []any{listedKey}}) {
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b askahuman.AgentKey) int {
		return cmp.Or(strings.Compare(a.AgentID, b.AgentID), a.CreatedAt.Compare(b.CreatedAt),
			strings.Compare(a.Hash, b.Hash))
	})
	return keys, nil
}

// Revoke refuses a key from now on, for good. id is the key's id, more digits of its
// hash, or the key itself, for one that leaked. To revoke it again changes nothing. It
// returns [askahuman.ErrAgentKeyNotFound], or an [*validate.Error] for an id of several keys.
func (a *AgentKeys) Revoke(ctx context.Context, id string) (askahuman.AgentKey, error) {
	now := a.Clock.Now()
	if strings.HasPrefix(id, AgentKeyPrefix) {
		id = askahuman.HashAgentKey(id)
	}
	keys, err := a.List(ctx)
	if err != nil {
		return askahuman.AgentKey{}, err
	}
	keys = slices.DeleteFunc(keys, func(k askahuman.AgentKey) bool {
		return len(id) < askahuman.AgentKeyIDLength || !strings.HasPrefix(k.Hash, id)
	})
	switch len(keys) {
	case 0:
		return askahuman.AgentKey{}, askahuman.ErrAgentKeyNotFound
	case 1:
	default:
		hashes := make([]string, len(keys))
		for i, k := range keys {
			hashes[i] = k.Hash
		}
		return askahuman.AgentKey{}, validate.Errorf("id", validate.RuleFormat,
			"is that of several keys; give one of %s", strings.Join(hashes, ", "))
	}
	key := keys[0]
	if !key.RevokedAt.IsZero() {
		return key, nil
	}
	if err := a.revoke(ctx, key.Hash, now); err != nil {
		return askahuman.AgentKey{}, err
	}
	key.RevokedAt = now
	return key, nil
}

// revoke keeps when a key was revoked; an earlier revocation stays.
func (a *AgentKeys) revoke(ctx context.Context, hash string, now time.Time) error {
	revoked := dynamo.Name("revoked_at")
	return dynamo.Unless(a.DB.Update(ctx, "RevokeAgentKey", []any{hash},
		expression.Set(revoked, revoked.IfNotExists(moment(now))), keyExists(), nil), askahuman.ErrAgentKeyNotFound)
}
