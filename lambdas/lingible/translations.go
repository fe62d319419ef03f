package lingible

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Translate translates a text. It charges the translation, unless that is the text itself, and
// keeps it for as long as the tier says. It returns [lingible.ErrUserDeleted], a [*validate.Error] of a text
// that is too long for the tier, a [*lingible.UsageError] or a [*model.Error].
func (s *Service) Translate(ctx context.Context, caller Caller,
	in lingible.TranslationInput) (lingible.ChargedTranslation, error) {
	usage, err := s.chargeable(ctx, caller)
	if err != nil {
		return lingible.ChargedTranslation{}, err
	}
	if allowed, length := usage.Tier.Limits().TextLength, utf8.RuneCountInString(in.Text); length > allowed {
		// An upgrade helps, so the answer is not kept; validation is what the caller sees.
		return lingible.ChargedTranslation{}, fmt.Errorf("%w: %w",
			&lingible.SubscriptionError{What: "a text of this length"}, validate.Errorf("text", validate.RuleLength,
				"has %d characters; your tier allows %d: shorten it, or upgrade with POST /user/upgrade", length,
				allowed))
	}
	in.Direction = cmp.Or(in.Direction, lingible.ToStandard)
	rendering, err := s.Language.Translate(ctx, in)
	if err != nil {
		if _, failed := errors.AsType[*model.Error](err); failed {
			s.count(ctx, "LanguageFailures", 1)
		}
		return lingible.ChargedTranslation{}, err
	}
	made := lingible.ChargedTranslation{Translation: lingible.Translation{
		OriginalText: in.Text, TranslatedText: rendering.Text, Direction: in.Direction,
		Confidence: rendering.Confidence, LowConfidence: rendering.Confidence < lingible.LowConfidence,
		ModelUsed: s.Language.ModelID(), CreatedAt: s.Calendar.Clock.Now(),
	}, Glosses: rendering.Glosses, Meanings: rendering.Meanings}
	if rendering.Unchanged {
		made.Unchanged, made.DailyUsed = true, usage.Used(made.CreatedAt)
		made.DailyLimit = usage.Tier.Limits().DailyTranslations
		return made, nil
	}
	made.ID = uuid.Must(uuid.NewV7()).String()
	settle := s.countTerms(ctx, made.Translation, rendering.Terms)
	isStale := false
	err = retry.Do(ctx, func() error {
		if isStale {
			if usage, err = s.chargeable(ctx, caller); err != nil {
				return err
			}
		}
		isStale = true
		now := s.Calendar.Clock.Now()
		made.DailyUsed, made.DailyLimit = usage.Used(now)+1, usage.Tier.Limits().DailyTranslations
		return s.storeTranslation(ctx, usage, now, made)
	})
	err = unlessLimited(ctx, err, func(ctx context.Context) error {
		_, err := s.chargeable(ctx, caller)
		return err
	})
	if wrong := settle(err == nil); wrong > 0 {
		s.count(ctx, "TermsNotCounted", wrong)
	}
	if err != nil {
		return lingible.ChargedTranslation{}, err
	}
	s.count(ctx, "Translations", 1)
	return made, nil
}

// chargeable returns the usage of a caller whom a translation may be charged to. It returns a [*lingible.UsageError] if
// the limit of the day is reached.
func (s *Service) chargeable(ctx context.Context, caller Caller) (lingible.Usage, error) {
	usage, err := s.Usage(ctx, caller)
	if limit := usage.Tier.Limits().DailyTranslations; err == nil && usage.Used(s.Calendar.Clock.Now()) >= limit {
		err = &lingible.UsageError{What: "translations a day", Limit: limit, Until: usage.ResetDailyAt}
	}
	return usage, err
}

// countTerms counts the terms of a translation, as [Service.CountTerms] does, while that is charged.
func (s *Service) countTerms(ctx context.Context, made lingible.Translation,
	terms []string) (settle func(isCharged bool) (wrong int)) {
	if s.Lexicon == nil || len(terms) == 0 {
		return func(bool) int { return 0 }
	}
	// A text with no more words than its only term is that term, in any of its forms.
	words := func(slug string) int { return strings.Count(slug, "-") }
	isLookUp := made.Direction == lingible.ToStandard && len(terms) == 1 &&
		words(lingible.Slug(made.OriginalText)) <= words(terms[0])
	return s.CountTerms(ctx, terms, isLookUp)
}

// Translations lists up to most translations of a caller that are kept, newest first, from a cursor on; "" is the
// beginning. It returns a [*lingible.SubscriptionError] for a free user, and a [*validate.Error] for a cursor of
// another list.
func (s *Service) Translations(ctx context.Context, caller Caller, most int, from string) (lingible.TranslationList,
	error) {
	usage, err := s.Usage(ctx, caller)
	if err == nil && usage.Tier.Limits().History == 0 {
		err = &lingible.SubscriptionError{What: "the history of translations"}
	}
	if err != nil {
		return lingible.TranslationList{}, err
	}
	list := lingible.TranslationList{Translations: []lingible.Translation{}}
	read := dynamo.List{Pattern: "ListTranslations", Values: []any{userKey(caller.ID), translationPrefix},
		Key: s.CursorKey, Scope: []string{caller.ID}}
	items, next, err := dynamo.ReadPage[translationItem](ctx, s.DB, read, from, most)
	now := s.Calendar.Clock.Now()
	for _, item := range items {
		// DynamoDB deletes expired items late.
		if item.TTL > now.Unix() {
			item.LowConfidence = item.Confidence < lingible.LowConfidence
			list.Translations = append(list.Translations, item.Translation)
		}
	}
	list.NextCursor = next
	return list, err
}

// DeleteTranslation deletes a translation of a user. It returns [lingible.ErrTranslationNotFound].
func (s *Service) DeleteTranslation(ctx context.Context, user, id string) error {
	if !wire.IsID(id) {
		return lingible.ErrTranslationNotFound
	}
	return dynamo.Unless(s.DB.Delete(ctx, "DeleteTranslation", translationKey(user, id).values(),
		expression.AttributeExists(dynamo.Name("PK"))), lingible.ErrTranslationNotFound)
}

// DeleteTranslations deletes all translations of a user. It returns [context.DeadlineExceeded] if there are
// more than there is time for; a repeat goes on.
func (s *Service) DeleteTranslations(ctx context.Context, user string) error {
	complete, err := s.eraseTranslations(ctx, user)
	if err == nil && !complete {
		err = fmt.Errorf("delete translations: %w", context.DeadlineExceeded)
	}
	return err
}

type translationItem struct {
	key
	lingible.Translation
	TTL int64 `dynamodbav:"ttl"`
}

// translationPrefix begins the sort keys of translations.
const translationPrefix = "TRANSLATION#"

func translationKey(user, id string) key { return keyOf(lingible.TranslationKey(user, id)) }

// storeTranslation charges a translation at a moment, and keeps it for as long as the tier says. It returns
// [retry.ErrStale] if the usage has another tier or day than was read, or if the limit is reached.
func (s *Service) storeTranslation(ctx context.Context, read lingible.Usage, now time.Time,
	translation lingible.ChargedTranslation) error {
	limits := read.Tier.Limits()
	asRead := dynamo.Equal("tier", read.Tier).And(dynamo.Equal("reset_daily_at", dynamo.FormatTime(read.ResetDailyAt)))
	used := dynamo.Name("daily_used")
	var charged expression.UpdateBuilder
	if now.Before(read.ResetDailyAt) {
		charged, asRead = expression.Add(used, expression.Value(1)),
			asRead.And(used.LessThan(expression.Value(limits.DailyTranslations)))
	} else {
		charged = expression.Set(used, expression.Value(1)).Set(dynamo.Name("reset_daily_at"),
			expression.Value(dynamo.FormatTime(s.Calendar.NextMidnight(now))))
	}
	if limits.History == 0 && idempotency.ClaimFrom(ctx) == nil {
		return s.chargeAlone(ctx, read, translation.ID, charged, asRead)
	}
	writes := []dynamo.Write{dynamo.Update(users, usageKey(read.UserID).values(), charged, asRead)}
	if limits.History > 0 {
		item := translationItem{translationKey(read.UserID, translation.ID), translation.Translation,
			dynamo.ExpiryAt(translation.CreatedAt.Add(limits.History))}
		writes = append(writes, dynamo.Put(translations, item, expression.ConditionBuilder{}))
	}
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.DB, "StoreTranslation", translation, writes...))
}

// latestCharges is how many charges a usage names: those of a free user's day.
const latestCharges = 10

// chargeAlone charges a translation by a write of its own, which is half of what a transaction costs. A repeat of
// a write whose answer was lost finds its id among the latest charges, which no one has changed unseen.
func (s *Service) chargeAlone(ctx context.Context, read lingible.Usage, id string, charged expression.UpdateBuilder,
	asRead expression.ConditionBuilder) error {
	sameCharges := dynamo.Absent("charges")
	if len(read.Charges) > 0 {
		sameCharges = dynamo.Equal("charges", read.Charges)
	}
	latest := append(slices.Clone(read.Charges[max(0, len(read.Charges)-latestCharges+1):]), id)
	err := s.DB.Update(ctx, "ChargeTranslation", usageKey(read.UserID).values(),
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

// eraseTranslations deletes all translations of a user. It ends before the context does, and reports whether it has
// deleted all.
func (s *Service) eraseTranslations(ctx context.Context, user string) (complete bool, err error) {
	return s.DB.Erase(ctx, dynamo.Erasure{List: "ListTranslationKeys", Delete: "DeleteTranslation"}, userKey(user))
}
