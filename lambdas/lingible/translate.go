package lingible

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/model"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// TranslationInput is what a caller wants translated.
type TranslationInput struct {
	Text string `json:"text" minLength:"1" maxLength:"100" doc:"Up to 50 characters of a free user, and up to 100 of a premium user." example:"no cap"`
	// Direction is [ToStandard] if it is empty.
	Direction Direction `json:"direction,omitempty" nullable:"true" enum:"to_standard,to_slang" default:"to_standard"`
}

// Translation is a text with its translation, also on the wire.
type Translation struct {
	ID             string    `json:"translation_id,omitempty" dynamodbav:"translation_id" format:"uuid" doc:"Absent of an unchanged text, which is not kept."`
	OriginalText   string    `json:"original_text" dynamodbav:"original_text"`
	TranslatedText string    `json:"translated_text" dynamodbav:"translated_text"`
	Direction      Direction `json:"direction" dynamodbav:"direction" enum:"to_standard,to_slang"`
	Confidence     float64   `json:"confidence_score" dynamodbav:"confidence_score" minimum:"0" maximum:"1"`
	LowConfidence  bool      `json:"low_confidence" dynamodbav:"-" doc:"Whether confidence_score is under 0.3: the translation is not to be relied on. Of an unchanged text it says that no known term was found."`
	ModelUsed      string    `json:"model_used" dynamodbav:"model_used" example:"onesynth.language-1"`
	CreatedAt      time.Time `json:"created_at" dynamodbav:"created_at"`
}

// ChargedTranslation is the answer to a request for a translation.
type ChargedTranslation struct {
	Translation
	Unchanged  bool `json:"unchanged" doc:"Whether the translation is the text itself, which is not charged."`
	DailyUsed  int  `json:"daily_used" doc:"Translations that are charged today, this one among them. Others that are made at the same moment may be missing."`
	DailyLimit int  `json:"daily_limit"`
}

// TranslationList is a page of translations.
type TranslationList struct {
	Translations []Translation `json:"translations" nullable:"false"`
	NextCursor   string        `json:"next_cursor,omitempty" doc:"For the parameter cursor, to get the next page. Absent on the last one."`
}

// Charge is what a translation changes of the usage of its user.
type Charge struct {
	// Usage is the usage as it was read.
	Usage Usage
	// Limit is how many translations the tier allows on a day.
	Limit int
	// NextMidnight is when the next day begins, if the day of Usage is over. Zero: it is not.
	NextMidnight time.Time
}

// TranslationStore is the storage that [Translator] needs. Each write is all or nothing.
type TranslationStore interface {
	// StoreTranslation charges a translation, and keeps it until a moment, unless that is zero. It
	// returns [retry.ErrStale] if the usage has another tier or day than the charge, or if its limit is
	// reached.
	StoreTranslation(ctx context.Context, charge Charge, translation ChargedTranslation, until time.Time) error
	// Translations reads up to most translations of a user that are kept beyond a moment, newest
	// first, from a cursor on; "" is the beginning. It returns a [*validate.Error] for a cursor of
	// another list.
	Translations(ctx context.Context, user string, now time.Time, most int, from string) (TranslationList, error)
	// DeleteTranslation deletes a translation of a user. It returns [ErrTranslationNotFound].
	DeleteTranslation(ctx context.Context, user, id string) error
	// DeleteTranslations deletes all translations of a user. It ends before the context does, and
	// reports whether it has deleted all.
	DeleteTranslations(ctx context.Context, user string) (complete bool, err error)
}

// TermCounter counts the uses of terms; [Trends] is one.
type TermCounter interface {
	// CountTerms begins to count a use of each term, by its slug. isLookUp says that the term is all of
	// the text. settle waits for that, and takes the uses back unless the translation is charged. It
	// returns how many counts are wrong by a use, and logs why.
	CountTerms(ctx context.Context, slugs []string, isLookUp bool) (settle func(isCharged bool) (wrong int))
}

// Translator translates, charges and keeps translations. It is safe for concurrent use.
//
// The input of each method has passed [validate.Form], which package httpapi calls once for a
// request, before the request's key is claimed.
type Translator struct {
	Users    *Users
	Store    TranslationStore
	Language Language
	// Terms counts the terms of translations. Nil: no one does.
	Terms TermCounter
	Count Counter
}

// Translate translates a text. It charges the translation, unless that is the text itself, and
// keeps it for as long as the tier says. It returns [ErrUserDeleted], a [*validate.Error] of a text
// that is too long for the tier, a [*UsageError] or a [*model.Error].
func (t *Translator) Translate(ctx context.Context, caller Caller, in TranslationInput) (ChargedTranslation, error) {
	charge, err := t.charge(ctx, caller)
	if err != nil {
		return ChargedTranslation{}, err
	}
	if allowed, length := charge.Usage.Tier.Limits().TextLength, utf8.RuneCountInString(in.Text); length > allowed {
		// An upgrade helps, so the answer is not kept; validation is what the caller sees.
		return ChargedTranslation{}, fmt.Errorf("%w: %w", &SubscriptionError{What: "a text of this length"}, validate.Errorf("text", validate.RuleLength,
			"has %d characters; your tier allows %d: shorten it, or upgrade with POST /user/upgrade", length, allowed))
	}
	direction := cmp.Or(in.Direction, ToStandard)
	rendering, err := t.Language.Translate(ctx, in.Text, direction)
	if err != nil {
		if _, failed := errors.AsType[*model.Error](err); failed {
			t.Count.add(ctx, "LanguageFailures", 1)
		}
		return ChargedTranslation{}, err
	}
	made := ChargedTranslation{Translation: Translation{
		OriginalText: in.Text, TranslatedText: rendering.Text, Direction: direction, Confidence: rendering.Confidence,
		LowConfidence: rendering.Confidence < LowConfidence, ModelUsed: t.Language.ModelID(), CreatedAt: t.Users.Calendar.Time(),
	}}
	if rendering.Unchanged {
		made.Unchanged, made.DailyUsed, made.DailyLimit = true, charge.Usage.Used(made.CreatedAt), charge.Limit
		return made, nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return ChargedTranslation{}, fmt.Errorf("make an id: %w", err)
	}
	made.ID = id.String()
	settle := t.countTerms(ctx, made.Translation, rendering.Terms)
	isStale := false
	err = retry.Do(ctx, func() error {
		if isStale {
			if charge, err = t.charge(ctx, caller); err != nil {
				return err
			}
		}
		isStale = true
		made.DailyUsed, made.DailyLimit = charge.Usage.DailyUsed+1, charge.Limit
		if !charge.NextMidnight.IsZero() {
			made.DailyUsed = 1
		}
		var until time.Time
		if history := charge.Usage.Tier.Limits().History; history > 0 {
			until = made.CreatedAt.Add(history)
		}
		return t.Store.StoreTranslation(ctx, charge, made, until)
	})
	if wrong := settle(err == nil); wrong > 0 {
		t.Count.add(ctx, "TermsNotCounted", wrong)
	}
	if err != nil {
		return ChargedTranslation{}, err
	}
	t.Count.add(ctx, "Translations", 1)
	return made, nil
}

// charge is what a translation would change at this moment. It returns a [*UsageError] if the limit
// of the day is reached.
func (t *Translator) charge(ctx context.Context, caller Caller) (charge Charge, err error) {
	if charge.Usage, err = t.Users.Usage(ctx, caller); err != nil {
		return charge, err
	}
	now := t.Users.Calendar.Time()
	charge.Limit = charge.Usage.Tier.Limits().DailyTranslations
	if charge.Usage.Used(now) >= charge.Limit {
		return charge, &UsageError{What: "translations a day", Limit: charge.Limit, Until: charge.Usage.ResetDailyAt}
	}
	if !now.Before(charge.Usage.ResetDailyAt) {
		charge.NextMidnight = t.Users.Calendar.NextMidnight(now)
	}
	return charge, nil
}

// countTerms counts the terms of a translation, as [TermCounter] does, while that is charged.
func (t *Translator) countTerms(ctx context.Context, made Translation, terms []string) (settle func(isCharged bool) (wrong int)) {
	if t.Terms == nil || len(terms) == 0 {
		return func(bool) int { return 0 }
	}
	// A text with no more words than its only term is that term, in any of its forms.
	words := func(slug string) int { return strings.Count(slug, "-") }
	isLookUp := made.Direction == ToStandard && len(terms) == 1 && words(Slug(made.OriginalText)) <= words(terms[0])
	return t.Terms.CountTerms(ctx, terms, isLookUp)
}

// Translations lists the translations of a caller, newest first, as [TranslationStore] does. It
// returns a [*SubscriptionError] for a free user.
func (t *Translator) Translations(ctx context.Context, caller Caller, most int, from string) (TranslationList, error) {
	usage, err := t.Users.Usage(ctx, caller)
	if err == nil && usage.Tier.Limits().History == 0 {
		err = &SubscriptionError{What: "the history of translations"}
	}
	if err != nil {
		return TranslationList{}, err
	}
	return t.Store.Translations(ctx, caller.ID, t.Users.Calendar.Time(), most, from)
}

// Delete deletes a translation of a user. It returns [ErrTranslationNotFound].
func (t *Translator) Delete(ctx context.Context, user, id string) error {
	// Another spelling of the same UUID is another key to a store, so it is no id.
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return ErrTranslationNotFound
	}
	return t.Store.DeleteTranslation(ctx, user, id)
}

// DeleteAll deletes all translations of a user. It returns [context.DeadlineExceeded] if there are
// more than there is time for; a repeat goes on.
func (t *Translator) DeleteAll(ctx context.Context, user string) error {
	complete, err := t.Store.DeleteTranslations(ctx, user)
	if err == nil && !complete {
		err = fmt.Errorf("delete translations: %w", context.DeadlineExceeded)
	}
	return err
}
