package askahuman

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

var start = time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)

// newQuestion is a question of the start, whose id has no time.
func newQuestion(agent string, required int) askahuman.Question {
	q := questionAt(agent, start)
	q.ID, q.RequiredResponses = uuid.NewString(), required
	return q
}

func subscriptionFor(token string) askahuman.Subscription {
	return subscriptionAt(token, "person-"+token, start)
}

// The tests of the package cover the access patterns, but for those of the secrets of webhooks, which package webhooks
// has, and those of the functions of the API, which package api has.
func TestMain(m *testing.M) {
	covered := slices.DeleteFunc(askahuman.Platform().Database.AccessPatterns, func(p schema.AccessPattern) bool {
		return !slices.ContainsFunc(p.Functions, func(f string) bool { return strings.HasSuffix(f, "api") })
	})
	database := askahuman.With(askahuman.Parts{AgentKeys: true, ShareOptions: true}).Database
	database.AccessPatterns = slices.DeleteFunc(database.AccessPatterns, func(p schema.AccessPattern) bool {
		return strings.HasSuffix(p.Name, "WebhookSecret") ||
			slices.ContainsFunc(covered, func(c schema.AccessPattern) bool { return c.Name == p.Name })
	})
	os.Exit(dynamotest.Covering(m.Run, database)())
}

// The pattern that is for functions that join the platform lists those who were last notified before a moment.
func TestListByLastNotified(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.MoveTo(ten)
	before, after := p.device(t, "before", "token", 30), p.device(t, "after", "another-token", 30)
	q := p.ask(t, textAsk())
	mustClaim(t, p, before.ID, q.ID, p.Now())
	mustClaim(t, p, after.ID, q.ID, p.Now().Add(time.Minute))
	var listed []string
	query := dynamo.Query{Values: []any{askahuman.SubscriptionActive, dynamo.FormatTime(p.Now().Add(time.Minute))}}
	for item, err := range dynamo.Read[askahuman.Subscription](t.Context(), p.Tables.DB, "ListByLastNotified", query) {
		must.OK(t, err)
		listed = append(listed, item.ID)
	}
	if !slices.Equal(listed, []string{before.ID}) {
		t.Errorf("got %v; want %s alone", listed, before.ID)
	}
}

// A page of a list is one request for each of its keys: what shows that there is a
// further page costs no other.
func TestPageIsOneRequest(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	tables := dynamotest.Open(t, askahuman.Platform().Database)
	store := &Service{DB: tables.DB}
	for i := range 8 {
		q := newQuestion("agent", 3)
		q.CreatedAt = wire.Time(start.Add(time.Duration(i) * time.Millisecond))
		must.OK(t, store.createQuestion(ctx, q))
	}
	tables.Recorder.Requests()
	var feed position
	own := ""
	for _, page := range []struct {
		length int
		more   bool
	}{{3, true}, {3, true}, {2, false}} {
		questions, more, err := store.openQuestions(ctx, 3, feed, start)
		if err != nil || len(questions) != page.length || more != page.more {
			t.Fatalf("feed: got %d questions, %t, %v; want %+v", len(questions), more, err, page)
		}
		if n := len(tables.Recorder.Requests()); n != 2 { // OPEN and PARTIAL
			t.Errorf("feed: got %d requests for %+v, want 2", n, page)
		}
		last := questions[len(questions)-1]
		feed = position{CreatedAt: time.Time(last.CreatedAt), ID: last.ID}

		questions, own, err = store.agentQuestions(ctx, "agent", "", 3, own, start)
		if more := own != ""; err != nil || len(questions) != page.length || more != page.more {
			t.Fatalf("agent's questions: got %d, %q, %v; want %+v", len(questions), own, err, page)
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
	for _, shards := range []Shards{{}, {Write: 3}} {
		t.Run(fmt.Sprintf("%+v", shards), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			tables := dynamotest.Open(t, askahuman.Platform().Database)
			tables.Recorder.PageSize = 2
			store := &Service{DB: tables.DB, Shards: shards, Clock: func() time.Time { return start }}
			const n = 11
			want := map[string]time.Time{}
			for i := range n {
				q := newQuestion("agent", n+1)
				// Several in one millisecond: their order is the index's own.
				q.CreatedAt = wire.Time(start.Add(time.Duration(i/3) * time.Millisecond))
				want[q.ID] = time.Time(q.CreatedAt)
				must.OK(t, store.createQuestion(ctx, q))
				if by := fmt.Sprint("person", i); i%2 == 0 {
					r := responseTo(q, by, start)
					must.Get(store.submitResponse(ctx, q, r, counting(askahuman.Stats{PersonHash: by}, 10, start)))(t)
				}
				must.Get(storedSubscription(ctx, store, subscriptionFor(fmt.Sprint("token", i))))(t)
			}
			// Each comes once, the newest first.
			check := func(what string, got []string, ordered bool) {
				t.Helper()
				seen := map[string]bool{}
				for i, id := range got {
					if seen[id] || want[id].IsZero() {
						t.Errorf("%s: %s came twice or unasked", what, id)
					}
					if seen[id] = true; ordered && i > 0 && want[id].After(want[got[i-1]]) {
						t.Errorf("%s: %s is newer than the one before it", what, id)
					}
				}
				if len(seen) != n {
					t.Errorf("%s: got %d, want %d", what, len(seen), n)
				}
			}
			for _, limit := range []int{1, 2, 3, 4, 20} {
				for what, list := range map[string]func(from string) ([]askahuman.Question, string, error){
					"feed": func(from string) ([]askahuman.Question, string, error) {
						return store.Feed(ctx, "reader", nil, limit, from)
					},
					"agent's questions": func(from string) ([]askahuman.Question, string, error) {
						return store.agentQuestions(ctx, "agent", "", limit, from, start)
					},
				} {
					var ids []string
					for _, q := range dynamotest.Pages(t, func(from string) ([]askahuman.Question, string, error) {
						page, next, err := list(from)
						if len(page) > limit || next != "" && len(page) == 0 {
							t.Errorf("%s: a page of %d has %d questions, and the cursor %q", what, limit, len(page),
								next)
						}
						return page, next, err
					}) {
						ids = append(ids, q.ID)
					}
					check(fmt.Sprintf("%s, limit %d", what, limit), ids, true)
				}
			}
			for what, list := range map[string]iter.Seq2[string, error]{"due questions": store.dueQuestions(ctx, start),
				"overdue questions": store.overdueQuestions(ctx, start.Add(askahuman.MaxTimeout))} {
				var ids []string
				for id, err := range list {
					must.OK(t, err)
					ids = append(ids, id)
				}
				check(what, ids, false)
			}
			if subs, err := store.dueSubscriptions(ctx, start, 1000); err != nil || len(subs) != n {
				t.Errorf("due subscriptions: got %d, %v; want %d", len(subs), err, n)
			}
			if top, err := store.top(ctx, askahuman.PeriodAllTime, "", 100); err != nil || len(top) != 6 {
				t.Errorf("leaderboard: got %d, %v; want 6", len(top), err)
			}
		})
	}
}
