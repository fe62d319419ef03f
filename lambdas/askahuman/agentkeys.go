package askahuman

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

const (
	// AgentKeyPrefix begins every key, so that people and secret scanners know one
	// when they see it. 52 letters and digits of base32 (A-Z, 2-7) follow.
	AgentKeyPrefix = "aah_"
	// agentKeyIDLength is how many digits of a key's hash make its id. Among a million keys, two
	// share an id with a chance of 1 in 500.
	agentKeyIDLength = 12
	// markEvery is how exact the last use of a key is.
	markEvery = time.Hour
	// markTimeout bounds how long a request waits for the mark of a key's use.
	markTimeout = 250 * time.Millisecond
)

var (
	// ErrUnknownAgentKey: there is no such key, or it was revoked. The error does not
	// reveal which.
	ErrUnknownAgentKey = errors.New("there is no such key, or it was revoked: send one that was issued to you, as X-Agent-Id: KEY or as Authorization: Bearer KEY")
	// ErrAgentKeyNotFound: operators asked for a key that does not exist.
	ErrAgentKeyNotFound = errors.New("there is no such key")
)

// AgentKey is the stored record of a key: never the key.
type AgentKey struct {
	// Hash is [HashAgentKey] of the key.
	Hash string `dynamodbav:"key_hash"`
	// AgentID is the agent that the key names.
	AgentID   string    `dynamodbav:"agent_id"`
	CreatedAt time.Time `dynamodbav:"created_at"`
	// LastUsedAt is exact to the hour; zero: never used.
	LastUsedAt time.Time `dynamodbav:"last_used_at"`
	// RevokedAt is when the key was revoked; zero: the key is valid.
	RevokedAt time.Time `dynamodbav:"revoked_at"`
}

// ID identifies the key for people: the first 12 digits of its hash.
func (k AgentKey) ID() string { return k.Hash[:min(agentKeyIDLength, len(k.Hash))] }

// HashAgentKey is the SHA-256 of a key, in hexadecimal. A key has 260 random bits, so
// neither salt nor a slow hash would make it harder to find.
func HashAgentKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// CheckAgentID returns an [*validate.Error] on the field unless id can be an agent's:
// 1 to [MaxAgentIDLength] printable characters.
func CheckAgentID(field, id string) error {
	var p validate.Problems
	switch length := utf8.RuneCountInString(id); {
	case id == "":
		p.Add(field, validate.RuleRequired, "is missing; give an id of your choice, 1 to %d printable characters", MaxAgentIDLength)
	case length > MaxAgentIDLength:
		p.Length(field, id, 1, MaxAgentIDLength)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }):
		p.Add(field, validate.RuleFormat, "holds characters that cannot be printed; use letters, digits, punctuation and spaces")
	}
	return p.Err()
}

// AgentKeyStore is the storage that [AgentKeys] needs.
type AgentKeyStore interface {
	// CreateAgentKey stores a new key. To store the same one again changes nothing.
	CreateAgentKey(ctx context.Context, key AgentKey) error
	// AgentKey reads a key as it is now; CreatedAt may be left out. It returns
	// [ErrAgentKeyNotFound].
	AgentKey(ctx context.Context, hash string) (AgentKey, error)
	// AgentKeys reads all keys, grouped by agent. A key that was stored a moment ago may be
	// missing.
	AgentKeys(ctx context.Context) ([]AgentKey, error)
	// RevokeAgentKey stores when a key was revoked. An earlier revocation stays. It returns
	// [ErrAgentKeyNotFound].
	RevokeAgentKey(ctx context.Context, hash string, now time.Time) error
	// MarkAgentKeyUsed stores now as the last use of a key, unless the key is revoked or was used
	// after since. It reports whether it did.
	MarkAgentKeyUsed(ctx context.Context, hash string, since, now time.Time) (bool, error)
}

// AgentKeys issues keys to agents, and identifies agents by them. It keeps only the hash of a key:
// a lost key cannot be recovered, only revoked.
type AgentKeys struct {
	// Store keeps the keys. Required.
	Store AgentKeyStore
	// Unmarked is called when the last use of a key could not be stored, which does not fail the
	// request. Nil is allowed.
	Unmarked func(context.Context, error)
	// Now is the clock. Nil: [time.Now].
	Now func() time.Time
}

// Issue makes a key for an agent, which may have several. The key is returned here
// and nowhere else. It returns an [*validate.Error] for a name that cannot be an
// agent's.
func (a *AgentKeys) Issue(ctx context.Context, agentID string) (key string, kept AgentKey, err error) {
	if err := CheckAgentID("name", agentID); err != nil {
		return "", AgentKey{}, err
	}
	if strings.HasPrefix(agentID, AgentKeyPrefix) {
		return "", AgentKey{}, validate.Errorf("name", validate.RuleFormat, "begins with %s, as keys do; give the agent's name, which is no secret", AgentKeyPrefix)
	}
	key = AgentKeyPrefix + rand.Text() + rand.Text()
	kept = AgentKey{Hash: HashAgentKey(key), AgentID: agentID, CreatedAt: clock(a.Now)}
	if err := a.Store.CreateAgentKey(ctx, kept); err != nil {
		return "", AgentKey{}, err
	}
	return key, kept, nil
}

// Agent returns the agent that a key names. It returns [ErrUnknownAgentKey] for a text that is no
// key, an unknown key and a revoked one. Each takes one read of the store.
func (a *AgentKeys) Agent(ctx context.Context, key string) (agentID string, err error) {
	kept, err := a.Store.AgentKey(ctx, HashAgentKey(key))
	switch {
	case errors.Is(err, ErrAgentKeyNotFound), err == nil && !kept.RevokedAt.IsZero():
		return "", ErrUnknownAgentKey
	case err != nil:
		return "", err
	}
	now := clock(a.Now)
	if since := now.Add(-markEvery); !kept.LastUsedAt.After(since) {
		marking, cancel := context.WithTimeout(ctx, markTimeout)
		defer cancel()
		if _, err := a.Store.MarkAgentKeyUsed(marking, HashAgentKey(key), since, now); err != nil && a.Unmarked != nil {
			a.Unmarked(ctx, err)
		}
	}
	return kept.AgentID, nil
}

// List returns all keys, by agent, the oldest first. A key that was issued a moment ago may be
// missing.
func (a *AgentKeys) List(ctx context.Context) ([]AgentKey, error) {
	keys, err := a.Store.AgentKeys(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(keys, func(a, b AgentKey) int {
		return cmp.Or(strings.Compare(a.AgentID, b.AgentID), a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.Hash, b.Hash))
	})
	return keys, nil
}

// Revoke refuses a key from now on, for good. id is the key's id, more digits of its
// hash, or the key itself, for one that leaked. To revoke it again changes nothing. It
// returns [ErrAgentKeyNotFound], or an [*validate.Error] for an id of several keys.
func (a *AgentKeys) Revoke(ctx context.Context, id string) (AgentKey, error) {
	now := clock(a.Now)
	if strings.HasPrefix(id, AgentKeyPrefix) {
		id = HashAgentKey(id)
	}
	keys, err := a.List(ctx)
	if err != nil {
		return AgentKey{}, err
	}
	keys = slices.DeleteFunc(keys, func(k AgentKey) bool { return len(id) < agentKeyIDLength || !strings.HasPrefix(k.Hash, id) })
	switch len(keys) {
	case 0:
		return AgentKey{}, ErrAgentKeyNotFound
	case 1:
	default:
		hashes := make([]string, len(keys))
		for i, k := range keys {
			hashes[i] = k.Hash
		}
		return AgentKey{}, validate.Errorf("id", validate.RuleFormat, "is that of several keys; give one of %s", strings.Join(hashes, ", "))
	}
	key := keys[0]
	if !key.RevokedAt.IsZero() {
		return key, nil
	}
	if err := a.Store.RevokeAgentKey(ctx, key.Hash, now); err != nil {
		return AgentKey{}, err
	}
	key.RevokedAt = now
	return key, nil
}
