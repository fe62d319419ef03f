package lingible_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// bucket is a bucket in a folder.
type bucket struct {
	folder string
	// step, if it is not nil, runs before and after each request to the bucket and to the tables. Its error is that of
	// the request.
	step func() error
}

func (b *bucket) steps() error {
	if b.step == nil {
		return nil
	}
	return b.step()
}

func (b *bucket) file(key string) string { return filepath.Join(b.folder, filepath.Base(key)) }

func (b *bucket) Put(_ context.Context, key string, body io.ReadSeeker) error {
	if err := b.steps(); err != nil {
		return err
	}
	file, err := os.Create(b.file(key))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(file, body)
	return errors.Join(err, b.steps())
}

func (b *bucket) Open(_ context.Context, key string) (body io.ReadCloser, found bool, err error) {
	if err := b.steps(); err != nil {
		return nil, false, err
	}
	file, err := os.Open(b.file(key))
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, b.steps()
	}
	return file, err == nil, errors.Join(err, b.steps())
}

func (b *bucket) Read(ctx context.Context, key string) (content []byte, found bool, err error) {
	body, found, err := b.Open(ctx, key)
	if !found || err != nil {
		return nil, false, err
	}
	defer body.Close()
	content, err = io.ReadAll(body)
	return content, err == nil, err
}

// late is a client whose indexes show nothing.
type late struct{ dynamo.Client }

func (late) Query(context.Context, *awsdynamodb.QueryInput, ...func(*awsdynamodb.Options)) (*awsdynamodb.QueryOutput,
	error) {
	return &awsdynamodb.QueryOutput{}, nil
}

// lexicon is a lexicon with its exports, on tables of its own.
type lexicon struct {
	*lingibletest.World
	t       testing.TB
	objects bucket
}

func newLexicon(t testing.TB) *lexicon {
	t.Helper()
	l := &lexicon{World: lingibletest.New(t), t: t, objects: bucket{folder: t.TempDir()}}
	around := func(schema.Action) error { return l.objects.steps() }
	l.Recorder.Faults(around, around)
	return l
}

// exporter is one whose index shows nothing if isLate.
func (l *lexicon) exporter(isLate bool) *service.Exporter {
	l.t.Helper()
	db := l.Tables.DB
	if isLate {
		db = dynamotest.Through(l.t, late{l.Recorder}, lingible.Platform().Database)
	}
	return &service.Exporter{DB: db, Put: l.objects.Put, Read: l.objects.Read, Open: l.objects.Open,
		Index: language.Write, Clock: l.Now}
}

// approve stores a term, which is its own slug.
func (l *lexicon) approve(term, source string) {
	l.t.Helper()
	entry := lingible.Entry{Term: term, Gloss: "To be " + term, Examples: []string{"I " + term + "."},
		Sources: []string{source}, Confidence: 0.9, Momentum: 0.5}
	if added, err := l.AddEntry(l.t.Context(), entry); !added || err != nil {
		l.t.Errorf("%s: got %v, %v", term, added, err)
	}
}

func entryKey(slug string) []any { return []any{"TERM#" + slug, "METADATA#lexicon"} }

// want checks that the latest export has these terms, and is settled.
func (l *lexicon) want(t *testing.T, slugs ...string) {
	t.Helper()
	latest, digest, err := l.exporter(false).Latest(t.Context(), "")
	if settled, isIndexed, failed := service.ExportDigest(l.exporter(false), t.Context()); settled != digest ||
		!isIndexed || failed != nil {
		t.Errorf("the table has the digest %s, %v; the object has %s", settled, failed, digest)
	}
	got := l.exported(t)
	slices.Sort(slugs)
	// The index has the same terms.
	live := language.NewLive(func(context.Context, string) (language.Latest, string, error) {
		return latest, "only", nil
	}, nil, slog.New(slog.DiscardHandler), nil)
	for _, slug := range slugs {
		if entry, found, failed := live.Entry(t.Context(), slug); !found || entry.Slug() != slug || failed != nil {
			t.Errorf("the index has %+v for %s, %v", entry, slug, failed)
		}
	}
	if !slices.Equal(got, slugs) || err != nil {
		t.Errorf("the export has %v, %v; want %v", got, err, slugs)
	}
}

// exported are the slugs of the object that people read.
func (l *lexicon) exported(t *testing.T) (slugs []string) {
	t.Helper()
	var export service.Export
	body, _, err := l.objects.Read(t.Context(), service.ExportKey)
	if err == nil {
		err = json.Unmarshal(body, &export)
	}
	if err != nil {
		t.Error(err)
	}
	for _, entry := range export.Terms {
		slugs = append(slugs, entry.Slug())
	}
	return slugs
}

// However many exporters work at once on the changes of many, the last export has every term of the
// table, also if the index shows none of them yet.
func TestExportsAtOnce(t *testing.T) {
	t.Parallel()
	l := newLexicon(t)
	changes := make(chan string, 60)
	var exporters, users errgroup.Group
	for range 4 {
		exporters.Go(func() error {
			exporter := l.exporter(true)
			for slug := range changes {
				// A batch has all that is there, five at most. One that fails comes again.
				batch := []string{slug}
				for len(batch) < 5 && len(changes) > 0 {
					if more, ok := <-changes; ok {
						batch = append(batch, more)
					}
				}
				_, err := exporter.Export(t.Context(), batch)
				for errors.Is(err, service.ErrExportRunning) {
					if err = retry.Pause(t.Context(), retry.Delay(1)); err == nil {
						_, err = exporter.Export(t.Context(), batch)
					}
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	var want []string
	for i := range 40 {
		slug := fmt.Sprintf("term%02d", i)
		users.Go(func() error {
			l.approve(slug, lingible.SourceCommunity)
			changes <- slug
			if i%4 == 0 {
				l.Remove(t, "Lexicon", entryKey(slug)...)
				changes <- slug
			}
			return nil
		})
		if i%4 != 0 {
			want = append(want, slug)
		}
	}
	_ = users.Wait()
	close(changes)
	must.OK(t, exporters.Wait())
	l.want(t, want...)
}

// A term that cannot be read is exported as it was before, and named; a new one is left out. All others are exported.
func TestExportOfUnreadableTerms(t *testing.T) {
	t.Parallel()
	l := newLexicon(t)
	for _, term := range []string{"first", "second"} {
		l.approve(term, lingible.SourceInitial)
	}
	must.Get(l.exporter(false).Export(t.Context(), nil))(t)
	l.approve("third", lingible.SourceCommunity)
	l.approve("fourth", lingible.SourceCommunity)
	for _, slug := range []string{"second", "fourth"} {
		l.Set(t, "Lexicon", entryKey(slug), map[string]any{"examples": "none"})
	}
	terms, err := l.exporter(false).Export(t.Context(), []string{"second", "third", "fourth"})
	unreadable, ok := errors.AsType[*service.UnreadableTermsError](err)
	if !ok || len(unreadable.Causes) != 2 || unreadable.Causes["second"] == nil || unreadable.Causes["fourth"] == nil ||
		terms != 3 {
		t.Errorf("got %d terms, %v", terms, err)
	}
	l.want(t, "first", "second", "third")
}

// An exporter that dies at any step leaves the export before or the next one, whole. When its claim
// has ended, its batch comes again, and the export has everything.
func TestExporterDies(t *testing.T) {
	t.Parallel()
	l := newLexicon(t)
	dead := errors.New("the process is dead")
	terms := []string{"first"}
	l.approve("first", lingible.SourceInitial)
	must.Get(l.exporter(true).Export(t.Context(), terms))(t)
	for last := 1; ; last++ {
		term := fmt.Sprintf("term%02d", last)
		l.approve(term, lingible.SourceCommunity)
		steps := 0
		l.objects.step = func() error {
			if steps++; steps >= last {
				return dead
			}
			return nil
		}
		_, err := l.exporter(true).Export(t.Context(), []string{term})
		l.objects.step = nil
		if err == nil {
			if last < 10 {
				t.Errorf("got %d steps", last)
			}
			break
		}
		if !errors.Is(err, dead) {
			t.Fatal(err)
		}
		if got := len(l.exported(t)); got != len(terms) && got != len(terms)+1 {
			t.Errorf("step %d: got %d terms, want %d or one more", last, got, len(terms))
		}
		again := func() error {
			_, err := l.exporter(true).Export(t.Context(), []string{term})
			return err
		}
		if err := again(); err != nil && !errors.Is(err, service.ErrExportRunning) {
			t.Errorf("step %d: %v", last, err)
		}
		l.Advance(70 * time.Second)
		if err := again(); err != nil {
			t.Errorf("step %d: %v", last, err)
		}
		terms = append(terms, term)
		l.want(t, terms...)
	}
}

// An exporter that fails gives its claim back.
func TestExportFails(t *testing.T) {
	t.Parallel()
	l := newLexicon(t)
	l.approve("first", lingible.SourceInitial)
	refused := errors.New("refused")
	steps := 0
	l.objects.step = func() error {
		if steps++; steps == 4 {
			return refused
		}
		return nil
	}
	if _, err := l.exporter(false).Export(t.Context(), nil); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	if terms, err := l.exporter(false).Export(t.Context(), nil); terms != 1 || err != nil {
		t.Errorf("got %d, %v", terms, err)
	}
}

// An exporter whose claim has ended while it worked neither writes nor settles.
func TestExportLosesItsClaim(t *testing.T) {
	t.Parallel()
	for name, until := range map[string]int{"ErrBeforePut": 6, "ErrBetweenPuts": 8, "ErrBeforeSettle": 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLexicon(t)
			l.approve("first", lingible.SourceInitial)
			steps := 0
			l.objects.step = func() error {
				if steps++; steps != until {
					return nil
				}
				l.objects.step = nil
				l.Advance(70 * time.Second)
				l.approve("second", lingible.SourceCommunity)
				_, err := l.exporter(true).Export(t.Context(), []string{"first", "second"})
				return err
			}
			_, err := l.exporter(true).Export(t.Context(), []string{"first"})
			if !errors.Is(err, service.ErrExportLost) {
				t.Errorf("got %v", err)
			}
			l.want(t, "first", "second")
		})
	}
}

// An export has the terms of each source of the export before, also one whose change never came. It
// has what the lexicon says of a term, and nothing of a user.
func TestExport(t *testing.T) {
	t.Parallel()
	l := newLexicon(t)
	export := func(want int, slugs ...string) {
		t.Helper()
		if got, err := l.exporter(false).Export(t.Context(), slugs); got != want || err != nil {
			t.Errorf("got %d, %v, want %d", got, err, want)
		}
	}
	if latest, digest, err := l.exporter(false).Latest(t.Context(), ""); latest.Index != nil || digest != "" ||
		err != nil {
		t.Errorf("got %v, %q, %v before the first", latest, digest, err)
	}
	export(0)
	l.approve("beta", "club")
	l.approve("yeet", lingible.SourceInitial)
	export(1)
	export(2, "beta", "never")
	l.approve("alpha", "club")
	l.Set(t, "Lexicon", entryKey("alpha"), map[string]any{"reviewed_by": "ann"})
	export(3)
	l.Set(t, "Lexicon", entryKey("alpha"), map[string]any{"reviewed_by": nil})
	l.want(t, "alpha", "beta", "yeet")
	l.Remove(t, "Lexicon", entryKey("beta")...)
	export(2)
	l.want(t, "alpha", "yeet")
	body, _, _ := l.objects.Read(t.Context(), "lexicon/lexicon.json")
	want := `{"exported_at":"2026-02-02T15:30:00Z","listed_at":"2026-02-02T15:30:00Z","terms":[{"term":"alpha",` +
		`"gloss":"To be alpha","examples":["I alpha."],"sources":["club"],"is_quiz_eligible":false,"confidence":0.9,` +
		`"momentum":0.5},{"term":"yeet",`
	if !strings.HasPrefix(string(body), want) {
		t.Errorf("got %s", body)
	}

	// A reader takes an object only with the digest in the table.
	_, digest, err := l.exporter(false).Latest(t.Context(), "")
	must.OK(t, err)
	if latest, same, err := l.exporter(false).Latest(t.Context(), digest); latest.Index != nil || same != digest ||
		err != nil {
		t.Errorf("got %v, %q, %v of the export that the reader has", latest, same, err)
	}
	for _, body := range []string{"", digest[1:], strings.Repeat("0", len(digest)) + "index"} {
		must.OK(t, l.objects.Put(t.Context(), service.IndexKey, strings.NewReader(body)))
		if latest, got, err := l.exporter(false).Latest(t.Context(), "older"); err == nil || latest.Index != nil ||
			got != "older" {
			t.Errorf("%.20q: got %v, %q, %v", body, latest, got, err)
		}
	}
	must.OK(t, l.objects.Put(t.Context(), service.ExportKey, strings.NewReader("{")))
	// One that is spoiled or gone is made from the index.
	export(1)
	l.want(t, "yeet")
	must.OK(t, errors.Join(os.Remove(l.objects.file(service.ExportKey)), os.Remove(l.objects.file(service.IndexKey))))
	if latest, _, err := l.exporter(false).Latest(t.Context(), "older"); err == nil {
		t.Errorf("got %v from no object", latest)
	}
	export(1)
	l.want(t, "yeet")
}

// TestExportOfOne: what an export reads for a changed term is the same, however many terms there are.
func TestExportOfOne(t *testing.T) {
	t.Parallel()
	l := newLexicon(t)
	for i := range 150 {
		l.approve(fmt.Sprint("term", i), lingible.SourceCommunity)
	}
	must.Get(l.exporter(false).Export(t.Context(), nil))(t)
	for i := range 2 {
		l.approve(fmt.Sprint("later", i), lingible.SourceCommunity)
		l.Recorder.Requests()
		terms, err := l.exporter(false).Export(t.Context(), []string{fmt.Sprint("later", i)})
		units := 0.0
		made := l.Recorder.Requests()
		for _, request := range made {
			if request.Action == schema.Query || request.Action == schema.GetItem ||
				request.Action == schema.BatchGetItem {
				units += request.Units
			}
		}
		if err != nil || terms != 151+i || len(made) != 4 || units > 10 {
			t.Errorf("got %d terms, %v, with %d requests and %.1f read units; want 4 and at most 10", terms, err,
				len(made), units)
		}
		// A day later all are listed again.
		if i == 1 {
			l.Advance(24 * time.Hour)
			l.Remove(t, "Lexicon", entryKey("term0")...)
			if terms, err := l.exporter(false).Export(t.Context(), []string{"later1"}); err != nil ||
				terms != 151 {
				t.Errorf("the first export of another day has %d terms, %v; want 151", terms, err)
			}
		}
	}
}

func TestChangedTerms(t *testing.T) {
	t.Parallel()
	var event trigger.Records
	must.OK(t, json.Unmarshal([]byte(`{"Records":[
		{"eventName":"INSERT","dynamodb":{"Keys":{"PK":{"S":"TERM#no-cap"},"SK":{"S":"METADATA#lexicon"}}}},
		{"eventName":"REMOVE","dynamodb":{"Keys":{"PK":{"S":"TERM#TERM#"},"SK":{"S":"METADATA#lexicon"}}}},
		{"eventName":"MODIFY","dynamodb":{"Keys":{"PK":{"S":"EXPORT"},"SK":{"S":"METADATA#export"}}}},
		{"eventName":"MODIFY","dynamodb":{"Keys":{"PK":{"N":"1"}}}}, {"dynamodb":{}}, {}]}`), &event))
	var got []string
	for _, change := range event.Changes() {
		got = append(got, service.ChangedTerm(change))
	}
	if !slices.Equal(got, []string{"no-cap", "TERM#", "", "", "", ""}) {
		t.Errorf("got %q", got)
	}
}
