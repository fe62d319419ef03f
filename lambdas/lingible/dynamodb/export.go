package dynamodb

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

var _ lingible.ExportStore = (*Store)(nil)

// exportKey is the key of the item with the latest export.
func exportKey() []any { return []any{"EXPORT", "METADATA#export"} }

// ExportDigest implements [lingible.ExportStore].
func (s *Store) ExportDigest(ctx context.Context) (digest string, isIndexed bool, err error) {
	var export struct {
		Digest string `dynamodbav:"digest"`
		Index  string `dynamodbav:"index_key"`
	}
	_, err = s.db.Get(ctx, "GetExport", &export, exportKey()...)
	return export.Digest, export.Index == lingible.IndexKey, err
}

// ClaimExport implements [lingible.ExportStore].
func (s *Store) ClaimExport(ctx context.Context, claim string, now, until time.Time) error {
	update := expression.Set(dynamo.Name("claim"), expression.Value(claim)).
		Set(dynamo.Name("claimed_until"), expression.Value(dynamo.FormatTime(until)))
	// The claim is its own when an attempt with a lost answer is repeated.
	free := dynamo.Absent("claim").Or(dynamo.Equal("claim", claim),
		dynamo.Name("claimed_until").LessThanEqual(expression.Value(dynamo.FormatTime(now))))
	held, err := dynamo.Held(s.db.Update(ctx, "ClaimExport", exportKey(), update, free, nil))
	if err == nil && !held {
		err = lingible.ErrExportRunning
	}
	return err
}

// SettleExport implements [lingible.ExportStore].
func (s *Store) SettleExport(ctx context.Context, claim, digest string, now time.Time) error {
	update := expression.Remove(dynamo.Name("claim")).Remove(dynamo.Name("claimed_until"))
	if digest != "" {
		update = update.Set(dynamo.Name("digest"), expression.Value(digest)).
			Set(dynamo.Name("index_key"), expression.Value(lingible.IndexKey)).
			Set(dynamo.Name("exported_at"), expression.Value(dynamo.FormatTime(now)))
	}
	held, err := dynamo.Held(s.db.Update(ctx, "SettleExport", exportKey(), update, dynamo.Equal("claim", claim), nil))
	if err == nil && !held {
		err = lingible.ErrExportLost
	}
	return err
}

// SlugsBySource implements [lingible.ExportStore].
func (s *Store) SlugsBySource(ctx context.Context, source string) ([]string, error) {
	return s.slugs(ctx, "ListEntriesBySource", source)
}

// slugs are those of the terms that a query of an index finds.
func (s *Store) slugs(ctx context.Context, pattern string, values ...any) (slugs []string, err error) {
	for term, err := range dynamo.Read[key](ctx, s.db, pattern, dynamo.Query{Values: values}) {
		if err != nil {
			return nil, err
		}
		slugs = append(slugs, slugOf(term.PK))
	}
	return slugs, nil
}

// Entries implements [lingible.ExportStore].
func (s *Store) Entries(ctx context.Context, slugs []string) ([]lingible.Entry, error) {
	items, err := s.db.BatchGet(ctx, "GetEntries", termKeys(slugs, entryKind)...)
	if err != nil {
		return nil, err
	}
	entries, unreadable := make([]lingible.Entry, 0, len(items)), map[string]error{}
	for i, item := range items {
		var entry lingible.Entry
		if item == nil {
			continue
		}
		if err := attributevalue.UnmarshalMap(item, &entry); err != nil {
			unreadable[slugs[i]] = err
			continue
		}
		entries = append(entries, entry)
	}
	if len(unreadable) > 0 {
		return entries, &lingible.UnreadableTermsError{Causes: unreadable}
	}
	return entries, nil
}

// termKeys are the keys of items of a kind that belong to terms.
func termKeys(slugs []string, kind string) [][]any {
	keys := make([][]any, len(slugs))
	for i, slug := range slugs {
		keys[i] = []any{termKey(slug), kind}
	}
	return keys
}

// ChangedTerm is the slug of the term in a change of Lexicon; "": it is of an item of another kind.
func ChangedTerm(change events.DynamoDBStreamRecord) string {
	slug, isTerm := strings.CutPrefix(stream.Text(change.Keys, "PK"), termKey(""))
	if !isTerm {
		return ""
	}
	return slug
}
