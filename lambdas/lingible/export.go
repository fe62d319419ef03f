package lingible

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
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
	// Put, Read and Open are those of the bucket of the exports.
	Put  func(ctx context.Context, key string, body io.ReadSeeker) error
	Read func(ctx context.Context, key string) (body []byte, found bool, err error)
	Open func(ctx context.Context, key string) (body io.ReadCloser, found bool, err error)
	// Index writes the index of terms, in the order of their slugs.
	Index func(into io.Writer, terms iter.Seq2[lingible.Entry, error]) error
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

// write writes the objects, unless the claim has ended, and returns the digest of the export, also with an
// [*UnreadableTermsError]. No term stays in memory but for its slug.
func (e *Exporter) write(ctx context.Context, changed []string, until time.Time) (digest string, terms int, err error) {
	before, err := e.before(ctx)
	if err != nil {
		return "", 0, err
	}
	defer before.close()
	slugs := map[string]bool{}
	for _, slug := range changed {
		slugs[slug] = true
	}
	export := Export{ExportedAt: e.Clock.Now(), ListedAt: before.listedAt, Terms: []lingible.Entry{}}
	if !before.isUsable || len(changed) == 0 || e.Clock.Now().Sub(before.listedAt) >= listingAge {
		export.ListedAt = e.Clock.Now()
		for _, slug := range before.slugs {
			slugs[slug] = true
		}
		before.sources[lingible.SourceInitial], before.sources[lingible.SourceCommunity] = true, true
		for source := range before.sources {
			listed, err := slugsOf(ctx, e.DB, "ListEntriesBySource", source)
			if err != nil {
				return "", 0, err
			}
			for _, slug := range listed {
				slugs[slug] = true
			}
		}
	}
	body, err := language.Scratch()
	if err != nil {
		return "", 0, err
	}
	defer body.Close()
	index, err := language.Scratch()
	if err != nil {
		return "", 0, err
	}
	defer index.Close()
	// The digest is known at the end.
	if _, err := index.Write(make([]byte, sha256.Size*2)); err != nil {
		return "", 0, err
	}
	unreadable := map[string]error{}
	sum := sha256.New()
	written := bufio.NewWriter(io.MultiWriter(body, sum))
	err = e.Index(index, export.written(written, &terms,
		e.merged(ctx, before, slices.Sorted(maps.Keys(slugs)), unreadable)))
	if err = cmp.Or(err, written.Flush()); err != nil {
		return "", 0, err
	}
	digest = fmt.Sprintf("%x", sum.Sum(nil))
	if _, err := index.WriteAt([]byte(digest), 0); err != nil {
		return "", 0, err
	}
	// People's object comes last: the next export begins with it.
	for _, object := range []struct {
		key  string
		body io.ReadSeeker
	}{{IndexKey, index}, {ExportKey, body}} {
		if !e.Clock.Now().Before(until) {
			return "", 0, ErrExportLost
		}
		_, err := object.body.Seek(0, io.SeekStart)
		if err = cmp.Or(err, e.Put(ctx, object.key, object.body)); err != nil {
			return "", 0, err
		}
	}
	if len(unreadable) > 0 {
		err = &UnreadableTermsError{Causes: unreadable}
	}
	return digest, terms, err
}

// written yields terms, and writes the export with them as JSON, with the number of terms that it has.
func (e Export) written(into io.Writer, count *int,
	terms iter.Seq2[lingible.Entry, error]) iter.Seq2[lingible.Entry, error] {
	return func(yield func(lingible.Entry, error) bool) {
		encoded, err := json.Marshal(e)
		head, ok := bytes.CutSuffix(encoded, []byte("]}"))
		if err == nil && !ok {
			err = fmt.Errorf("an export without terms ends with %q", encoded)
		}
		if err == nil {
			_, err = into.Write(head)
		}
		for entry, failed := range terms {
			if err = cmp.Or(err, failed); err == nil {
				encoded, err = json.Marshal(entry)
			}
			if err == nil && *count > 0 {
				_, err = io.WriteString(into, ",")
			}
			if err == nil {
				_, err = into.Write(encoded)
			}
			*count++
			if !yield(entry, err) || err != nil {
				return
			}
		}
		if _, failed := io.WriteString(into, "]}"); err != nil || failed != nil {
			yield(lingible.Entry{}, fmt.Errorf("writing the lexicon as JSON: %w", cmp.Or(err, failed)))
		}
	}
}

// merged yields the terms of the export before, with those of slugs as they are in the table, in the order of their
// slugs. A term that cannot be read is as it was, and in unreadable.
func (e *Exporter) merged(ctx context.Context, before *former, slugs []string,
	unreadable map[string]error) iter.Seq2[lingible.Entry, error] {
	return func(yield func(lingible.Entry, error) bool) {
		next, stop := iter.Pull2(before.terms())
		defer stop()
		kept, err, isKept := next()
		// until yields the terms before a slug, and that of the slug if it was unreadable.
		until := func(slug string) bool {
			for isKept && (slug == "" || kept.Slug() <= slug) {
				if err != nil || kept.Slug() != slug || unreadable[slug] != nil {
					if !yield(kept, err) || err != nil {
						return false
					}
				}
				kept, err, isKept = next()
			}
			return true
		}
		for some := range slices.Chunk(slugs, batch) {
			read, causes, err := e.entries(ctx, some)
			if err != nil {
				yield(lingible.Entry{}, err)
				return
			}
			maps.Copy(unreadable, causes)
			for i, slug := range some {
				if !until(slug) || read[i] != nil && !yield(*read[i], nil) {
					return
				}
			}
		}
		until("")
	}
}

// former is the export before.
type former struct {
	// isUsable is false if there is none, or none that can be read.
	isUsable bool
	listedAt time.Time
	// slugs are those of all terms, and sources the first of each.
	slugs   []string
	sources map[string]bool
	file    *os.File
}

func (f *former) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// terms yields the terms in the order of their slugs.
func (f *former) terms() iter.Seq2[lingible.Entry, error] {
	return func(yield func(lingible.Entry, error) bool) {
		if !f.isUsable {
			return
		}
		if _, err := f.file.Seek(0, io.SeekStart); err != nil {
			yield(lingible.Entry{}, err)
			return
		}
		_, err := readExport(f.file, func(entry lingible.Entry) bool { return yield(entry, nil) })
		if err != nil {
			yield(lingible.Entry{}, err)
		}
	}
}

// before reads the export that is there, also one that was written and not settled.
func (e *Exporter) before(ctx context.Context) (before *former, err error) {
	before = &former{sources: map[string]bool{}}
	// Without an export there is no object: Amazon S3 refuses to read it, and does not say why.
	digest, _, err := e.exportDigest(ctx)
	if err != nil || digest == "" {
		return before, err
	}
	body, found, err := e.Open(ctx, ExportKey)
	if err != nil || !found {
		return before, err
	}
	defer body.Close()
	if before.file, err = language.Scratch(); err != nil {
		return before, err
	}
	if _, err := io.Copy(before.file, body); err != nil {
		before.close()
		return before, fmt.Errorf("reading %s: %w", ExportKey, err)
	}
	if _, err := before.file.Seek(0, io.SeekStart); err != nil {
		before.close()
		return before, err
	}
	export, err := readExport(before.file, func(entry lingible.Entry) bool {
		before.slugs = append(before.slugs, entry.Slug())
		for _, source := range entry.Sources[:min(1, len(entry.Sources))] {
			before.sources[source] = true
		}
		return true
	})
	// The table alone mends an object that someone has spoiled.
	if before.isUsable = err == nil && slices.IsSorted(before.slugs); before.isUsable {
		before.listedAt = export.ListedAt
	}
	return before, nil
}

// readExport reads an export. It calls term with each term, until term returns false. The returned export has no terms.
func readExport(from io.Reader, term func(lingible.Entry) bool) (export Export, err error) {
	decoder := json.NewDecoder(bufio.NewReader(from))
	decode := func(into any) {
		if err == nil {
			err = decoder.Decode(into)
		}
	}
	token := func() (token json.Token) {
		if err == nil {
			token, err = decoder.Token()
		}
		return token
	}
	if first := token(); err == nil && first != json.Delim('{') {
		err = fmt.Errorf("it begins with %v", first)
	}
	for err == nil && decoder.More() {
		switch token() {
		case "exported_at":
			decode(&export.ExportedAt)
		case "listed_at":
			decode(&export.ListedAt)
		case "terms":
			if token() == nil {
				continue // null
			}
			for err == nil && decoder.More() {
				var entry lingible.Entry
				if decode(&entry); err == nil && !term(entry) {
					return export, nil
				}
			}
			token()
		default:
			decode(new(json.RawMessage))
		}
	}
	token()
	if _, behind := decoder.Token(); err == nil && !errors.Is(behind, io.EOF) {
		err = errors.New("something is behind it")
	}
	if err != nil {
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
		latest.Terms = []lingible.Entry{}
		_, err = readExport(bytes.NewReader(body), func(entry lingible.Entry) bool {
			latest.Terms = append(latest.Terms, entry)
			return true
		})
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

// batch is how many terms are read at a time.
const batch = 100

// entries reads the terms with the slugs as they are now, in their order; nil: there is none. It says why which ones
// cannot be read.
func (e *Exporter) entries(ctx context.Context, slugs []string) (entries []*lingible.Entry,
	unreadable map[string]error, _ error) {
	unreadable, entries = map[string]error{}, make([]*lingible.Entry, len(slugs))
	items, err := e.DB.BatchGet(ctx, "GetEntries", termKeys(slugs, entryKind)...)
	for i, item := range items {
		if item == nil {
			continue
		}
		var entry lingible.Entry
		if err := attributevalue.UnmarshalMap(item, &entry); err != nil {
			unreadable[slugs[i]] = err
			continue
		}
		entries[i] = &entry
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
