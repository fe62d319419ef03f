package dynamodb

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

var _ lingible.UserStore = (*Store)(nil)

// tombstoneLife is how long it is known that an account was deleted: as long as the tokens from
// before may be valid. Those of Amazon Cognito are for a day at most ("CreateUserPoolClient", Amazon
// Cognito API reference).
const tombstoneLife = 24 * time.Hour

type (
	profileItem struct {
		key
		lingible.User
	}
	usageItem struct {
		key
		lingible.Usage
	}
	tombstone struct {
		key
		DeletedAt time.Time `dynamodbav:"deleted_at"`
		TTL       int64     `dynamodbav:"ttl"`
	}
)

func profileKey(user string) key { return key{userKey(user), "PROFILE"} }
func usageKey(user string) key   { return key{userKey(user), "USAGE#LIMITS"} }

// tombstoneKey does not name the user, whose account is deleted.
func tombstoneKey(user string) key {
	return key{fmt.Sprintf("DELETED#%x", sha256.Sum256([]byte(user))), "METADATA"}
}

// User implements [lingible.UserStore].
func (s *Store) User(ctx context.Context, id string) (user lingible.User, found bool, err error) {
	found, err = s.db.Get(ctx, "GetUser", &user, profileKey(id).values()...)
	return user, found, err
}

// Usage implements [lingible.UserStore].
func (s *Store) Usage(ctx context.Context, id string) (usage lingible.Usage, found bool, err error) {
	found, err = s.db.Get(ctx, "GetUsage", &usage, usageKey(id).values()...)
	return usage, found, err
}

// CreateUser implements [lingible.UserStore].
func (s *Store) CreateUser(ctx context.Context, user lingible.User, issued time.Time) error {
	isNew := dynamo.Absent("PK")
	notDeleted := dynamo.Absent("deleted_at").Or(dynamo.Name("deleted_at").LessThan(expression.Value(dynamo.FormatTime(issued))))
	// The first translation finds that a day has begun.
	usage := lingible.Usage{UserID: user.ID, Tier: user.Tier, ResetDailyAt: user.CreatedAt, SubmittedAt: []time.Time{}}
	err := s.db.Transact(ctx, "CreateUser",
		dynamo.Check(users, tombstoneKey(user.ID).values(), notDeleted),
		dynamo.Put(users, profileItem{profileKey(user.ID), user}, isNew),
		dynamo.Put(users, usageItem{usageKey(user.ID), usage}, isNew))
	return dynamo.UnlessStale(err, dynamo.Means(0, lingible.ErrUserDeleted))
}

// Upgrade implements [lingible.UserStore].
func (s *Store) Upgrade(ctx context.Context, user lingible.User, to lingible.Tier, now time.Time) error {
	asRead := dynamo.Equal("tier", user.Tier)
	tier := func() expression.UpdateBuilder { return expression.Set(dynamo.Name("tier"), expression.Value(to)) }
	return dynamo.UnlessStale(s.db.Transact(ctx, "UpgradeUser",
		dynamo.Update(users, profileKey(user.ID).values(), tier().Set(dynamo.Name("updated_at"), expression.Value(dynamo.FormatTime(now))),
			asRead.And(dynamo.Equal("status", lingible.Active))),
		dynamo.Update(users, usageKey(user.ID).values(), tier(), asRead)))
}

// BeginDeletion implements [lingible.UserStore].
func (s *Store) BeginDeletion(ctx context.Context, id string, now time.Time) error {
	deleting := expression.Set(dynamo.Name("status"), expression.Value(lingible.Deleting)).
		Set(dynamo.Name("updated_at"), expression.Value(dynamo.FormatTime(now)))
	return dynamo.UnlessStale(s.db.Transact(ctx, "BeginAccountDeletion",
		dynamo.Update(users, profileKey(id).values(), deleting, dynamo.Equal("status", lingible.Active)),
		dynamo.Delete(users, usageKey(id).values(), expression.AttributeExists(dynamo.Name("PK"))),
		dynamo.Put(users, tombstone{tombstoneKey(id), now, dynamo.ExpiryAt(now.Add(tombstoneLife))}, expression.ConditionBuilder{})))
}
