// Package idempotency lets a request with an idempotency key be carried out once,
// however often it is sent.
//
// An attempt at the request first claims the key ([Keys.Begin]). The transaction
// that does the work also keeps the answer under the key ([Transact]), under the
// condition that the claim is still the attempt's. So the work is done if and only
// if its answer is kept for repeats. A claim whose attempt died ends with its lease;
// then another attempt takes over. If the first one was merely slow, it can no longer
// commit.
//
// The platform's rules know nothing of this: the claim travels in the context ([WithClaim]). The
// keys are items with the attributes of schema.IdempotencyAttributes, in any table that has a time
// to live.
package idempotency

import (
	"context"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	// Retention is how long a key is kept after its last claim. After that it counts as
	// new.
	Retention = 24 * time.Hour
	// DefaultLease is the lease of an attempt whose context has no deadline.
	DefaultLease = 30 * time.Second
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

var (
	// ErrOtherRequest says that the key belongs to another request.
	ErrOtherRequest = errors.New("the idempotency key was used for another request: repeat that one unchanged, or send a new key")
	// ErrClaimLost says that another attempt has taken the claim over, or the key is
	// gone. Nothing was written; the next attempt gets the outcome of the request.
	ErrClaimLost = errors.New("another attempt at the same request has taken over: send it again with the same idempotency key to learn its answer")
)

// RunningError says that another attempt at the same request is running.
type RunningError struct {
	// Until is when its claim ends, if it does not finish before.
	Until time.Time
}

// Error says so.
func (e *RunningError) Error() string {
	return "another attempt at the same request is running: send it again shortly with the same idempotency key"
}

// RetryAt is when the claim ends.
func (e *RunningError) RetryAt() time.Time { return e.Until }

// Response is the answer to a request.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Body are any bytes. With the rest of the key's item they must fit into the 400 KB
	// that an item may have.
	Body []byte
}

// Keys are the idempotency keys of a table. They are safe for concurrent use.
type Keys struct {
	// Now is the clock; nil is [time.Now]. Set it before the first request.
	Now func() time.Time
	// CreatedAt is the name of a Number attribute of the table that says when a key was
	// last claimed, in Unix seconds: [Retention] before its time to live. Empty: none.
	// Set it before the first request.
	CreatedAt string

	db    *dynamo.DB
	table string
	key   func(scope, key string) []any
}

// New returns the keys that are kept in a table of a database with schema.IdempotencyPatterns. key
// gives the primary key, partition key first, of the item of a key within a scope, which identifies
// the key's owner. It must differ for any two pairs, and fit into DynamoDB's limits for every text
// that a caller sends. Nil: the table has a partition key alone, a String, which then begins with
// KEY#.
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
// If it returns a claim, carry the request out, and end the claim with [Transact],
// [Keys.Settle] or [Keys.Release]. If it returns a replay, the request has been carried
// out: answer it with the replay. Otherwise it returns a [*RunningError],
// [ErrOtherRequest], [retry.ErrBusy] or [retry.ErrUnanswered].
func (k *Keys) Begin(ctx context.Context, scope, key string, request []byte, lease time.Duration) (claim *Claim, replay *Response, err error) {
	timeToLive, err := k.db.TimeToLive(k.table)
	if err != nil {
		return nil, nil, fmt.Errorf("claim idempotency key: %w", err)
	}
	now := now(k.Now)
	if lease == 0 {
		lease = leaseOf(ctx)
	}
	until := now.Add(lease)
	sum := sha256.Sum256(request)
	digest := hex.EncodeToString(sum[:])
	// Only this attempt has the token. A claim that has it already is the attempt's own, whose
	// answer was lost on the way.
	claim = &Claim{keys: k, key: k.key(scope, key), token: cryptorand.Text()}
	fresh := dynamo.Absent(requestDigest)
	// DynamoDB deletes expired items late.
	expired := dynamo.Name(timeToLive).LessThanEqual(expression.Value(now.Unix()))
	free := dynamo.Absent(claimToken).Or(
		dynamo.Name(claimToken).Equal(expression.Value(claim.token)),
		dynamo.Name(claimedUntil).LessThanEqual(expression.Value(now.UnixMilli())))
	unanswered := dynamo.Name(requestDigest).Equal(expression.Value(digest)).And(dynamo.Absent(responseCode), free)
	expiry := dynamo.ExpiryAt(now.Add(Retention))
	update := expression.Set(dynamo.Name(requestDigest), expression.Value(digest)).
		Set(dynamo.Name(claimToken), expression.Value(claim.token)).
		Set(dynamo.Name(claimedUntil), expression.Value(until.UnixMilli())).
		Set(dynamo.Name(timeToLive), expression.Value(expiry)).
		Remove(dynamo.Name(responseCode)).Remove(dynamo.Name(responseData))
	if k.CreatedAt != "" {
		update = update.Set(dynamo.Name(k.CreatedAt), expression.Value(expiry-int64(Retention/time.Second)))
	}
	err = k.db.Update(ctx, schema.ClaimIdempotencyKey, claim.key, update, fresh.Or(expired, unanswered), nil)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		replay, err := outcome(refused.Item, digest)
		return nil, replay, err
	}
	if errors.Is(err, retry.ErrUnanswered) {
		// The claim may be stored, and no one else can release it. If this fails too, it
		// ends with its lease.
		_ = k.Release(ctx, claim)
	}
	if err != nil {
		return nil, nil, err
	}
	return claim, nil, nil
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

// Settle keeps the answer to a request that changed nothing, so that it is given
// again. After the transaction of the claim has kept one it does nothing. It returns
// [ErrClaimLost] when the claim is no longer the attempt's: then the answer must not
// be given.
func (k *Keys) Settle(ctx context.Context, claim *Claim, response Response) error {
	if claim.kept != nil {
		return nil
	}
	err := k.db.Update(ctx, schema.SettleIdempotencyKey, claim.key, keep(response), claim.holds(), nil)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		// The write may have been done and its answer lost.
		if existing, err := outcome(refused.Item, digestOf(refused.Item)); err == nil && existing != nil &&
			existing.Status == response.Status && slices.Equal(existing.Body, response.Body) {
			claim.kept = &response
			return nil
		}
		return ErrClaimLost
	}
	if err != nil {
		return err
	}
	claim.kept = &response
	return nil
}

// Release ends a claim without an answer, so that the next attempt carries the
// request out. It changes nothing if the claim is no longer the attempt's, for instance
// because a transaction committed without this attempt learning of it. Until a claim is
// released or its lease ends, the request counts as running. So Release takes up to a
// second also when the context is done, but ends 400 ms after the context's deadline, so
// that the caller gets an answer.
func (k *Keys) Release(ctx context.Context, claim *Claim) error {
	if claim.kept != nil {
		return nil
	}
	end := time.Now().Add(releaseTimeout)
	if deadline, ok := ctx.Deadline(); ok {
		if late := deadline.Add(lateReleaseTimeout); late.Before(end) {
			end = late
		}
	}
	ctx, cancel := retry.ToRelease(ctx, end)
	defer cancel()
	_, err := dynamo.Held(k.db.Update(ctx, schema.SettleIdempotencyKey, claim.key,
		expression.Remove(dynamo.Name(claimToken)).Remove(dynamo.Name(claimedUntil)), claim.holds(), nil))
	return err
}

// Claim is the right of one attempt to carry a request out. It belongs to one
// request, and is not safe for concurrent use.
type Claim struct {
	keys  *Keys
	key   []any
	token string
	kept  *Response
}

// Kept returns the answer that was kept under the key, if one was.
func (c *Claim) Kept() (Response, bool) {
	if c.kept == nil {
		return Response{}, false
	}
	return *c.kept, true
}

// Key returns the primary key of the key's item, partition key first.
func (c *Claim) Key() []any { return slices.Clone(c.key) }

// holds returns the condition that the claim is still the attempt's.
func (c *Claim) holds() expression.ConditionBuilder {
	return dynamo.Name(claimToken).Equal(expression.Value(c.token))
}

type contextKey struct{}

type pending struct {
	claim  *Claim
	answer func(result any) (Response, error)
}

// WithClaim returns a context under which [Transact] keeps the answer to the
// request of the claim. answer makes the answer from the result that is passed to
// Transact; it is called before the commit.
func WithClaim(ctx context.Context, claim *Claim, answer func(result any) (Response, error)) context.Context {
	return context.WithValue(ctx, contextKey{}, pending{claim, answer})
}

// ClaimFrom returns the claim that the context carries; nil if it carries none.
func ClaimFrom(ctx context.Context) *Claim {
	p, _ := ctx.Value(contextKey{}).(pending)
	return p.claim
}

// Transact is the transaction that does the work of a request: [dynamo.DB.Transact],
// which, when the context carries a claim, also keeps the answer to the request.
// The pattern's last write is then schema.KeepAnswer of the table of the keys. The
// answer is made from result.
//
// It returns [ErrClaimLost], and writes nothing, when the claim is no longer the attempt's, also if
// other conditions fail. The indexes of a [*dynamo.TransactionError] are those of the writes in the
// call. One request has one answer: use [dynamo.DB.Transact] for a transaction that does not
// complete the work.
func Transact(ctx context.Context, db *dynamo.DB, pattern string, result any, writes ...dynamo.Write) error {
	p, ok := ctx.Value(contextKey{}).(pending)
	if !ok {
		return db.Transact(ctx, pattern, writes...)
	}
	if p.claim.kept != nil {
		return fmt.Errorf("%s: the request has been answered already: one request has one transaction that completes it", pattern)
	}
	response, err := p.answer(result)
	if err != nil {
		return fmt.Errorf("%s: make the answer to keep: %w", pattern, err)
	}
	kept := dynamo.Update(p.claim.keys.table, p.claim.key, keep(response), p.claim.holds())
	// The caller's slice stays unchanged: the caller may try again with it.
	err = db.Transact(ctx, pattern, append(slices.Clone(writes), kept)...)
	if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		if _, lost := refused.Failed(len(writes)); lost {
			return ErrClaimLost
		}
	}
	if err != nil {
		return err
	}
	p.claim.kept = &response
	return nil
}

// keep returns the update that replaces the claim with an answer.
func keep(response Response) expression.UpdateBuilder {
	return expression.Set(dynamo.Name(responseCode), expression.Value(response.Status)).
		Set(dynamo.Name(responseData), expression.Value(bodyAttribute(response.Body))).
		Remove(dynamo.Name(claimToken)).Remove(dynamo.Name(claimedUntil))
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

func digestOf(stored dynamo.Item) string {
	digest, _ := stored[requestDigest].(*types.AttributeValueMemberS)
	if digest == nil {
		return ""
	}
	return digest.Value
}

func leaseOf(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return DefaultLease
	}
	return time.Until(deadline) + leaseGrace
}

func now(clock func() time.Time) time.Time {
	if clock == nil {
		return time.Now()
	}
	return clock()
}
