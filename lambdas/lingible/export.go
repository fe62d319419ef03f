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

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

const (
	// ExportKey is the key of the object with the latest export of the lexicon.
	ExportKey = "lexicon/lexicon.json"
	// SourceInitial and SourceCommunity are the sources of the terms that Lingible begins with, and
	// of those that users have submitted.
	SourceInitial, SourceCommunity = "onesynth", "community"

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
	// Terms are the terms by slug.
	Terms []Entry `json:"terms"`
}

// ExportStore is the storage that an [Exporter] needs.
type ExportStore interface {
	// ExportDigest reads the digest of the latest export; "": there is none.
	ExportDigest(ctx context.Context) (string, error)
	// ClaimExport claims the export until a moment. It returns [ErrExportRunning] while another
	// claim lasts.
	ClaimExport(ctx context.Context, claim string, now, until time.Time) error
	// SettleExport ends a claim, with the digest of what was exported; "": with none. It returns
	// [ErrExportLost] if it was replaced.
	SettleExport(ctx context.Context, claim, digest string, now time.Time) error
	// SlugsBySource lists the slugs of a source. The latest may be missing.
	SlugsBySource(ctx context.Context, source string) ([]string, error)
	// Entries reads the terms with the slugs as they are now. It leaves out those that do not exist. With an
	// [*UnreadableTermsError] it returns the others.
	Entries(ctx context.Context, slugs []string) ([]Entry, error)
}

// ExportObjects is the bucket of the exports.
type ExportObjects interface {
	Put(ctx context.Context, key string, body io.ReadSeeker) error
	Read(ctx context.Context, key string) (body []byte, found bool, err error)
}

// Exporter writes the lexicon to an object, and reads it. It is safe for concurrent use.
type Exporter struct {
	Store   ExportStore
	Objects ExportObjects
	// Now is the clock. Nil: [time.Now].
	Now func() time.Time
}

// Export exports the lexicon, in which the terms with the slugs have changed, and returns how many
// terms it has. If it fails, repeat it with the same slugs. After an [*UnreadableTermsError] it is made
// all the same, with these terms as they were in the export before.
//
// The index by source shows a change somewhat later. So an export has the terms of the export
// before and those that have changed, too, each as it is in the table. One export is made at a time,
// so that each follows from the one before.
func (e *Exporter) Export(ctx context.Context, changed []string) (terms int, err error) {
	now, claim := e.now(), rand.Text()
	until := now.Add(exportLease)
	if err := e.Store.ClaimExport(ctx, claim, now, until); err != nil {
		return 0, err
	}
	digest, terms, err := e.write(ctx, changed, until)
	unreadable, ok := errors.AsType[*UnreadableTermsError](err)
	if err != nil && !ok {
		ctx, cancel := retry.ToRelease(ctx, time.Now().Add(time.Second))
		defer cancel()
		return 0, errors.Join(err, e.Store.SettleExport(ctx, claim, "", now))
	}
	if err := e.Store.SettleExport(ctx, claim, digest, now); err != nil || !ok {
		return terms, err
	}
	return terms, unreadable
}

// write writes the object, unless the claim has ended, and returns its digest, also with an
// [*UnreadableTermsError].
func (e *Exporter) write(ctx context.Context, changed []string, until time.Time) (digest string, terms int, err error) {
	slugs, sources := map[string]bool{}, map[string]bool{SourceInitial: true, SourceCommunity: true}
	for _, slug := range changed {
		slugs[slug] = true
	}
	before, err := e.before(ctx)
	if err != nil {
		return "", 0, err
	}
	for _, entry := range before.Terms {
		slugs[entry.Slug()] = true
		for _, source := range entry.Sources[:min(1, len(entry.Sources))] {
			sources[source] = true
		}
	}
	for source := range sources {
		found, err := e.Store.SlugsBySource(ctx, source)
		if err != nil {
			return "", 0, err
		}
		for _, slug := range found {
			slugs[slug] = true
		}
	}
	export := Export{ExportedAt: e.now()}
	export.Terms, err = e.Store.Entries(ctx, slices.Sorted(maps.Keys(slugs)))
	unreadable, ok := errors.AsType[*UnreadableTermsError](err)
	if err != nil && !ok {
		return "", 0, err
	}
	if ok {
		for _, entry := range before.Terms {
			if unreadable.Causes[entry.Slug()] != nil {
				export.Terms = append(export.Terms, entry)
			}
		}
	}
	slices.SortFunc(export.Terms, func(a, b Entry) int { return strings.Compare(a.Slug(), b.Slug()) })
	body, err := json.Marshal(export)
	if err != nil {
		return "", 0, fmt.Errorf("writing the lexicon as JSON: %w", err)
	}
	if !e.now().Before(until) {
		return "", 0, ErrExportLost
	}
	if err := e.Objects.Put(ctx, ExportKey, bytes.NewReader(body)); err != nil || !ok {
		return digestOf(body), len(export.Terms), err
	}
	return digestOf(body), len(export.Terms), unreadable
}

// before reads the export that is there, also one that was written and not settled.
func (e *Exporter) before(ctx context.Context) (export Export, err error) {
	// Without an export there is no object: Amazon S3 refuses to read it, and does not say why.
	digest, err := e.Store.ExportDigest(ctx)
	if err != nil || digest == "" {
		return export, err
	}
	body, found, err := e.Objects.Read(ctx, ExportKey)
	if err != nil || !found {
		return export, err
	}
	if export, err = parseExport(body); err != nil {
		return Export{}, nil // the index alone mends an object that someone has spoiled
	}
	return export, nil
}

func parseExport(body []byte) (export Export, err error) {
	if err := json.Unmarshal(body, &export); err != nil {
		return export, fmt.Errorf("reading %s: %w", ExportKey, err)
	}
	return export, nil
}

func digestOf(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }

// Latest reads the latest export and its digest. It returns no terms if the digest is the one that
// is given, and none and "" if there is no export. An export that is written and not settled yet is
// an error, unless "" is given: a caller without any takes it.
func (e *Exporter) Latest(ctx context.Context, have string) (terms []Entry, digest string, err error) {
	if digest, err = e.Store.ExportDigest(ctx); err != nil || digest == have || digest == "" {
		return nil, digest, err
	}
	body, found, err := e.Objects.Read(ctx, ExportKey)
	if err == nil && !found {
		err = fmt.Errorf("there is no %s", ExportKey)
	}
	if err != nil {
		return nil, have, err
	}
	got := digestOf(body)
	if got != digest && have != "" {
		return nil, have, fmt.Errorf("%s has the digest %s, and the table says %s: another export is being made", ExportKey, got, digest)
	}
	export, err := parseExport(body)
	return export.Terms, got, err
}

func (e *Exporter) now() time.Time { return Calendar{Now: e.Now}.Time() }
