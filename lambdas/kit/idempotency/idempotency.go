// Package idempotency carries out a request with an idempotency key once, however often it is sent.
//
// An attempt at the request first claims the key ([Keys.Begin]). The transaction that does the work also keeps the
// answer under the key ([Transact]), on the condition that the claim is still the attempt's. So the work is done if and
// only if its answer is kept for repeats. A claim whose attempt died ends with its lease; then another attempt takes
// over. If the first one was merely slow, it can no longer commit.
//
// A claim costs a write and a round trip. Work that only reads and writes tables need not wait for the claim: its first
// write claims the key itself ([WithWrite]).
//
// The platform's rules know nothing of this: the context carries the claim ([WithClaim]). The keys are items with the
// attributes of schema.IdempotencyAttributes, in any table that has a time to live.
package idempotency

import (
	"cmp"
	"context"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	// Retention is how long a table keeps a key after its last claim. After that the key counts as new.
	Retention = 24 * time.Hour
	// DefaultLease is the lease of an attempt whose context has no deadline.
	DefaultLease = 30 * time.Second
	// Deferred is the lease with which [Keys.Begin] returns a claim without a request. The claim is made later, as
	// [WithWrite] says.
	Deferred time.Duration = -1
)

// leaseGrace is how long after the deadline of its context an attempt is certainly
// dead: its invocation ends at most a second later.
const leaseGrace = 2 * time.Second

const (
	// releaseTimeout is how long giving a claim back may take.
	releaseTimeout = time.Second
	// lateReleaseTimeout is how far past the deadline of its context a release may go. The
	// invocation then has a second left, also for the answer.
	lateReleaseTimeout = 400 * time.Millisecond
)

// The errors of an attempt.
var (
	ErrOtherRequest = problem.ErrOtherRequest
	ErrClaimLost    = problem.ErrClaimLost
)

// RunningError says that another attempt at the same request is running.
type RunningError = problem.RunningError

// Response is the answer to a request.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Body has any bytes. With the rest of the key's item they must fit into the 400 KB that an item may have.
	Body []byte
}

// Keys are the idempotency keys of a table. They are safe for concurrent use.
type Keys struct {
	// Clock is the clock of leases and retention. Set it before the first request. Nil: [time.Now].
	Clock wire.Clock
	// CreatedAt names a Number attribute of the table that says when a key was last claimed, in Unix seconds:
	// [Retention] before its time to live. Empty: the table has no such attribute. Set it before the first request.
	CreatedAt string

	db    *dynamo.DB
	table string
	key   func(scope, key string) []any
}

// New returns the keys in a table of a database with schema.IdempotencyPatterns. key returns the primary key, partition
// key first, of the item for a key and a scope, which identifies the key's owner. The primary key must differ for any
// two pairs, and fit into DynamoDB's limits for every text that a caller sends. If key is nil, the table has a
// partition key alone, a String, which then begins with KEY#.
func New(db *dynamo.DB, table string, key func(scope, key string) []any) *Keys {
	if key == nil {
		key = func(scope, key string) []any {
			return []any{fmt.Sprintf("KEY#%x#%x", sha256.Sum256([]byte(scope)), sha256.Sum256([]byte(key)))}
		}
	}
	return &Keys{db: db, table: table, key: key}
}

// item is the item of a key.
type item struct {
	RequestDigest string `dynamodbav:"request_digest"`
	ClaimedUntil  int64  `dynamodbav:"claimed_until"`
	Status        int    `dynamodbav:"http_status_code"`
}

const (
	requestDigest = "request_digest"
	claimToken    = "claim"
	claimedUntil  = "claimed_until"
	responseCode  = "http_status_code"
	responseData  = "response_data"
)

// Begin claims a key for this attempt at a request, for as long as lease, or, if that is zero,
// until two seconds after the deadline of the context, when the invocation is certainly dead.
// request identifies the request: two attempts with equal values are attempts at the same request.
//
// If it returns a claim, carry the request out, and end the claim with [Transact], [Keys.Settle] or [Keys.Release]. If
// it returns a replay, the request has been carried out: answer with the replay. Otherwise it returns a
// [*RunningError], [ErrOtherRequest], [retry.ErrBusy] or [retry.ErrUnanswered]. With [Deferred] it always returns a
// claim.
func (k *Keys) Begin(ctx context.Context, scope, key string, request []byte, lease time.Duration) (claim *Claim,
	replay *Response, err error) {
	sum := sha256.Sum256(request)
	// Only this attempt has the token. A claim that has it already is the attempt's own, whose
	// answer was lost on the way.
	claim = &Claim{keys: k, key: k.key(scope, key), token: cryptorand.Text(), digest: hex.EncodeToString(sum[:]),
		deferred: true}
	if lease == Deferred {
		return claim, nil, nil
	}
	lease = cmp.Or(lease, leaseOf(ctx))
	if replay, err = claim.take(ctx, lease); replay != nil || err != nil {
		return nil, replay, err
	}
	return claim, nil, nil
}

// take claims the key.
func (c *Claim) take(ctx context.Context, lease time.Duration) (replay *Response, err error) {
	update, free, err := c.claiming(lease)
	if err != nil {
		return nil, err
	}
	err = c.keys.db.Update(dynamo.WithoutWaiting(ctx), schema.ClaimIdempotencyKey, c.key, update, free, nil)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		return outcome(refused.Item, c.digest)
	}
	return nil, c.tried(ctx, err)
}

// claiming returns the update that claims the key, and the condition under which this attempt may.
func (c *Claim) claiming(lease time.Duration) (update expression.UpdateBuilder, free expression.ConditionBuilder,
	err error) {
	update, free, err = c.taken()
	if err != nil {
		return update, free, fmt.Errorf("claim idempotency key: %w", err)
	}
	return update.Set(dynamo.Name(claimToken), expression.Value(c.token)).
		Set(dynamo.Name(claimedUntil), expression.Value(c.keys.Clock.Now().Add(lease).UnixMilli())).
		Remove(dynamo.Name(responseCode)).Remove(dynamo.Name(responseData)), free, nil
}

// tried notes how the write of a claim ended, and returns its error.
func (c *Claim) tried(ctx context.Context, err error) error {
	if err == nil {
		c.deferred = false
	}
	if errors.Is(err, retry.ErrUnanswered) {
		// The claim may be stored, and no one else can release it. If this fails too, it
		// ends with its lease.
		_ = c.release(ctx)
	}
	return err
}

// taken returns the part of an update that makes the key the request's, and the condition that no
// other attempt has it.
func (c *Claim) taken() (update expression.UpdateBuilder, free expression.ConditionBuilder, err error) {
	timeToLive, err := c.keys.db.TimeToLive(c.keys.table)
	if err != nil {
		return update, free, err
	}
	now := c.keys.Clock.Now()
	fresh := dynamo.Absent(requestDigest)
	// DynamoDB deletes expired items late.
	expired := dynamo.Name(timeToLive).LessThanEqual(expression.Value(now.Unix()))
	unclaimed := dynamo.Absent(claimToken).Or(
		dynamo.Name(claimToken).Equal(expression.Value(c.token)),
		dynamo.Name(claimedUntil).LessThanEqual(expression.Value(now.UnixMilli())))
	unanswered := dynamo.Name(requestDigest).Equal(expression.Value(c.digest)).And(dynamo.Absent(responseCode),
		unclaimed)
	expiry := dynamo.ExpiryAt(now.Add(Retention))
	update = expression.Set(dynamo.Name(requestDigest), expression.Value(c.digest)).Set(dynamo.Name(timeToLive),
		expression.Value(expiry))
	if c.keys.CreatedAt != "" {
		update = update.Set(dynamo.Name(c.keys.CreatedAt), expression.Value(expiry-int64(Retention/time.Second)))
	}
	return update, fresh.Or(expired, unanswered), nil
}

// look reads once what a key has that is not claimed, for work that has failed before its first write: an earlier
// attempt may have carried the request out, and so be why. If it cannot be read, the error of the work stands.
func (c *Claim) look(ctx context.Context) {
	if !c.deferred || c.replay != nil || c.refused != nil {
		return
	}
	var kept stored
	found, err := c.keys.db.Get(dynamo.WithoutWaiting(ctx), schema.ReadIdempotencyKey, &kept, c.key...)
	timeToLive, errTable := c.keys.db.TimeToLive(c.keys.table)
	if !found || err != nil || errTable != nil || kept[requestDigest] == nil {
		return
	}
	var expiry int64
	// DynamoDB deletes expired items late.
	if err := attributevalue.Unmarshal(kept[timeToLive], &expiry); err != nil || expiry <= c.keys.Clock.Now().Unix() {
		return
	}
	replay, refused := outcome(dynamo.Item(kept), c.digest)
	if running, ok := errors.AsType[*RunningError](refused); ok && !running.Until.After(c.keys.Clock.Now()) {
		return
	}
	c.replay, c.refused = replay, refused
}

// stored is an item as it is.
type stored dynamo.Item

// UnmarshalDynamoDBAttributeValue implements [attributevalue.Unmarshaler].
func (s *stored) UnmarshalDynamoDBAttributeValue(value types.AttributeValue) error {
	if item, ok := value.(*types.AttributeValueMemberM); ok {
		*s = item.Value
	}
	return nil
}

// outcome returns the request's outcome from an item that cannot be claimed.
func outcome(stored dynamo.Item, digest string) (*Response, error) {
	var existing item
	if err := attributevalue.UnmarshalMap(stored, &existing); err != nil {
		return nil, fmt.Errorf("read idempotency key: %w", err)
	}
	if existing.RequestDigest != digest {
		return nil, ErrOtherRequest
	}
	if existing.Status == 0 {
		return nil, &RunningError{Until: time.UnixMilli(existing.ClaimedUntil)}
	}
	body, err := bodyOf(stored[responseData])
	if err != nil {
		return nil, err
	}
	return &Response{Status: existing.Status, Body: body}, nil
}

// Settle keeps the answer to a request that changed nothing, for repeats. If the transaction of the claim has kept an
// answer, it does nothing. It returns [ErrClaimLost] if the claim is no longer the attempt's: then do not give the
// answer.
func (k *Keys) Settle(ctx context.Context, claim *Claim, response Response) error {
	if claim.kept != nil {
		return nil
	}
	update, holds, err := claim.answerUpdate(response)
	if err != nil {
		return fmt.Errorf("keep the answer: %w", err)
	}
	err = k.db.Update(ctx, schema.SettleIdempotencyKey, claim.key, update, holds, nil)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		// The write may have been done and its answer lost. A deferred claim cannot tell that from
		// an earlier attempt's answer.
		if existing, err := outcome(refused.Item, claim.digest); err == nil && existing != nil && !claim.deferred &&
			existing.Status == response.Status && slices.Equal(existing.Body, response.Body) {
			claim.kept = &response
			return nil
		}
		return claim.lost(refused.Item)
	}
	if err != nil {
		return err
	}
	claim.kept = &response
	return nil
}

// Release ends a claim without an answer, so that the next attempt carries the request out. It changes nothing if the
// claim is no longer the attempt's, for instance because a transaction committed without this attempt learning of it.
// Until a claim is released or its lease ends, the request counts as running. So Release takes up to a second even when
// the context is done, but ends 400 ms after the context's deadline, so that the caller gets an answer.
func (k *Keys) Release(ctx context.Context, claim *Claim) error {
	if claim.kept != nil || claim.deferred {
		return nil
	}
	return claim.release(ctx)
}

func (c *Claim) release(ctx context.Context) error {
	end := time.Now().Add(releaseTimeout)
	if deadline, ok := ctx.Deadline(); ok {
		if late := deadline.Add(lateReleaseTimeout); late.Before(end) {
			end = late
		}
	}
	ctx, cancel := retry.ToRelease(dynamo.WithoutWaiting(ctx), end)
	defer cancel()
	_, err := dynamo.Satisfied(c.keys.db.Update(ctx, schema.SettleIdempotencyKey, c.key,
		expression.Remove(dynamo.Name(claimToken)).Remove(dynamo.Name(claimedUntil)), c.stillOwned(), nil))
	return err
}

// Claim is the right of one attempt to carry a request out. It belongs to one
// request, and is not safe for concurrent use.
type Claim struct {
	keys   *Keys
	key    []any
	token  string
	digest string // of the request
	kept   *Response

	// making guards the following while the claim is made.
	making sync.Mutex
	// deferred says that the key is not claimed yet.
	deferred bool
	// replay or refused is what a deferred claim found instead of a free key, failed the error with
	// which it could not be made.
	replay          *Response
	refused, failed error
}

// Kept returns the answer that the key keeps, if there is one.
func (c *Claim) Kept() (Response, bool) {
	if c.kept == nil {
		return Response{}, false
	}
	return *c.kept, true
}

// Key returns the primary key of the key's item, partition key first.
func (c *Claim) Key() []any { return slices.Clone(c.key) }

// stillOwned returns the condition that the claim is still the attempt's.
func (c *Claim) stillOwned() expression.ConditionBuilder {
	return dynamo.Name(claimToken).Equal(expression.Value(c.token))
}

// answerUpdate returns the update that keeps an answer, and the condition under which this attempt may.
func (c *Claim) answerUpdate(response Response) (update expression.UpdateBuilder, holds expression.ConditionBuilder,
	err error) {
	holds = c.stillOwned()
	if c.deferred {
		update, holds, err = c.taken()
	}
	return update.Set(dynamo.Name(responseCode), expression.Value(response.Status)).
		Set(dynamo.Name(responseData), expression.Value(bodyAttribute(response.Body))).
		Remove(dynamo.Name(claimToken)).Remove(dynamo.Name(claimedUntil)), holds, err
}

// lost notes what the key of a deferred claim has, and returns [ErrClaimLost].
func (c *Claim) lost(stored dynamo.Item) error {
	if c.deferred {
		c.replay, c.refused = outcome(stored, c.digest)
	}
	return ErrClaimLost
}

// acquire makes the claim of a context that is deferred, unless the write under the context does. Every
// write of the work calls it. It returns [ErrClaimLost] if the request has been carried out, is running
// or is another one's, and else the errors of [Keys.Begin].
func acquire(ctx context.Context) error {
	p, _ := ctx.Value(contextKey{}).(pending)
	if p.joined {
		return nil
	}
	return p.claim.acquire(ctx)
}

func (c *Claim) acquire(ctx context.Context) error {
	c.making.Lock()
	defer c.making.Unlock()
	if c.deferred && c.replay == nil && c.refused == nil && c.failed == nil {
		replay, err := c.take(ctx, leaseOf(ctx))
		if _, running := errors.AsType[*RunningError](err); replay != nil || running ||
			errors.Is(err, ErrOtherRequest) {
			c.replay, c.refused = replay, err
		} else {
			c.failed = err
		}
	}
	if c.replay != nil || c.refused != nil {
		return ErrClaimLost
	}
	return c.failed
}

type contextKey struct{}

type pending struct {
	claim  *Claim
	answer func(result any) (Response, error)
	// joined says that the write under the context takes the key.
	joined bool
}

// WithClaim returns a context under which [Transact] keeps the answer to the request of the claim. Before the commit,
// answer makes it from the result that Transact gets.
func WithClaim(ctx context.Context, claim *Claim, answer func(result any) (Response, error)) context.Context {
	return context.WithValue(ctx, contextKey{}, pending{claim: claim, answer: answer})
}

// ClaimFrom returns the claim that the context carries, or nil.
func ClaimFrom(ctx context.Context) *Claim {
	p, _ := ctx.Value(contextKey{}).(pending)
	return p.claim
}

// Transact does the work of a request by [dynamo.DB.Transact]. If the context carries a claim, the same transaction
// keeps the answer to the request, which the claim makes from result. The pattern's last write is then
// schema.KeepAnswer of the table of the keys.
//
// It returns [ErrClaimLost], and writes nothing, if the claim is no longer the attempt's, even if other conditions
// fail. The indexes of a [*dynamo.TransactionError] are those of the writes in the call. One request has one answer:
// use [dynamo.DB.Transact] for a transaction that does not complete the work.
func Transact(ctx context.Context, db *dynamo.DB, pattern string, result any, writes ...dynamo.Write) error {
	p, ok := ctx.Value(contextKey{}).(pending)
	if !ok {
		return db.Transact(ctx, pattern, writes...)
	}
	if p.claim.kept != nil {
		return fmt.Errorf(
			"%s: the request has been answered already: one request has one transaction that completes it", pattern)
	}
	response, err := p.answer(result)
	if err != nil {
		return fmt.Errorf("%s: make the answer to keep: %w", pattern, err)
	}
	update, holds, err := p.claim.answerUpdate(response)
	if err != nil {
		return fmt.Errorf("%s: keep the answer: %w", pattern, err)
	}
	if err := p.transact(ctx, db, pattern, writes, update, holds); err != nil {
		return err
	}
	p.claim.kept = &response
	return nil
}

// Claiming begins the work of a request by [dynamo.DB.Transact]. The same transaction makes the context's claim, if a
// write is to make it. The pattern's last write is then schema.ClaimKey of the table of the keys.
//
// It returns errors as [Transact] does. The work goes on, and ends with Transact.
func Claiming(ctx context.Context, db *dynamo.DB, pattern string, writes ...dynamo.Write) error {
	p, ok := ctx.Value(contextKey{}).(pending)
	if !ok || !p.claim.deferred {
		return db.Transact(ctx, pattern, writes...)
	}
	update, free, err := p.claim.claiming(leaseOf(ctx))
	if err != nil {
		return fmt.Errorf("%s: %w", pattern, err)
	}
	return p.claim.tried(ctx, p.transact(ctx, db, pattern, writes, update, free))
}

// transact does the writes, and the update of the key's item, all or none.
func (p pending) transact(ctx context.Context, db *dynamo.DB, pattern string, writes []dynamo.Write,
	update expression.UpdateBuilder, condition expression.ConditionBuilder) error {
	key := dynamo.Update(p.claim.keys.table, p.claim.key, update, condition)
	p.joined = true
	// The caller's slice stays unchanged: the caller may try again with it.
	err := db.Transact(context.WithValue(ctx, contextKey{}, p), pattern, append(slices.Clone(writes), key)...)
	if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		if stored, lost := refused.Failed(len(writes)); lost {
			return p.claim.lost(stored)
		}
	}
	return err
}

// bodyAttribute returns text where possible, so that people can read it in the table. DynamoDB
// accepts only UTF-8 as text.
func bodyAttribute(body []byte) types.AttributeValue {
	if utf8.Valid(body) {
		return &types.AttributeValueMemberS{Value: string(body)}
	}
	return &types.AttributeValueMemberB{Value: slices.Clone(body)}
}

func bodyOf(attribute types.AttributeValue) ([]byte, error) {
	switch a := attribute.(type) {
	case *types.AttributeValueMemberS:
		return []byte(a.Value), nil
	case *types.AttributeValueMemberB:
		return a.Value, nil
	default:
		return nil, fmt.Errorf("read idempotency key: %s is %T, neither text nor binary", responseData, attribute)
	}
}

func leaseOf(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return DefaultLease
	}
	return time.Until(deadline) + leaseGrace
}
