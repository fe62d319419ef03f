package language_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema/model"
)

// exports are exports of one term each, whose digest is its name.
type exports struct {
	term  string
	err   error
	asked int
}

func (e *exports) Latest(_ context.Context, have string) (latest language.Latest, digest string, err error) {
	e.asked++
	switch {
	case e.err != nil || e.term == have || e.term == "":
		return latest, e.term, e.err
	case e.asked%2 == 0:
		latest.Terms = terms(e.term) // of an earlier version
	default:
		latest.Index, err = language.Build(terms(e.term))
	}
	return latest, e.term, err
}

func terms(name string) []lingible.Entry {
	return []lingible.Entry{{Term: name, Plain: &lingible.Plain{Text: "plain " + name, PartOfSpeech: lingible.Noun},
		Momentum: 1}}
}

// A Live asks for the latest export every 15 seconds at most. While it can read none, it goes on with
// the one that it has.
func TestLive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &exports{}
		var log bytes.Buffer
		l := language.NewLive(source.Latest, terms("initial"), slog.New(slog.NewTextHandler(&log, nil)), nil)
		check := func(term string, asked, warnings int) {
			t.Helper()
			got, err := l.Translate(t.Context(), lingible.TranslationInput{Text: term})
			if err != nil || got.Text != "plain "+term {
				t.Errorf("got %+v, %v, want the language of %s", got, err, term)
			}
			trends, err := l.Trends(t.Context(), 2)
			if err != nil || len(trends) != 1 || trends[0].Term != term {
				t.Errorf("got the trends %+v, %v", trends, err)
			}
			verdict, err := l.Validate(t.Context(),
				lingible.Proposal{Term: term, Meaning: "A word of the test", Example: "They say " + term + " all day."})
			if err != nil || verdict.Valid {
				t.Errorf("got %+v, %v of a term of the lexicon", verdict, err)
			}
			if entry, found, err := l.Entry(t.Context(), term); err != nil || !found || entry.Term != term {
				t.Errorf("got the entry %+v, %v, %v", entry, found, err)
			}
			for plain, want := range map[string]int{"Plain " + term: 1, "plain": 0} {
				synonyms, err := l.Synonyms(t.Context(),
					lingible.Entry{Term: "another", Plain: &lingible.Plain{Text: plain}})
				if err != nil || len(synonyms) != want || want == 1 && synonyms[0].Term != term {
					t.Errorf("%q: got the synonyms %+v, %v", plain, synonyms, err)
				}
			}
			if none, err := l.Synonyms(t.Context(), lingible.Entry{Term: term}); err != nil || none != nil {
				t.Errorf("without a plain text: got the synonyms %+v, %v", none, err)
			}
			if _, found, err := l.Entry(t.Context(), "other"); err != nil || found {
				t.Errorf("got another term, %v", err)
			}
			if n := strings.Count(log.String(), "could not be read"); source.asked != asked || n != warnings {
				t.Errorf("asked %d times and warned %d times, want %d and %d", source.asked, n, asked, warnings)
			}
		}
		if l.ModelID() != language.ModelID {
			t.Errorf("got %s", l.ModelID())
		}
		check("initial", 1, 0)
		source.term = "first"
		time.Sleep(15*time.Second - time.Nanosecond)
		check("initial", 1, 0)
		time.Sleep(time.Nanosecond)
		check("first", 2, 0)
		time.Sleep(15 * time.Second)
		check("first", 3, 0)
		source.err = errors.New("refused")
		time.Sleep(15 * time.Second)
		check("first", 4, 1)
		source.term, source.err = "second", nil
		time.Sleep(14 * time.Second)
		check("first", 4, 1)
		time.Sleep(time.Second)
		check("second", 5, 1)
		source.term = ""
		time.Sleep(15 * time.Second)
		check("initial", 6, 1)

		// One that cannot read whether there is an export knows no terms.
		source.asked, source.err = 0, errors.New("refused")
		l = language.NewLive(source.Latest, terms("initial"), slog.New(slog.DiscardHandler), nil)
		got, err := l.Translate(t.Context(), lingible.TranslationInput{Text: "initial"})
		if failure, ok := errors.AsType[*model.Error](err); !errors.Is(err, source.err) || !ok ||
			failure.Failure != model.Unavailable {
			t.Errorf("got %+v, %v, want the error", got, err)
		}
		source.err = nil
		check("initial", 2, 1)

		// A call waits no longer than it may.
		l = language.NewLive(func(ctx context.Context, _ string) (latest language.Latest, digest string, err error) {
			<-ctx.Done()
			return latest, "", ctx.Err()
		}, nil, slog.New(slog.DiscardHandler), nil)
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err = l.Translate(short, lingible.TranslationInput{Text: "initial"})
		if waited := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || waited != time.Millisecond {
			t.Errorf("got %v after %s", err, waited)
		}
		time.Sleep(5 * time.Second) // the read ends
	})
}
