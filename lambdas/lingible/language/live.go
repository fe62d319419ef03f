package language

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/cache"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/model"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

// exportAge is how long a [Live] does not ask for a later export.
const exportAge = 15 * time.Second

// Exports are the exports of the lexicon; a [lingible.Exporter] has them.
type Exports interface {
	// Latest reads the latest export and its digest, or no terms if the digest is the one given, or
	// "".
	Latest(ctx context.Context, have string) (terms []lingible.Entry, digest string, err error)
}

// Live is a [lingible.Language] over the latest export of the lexicon, which it asks for when it is used, every 15 seconds at
// most. While no export can be read, it goes on with what it has; without any, its methods return a [*model.Error].
// It is safe for concurrent use.
type Live struct {
	exports Exports
	initial []lingible.Entry
	log     *slog.Logger
	asked   cache.Cache[*edition]
	kept    atomic.Pointer[edition]
}

var _ lingible.Language = (*Live)(nil)

// edition is the lexicon as of an export.
type edition struct {
	*Language
	digest  string
	entries map[string]lingible.Entry
}

// NewLive returns a language that has the initial terms until there is an export. A nil clock is [time.Now].
func NewLive(exports Exports, initial []lingible.Entry, log *slog.Logger, now func() time.Time) *Live {
	l := &Live{exports: exports, initial: initial, log: log}
	l.asked.Age, l.asked.Most, l.asked.Now = exportAge, 1, now
	return l
}

// latest returns an error when the context has ended, or no export could be read yet: the initial terms would hide that the
// lexicon has others.
func (l *Live) latest(ctx context.Context) (*edition, error) {
	return l.asked.Get(ctx, "", func(ctx context.Context) (*edition, error) {
		kept := l.kept.Load()
		if kept == nil {
			kept = &edition{Language: &Language{}}
		}
		entries, digest, err := l.exports.Latest(ctx, kept.digest)
		if err != nil && kept.entries == nil {
			return nil, &model.Error{Failure: model.Unavailable, Err: err}
		}
		if err != nil {
			l.log.WarnContext(ctx, "the latest export of the lexicon could not be read: an older one is used", "error", err.Error())
		}
		switch {
		case err == nil && digest != kept.digest && digest != "":
			kept = newEdition(entries, digest)
		case err == nil && digest == "" && (kept.entries == nil || kept.digest != ""):
			kept = newEdition(l.initial, "")
		}
		l.kept.Store(kept)
		return kept, nil
	})
}

func newEdition(entries []lingible.Entry, digest string) *edition {
	e := &edition{Language: New(entries), digest: digest, entries: map[string]lingible.Entry{}}
	for _, entry := range entries {
		e.entries[entry.Slug()] = entry
	}
	return e
}

// ModelID implements [lingible.Language].
func (*Live) ModelID() string { return ModelID }

// Translate implements [lingible.Language].
func (l *Live) Translate(ctx context.Context, text string, to lingible.Direction) (lingible.Rendering, error) {
	latest, err := l.latest(ctx)
	if err != nil {
		return lingible.Rendering{}, err
	}
	return latest.Translate(ctx, text, to)
}

// Validate implements [lingible.Language].
func (l *Live) Validate(ctx context.Context, p lingible.Proposal) (lingible.Verdict, error) {
	latest, err := l.latest(ctx)
	if err != nil {
		return lingible.Verdict{}, err
	}
	return latest.Validate(ctx, p)
}

// Trends implements [lingible.Language].
func (l *Live) Trends(ctx context.Context, most int) ([]lingible.ProposedTrend, error) {
	latest, err := l.latest(ctx)
	if err != nil {
		return nil, err
	}
	return latest.Trends(ctx, most)
}

// Entry returns the term with a slug; false: the lexicon has none.
func (l *Live) Entry(ctx context.Context, slug string) (entry lingible.Entry, found bool, err error) {
	latest, err := l.latest(ctx)
	if err != nil {
		return entry, false, err
	}
	entry, found = latest.entries[slug]
	return entry, found, nil
}

// Synonyms returns the terms that have the plain text of an entry.
func (l *Live) Synonyms(ctx context.Context, entry lingible.Entry) (synonyms []lingible.Entry, err error) {
	latest, err := l.latest(ctx)
	if err != nil || entry.Plain == nil {
		return nil, err
	}
	for _, other := range latest.entries {
		if other.Plain != nil && lingible.Slug(other.Plain.Text) == lingible.Slug(entry.Plain.Text) {
			synonyms = append(synonyms, other)
		}
	}
	return synonyms, nil
}
