package lingible

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	// ExportKey is the key of the object with the latest export of the lexicon, and IndexKey that of the object with
	// its index, which is what functions read: the digest of the export in hexadecimal, and what [Exporter.Index]
	// makes.
	ExportKey = "lexicon/lexicon.json"
	IndexKey  = "lexicon/lexicon2.index"
	// listingAge is how old the last listing of all terms may be.
	listingAge = 24 * time.Hour

	// exportLease is how long a claim lasts: somewhat longer than a function runs, so that the
	// write of one that was ended arrives before the next claim.
	exportLease = 70 * time.Second
)

var (
	// ErrExportRunning says that another export is being made.
	ErrExportRunning = errors.New("another export of the lexicon is running")
	// ErrExportLost says that an export took longer than its claim lasts.
	ErrExportLost = errors.New("the claim on the export of the lexicon was lost")
)

// UnreadableTermsError names terms that are in the table and are no terms.
type UnreadableTermsError struct {
	// Causes are by slug.
	Causes map[string]error
}

func (e *UnreadableTermsError) Error() string {
	texts := make([]string, 0, len(e.Causes))
	for _, slug := range slices.Sorted(maps.Keys(e.Causes)) {
		texts = append(texts, fmt.Sprintf("the term %q cannot be read: %v", slug, e.Causes[slug]))
	}
	return strings.Join(texts, "; ")
}

// Export is the object with the terms of the lexicon.
type Export struct {
	ExportedAt time.Time `json:"exported_at"`
	// ListedAt is when all terms were listed last, and read from the table.
	ListedAt time.Time `json:"listed_at"`
	// Terms are the terms by slug.
	Terms []lingible.Entry `json:"terms"`
}

// Exporter writes the lexicon to an object, and reads it. It is safe for concurrent use.
type Exporter struct {
	// DB are the tables.
	DB *dynamo.DB
	// Put and Read are those of the bucket of the exports.
	Put  func(ctx context.Context, key string, body io.ReadSeeker) error
	Read func(ctx context.Context, key string) (body []byte, found bool, err error)
	// Index makes the index of terms. Nil: for a reader.
	Index func(terms []lingible.Entry) ([]byte, error)
	Clock wire.Clock
}

// Export exports the lexicon, in which the terms with the slugs have changed, and returns how many terms it has. If it
// fails, repeat it with the same slugs. After an [*UnreadableTermsError] it is made all the same, with these terms as
// they were in the export before.
//
// An export has the terms of the export before, and those that have changed as they are in the table: what it reads
// grows with the changes, and not with the lexicon. One export is made at a time, so that each follows from the one
// before. The first one of a day, one without changes, and one without a readable one before read all terms, of the
// export before and of the index by source: so a change that never came is in it, too.
func (e *Exporter) Export(ctx context.Context, changed []string) (terms int, err error) {
	now, claim := e.Clock.Now(), rand.Text()
	until := now.Add(exportLease)
	if err := e.claimExport(ctx, claim, now, until); err != nil {
		return 0, err
	}
	digest, terms, err := e.write(ctx, changed, until)
	unreadable, ok := errors.AsType[*UnreadableTermsError](err)
	if err != nil && !ok {
		ctx, cancel := retry.ToRelease(ctx, time.Now().Add(time.Second))
		defer cancel()
		return 0, errors.Join(err, e.settleExport(ctx, claim, "", now))
	}
	if err := e.settleExport(ctx, claim, digest, now); err != nil || !ok {
		return terms, err
	}
	return terms, unreadable
}

// write writes the object, unless the claim has ended, and returns its digest, also with an
// [*UnreadableTermsError].
func (e *Exporter) write(ctx context.Context, changed []string, until time.Time) (digest string, terms int, err error) {
	before, found, err := e.before(ctx)
	if err != nil {
		return "", 0, err
	}
	bySlug := map[string]lingible.Entry{}
	for _, entry := range before.Terms {
		bySlug[entry.Slug()] = entry
	}
	slugs := map[string]bool{}
	for _, slug := range changed {
		slugs[slug] = true
	}
	export := Export{ExportedAt: e.Clock.Now(), ListedAt: before.ListedAt}
	if !found || len(changed) == 0 || e.Clock.Now().Sub(before.ListedAt) >= listingAge {
		export.ListedAt = e.Clock.Now()
		sources := map[string]bool{lingible.SourceInitial: true, lingible.SourceCommunity: true}
		for _, entry := range before.Terms {
			slugs[entry.Slug()] = true
			for _, source := range entry.Sources[:min(1, len(entry.Sources))] {
				sources[source] = true
			}
		}
		for source := range sources {
			listed, err := slugsOf(ctx, e.DB, "ListEntriesBySource", source)
			if err != nil {
				return "", 0, err
			}
			for _, slug := range listed {
				slugs[slug] = true
			}
		}
	}
	read, unreadable, err := e.entries(ctx, slices.Sorted(maps.Keys(slugs)))
	if err != nil {
		return "", 0, err
	}
	maps.DeleteFunc(bySlug, func(slug string, _ lingible.Entry) bool { return slugs[slug] && unreadable[slug] == nil })
	for _, entry := range read {
		bySlug[entry.Slug()] = entry
	}
	export.Terms = slices.SortedFunc(maps.Values(bySlug),
		func(a, b lingible.Entry) int { return strings.Compare(a.Slug(), b.Slug()) })
	body, err := json.Marshal(export)
	if err != nil {
		return "", 0, fmt.Errorf("writing the lexicon as JSON: %w", err)
	}
	index, err := e.Index(export.Terms)
	if err != nil {
		return "", 0, err
	}
	// People's object comes last: the next export begins with it.
	for _, object := range []struct {
		key  string
		body []byte
	}{{IndexKey, append([]byte(digestOf(body)), index...)}, {ExportKey, body}} {
		if !e.Clock.Now().Before(until) {
			return "", 0, ErrExportLost
		}
		if err := e.Put(ctx, object.key, bytes.NewReader(object.body)); err != nil {
			return "", 0, err
		}
	}
	if len(unreadable) > 0 {
		err = &UnreadableTermsError{Causes: unreadable}
	}
	return digestOf(body), len(export.Terms), err
}

// before reads the export that is there, also one that was written and not settled; false: there is none that can be
// read.
func (e *Exporter) before(ctx context.Context) (export Export, found bool, err error) {
	// Without an export there is no object: Amazon S3 refuses to read it, and does not say why.
	digest, _, err := e.exportDigest(ctx)
	if err != nil || digest == "" {
		return export, false, err
	}
	body, found, err := e.Read(ctx, ExportKey)
	if err != nil || !found {
		return export, false, err
	}
	if export, err = parseExport(body); err != nil {
		return Export{}, false, nil // the table alone mends an object that someone has spoiled
	}
	return export, true, nil
}

func parseExport(body []byte) (export Export, err error) {
	if err := json.Unmarshal(body, &export); err != nil {
		return export, fmt.Errorf("reading %s: %w", ExportKey, err)
	}
	return export, nil
}

func digestOf(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }

// Latest reads the latest export and its digest. It returns nothing of it if the digest is the one that
// is given, and nothing and "" if there is no export. An export that is written and not settled yet is
// an error, unless "" is given: a caller without any takes it.
func (e *Exporter) Latest(ctx context.Context, have string) (latest language.Latest, digest string, err error) {
	digest, isIndexed, err := e.exportDigest(ctx)
	if err != nil || digest == have || digest == "" {
		return latest, digest, err
	}
	key := ExportKey
	if isIndexed {
		key = IndexKey
	}
	body, found, err := e.Read(ctx, key)
	if err == nil && (!found || isIndexed && len(body) < sha256.Size*2) {
		err = fmt.Errorf("there is no %s, or a spoiled one: the next change of a term makes it again", key)
	}
	if err != nil {
		return latest, have, err
	}
	var got string
	if isIndexed {
		got, latest.Index = string(body[:sha256.Size*2]), body[sha256.Size*2:]
	} else {
		got = digestOf(body)
	}
	if got != digest && have != "" {
		return language.Latest{}, have, fmt.Errorf(
			"%s has the digest %s, and the table says %s: another export is being made", key, got, digest)
	}
	if !isIndexed {
		var export Export
		export, err = parseExport(body)
		latest.Terms = export.Terms
	}
	return latest, got, err
}

// exportKey is the key of the item with the latest export.
func exportKey() []any { return []any{"EXPORT", "METADATA#export"} }

// exportDigest reads the digest of the latest export, and whether it has an index; "": there is none.
func (e *Exporter) exportDigest(ctx context.Context) (digest string, isIndexed bool, err error) {
	var export struct {
		Digest string `dynamodbav:"digest"`
		Index  string `dynamodbav:"index_key"`
	}
	_, err = e.DB.Get(ctx, "GetExport", &export, exportKey()...)
	return export.Digest, export.Index == IndexKey, err
}

// claimExport claims the export until a moment. It returns [ErrExportRunning] while another claim lasts.
func (e *Exporter) claimExport(ctx context.Context, claim string, now, until time.Time) error {
	update := expression.Set(dynamo.Name("claim"), expression.Value(claim)).
		Set(dynamo.Name("claimed_until"), expression.Value(dynamo.FormatTime(until)))
	// The claim is its own when an attempt with a lost answer is repeated.
	free := dynamo.Absent("claim").Or(dynamo.Equal("claim", claim),
		dynamo.Name("claimed_until").LessThanEqual(expression.Value(dynamo.FormatTime(now))))
	return dynamo.Unless(e.DB.Update(ctx, "ClaimExport", exportKey(), update, free, nil), ErrExportRunning)
}

// settleExport ends a claim, with the digest of what was exported with its index; "": with none. It returns
// [ErrExportLost] if it was replaced.
func (e *Exporter) settleExport(ctx context.Context, claim, digest string, now time.Time) error {
	update := expression.Remove(dynamo.Name("claim")).Remove(dynamo.Name("claimed_until"))
	if digest != "" {
		update = update.Set(dynamo.Name("digest"), expression.Value(digest)).
			Set(dynamo.Name("index_key"), expression.Value(IndexKey)).
			Set(dynamo.Name("exported_at"), expression.Value(dynamo.FormatTime(now)))
	}
	return dynamo.Unless(e.DB.Update(ctx, "SettleExport", exportKey(), update,
		dynamo.Equal("claim", claim), nil), ErrExportLost)
}

// slugsOf are the slugs of the terms that a query of an index finds.
func slugsOf(ctx context.Context, db *dynamo.DB, pattern string, values ...any) (slugs []string, err error) {
	for term, err := range dynamo.Read[key](ctx, db, pattern, dynamo.Query{Values: values}) {
		if err != nil {
			return nil, err
		}
		slugs = append(slugs, slugOf(term.PK))
	}
	return slugs, nil
}

// entries reads the terms with the slugs as they are now, without those that do not exist, and says why which ones
// cannot be read.
func (e *Exporter) entries(ctx context.Context, slugs []string) (entries []lingible.Entry, unreadable map[string]error,
	_ error) {
	unreadable = map[string]error{}
	items, err := e.DB.BatchGet(ctx, "GetEntries", termKeys(slugs, entryKind)...)
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
	return entries, unreadable, err
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
	slug, isTerm := strings.CutPrefix(trigger.Text(change.Keys, "PK"), termKey(""))
	if !isTerm {
		return ""
	}
	return slug
}
