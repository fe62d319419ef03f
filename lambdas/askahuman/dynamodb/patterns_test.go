package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/schema"
)

var start = time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)

func newQuestion(agent string, required int) askahuman.Question {
	return askahuman.Question{
		ID: uuid.NewString(), Status: askahuman.StatusOpen, Prompt: "Should an error message apologise?", Type: askahuman.TypeText,
		Audience: []string{"general"}, RequiredResponses: required, AgentID: agent,
		CreatedAt: start, Deadline: start.Add(time.Hour), ExpiresAt: start.Add(25 * time.Hour), DueAt: start,
	}
}

func newAnswer(q askahuman.Question, person string) (askahuman.Response, askahuman.Stats) {
	r := askahuman.Response{
		ID: askahuman.ResponseID(q.ID, person), QuestionID: q.ID, PersonHash: person, Answer: "Only when it is at fault.",
		Type: askahuman.TypeText, ResponseTimeMS: -1, CreatedAt: start.Add(time.Minute), Points: 10, ContentDigest: "d", ContentLength: 25,
	}
	st := askahuman.Stats{
		PersonHash: person, TotalPoints: 10, TotalAnswers: 1, CreatedAt: start, UpdatedAt: start,
		Day: "2026-02-02", DailyPoints: 10, DailyAnswers: 1, Week: "2026-02-02", WeeklyPoints: 10, WeeklyAnswers: 1,
	}
	return r, st
}

func newSubscription(token string) askahuman.Subscription {
	return askahuman.Subscription{
		ID: uuid.NewString(), Token: token, Interval: 30 * time.Minute, Active: true, PersonHash: "person-" + token, CreatedAt: start, UpdatedAt: start,
	}
}

// TestEveryAccessPattern makes each pattern's request through the store that the handlers use,
// compares it with its declaration, and prints what it consumed.
func TestEveryAccessPattern(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	platform := schema.AskAHuman()
	tables := dynamotest.Open(t, platform.Database)
	store := dynamodb.New(tables.DB, dynamodb.Shards{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ask := func() askahuman.Question {
		q := newQuestion("agent", 3)
		must(store.CreateQuestion(ctx, q))
		return q
	}
	keys := store.Keys()
	begin := func(key string) *idempotency.Claim {
		claim, _, err := keys.Begin(ctx, "agent", key, []byte("request"), time.Minute)
		must(err)
		return claim
	}
	answer := func(q askahuman.Question, person string) {
		r, st := newAnswer(q, person)
		_, err := store.SubmitResponse(ctx, q, r, st)
		must(err)
	}
	subscribe := func() askahuman.Subscription {
		sub, err := store.Subscribe(ctx, newSubscription(uuid.NewString()))
		must(err)
		stored, err := store.DueSubscriptions(ctx, start, 1000)
		must(err)
		for _, s := range stored {
			if s.ID == sub.ID {
				return s
			}
		}
		t.Fatal("a new subscription is not due")
		return sub
	}
	answered := ask()
	answer(answered, "alice")
	answered.CurrentResponses++
	answer(answered, "bob")
	release := func() func() error {
		sub := subscribe()
		must(held(store.ClaimSubscription(ctx, sub, answered.ID, start)))
		return func() error { return store.ReleaseSubscription(ctx, sub, start) }
	}
	claim := func() func() error {
		sub := subscribe()
		return func() error { return held(store.ClaimSubscription(ctx, sub, answered.ID, start)) }
	}
	limit, _ := platform.RateLimit("poll")
	answerID := askahuman.ResponseID(answered.ID, "alice")
	reports := func() func() error {
		must(store.KeepReport(ctx, answered.ID, answerID, "agent", complaint()))
		return func() error {
			_, _, _, err := store.Reports(ctx, askahuman.ReportOpen, 20, askahuman.Position{}, start)
			return err
		}
	}

	openOf := func() func() error {
		return func() error { _, err := store.OpenOfAgent(ctx, "agent", 100, start); return err }
	}

	later := start.Add(2 * time.Hour)
	cases := dynamotest.Cases{
		"GetQuestion": func() func() error {
			return func() error { _, err := store.Question(ctx, answered.ID, start); return err }
		},
		"ListOpenQuestions": func() func() error {
			return func() error { _, _, err := store.OpenQuestions(ctx, 20, askahuman.Position{}, start); return err }
		},
		"ListAgentQuestions": func() func() error {
			return func() error {
				_, _, _, err := store.AgentQuestions(ctx, "agent", askahuman.StatusClosed, 20, askahuman.Position{}, start)
				return err
			}
		},
		"GetAgentQuestions": func() func() error {
			return func() error {
				_, _, _, err := store.AgentQuestions(ctx, "agent", askahuman.StatusPartial, 20, askahuman.Position{}, start)
				return err
			}
		},
		"ListResponses": func() func() error { return func() error { _, err := store.Responses(ctx, answered.ID); return err } },
		"ListRecentAnswers": func() func() error {
			return func() error { _, err := store.RecentAnswers(ctx, "alice", start, 20); return err }
		},
		"GetOwnResponse": func() func() error {
			return func() error { _, err := store.HasAnswered(ctx, answered.ID, "alice"); return err }
		},
		"ListByLastNotified": func() func() error {
			subscribe()
			return func() error {
				return drain(tables.DB, "ListByLastNotified", "true", "2026-02-02T09:30:00.000Z")
			}
		},
		"GetUserStats": func() func() error { return func() error { _, err := store.Stats(ctx, "alice"); return err } },
		"ListTopTotal": func() func() error {
			return func() error { _, err := store.Top(ctx, askahuman.PeriodAllTime, "", 10); return err }
		},
		"ListTopDaily": func() func() error {
			return func() error { _, err := store.Top(ctx, askahuman.PeriodDaily, "2026-02-02", 10); return err }
		},
		"ListTopWeekly": func() func() error {
			return func() error { _, err := store.Top(ctx, askahuman.PeriodWeekly, "2026-02-02", 10); return err }
		},
		"CountRequest": func() func() error {
			return func() error { _, err := store.Limiter().CountRequest(ctx, limit, "agent", start); return err }
		},
		"TakePlace":     func() func() error { return func() error { ask(); return nil } },
		"StoreQuestion": func() func() error { return func() error { ask(); return nil } },
		"CreateQuestion": func() func() error {
			q := newQuestion("agent", 3)
			q.IdempotencyKey = "key"
			claim := begin(q.IdempotencyKey)
			return func() error { return store.CreateQuestion(idempotency.WithClaim(ctx, claim, created), q) }
		},
		schema.ClaimIdempotencyKey: func() func() error {
			return func() error { begin("claimed"); return nil }
		},
		schema.SettleIdempotencyKey: func() func() error {
			claim := begin("released")
			return func() error { return keys.Release(ctx, claim) }
		},
		"FreePlaces": func() func() error {
			one := dynamodb.New(tables.DB, dynamodb.Shards{})
			one.Quota = 1
			q := newQuestion("agent whose questions end unmarked", 3)
			must(one.CreateQuestion(ctx, q))
			next := newQuestion(q.AgentID, 3)
			next.CreatedAt = q.Deadline
			return func() error { return one.CreateQuestion(ctx, next) }
		},
		"EndQuestion": func() func() error {
			q := ask()
			return func() error { return held(store.EndQuestion(ctx, q, askahuman.StatusClosed, start)) }
		},
		"SubmitResponse": func() func() error {
			q := ask()
			return func() error { answer(q, "carol"); return nil }
		},
		"GetAnswerState": func() func() error {
			return func() error { _, err := store.AnswerState(ctx, answered.ID, "alice", start); return err }
		},
		"GetSubscription": func() func() error {
			sub := subscribe()
			return func() error { return get(tables.DB, "GetSubscription", sub.ID) }
		},
		"CreateSubscription": func() func() error {
			return func() error { _, err := store.Subscribe(ctx, newSubscription("new token")); return err }
		},
		"ChangeSubscription": func() func() error {
			sub := subscribe()
			return func() error { _, err := store.ChangeSubscription(ctx, sub.ID, "", time.Hour, start); return err }
		},
		"UpdateSubscription": func() func() error {
			sub := subscribe()
			return func() error { return store.RenewSubscription(ctx, sub.ID, sub.Token, uuid.NewString(), 0, start) }
		},
		"DeleteSubscription": func() func() error {
			sub := subscribe()
			return func() error { return store.Unsubscribe(ctx, sub.ID) }
		},
		"ListDueQuestions": func() func() error {
			ask()
			return func() error { return store.DueQuestions(ctx, later, func(askahuman.Question) bool { return false }) }
		},
		"ClaimQuestion": func() func() error {
			q := ask()
			return func() error { return held(store.ClaimQuestion(ctx, q, start, later)) }
		},
		"ListDueSubscriptions": func() func() error {
			return func() error { _, err := store.DueSubscriptions(ctx, later, 100); return err }
		},
		"ClaimPerson":       claim,
		"ClaimSubscription": claim,
		"DeferSubscription": func() func() error {
			sub := subscribe()
			must(held(store.ClaimSubscription(ctx, sub, answered.ID, start)))
			must(store.MarkNotified(ctx, sub.PersonHash, answered.ID, start))
			other := newSubscription("of another device")
			other.PersonHash, other.NextNotificationAt = sub.PersonHash, time.Unix(0, 0)
			_, err := store.Subscribe(ctx, other)
			must(err)
			return func() error {
				claimed, err := store.ClaimSubscription(ctx, other, answered.ID, start)
				return held(!claimed, err)
			}
		},
		"MarkNotified": func() func() error {
			return func() error { return store.MarkNotified(ctx, "person", answered.ID, start) }
		},
		"ReleaseSubscription": release,
		"ReleasePerson":       release,
		"DeactivateSubscription": func() func() error {
			sub := subscribe()
			return func() error { return store.DeactivateSubscription(ctx, sub, start) }
		},
		"KeepReport": func() func() error {
			return func() error { return store.KeepReport(ctx, ask().ID, "", "alice", complaint()) }
		},
		"ListReports": reports, "GetReportedQuestions": reports, "GetReportedResponses": reports,
		"HideQuestion": func() func() error {
			q := ask()
			return func() error { return store.HideQuestion(ctx, q, true, decision) }
		},
		"HideResponse": func() func() error {
			return func() error { return store.HideResponse(ctx, answered.ID, answerID, true, decision) }
		},
		"GetOpenQuestionIDs": openOf, "GetOpenQuestions": openOf,
		"DecideReport": func() func() error {
			reports()
			return func() error { return store.DecideReport(ctx, answerID, askahuman.ReportDismissed, decision) }
		},
		"BlockPerson": func() func() error {
			return func() error { return store.BlockPerson(ctx, "bob", true, start) }
		},
		"BlockAgent": func() func() error {
			return func() error { return store.BlockAgent(ctx, "agent", true, start) }
		},
		"NoteDelivery": func() func() error {
			return func() error {
				return store.NoteDelivery(ctx, answered.ID, askahuman.Delivery{State: askahuman.DeliveryWaiting, Attempts: 1, AttemptedAt: start, NextAttemptAt: later})
			}
		},
		"GetDelivery": func() func() error {
			return func() error { _, err := store.Delivery(ctx, answered.ID); return err }
		},
		"GetWebhookSecret": func() func() error {
			return func() error { _, err := store.WebhookSecretVersion(ctx, "agent"); return err }
		},
		"RotateWebhookSecret": func() func() error {
			version, err := store.WebhookSecretVersion(ctx, "agent")
			must(err)
			version.Number++
			version.Rotated = []time.Time{start}
			return func() error { return held(store.RotateWebhookSecret(ctx, "agent", version)) }
		},
	}

	tables.Measure(t, platform.Database.AccessPatterns, cases, nil)
}

func held(ok bool, err error) error {
	if err == nil && !ok {
		return errors.New("the condition did not hold")
	}
	return err
}

func drain(db *dynamo.DB, pattern string, values ...any) error {
	n := 0
	for _, err := range db.Items(context.Background(), pattern, dynamo.Query{Values: values}) {
		if err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		return errors.New("no items")
	}
	return nil
}

func get(db *dynamo.DB, pattern string, key ...any) error {
	var item map[string]any
	found, err := db.Get(context.Background(), pattern, &item, key...)
	if err == nil && !found {
		return errors.New("no item")
	}
	return err
}

// A page of a list is one request for each of its keys: what shows that there is a
// further page costs no other.
func TestPageIsOneRequest(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	tables := dynamotest.Open(t, schema.AskAHuman().Database)
	store := dynamodb.New(tables.DB, dynamodb.Shards{})
	for i := range 8 {
		q := newQuestion("agent", 3)
		q.CreatedAt = start.Add(time.Duration(i) * time.Millisecond)
		if err := store.CreateQuestion(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	tables.Recorder.Requests()
	var feed, own askahuman.Position
	for _, page := range []struct {
		length int
		more   bool
	}{{3, true}, {3, true}, {2, false}} {
		questions, more, err := store.OpenQuestions(ctx, 3, feed, start)
		if err != nil || len(questions) != page.length || more != page.more {
			t.Fatalf("feed: got %d questions, %t, %v; want %+v", len(questions), more, err, page)
		}
		if n := len(tables.Recorder.Requests()); n != 2 { // OPEN and PARTIAL
			t.Errorf("feed: got %d requests for %+v, want 2", n, page)
		}
		last := questions[len(questions)-1]
		feed = askahuman.Position{CreatedAt: last.CreatedAt, ID: last.ID}

		questions, own, more, err = store.AgentQuestions(ctx, "agent", "", 3, own, start)
		if err != nil || len(questions) != page.length || more != page.more {
			t.Fatalf("agent's questions: got %d, %t, %v; want %+v", len(questions), more, err, page)
		}
		if n := len(tables.Recorder.Requests()); n != 1 {
			t.Errorf("agent's questions: got %d requests for %+v, want 1", n, page)
		}
	}
}

// TestReadsPageToTheEnd makes pages of two items, so that every list crosses page
// boundaries.
func TestReadsPageToTheEnd(t *testing.T) {
	t.Parallel()
	for _, shards := range []dynamodb.Shards{{}, {Write: 3}} {
		t.Run(fmt.Sprintf("%+v", shards), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			tables := dynamotest.Open(t, schema.AskAHuman().Database)
			tables.Recorder.PageSize = 2
			store := dynamodb.New(tables.DB, shards)
			const n = 11
			want := map[string]bool{}
			for i := range n {
				q := newQuestion("agent", n+1)
				// Several in one millisecond: their order is the index's own.
				q.CreatedAt = start.Add(time.Duration(i/3) * time.Millisecond)
				want[q.ID] = true
				if err := store.CreateQuestion(ctx, q); err != nil {
					t.Fatal(err)
				}
				r, st := newAnswer(q, fmt.Sprint("person", i))
				if i%2 == 0 {
					if _, err := store.SubmitResponse(ctx, q, r, st); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := store.Subscribe(ctx, newSubscription(fmt.Sprint("token", i))); err != nil {
					t.Fatal(err)
				}
			}
			check := func(what string, got []string) {
				t.Helper()
				seen := map[string]bool{}
				for _, id := range got {
					if seen[id] || !want[id] {
						t.Errorf("%s: %s came twice or unasked", what, id)
					}
					seen[id] = true
				}
				if len(seen) != n {
					t.Errorf("%s: got %d, want %d", what, len(seen), n)
				}
			}
			var ids []string
			for _, limit := range []int{1, 2, 3, 4, 20} {
				ids = nil
				var after askahuman.Position
				var last time.Time
				for more := true; more; {
					var page []askahuman.Question
					var err error
					page, more, err = store.OpenQuestions(ctx, limit, after, start)
					if err != nil {
						t.Fatal(err)
					}
					for _, q := range page {
						if !last.IsZero() && q.CreatedAt.After(last) {
							t.Errorf("limit %d: %s is newer than the one before it", limit, q.ID)
						}
						last = q.CreatedAt
						ids = append(ids, q.ID)
						after = askahuman.Position{CreatedAt: q.CreatedAt, ID: q.ID}
					}
				}
				check(fmt.Sprintf("feed, limit %d", limit), ids)

				ids, after = nil, askahuman.Position{}
				for more := true; more; {
					var page []askahuman.Question
					var err error
					page, after, more, err = store.AgentQuestions(ctx, "agent", "", limit, after, start)
					if err != nil {
						t.Fatal(err)
					}
					for _, q := range page {
						ids = append(ids, q.ID)
					}
				}
				check(fmt.Sprintf("agent's questions, limit %d", limit), ids)
			}
			ids = nil
			if err := store.DueQuestions(ctx, start, func(q askahuman.Question) bool { ids = append(ids, q.ID); return true }); err != nil {
				t.Fatal(err)
			}
			check("due questions", ids)
			if subs, err := store.DueSubscriptions(ctx, start, 1000); err != nil || len(subs) != n {
				t.Errorf("due subscriptions: got %d, %v; want %d", len(subs), err, n)
			}
			if top, err := store.Top(ctx, askahuman.PeriodAllTime, "", 100); err != nil || len(top) != 6 {
				t.Errorf("leaderboard: got %d, %v; want 6", len(top), err)
			}
		})
	}
}
