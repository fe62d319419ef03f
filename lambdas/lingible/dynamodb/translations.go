package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

var _ lingible.TranslationStore = (*Store)(nil)

type translationItem struct {
	key
	lingible.Translation
	TTL int64 `dynamodbav:"ttl"`
}

// translationPrefix begins the sort keys of translations.
const translationPrefix = "TRANSLATION#"

func translationKey(user, id string) key { return key{userKey(user), translationPrefix + id} }

// StoreTranslation implements [lingible.TranslationStore].
func (s *Store) StoreTranslation(ctx context.Context, charge lingible.Charge, translation lingible.ChargedTranslation, until time.Time) error {
	read := charge.Usage
	asRead := dynamo.Equal("tier", read.Tier).And(dynamo.Equal("reset_daily_at", dynamo.FormatTime(read.ResetDailyAt)))
	used := dynamo.Name("daily_used")
	var charged expression.UpdateBuilder
	if charge.NextMidnight.IsZero() {
		charged, asRead = expression.Add(used, expression.Value(1)), asRead.And(used.LessThan(expression.Value(charge.Limit)))
	} else {
		charged = expression.Set(used, expression.Value(1)).Set(dynamo.Name("reset_daily_at"), expression.Value(dynamo.FormatTime(charge.NextMidnight)))
	}
	if until.IsZero() && idempotency.ClaimFrom(ctx) == nil {
		return s.charge(ctx, read, translation.ID, charged, asRead)
	}
	writes := []dynamo.Write{dynamo.Update(users, usageKey(read.UserID).values(), charged, asRead)}
	if !until.IsZero() {
		item := translationItem{translationKey(read.UserID, translation.ID), translation.Translation, dynamo.ExpiryAt(until)}
		writes = append(writes, dynamo.Put(translations, item, expression.ConditionBuilder{}))
	}
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.db, "StoreTranslation", translation, writes...))
}

// latestCharges is how many charges a usage names: those of a free user's day.
const latestCharges = 10

// charge charges a translation by a write of its own, which is half of what a transaction costs. A repeat of
// a write whose answer was lost finds its id among the latest charges, which no one has changed unseen.
func (s *Store) charge(ctx context.Context, read lingible.Usage, id string, charged expression.UpdateBuilder, asRead expression.ConditionBuilder) error {
	sameCharges := dynamo.Absent("charges")
	if len(read.Charges) > 0 {
		sameCharges = dynamo.Equal("charges", read.Charges)
	}
	latest := append(slices.Clone(read.Charges[max(0, len(read.Charges)-latestCharges+1):]), id)
	err := s.db.Update(ctx, "ChargeTranslation", usageKey(read.UserID).values(),
		charged.Set(dynamo.Name("charges"), expression.Value(latest)), asRead.And(sameCharges), nil)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		var stored lingible.Usage
		if err := attributevalue.UnmarshalMap(refused.Item, &stored); err != nil {
			return fmt.Errorf("read the usage: %w", err)
		}
		if slices.Contains(stored.Charges, id) {
			return nil
		}
	}
	return dynamo.UnlessStale(err)
}

// Translations implements [lingible.TranslationStore]. DynamoDB deletes expired items late.
func (s *Store) Translations(ctx context.Context, user string, now time.Time, most int, from string) (list lingible.TranslationList, err error) {
	list.Translations = []lingible.Translation{}
	read := dynamo.List{Pattern: "ListTranslations", Values: []any{userKey(user), translationPrefix}, Key: s.CursorKey, Scope: []string{user}}
	items, next, err := dynamo.ReadPage[translationItem](ctx, s.db, read, from, most)
	for _, item := range items {
		if item.TTL > now.Unix() {
			item.LowConfidence = item.Confidence < lingible.LowConfidence
			list.Translations = append(list.Translations, item.Translation)
		}
	}
	list.NextCursor = next
	return list, err
}

// DeleteTranslation implements [lingible.TranslationStore].
func (s *Store) DeleteTranslation(ctx context.Context, user, id string) error {
	found, err := dynamo.Held(s.db.Delete(ctx, "DeleteTranslation", translationKey(user, id).values(), expression.AttributeExists(dynamo.Name("PK"))))
	if err == nil && !found {
		err = lingible.ErrTranslationNotFound
	}
	return err
}

// DeleteTranslations implements [lingible.TranslationStore].
func (s *Store) DeleteTranslations(ctx context.Context, user string) (complete bool, err error) {
	return s.db.Erase(ctx, dynamo.Erasure{List: "ListTranslationKeys", Delete: "DeleteTranslation"}, userKey(user))
}
