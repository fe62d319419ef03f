// Package lingibletest gives tests Lingible on tables of their own, with a language and a clock that
// tests control.
package lingibletest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Began is the moment at which the clock of a [World] begins: 09:30 in Chicago.
func Began() time.Time { return time.Date(2026, 2, 2, 15, 30, 0, 0, time.UTC) }

// World is Lingible on tables of its own, in the zone of Chicago, with the language of a [Speaker].
type World struct {
	*service.Service
	*worldtest.World

	output bytes.Buffer
}

// New makes a world.
func New(t testing.TB) *World {
	t.Helper()
	return Of(t, lingible.Platform())
}

// Of makes a world of the platform with what a team has added. In the end each item has to have the attributes of the
// schema alone.
func Of(t testing.TB, platform schema.Platform) *World {
	t.Helper()
	zone := must.Get(validate.Zone("America/Chicago"))(t)
	w := &World{World: worldtest.New(t, platform, Began())}
	t.Cleanup(func() {
		for _, table := range platform.Database.Tables {
			for _, item := range w.Stored(t, table.Name) {
				for name := range item {
					if _, ok := table.Attribute(name); !ok {
						t.Errorf("an item of %s has %s, which the schema does not", table.Name, name)
					}
				}
			}
		}
	})
	w.Service = &service.Service{
		DB: w.Tables.DB, CursorKey: []byte("the key of these tests"), Language: &Speaker{},
		VotesToApprove: lingible.DefaultVotesToApprove,
		Calendar:       lingible.Calendar{Zone: zone, Clock: w.Read}, Log: slog.New(slog.DiscardHandler),
		Metrics: &kit.Metrics{Namespace: "Onesynth/lingible", Function: "test", Writer: &w.output},
	}
	return w
}

// Read is the clock.
func (w *World) Read() time.Time { return w.Now() }

// Counted are the lines with the metrics so far.
func (w *World) Counted() string { return w.output.String() }

// Know gives the service a lexicon of these entries.
func (w *World) Know(entries ...lingible.Entry) {
	w.Lexicon = language.NewLive(func(context.Context, string) (latest language.Latest, digest string, err error) {
		return latest, "", nil
	}, entries, slog.New(slog.DiscardHandler), w.Read)
}

// Caller is a user with a token of this moment.
func (w *World) Caller(id string) service.Caller {
	return service.Caller{ID: id, Email: id + "@example.com", SignedIn: w.Read()}
}

// Premium is a caller who is a premium user.
func (w *World) Premium(t testing.TB, id string) service.Caller {
	t.Helper()
	caller := w.Caller(id)
	must.Get(w.Upgrade(t.Context(), caller))(t)
	return caller
}

// Speaker is a language that takes each text as one term. It fails for "fail", and leaves "same" as
// it is, and "gloss" with a gloss. Its zero value is ready to use.
type Speaker struct {
	// Judge judges submissions. Nil: each is valid, and is to be voted on.
	Judge func(lingible.Proposal) (lingible.Verdict, error)
	// Proposed are the trends that it proposes.
	Proposed []lingible.ProposedTrend
	// Change changes each translation; nil: none.
	Change func(*lingible.Rendering)
}

// Failure is what a [Speaker] fails with.
func Failure() error {
	return &model.Error{Failure: model.Throttled, Err: errors.New("the model is busy")}
}

// Translate implements [service.Language].
func (s *Speaker) Translate(ctx context.Context, in lingible.TranslationInput) (lingible.Rendering, error) {
	rendering, err := translate(ctx, in)
	if s.Change != nil {
		s.Change(&rendering)
	}
	return rendering, err
}

func translate(ctx context.Context, in lingible.TranslationInput) (lingible.Rendering, error) {
	text := in.Text
	switch text {
	case "fail":
		return lingible.Rendering{}, Failure()
	case "gloss":
		return lingible.Rendering{Text: text, Unchanged: true, Confidence: 0.75,
			Glosses: []lingible.Gloss{{Term: "gloss", Meaning: "A word beside another"}}}, ctx.Err()
	case "same":
		return lingible.Rendering{Text: text, Unchanged: true}, ctx.Err()
	}
	return lingible.Rendering{Text: string(in.Direction) + " " + text, Confidence: 0.75,
		Terms:    []string{lingible.Slug(text)},
		Meanings: []lingible.Gloss{{Term: text, Plain: string(in.Direction) + " " + text, Meaning: "It is itself"}},
	}, ctx.Err()
}

// Validate implements [service.Language].
func (s *Speaker) Validate(ctx context.Context, submission lingible.Proposal) (lingible.Verdict, error) {
	if s.Judge == nil {
		return lingible.Verdict{Valid: true, Confidence: 0.8, Usage: 5, Reasons: []string{}}, ctx.Err()
	}
	return s.Judge(submission)
}

// Trends implements [service.Language].
func (s *Speaker) Trends(ctx context.Context, most int) ([]lingible.ProposedTrend, error) {
	return s.Proposed[:min(most, len(s.Proposed))], ctx.Err()
}

// ModelID implements [service.Language].
func (s *Speaker) ModelID() string { return "speaker" }
