package askahuman

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// inbox is a push service that keeps what it takes.
type inbox struct {
	mu       sync.Mutex
	messages []PushMessage
	attempts int
	// fail says what happens to an attempt, counted from 1; nil takes all.
	fail func(attempt int, m PushMessage) error
}

func (i *inbox) Send(_ context.Context, m PushMessage) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.attempts++
	if i.fail != nil {
		if err := i.fail(i.attempts, m); err != nil {
			return err
		}
	}
	i.messages = append(i.messages, m)
	return nil
}

// byToken counts messages by token.
func (i *inbox) byToken() map[string]int {
	counts := map[string]int{}
	for _, m := range i.messages {
		counts[m.Token]++
	}
	return counts
}

// notifying is a platform with a notifier.
type notifying struct {
	*platform
	inbox    *inbox
	notifier *Notifier
	slept    []time.Duration
}

func newNotifying(t *testing.T) *notifying {
	n := &notifying{platform: newPlatform(t), inbox: &inbox{}}
	var mu sync.Mutex
	n.notifier = &Notifier{
		Service: n.notifying, Push: n.inbox.Send, QuestionURL: "https://example.com/questions/{question_id}?from=push",
		Clock: n.Clock,
		Sleep: func(ctx context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			n.slept = append(n.slept, d)
			return ctx.Err()
		},
	}
	return n
}

func (n *notifying) subscribe(t *testing.T, count int) {
	t.Helper()
	for i := range count {
		n.device(t, fmt.Sprint("person ", i), fmt.Sprint("token-", i), 30)
	}
}

func (n *notifying) run(t *testing.T) Report {
	t.Helper()
	return must.Get(n.notifier.Run(t.Context()))(t)
}

func (n *notifying) askFor(t *testing.T, responses int) askahuman.Question {
	t.Helper()
	ask := textAsk()
	ask.MinResponses = new(responses)
	return n.ask(t, ask)
}

func wantReport(t *testing.T, got, want Report) {
	t.Helper()
	if len(got.Failures) > 0 && want.Failures == nil {
		t.Errorf("failures: %v", errors.Join(got.Failures...))
	}
	got.Failures, want.Failures = nil, nil
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("report = %+v\nwant     %+v", got, want)
	}
}

var someFailures = []error{errBroken}

func TestRun(t *testing.T) {
	t.Parallel()
	n := newNotifying(t)
	n.subscribe(t, 40)
	ask := textAsk()
	ask.Prompt = "What would you\ncall this? " + strings.Repeat("Please. ", 50)
	ask.MinResponses = new(2)
	q := n.ask(t, ask)
	wantReport(t, n.run(t), Report{Questions: 1, Notified: 6})
	for token, count := range n.inbox.byToken() {
		if count != 1 {
			t.Errorf("%s was notified %d times", token, count)
		}
	}
	m := n.inbox.messages[0]
	if m.Link != "https://example.com/questions/"+q.ID+"?from=push" || m.QuestionID != q.ID ||
		m.Type != askahuman.TypeText || m.Title == "" ||
		!strings.HasPrefix(m.Body, "What would you call this? Please. ") || !strings.HasSuffix(m.Body, "…") ||
		len([]rune(m.Body)) > 120 {
		t.Errorf("message = %+v", m)
	}

	// Nothing more until 15 minutes have passed.
	n.MoveTo(n.Now().Add(15*time.Minute - time.Second))
	wantReport(t, n.run(t), Report{})
	// Then for what is still short.
	n.answer(t, "somebody", text(q.ID, "an answer"))
	n.MoveTo(n.Now().Add(time.Second))
	wantReport(t, n.run(t), Report{Questions: 1, Notified: 3})
	n.answer(t, "somebody else", text(q.ID, "an answer"))
	n.MoveTo(n.Now().Add(15 * time.Minute))
	wantReport(t, n.run(t), Report{})
	for token, count := range n.inbox.byToken() {
		if count != 1 {
			t.Errorf("%s was notified %d times within their interval", token, count)
		}
	}
}

// TestRunDrawsAtRandom sees different people from different sources.
func TestRunDrawsAtRandom(t *testing.T) {
	t.Parallel()
	drawn := map[string]bool{}
	for range 4 {
		n := newNotifying(t)
		n.subscribe(t, 12)
		n.askFor(t, 1)
		wantReport(t, n.run(t), Report{Questions: 1, Notified: 3})
		drawn[fmt.Sprint(slices.Sorted(maps.Keys(n.inbox.byToken())))] = true
	}
	if len(drawn) < 2 {
		t.Errorf("four runs drew the same people: %v", drawn)
	}
}

func TestRunExpires(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]Report{"with push": {Questions: 1, Notified: 3},
		"without push": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNotifying(t)
			if name == "without push" {
				n.notifier.Push = nil
			}
			n.subscribe(t, 3)
			q := n.askFor(t, 5)
			n.MoveTo(time.Time(q.Deadline).Add(-time.Second))
			wantReport(t, n.run(t), before)
			n.MoveTo(time.Time(q.Deadline))
			report := n.run(t)
			if report.Expired != 1 || report.Notified != 0 {
				t.Errorf("at the deadline: %+v", report)
			}
			stored, err := n.people.question(t.Context(), q.ID, n.Now())
			if err != nil || stored.Status != askahuman.StatusExpired || !stored.DueAt.IsZero() {
				t.Errorf("stored: %+v, %v", stored, err)
			}
			wantReport(t, n.run(t), Report{})
		})
	}
}

// Questions that everyone has answered who may be notified keep no others waiting, however many they are.
func TestRunAfterEveryoneAnswered(t *testing.T) {
	t.Parallel()
	n := newNotifying(t)
	const people, answered = 4, 3
	n.subscribe(t, people)
	for range answered {
		q := n.askFor(t, 10)
		for i := range people {
			n.answer(t, fmt.Sprint("person ", i), text(q.ID, "an answer"))
		}
	}
	n.MoveTo(n.Now().Add(time.Second))
	n.askFor(t, 5)
	notified := 0
	for range answered {
		n.MoveTo(n.Now().Add(time.Minute))
		notified += n.run(t).Notified
	}
	if counts := n.inbox.byToken(); notified != people || len(counts) != people {
		t.Errorf("got %d notifications: %v; want one of the last question for each of %d people", notified, counts,
			people)
	}
}

func TestRunWithoutSubscribersWaits(t *testing.T) {
	t.Parallel()
	n := newNotifying(t)
	n.askFor(t, 1)
	wantReport(t, n.run(t), Report{Waiting: 1})
	n.MoveTo(n.Now().Add(time.Minute))
	n.subscribe(t, 1)
	wantReport(t, n.run(t), Report{Questions: 1, Notified: 1})
}

func TestRunDeadTokens(t *testing.T) {
	t.Parallel()
	n := newNotifying(t)
	n.subscribe(t, 9)
	dead := map[string]bool{"token-0": true, "token-3": true, "token-8": true}
	n.inbox.fail = func(_ int, m PushMessage) error {
		if dead[m.Token] {
			return fmt.Errorf("%w: gone", ErrDeadToken)
		}
		return nil
	}
	n.askFor(t, 3)
	// Other people replace those who cannot be reached.
	wantReport(t, n.run(t), Report{Questions: 1, Notified: 6, Deactivated: 3})
	n.MoveTo(n.Now().Add(24 * time.Hour))
	n.inbox.fail = func(_ int, m PushMessage) error {
		if dead[m.Token] {
			t.Errorf("a dead token is notified again: %s", m.Token)
		}
		return nil
	}
	n.askFor(t, 3)
	if report := n.run(t); report.Notified != 6 {
		t.Errorf("a day later: %+v", report)
	}
}

// TestRunMarksWhatWasSent has what is sent end in every way: only what the push service
// took earns the points of a quick answer, and only what cannot have arrived gives the
// person's interval back, to every device.
func TestRunMarksWhatWasSent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err          error
		marked, free bool
	}{
		"sent":          {nil, true, false},
		"dead token":    {fmt.Errorf("%w: gone", ErrDeadToken), false, true},
		"refused":       {errBroken, false, true},
		"unavailable":   {unavailable(time.Hour), false, true},
		"no answer":     {&PushUnavailableError{Err: fmt.Errorf("post: %w", context.DeadlineExceeded)}, false, false},
		"cut by caller": {fmt.Errorf("post: %w", context.Canceled), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNotifying(t)
			sub := n.device(t, "me", "token", 30)
			q := n.askFor(t, 1)
			n.inbox.fail = func(int, PushMessage) error { return test.err }
			if report := n.run(t); n.inbox.attempts != 1 || !test.free && report.Released != 0 {
				t.Errorf("%d attempts, %d released; want one attempt", n.inbox.attempts, report.Released)
			}
			if state, err := n.people.answerState(t.Context(), q.ID, "me", time.Time{}); err != nil ||
				state.notifiedAt.IsZero() == test.marked {
				t.Errorf("notified at %v, %v; want a mark: %t", state.notifiedAt, err, test.marked)
			}
			want := 15
			if test.marked {
				want = 18
			}
			if got := n.answer(t, "me", text(q.ID, "an answer")); got.PointsEarned != want {
				t.Errorf("points = %d, want %d", got.PointsEarned, want)
			}

			// A new token of the same device, and another device of the same person.
			n.inbox.fail = nil
			sent := len(n.inbox.messages)
			must.Get(n.people.ChangeSubscription(t.Context(), sub.ID,
				askahuman.SubscriptionChange{Token: new("new-token")}))(t)
			n.device(t, "me", "another-token", 5)
			n.askFor(t, 1)
			n.run(t)
			if got := len(n.inbox.messages) - sent; got != 1 && test.free || got != 0 && !test.free {
				t.Errorf("%d notifications at once; want the interval given back: %t", got, test.free)
			}
		})
	}
}

// TestLastNotificationCounts checks why a store need keep only a person's last notification: an
// earlier one is too old for the points of a quick answer.
func TestLastNotificationCounts(t *testing.T) {
	t.Parallel()
	if askahuman.MinInterval < askahuman.NotificationBonusWindow {
		t.Errorf("people can be notified every %v, and answers count as quick for %v", askahuman.MinInterval,
			askahuman.NotificationBonusWindow)
	}
}

func unavailable(after time.Duration) error {
	return &PushUnavailableError{RetryAfter: after, Err: errBroken}
}

func TestRunUnavailableForAMoment(t *testing.T) {
	t.Parallel()
	n := newNotifying(t)
	n.subscribe(t, 3)
	n.inbox.fail = func(attempt int, _ PushMessage) error {
		if attempt <= 2 {
			return unavailable(2 * time.Second)
		}
		return nil
	}
	n.askFor(t, 1)
	wantReport(t, n.run(t), Report{Questions: 1, Notified: 3})
	if len(n.slept) != 2 || slices.Min(n.slept) < 2*time.Second {
		t.Errorf("waited %v, want at least what the service asked for, twice", n.slept)
	}
}

func TestRunUnavailable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err      error
		attempts int // of each worker at most
	}{
		"down":                   {unavailable(0), 3},
		"asks to wait for long":  {unavailable(time.Hour), 1},
		"asks to wait a little":  {unavailable(time.Second), 3},
		"wrapped by who sent it": {fmt.Errorf("sending: %w", unavailable(0)), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNotifying(t)
			n.subscribe(t, 60)
			n.inbox.fail = func(int, PushMessage) error { return test.err }
			for range 6 {
				n.askFor(t, 3)
			}
			report := n.run(t)
			if !report.Unavailable || report.Notified != 0 || report.Waiting != 6 || report.Released == 0 {
				t.Errorf("report = %+v", report)
			}
			if most := 16 * test.attempts; n.inbox.attempts > most {
				t.Errorf("%d attempts on a service that is down, want at most %d", n.inbox.attempts, most)
			}
			// All are due, and all people free, at the next tick.
			n.MoveTo(n.Now().Add(time.Minute))
			n.inbox.fail = nil
			wantReport(t, n.run(t), Report{Questions: 6, Notified: 54})
		})
	}
}

func TestRunCutShort(t *testing.T) {
	t.Parallel()
	n := newNotifying(t)
	n.subscribe(t, 60)
	n.inbox.fail = func(attempt int, _ PushMessage) error {
		if attempt > 4 {
			return unavailable(time.Minute)
		}
		return nil
	}
	q := n.askFor(t, 10)
	report := n.run(t)
	if report.Notified != 4 || report.Questions != 1 || !report.Unavailable || report.Waiting != 1 {
		t.Errorf("report = %+v", report)
	}
	if stored, err := n.people.question(t.Context(), q.ID, n.Now()); err != nil ||
		!stored.NotifiedAt.Equal(n.Now().Truncate(time.Millisecond)) {
		t.Errorf("notified at %v, %v", stored.NotifiedAt, err)
	}
	n.MoveTo(n.Now().Add(time.Minute))
	n.inbox.fail = nil
	wantReport(t, n.run(t), Report{Questions: 1, Notified: 30})
	for token, count := range n.inbox.byToken() {
		if count != 1 {
			t.Errorf("%s was notified %d times", token, count)
		}
	}
}

func TestRunOneBadMessage(t *testing.T) {
	t.Parallel()
	n := newNotifying(t)
	n.subscribe(t, 40)
	bad := n.askFor(t, 1)
	for range 3 {
		n.MoveTo(n.Now().Add(time.Millisecond))
		n.askFor(t, 1)
	}
	n.inbox.fail = func(_ int, m PushMessage) error {
		if m.QuestionID == bad.ID {
			return errBroken
		}
		return nil
	}
	report := n.run(t)
	wantReport(t, report, Report{Questions: 3, Notified: 9, Released: 3, Waiting: 1, Failures: someFailures})
	if len(report.Failures) != 3 || !errors.Is(report.Failures[0], errBroken) {
		t.Errorf("failures = %v", report.Failures)
	}
}

func TestRunGivesUpOnManyFailures(t *testing.T) {
	t.Parallel()
	n := newNotifying(t)
	n.subscribe(t, 80)
	n.inbox.fail = func(int, PushMessage) error { return errBroken }
	for range 10 {
		n.askFor(t, 3)
	}
	report := n.run(t)
	if report.Notified != 0 || report.Waiting != 10 || n.inbox.attempts > 5+16 {
		t.Errorf("%d attempts, %+v", n.inbox.attempts, report)
	}
}

func TestRunOutOfTime(t *testing.T) {
	t.Parallel()
	n := newNotifying(t)
	n.subscribe(t, 3)
	q := n.askFor(t, 1)
	// Less time is left than a run reserves.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	report, err := n.notifier.Run(ctx)
	if err != nil || report.Notified != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if stored, err := n.people.question(t.Context(), q.ID, n.Now()); err != nil || !stored.DueAt.Equal(q.DueAt) {
		t.Errorf("still claimed: %+v, %v", stored, err)
	}
}

// TestRunTimeEndsWhileSending has the run's time end in the middle.
func TestRunTimeEndsWhileSending(t *testing.T) {
	t.Parallel()
	n := newNotifying(t)
	n.subscribe(t, 100)
	for range 10 {
		n.askFor(t, 3)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n.inbox.fail = func(attempt int, _ PushMessage) error {
		if attempt == 20 {
			cancel()
			return unavailable(0)
		}
		return nil
	}
	report := must.Get(n.notifier.Run(ctx))(t)
	if report.Notified == 0 || report.Released != 1 {
		t.Errorf("report = %+v", report)
	}
	before := len(n.inbox.messages)
	n.inbox.fail = nil
	n.MoveTo(n.Now().Add(time.Minute))
	n.run(t)
	if len(n.inbox.messages) <= before {
		t.Error("the next run did not go on")
	}
	for token, count := range n.inbox.byToken() {
		if count != 1 {
			t.Errorf("%s was notified %d times", token, count)
		}
	}
}

// hanging is an engine with 40 due questions and 200 subscriptions. It does not answer a release of a question.
type hanging struct {
	due, questions, subscriptions string // the answers to lists
	claimed                       *sync.Map
}

func (h hanging) answer(ctx context.Context, operation, body string) (string, error) {
	switch {
	case operation == "Query" && strings.Contains(body, `"ByDue"`):
		return h.due, nil
	case operation == "Query" && strings.Contains(body, `"Subscriptions"`):
		return h.subscriptions, nil
	case operation == "BatchGetItem":
		return h.questions, nil
	case operation == "TransactWriteItems":
		if _, again := h.claimed.LoadOrStore(uuids.FindString(body), true); again {
			<-ctx.Done()
			return "", ctx.Err()
		}
	}
	return "{}", nil
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// A run ends in its time also when it claimed many questions and the tables hang.
func TestRunEndsWhileTheTablesHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		var due, questions, subscriptions []string
		for i := range 40 {
			key := fmt.Sprintf(`"question_id":{"S":%q},"due_at":{"S":%q}`, uuid.NewString(),
				dynamo.FormatTime(now.Add(time.Duration(i-60)*time.Second)))
			due = append(due, "{"+key+"}")
			questions = append(questions, fmt.Sprintf(
				`{%s,"status":{"S":"OPEN"},"required_responses":{"N":"1"},"deadline":{"S":%q},"expires_at":{"N":"%d"}}`,
				key, dynamo.FormatTime(now.Add(time.Hour)), now.Add(2*time.Hour).Unix()))
		}
		for i := range 200 {
			subscriptions = append(subscriptions,
				fmt.Sprintf(`{"subscription_id":{"S":%q},"fcm_token":{"S":"token-%d"},"active":{"S":"true"}}`,
					uuid.NewString(), i))
		}
		list := func(items []string) string { return `{"Items":[` + strings.Join(items, ",") + `]}` }
		read := `{"Responses":{"Questions":[` + strings.Join(questions, ",") + `]}}`
		tables := dynamotest.Over(t, askahuman.Platform().Database,
			dynamotest.Engine(hanging{list(due), read, list(subscriptions), &sync.Map{}}.answer))
		push := &inbox{fail: func(attempt int, _ PushMessage) error {
			if attempt <= 40 {
				return errBroken
			}
			return unavailable(time.Hour)
		}}
		report, err := (&Notifier{Service: &Service{DB: tables.DB}, Push: push.Send}).Run(t.Context())
		if took := time.Since(now); err != nil || took > 5*time.Second {
			t.Errorf("the run ended after %s, %v; want at most 5 s", took, err)
		}
		if len(report.Failures) == 0 || report.Waiting < 20 {
			t.Errorf("report = %+v, want more than one round of questions that were not given back", report)
		}
	})
}

// sets reports whether a request is an update of that table that sets an attribute.
func sets(r dynamotest.Request, table, attribute string) bool {
	update, ok := r.Input.(*sdk.UpdateItemInput)
	return ok && r.Table == table && slices.Contains(slices.Collect(maps.Values(update.ExpressionAttributeNames)),
		attribute)
}

func TestRunTablesFail(t *testing.T) {
	t.Parallel()
	ends := func(r dynamotest.Request) bool {
		writes, ok := r.Input.(*sdk.TransactWriteItemsInput)
		return ok && len(writes.TransactItems) == 2
	}
	for name, test := range map[string]struct {
		request func(dynamotest.Request) bool
		fails   bool // the run: it could not read what is due
		want    Report
	}{
		"listing questions": {func(r dynamotest.Request) bool {
			return r.Action == schema.Query && r.Table == "Questions"
		}, true, Report{}},
		"listing subscriptions": {func(r dynamotest.Request) bool {
			return r.Action == schema.Query && r.Table == "Subscriptions"
		}, true, Report{Expired: 1}},
		"expiring": {ends, false, Report{Questions: 1, Notified: 3, Failures: someFailures}},
		"claiming a subscription": {func(r dynamotest.Request) bool {
			return sets(r, "Guards", "claimed_at")
		}, false, Report{Expired: 1, Waiting: 1, Failures: someFailures}},
		"marking": {func(r dynamotest.Request) bool {
			return sets(r, "Guards", "notified_at")
		}, false, Report{Expired: 1, Questions: 1, Notified: 3, Failures: someFailures}},
		"nothing": {func(dynamotest.Request) bool {
			return false
		}, false, Report{Expired: 1, Questions: 1, Notified: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNotifying(t)
			n.subscribe(t, 9)
			overdue := textAsk()
			overdue.TimeoutSeconds = new(60)
			n.ask(t, overdue)
			n.MoveTo(n.Now().Add(time.Minute))
			n.askFor(t, 1)
			n.faults(func(r dynamotest.Request) error {
				if test.request(r) {
					return errBroken
				}
				return nil
			})
			report, err := n.notifier.Run(t.Context())
			if errors.Is(err, errBroken) != test.fails {
				t.Errorf("Run: %v; want an error: %v", err, test.fails)
			}
			wantReport(t, report, test.want)
			for _, failure := range report.Failures {
				if !errors.Is(failure, errBroken) {
					t.Errorf("failure: %v", failure)
				}
			}
		})
	}
}
