package language

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/cache"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// exportAge is how long a [Live] does not ask for a later export.
const exportAge = 15 * time.Second

// Latest is what a reader gets of an export: its index, or the terms of one of an earlier version, which has none.
type Latest struct {
	Index []byte
	Terms []lingible.Entry
}

// Exports reads the latest export and its digest, or no terms and no index if the digest is the one given, or "".
type Exports func(ctx context.Context, have string) (latest Latest, digest string, err error)

// Live is a language over the latest export of the lexicon, which it asks for when it is used, every 15 seconds at
// most. While no export can be read, it goes on with what it has; without any, its methods return a [*model.Error].
// It is safe for concurrent use.
type Live struct {
	exports Exports
	initial []lingible.Entry
	log     *slog.Logger
	asked   cache.Cache[*edition]
	kept    atomic.Pointer[edition]
}

// edition is the lexicon as of an export.
type edition struct {
	*Language
	digest string
	// isRead is false until an export was read, or there was found to be none.
	isRead bool
}

// NewLive returns a language that has the initial terms until there is an export.
func NewLive(exports Exports, initial []lingible.Entry, log *slog.Logger, clock wire.Clock) *Live {
	l := &Live{exports: exports, initial: initial, log: log}
	l.asked.Age, l.asked.Max, l.asked.Clock = exportAge, 1, clock
	return l
}

// latest returns an error when the context has ended, or no export could be read yet: the initial terms would hide that
// the lexicon has others.
func (l *Live) latest(ctx context.Context) (*edition, error) {
	return l.asked.Get(ctx, "", func(ctx context.Context) (*edition, error) {
		kept := cmp.Or(l.kept.Load(), &edition{Language: &Language{}})
		latest, digest, err := l.exports(ctx, kept.digest)
		switch next := kept; {
		case err != nil:
		case digest == "" && (!kept.isRead || kept.digest != ""):
			next, err = newEdition(Latest{Terms: l.initial}, "")
			kept = cmp.Or(next, kept)
		case digest != kept.digest && digest != "":
			next, err = newEdition(latest, digest)
			kept = cmp.Or(next, kept)
		}
		if err != nil && !kept.isRead {
			return nil, &model.Error{Failure: model.Unavailable, Err: err}
		}
		if err != nil {
			l.log.WarnContext(ctx, "the latest export of the lexicon could not be read: an older one is used", "error",
				err.Error())
		}
		l.kept.Store(kept)
		return kept, nil
	})
}

// newEdition opens the index of an export. One of an earlier version of the code has none, and one that cannot be read
// is made again from the terms.
func newEdition(latest Latest, digest string) (made *edition, err error) {
	made = &edition{digest: digest, isRead: true}
	if latest.Index != nil {
		made.Language, err = open(latest.Index)
	} else {
		made.Language, err = New(latest.Terms)
	}
	if err != nil {
		return nil, err
	}
	return made, nil
}

// ModelID says what translates and judges.
func (*Live) ModelID() string { return ModelID }

// Translate translates a text.
func (l *Live) Translate(ctx context.Context, in lingible.TranslationInput) (lingible.Rendering, error) {
	return by(ctx, l, func(e *edition) (lingible.Rendering, error) { return e.Translate(ctx, in) })
}

// Validate judges a submission.
func (l *Live) Validate(ctx context.Context, p lingible.Proposal) (lingible.Verdict, error) {
	return by(ctx, l, func(e *edition) (lingible.Verdict, error) { return e.Validate(ctx, p) })
}

// Trends proposes up to most terms that are in use.
func (l *Live) Trends(ctx context.Context, most int) ([]lingible.ProposedTrend, error) {
	return by(ctx, l, func(e *edition) ([]lingible.ProposedTrend, error) { return e.Trends(ctx, most) })
}

// by returns what the latest edition says.
func by[T any](ctx context.Context, l *Live, says func(*edition) (T, error)) (none T, _ error) {
	latest, err := l.latest(ctx)
	if err != nil {
		return none, err
	}
	return says(latest)
}

// Entry returns the term with a slug; false: the lexicon has none.
func (l *Live) Entry(ctx context.Context, slug string) (entry lingible.Entry, found bool, err error) {
	latest, err := l.latest(ctx)
	if err != nil {
		return entry, false, err
	}
	at, found := latest.find(slugsSection, slug)
	if !found {
		return entry, false, nil
	}
	entry, err = latest.entryAt(uint32(at))
	return entry, err == nil, err
}

// maxSynonyms bounds what one question of the quiz reads.
const maxSynonyms = 100

// Synonyms returns the terms that have the plain text of an entry, up to 100.
func (l *Live) Synonyms(ctx context.Context, entry lingible.Entry) (synonyms []lingible.Entry, err error) {
	latest, err := l.latest(ctx)
	if err != nil || entry.Plain == nil {
		return nil, err
	}
	list, found := latest.find(synonymsSection, lingible.Slug(entry.Plain.Text))
	if !found {
		return nil, nil
	}
	count, at := latest.list(uint32(list))
	for i := range min(count, maxSynonyms) {
		other, err := latest.entryAt(at(i))
		if err != nil {
			return nil, err
		}
		synonyms = append(synonyms, other)
	}
	return synonyms, nil
}

// QuizTerms returns how many terms of a difficulty and category the quiz asks about, and reads one of them; either may
// be empty: all.
func (l *Live) QuizTerms(ctx context.Context, difficulty lingible.Difficulty, category lingible.Category) (count int,
	term func(int) (lingible.Entry, error), err error) {
	latest, err := l.latest(ctx)
	if err != nil {
		return 0, nil, err
	}
	list, found := latest.header.Quiz[quizList(difficulty, category)]
	if !found {
		return 0, nil, nil
	}
	count, at := latest.list(list)
	return count, func(i int) (lingible.Entry, error) { return latest.entryAt(at(i)) }, nil
}
