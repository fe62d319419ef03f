package dynamodb

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

var _ lingible.ExportStore = (*Store)(nil)

// exportKey is the key of the item with the latest export.
func exportKey() []any { return []any{"EXPORT", "METADATA#export"} }

// ExportDigest implements [lingible.ExportStore].
func (s *Store) ExportDigest(ctx context.Context) (string, error) {
	var export struct {
		Digest string `dynamodbav:"digest"`
	}
	_, err := s.db.Get(ctx, "GetExport", &export, exportKey()...)
	return export.Digest, err
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
	read, err := dynamo.ReadBatch[lingible.Entry](ctx, s.db, "GetEntries", termKeys(slugs, entryKind)...)
	entries := make([]lingible.Entry, 0, len(read))
	for _, entry := range read {
		if entry != nil {
			entries = append(entries, *entry)
		}
	}
	return entries, err
}

// termKeys are the keys of items of a kind that belong to terms.
func termKeys(slugs []string, kind string) [][]any {
	keys := make([][]any, len(slugs))
	for i, slug := range slugs {
		keys[i] = []any{termKey(slug), kind}
	}
	return keys
}

// ChangedTerms are the slugs of the terms in records of the stream of Lexicon.
func ChangedTerms(event events.DynamoDBEvent) (slugs []string) {
	for _, record := range event.Records {
		// Items of other kinds have no slug.
		if slug, ok := strings.CutPrefix(stream.Text(record.Change.Keys, "PK"), termKey("")); ok {
			slugs = append(slugs, slug)
		}
	}
	return slugs
}
