package api_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/api"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// steady is a source of random numbers that returns the same one each time. Options then have a fixed order.
type steady struct{}

func (steady) Uint64() uint64 { return 0x9e3779b97f4a7c15 }

// The answers of all routes, in the very bytes of the wire. The commands of the script: "stored" starts a platform with
// its tables, "within 9s" one whose requests may take so long, and "terms 9" one whose lexicon has term 1 to term 9.
// "premium ann, bob" makes these premium users. "hurried" leaves requests so little time that long work stops.
//
// What has no route is a verb. "validate ID VERDICT" validates a submission. "revalidate VERDICT", "score PROPOSALS"
// and "clean USER" are runs of these functions. A VERDICT is "valid 0.85 7 recommended", with confidence and usage, or
// "invalid", or "fail" for a language that fails. "submit TERM as USER judged VERDICT" submits a term, and validates
// it. Without USER, the term has an author of its own. "asked 9 USER" asks a user nine questions of the quiz, answers
// them, and returns the quiz. "set TABLE KEY ATTRIBUTES" sets attributes of an item. "events" are what changes have
// published, "metrics" what was counted, and "warnings" what was logged.
func TestWire(t *testing.T) {
	t.Parallel()
	httpapitest.Run(t, "testdata/wire.txt", script, nil)
}

// script is a platform as [TestWire] describes it.
func script(t *testing.T) httpapitest.Script {
	var w *lingibletest.World
	var handler http.Handler
	var log bytes.Buffer
	var streams []func() []json.RawMessage
	authors := 0
	start := func(command string) (http.Handler, *worldtest.World) {
		var workTime time.Duration
		switch what, argument, _ := strings.Cut(command, " "); what {
		case "premium":
			for user := range strings.SplitSeq(argument, ", ") {
				w.Premium(t, user)
			}
			return handler, nil
		case "hurried":
			return http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
				handler.ServeHTTP(a, r.WithContext(worldtest.Leaving(r.Context(), 2*time.Second)))
			}), nil
		case "stored", "terms", "within":
			w, authors = lingibletest.New(t), 0
			log.Reset()
			w.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
			w.Random, streams = steady{}, nil
			for _, table := range []string{"Translations", "Submissions", "Users"} {
				streams = append(streams, triggertest.Stream(t, lingible.Platform(), w.Tables, table))
			}
			if what == "within" {
				workTime, argument = must.Get(time.ParseDuration(argument))(t), ""
			}
			know(t, w, argument)
		default:
			t.Fatalf("there is no command %s", command)
		}
		keys := w.Keys()
		keys.Clock = w.Read
		handler = api.Handler(w.Service, httpapi.Config{Idempotency: httpapi.Idempotency{Keys: keys},
			Limiter: w.Limiter(), WorkTime: workTime, Log: slog.New(slog.DiscardHandler), Clock: w.Read})
		return handler, w.World
	}
	validate := func(argument string) string { return validated(t, w, argument) }
	return httpapitest.Script{Start: start, Verbs: map[string]func(string) string{
		"validate": validate,
		"submit": func(argument string) string {
			text, verdict, isJudged := strings.Cut(argument, " judged ")
			term, user, _ := strings.Cut(text, " as ")
			caller := w.Caller(user)
			if user == "" {
				authors++
				caller = w.Premium(t, fmt.Sprint("author ", authors))
			}
			made, err := w.Submit(t.Context(), caller, lingible.Proposal{Term: term, Meaning: "The meaning of " + term,
				Example: "They said " + term + " to us."})
			switch {
			case err != nil:
				return err.Error()
			case isJudged:
				return made.ID + " " + validate(made.ID+" "+verdict)
			}
			return made.ID
		},
		"revalidate": func(verdict string) string {
			w.Language = judging(verdict)
			run, err := w.Revalidate(t.Context())
			return fmt.Sprintf("%+v %v", run, err)
		},
		"score": func(proposals string) string {
			var proposed []lingible.ProposedTrend
			w.Language = failing{}
			if proposals != "fail" {
				must.OK(t, json.Unmarshal([]byte(proposals), &proposed))
				w.Language = &lingibletest.Speaker{Proposed: proposed}
			}
			run, err := w.ScoreTrends(t.Context())
			return fmt.Sprintf("%+v %v", run, err)
		},
		"clean": func(user string) string { return fmt.Sprint(w.CleanAccount(t.Context(), user)) },
		"asked": func(argument string) string {
			times, user, _ := strings.Cut(argument, " ")
			caller, session := w.Caller(user), ""
			for range must.Get(strconv.Atoi(times))(t) {
				question := must.Get(w.AskQuestion(t.Context(), caller, "", ""))(t)
				must.Get(w.AnswerQuestion(t.Context(), caller, question.SessionID, question.ID, "a"))(t)
				session = question.SessionID
			}
			return session
		},
		"set": func(argument string) string {
			key, text, _ := strings.Cut(argument, " {")
			var attributes map[string]any
			must.OK(t, json.Unmarshal([]byte("{"+text), &attributes))
			words := strings.Split(key, " ")
			w.Tables.Set(t, words[0], []any{words[1], words[2]}, attributes)
			return "done"
		},
		"events": func(string) string {
			var records []json.RawMessage
			for _, stream := range streams {
				records = append(records, stream()...)
			}
			return strings.Join(triggertest.Lines(t, lingible.Platform(), service.EventsOf, records, "user_id",
				"translation_id", "submission_id", "approval_type", "session_id", "questions_asked"), "")
		},
		"metrics": func(string) string {
			return string(must.Get(json.Marshal(metricstest.Sums(t, w.Counted())))(t))
		},
		"warnings": func(string) string { return cmp.Or(log.String(), "none") },
	}}
}

// failing is a language that proposes nothing.
type failing struct{ *lingibletest.Speaker }

func (failing) Trends(context.Context, int) ([]lingible.ProposedTrend, error) {
	return nil, lingibletest.Failure()
}

// know adds that many terms to the lexicon of a world. The quiz may ask about each of them.
func know(t *testing.T, w *lingibletest.World, number string) {
	var entries []lingible.Entry
	for i := range must.Get(strconv.Atoi(cmp.Or(number, "0")))(t) {
		term := fmt.Sprint("term ", i+1)
		entries = append(entries, lingible.Entry{Term: term, Gloss: "What " + term + " means",
			Examples: []string{"It is " + term + "."}, IsQuizEligible: true, QuizCategory: lingible.Praise,
			Confidence: 0.9, Momentum: 1})
	}
	if len(entries) > 0 {
		must.Get(w.AddWrongAnswers(t.Context(), lingible.Praise, []string{"Wrong 1", "Wrong 2", "Wrong 3"}))(t)
	}
	w.Know(entries...)
}

// judging is a language that judges as "valid 0.85 7 recommended" says, or fails for "fail".
func judging(verdict string) *lingibletest.Speaker {
	return &lingibletest.Speaker{Judge: func(lingible.Proposal) (judged lingible.Verdict, err error) {
		var is, recommended string
		_, _ = fmt.Sscan(verdict, &is, &judged.Confidence, &judged.Usage, &recommended)
		judged.Valid, judged.Recommended = is == "valid", recommended != ""
		if is == "fail" {
			err = lingibletest.Failure()
		}
		return judged, err
	}}
}

// validated validates a submission by "ID VERDICT", or "ID VERDICT, at once 6". It returns its status, and the error.
func validated(t *testing.T, w *lingibletest.World, argument string) string {
	text, times, _ := strings.Cut(argument, ", at once ")
	id, verdict, _ := strings.Cut(text, " ")
	w.Language = judging(verdict)
	stored := func() map[string]any {
		all := w.Items(t, "Submissions")
		return all[slices.IndexFunc(all, func(item map[string]any) bool { return item["submission_id"] == id })]
	}
	slug := strings.TrimPrefix(stored()["PK"].(string), "TERM#")
	var all errgroup.Group
	for range must.Get(strconv.Atoi(cmp.Or(times, "1")))(t) {
		all.Go(func() error { return w.Validate(t.Context(), slug, id) })
	}
	if err := all.Wait(); err != nil {
		return fmt.Sprint(stored()["status"], ": ", err)
	}
	return fmt.Sprint(stored()["status"])
}
