package askahuman

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// storeQuestions stores open questions that are due from the start on.
func storeQuestions(t *testing.T, tables *dynamotest.Tables, count int, deadline time.Time) {
	t.Helper()
	var questions []any
	for i := range count {
		q := newQuestion("agent", 5)
		q.CreatedAt = wire.Time(start.Add(time.Duration(i) * time.Millisecond))
		q.ID, q.DueAt = wire.NewID(time.Time(q.CreatedAt)), time.Time(q.CreatedAt)
		q.Due, q.Deadline = dueKey, wire.Time(deadline)
		questions = append(questions, q)
	}
	tables.Store(t, "Questions", questions...)
}

// calls counts requests by their operation, and sums their read units. DynamoDB, but not DynamoDB Local, takes half a
// unit for a read that finds nothing.
func calls(requests []dynamotest.Request) (counts map[schema.Action]int, readUnits float64) {
	counts = map[schema.Action]int{}
	for _, r := range requests {
		counts[r.Action]++
		if r.Action == schema.Query || r.Action == schema.GetItem || r.Action == schema.BatchGetItem {
			readUnits += max(0.5, r.Units)
		}
	}
	return counts, readUnits
}

// With any number of due questions a run notifies equally many people with equally many calls. Without push it makes
// one call, and with nobody to notify three.
func TestRunWithManyDue(t *testing.T) {
	t.Parallel()
	const people, perQuestion = 30, peoplePerAnswer * 5
	sizes := []int{35, 2000}
	if !testing.Short() {
		sizes = append(sizes, 20_000)
	}
	now := start.Add(time.Hour)
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			tables := dynamotest.Open(t, askahuman.Platform().Database)
			store := &Service{DB: tables.DB, Clock: func() time.Time { return now }}
			storeQuestions(t, tables, size, now.Add(time.Hour))
			push := &inbox{}
			run := func(what string, notifier Notifier) (Report, map[schema.Action]int) {
				t.Helper()
				tables.Recorder.Requests()
				notifier.Service, notifier.Clock = store, store.Clock
				report := must.Get(notifier.Run(t.Context()))(t)
				counts, units := calls(tables.Recorder.Requests())
				t.Logf("%s: %d notified, %d waiting and more: %t, calls %v, %.1f read units", what, report.Notified,
					report.Waiting, report.More, counts, units)
				return report, counts
			}
			_, made := run("without push", Notifier{})
			if !maps.Equal(made, map[schema.Action]int{schema.Query: 1}) {
				t.Errorf("without push: got the calls %v, want one Query", made)
			}
			known := min(size, keysPerPage)
			report, made := run("nobody to notify", Notifier{Push: push.Send})
			if !maps.Equal(made, map[schema.Action]int{schema.Query: 3}) || report.Waiting != known ||
				report.More != (size > known) {
				t.Errorf("with nobody to notify: got %+v with the calls %v, want %d waiting, and three Query", report,
					made, known)
			}
			for i := range people {
				must.Get(storedSubscription(t.Context(), store, subscriptionFor(fmt.Sprint("token", i))))(t)
			}
			report, made = run("30 people", Notifier{Push: push.Send})
			// A run may claim a few questions more before it sees that nobody is left, and give them back. Of writes
			// after a notification, a busy engine may lose some.
			claims, writes := made[schema.TransactWriteItems], made[schema.UpdateItem]
			delete(made, schema.TransactWriteItems)
			delete(made, schema.UpdateItem)
			want := map[schema.Action]int{schema.Query: 3, schema.BatchGetItem: 1, schema.GetItem: people}
			const fewest, most = people / perQuestion, people/perQuestion + 2*(workers+1)
			if report.Notified != people || !maps.Equal(made, want) || claims < fewest || claims > most ||
				writes > 3*people {
				t.Errorf("got %+v with %d claims, %d writes and the calls %v; want %d people with %d to %d claims, %d "+
					"writes and %v", report, claims, writes, made, people, fewest, most, 3*people, want)
			}
			// The longest due come first.
			for _, m := range push.messages {
				if at := askahuman.AskedAt(m.QuestionID).Sub(start); at > 2*people/perQuestion*time.Millisecond {
					t.Errorf("notified of the question that was asked %v after the first one", at)
				}
			}
		})
	}
}

// Overdue questions, also those whose retention has ended, do not keep a run from notifying of the others.
func TestRunWithManyOverdue(t *testing.T) {
	t.Parallel()
	const overdue = 250
	tables := dynamotest.Open(t, askahuman.Platform().Database)
	now := start.Add(72 * time.Hour)
	store := &Service{DB: tables.DB, Clock: func() time.Time { return now }}
	storeQuestions(t, tables, overdue, start.Add(time.Hour))
	must.Get(storedSubscription(t.Context(), store, subscriptionFor("token")))(t)
	q := newQuestion("agent", 1)
	q.DueAt, q.Deadline, q.ExpiresAt = now, wire.Time(now.Add(time.Hour)), now.Add(25*time.Hour)
	must.OK(t, store.createQuestion(t.Context(), q))
	tables.Recorder.Requests()
	push := &inbox{}
	report := must.Get((&Notifier{Service: store, Push: push.Send, Clock: store.Clock}).Run(t.Context()))(t)
	wantReport(t, report, Report{Expired: overdue, Questions: 1, Notified: 1})
	if counts, _ := calls(tables.Recorder.Requests()); counts[schema.BatchGetItem] != overdue/questionsAtOnce+2 ||
		counts[schema.TransactWriteItems] != overdue+1 {
		t.Errorf("got the calls %v; want a BatchGetItem for 100 overdue questions, one for the due one, and a write "+
			"for each", counts)
	}
	if again := must.Get((&Notifier{Service: store, Clock: store.Clock}).Run(t.Context()))(t); again.Expired != 0 {
		t.Errorf("the next run marked %d again", again.Expired)
	}
}

// The figures of runs and rounds in docs/reference/costs/askahuman.md are what they read, on average in its month.
func TestReadsOfRuns(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, askahuman.Platform().Database)
	now := start.Add(time.Minute)
	store := &Service{DB: tables.DB, Clock: func() time.Time { return now }}
	for i := range 2 * samplesPerPlace * peoplePerAnswer * 5 {
		must.Get(storedSubscription(t.Context(), store, subscriptionFor(fmt.Sprint("token", i))))(t)
	}
	read := func() float64 {
		tables.Recorder.Requests()
		must.Get((&Notifier{Service: store, Push: new(inbox).Send, Clock: store.Clock}).Run(t.Context()))(t)
		_, units := calls(tables.Recorder.Requests())
		return units
	}
	idle := read()
	storeQuestions(t, tables, 1, now.Add(time.Hour))
	round := read() - idle
	page := must.Get(os.ReadFile("../../docs/reference/costs/askahuman.md"))(t)
	for _, line := range []string{fmt.Sprintf("runs of the notifier | %v |", idle),
		fmt.Sprintf("rounds of notifications of a question | %v |", round)} {
		if !strings.Contains(string(page), line) {
			t.Errorf("docs/reference/costs/askahuman.md does not have %q", line)
		}
	}
}
