package askahuman_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/storetest"
)

// inbox is a push service that keeps what it takes.
type inbox struct {
	mu       sync.Mutex
	messages []askahuman.PushMessage
	attempts int
	// fail says what happens to an attempt, counted from 1; nil takes all.
	fail func(attempt int, m askahuman.PushMessage) error
}

func (i *inbox) Send(_ context.Context, m askahuman.PushMessage) error {
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
	notifier *askahuman.Notifier
	slept    []time.Duration
}

func newNotifying() *notifying {
	n := &notifying{platform: newPlatform(), inbox: &inbox{}}
	var mu sync.Mutex
	n.notifier = &askahuman.Notifier{
		Store: n.store, Push: n.inbox, QuestionURL: "https://example.com/questions/{question_id}?from=push", Now: n.Agents.Now,
		Rand: rand.New(rand.NewPCG(1, 2)),
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

func (n *notifying) run(t *testing.T) askahuman.Report {
	t.Helper()
	report := storetest.Must(n.notifier.Run(t.Context()))(t)
	return report
}

func (n *notifying) askFor(t *testing.T, responses int) askahuman.Question {
	t.Helper()
	ask := textAsk()
	ask.MinResponses = new(responses)
	return n.ask(t, ask)
}

func wantReport(t *testing.T, got, want askahuman.Report) {
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
	n := newNotifying()
	n.subscribe(t, 40)
	ask := textAsk()
	ask.Prompt = "What would you\ncall this? " + strings.Repeat("Please. ", 50)
	ask.MinResponses = new(2)
	q := n.ask(t, ask)
	wantReport(t, n.run(t), askahuman.Report{Questions: 1, Notified: 6})
	for token, count := range n.inbox.byToken() {
		if count != 1 {
			t.Errorf("%s was notified %d times", token, count)
		}
	}
	m := n.inbox.messages[0]
	if m.Link != "https://example.com/questions/"+q.ID+"?from=push" || m.QuestionID != q.ID || m.Type != askahuman.TypeText || m.Title == "" || !strings.HasPrefix(m.Body, "What would you call this? Please. ") || !strings.HasSuffix(m.Body, "…") || len([]rune(m.Body)) > 120 {
		t.Errorf("message = %+v", m)
	}

	// Nothing more until 15 minutes have passed.
	n.now = n.now.Add(15*time.Minute - time.Second)
	wantReport(t, n.run(t), askahuman.Report{})
	// Then for what is still short.
	n.answer(t, "somebody", text(q.ID, "an answer"))
	n.now = n.now.Add(time.Second)
	wantReport(t, n.run(t), askahuman.Report{Questions: 1, Notified: 3})
	n.answer(t, "somebody else", text(q.ID, "an answer"))
	n.now = n.now.Add(15 * time.Minute)
	wantReport(t, n.run(t), askahuman.Report{})
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
	for seed := range uint64(4) {
		n := newNotifying()
		n.notifier.Rand = rand.New(rand.NewPCG(seed, 0))
		n.subscribe(t, 12)
		n.askFor(t, 1)
		wantReport(t, n.run(t), askahuman.Report{Questions: 1, Notified: 3})
		drawn[fmt.Sprint(slices.Sorted(maps.Keys(n.inbox.byToken())))] = true
	}
	if len(drawn) < 2 {
		t.Errorf("four runs drew the same people: %v", drawn)
	}
}

func TestRunKeepsEachPersonsInterval(t *testing.T) {
	t.Parallel()
	n := newNotifying()
	for i, interval := range []int{5, 20, 60} {
		n.device(t, "", fmt.Sprint(i), interval)
	}
	for range 120 {
		if n.now.Minute() == 0 {
			n.askFor(t, 50)
		}
		n.run(t)
		n.now = n.now.Add(time.Minute)
	}
	got := n.inbox.byToken()
	// A question is notified of at 0, 15, 30 and 45 minutes of its hour.
	want := map[string]int{"0": 8, "1": 4, "2": 2}
	if !maps.Equal(got, want) {
		t.Errorf("notified %v in two hours, want %v", got, want)
	}
}

func TestRunExpires(t *testing.T) {
	t.Parallel()
	for name, push := range map[string]bool{"with push": true, "without push": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNotifying()
			if !push {
				n.notifier.Push = nil
			}
			n.subscribe(t, 3)
			q := n.askFor(t, 5)
			n.now = q.Deadline.Add(-time.Second)
			if first := n.run(t); first.Expired != 0 || (first.Notified > 0) != push {
				t.Errorf("before the deadline: %+v", first)
			}
			n.now = q.Deadline
			report := n.run(t)
			if report.Expired != 1 || report.Notified != 0 {
				t.Errorf("at the deadline: %+v", report)
			}
			stored, err := n.store.Question(t.Context(), q.ID, n.now)
			if err != nil || stored.Status != askahuman.StatusExpired || !stored.DueAt.IsZero() {
				t.Errorf("stored: %+v, %v", stored, err)
			}
			wantReport(t, n.run(t), askahuman.Report{})
		})
	}
}

func TestRunWithoutPushClaimsNothing(t *testing.T) {
	t.Parallel()
	n := newNotifying()
	n.notifier.Push = nil
	n.subscribe(t, 3)
	q := n.askFor(t, 1)
	wantReport(t, n.run(t), askahuman.Report{Waiting: 1})
	stored, err := n.store.Question(t.Context(), q.ID, n.now)
	if err != nil || !stored.DueAt.Equal(q.DueAt) || !stored.NotifiedAt.IsZero() {
		t.Errorf("stored: %+v, %v", stored, err)
	}
	n.notifier.Push = n.inbox
	wantReport(t, n.run(t), askahuman.Report{Questions: 1, Notified: 3})
}

func TestRunWithoutSubscribersWaits(t *testing.T) {
	t.Parallel()
	n := newNotifying()
	n.askFor(t, 1)
	wantReport(t, n.run(t), askahuman.Report{Waiting: 1})
	n.now = n.now.Add(time.Minute)
	n.subscribe(t, 1)
	wantReport(t, n.run(t), askahuman.Report{Questions: 1, Notified: 1})
}

func TestRunDeadTokens(t *testing.T) {
	t.Parallel()
	n := newNotifying()
	n.subscribe(t, 9)
	dead := map[string]bool{"token-0": true, "token-3": true, "token-8": true}
	n.inbox.fail = func(_ int, m askahuman.PushMessage) error {
		if dead[m.Token] {
			return fmt.Errorf("%w: gone", askahuman.ErrDeadToken)
		}
		return nil
	}
	n.askFor(t, 3)
	// Other people replace those who cannot be reached.
	wantReport(t, n.run(t), askahuman.Report{Questions: 1, Notified: 6, Deactivated: 3})
	n.now = n.now.Add(24 * time.Hour)
	n.inbox.fail = func(_ int, m askahuman.PushMessage) error {
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
		"dead token":    {fmt.Errorf("%w: gone", askahuman.ErrDeadToken), false, true},
		"refused":       {errBroken, false, true},
		"unavailable":   {unavailable(time.Hour), false, true},
		"no answer":     {&askahuman.PushUnavailableError{Err: fmt.Errorf("post: %w", context.DeadlineExceeded)}, false, false},
		"cut by caller": {fmt.Errorf("post: %w", context.Canceled), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNotifying()
			sub := n.device(t, "me", "token", 30)
			q := n.askFor(t, 1)
			n.inbox.fail = func(int, askahuman.PushMessage) error { return test.err }
			if report := n.run(t); n.inbox.attempts != 1 || !test.free && report.Released != 0 {
				t.Errorf("%d attempts, %d released; want one attempt", n.inbox.attempts, report.Released)
			}
			if state, err := n.store.AnswerState(t.Context(), q.ID, "me", time.Time{}); err != nil || state.NotifiedAt.IsZero() == test.marked {
				t.Errorf("notified at %v, %v; want a mark: %t", state.NotifiedAt, err, test.marked)
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
			storetest.Must(n.people.ChangeSubscription(t.Context(), sub.ID, askahuman.SubscriptionChange{Token: new("new-token")}))(t)
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
		t.Errorf("people can be notified every %v, and answers count as quick for %v", askahuman.MinInterval, askahuman.NotificationBonusWindow)
	}
}

func unavailable(after time.Duration) error {
	return &askahuman.PushUnavailableError{RetryAfter: after, Err: errBroken}
}

func TestRunUnavailableForAMoment(t *testing.T) {
	t.Parallel()
	n := newNotifying()
	n.subscribe(t, 3)
	n.inbox.fail = func(attempt int, _ askahuman.PushMessage) error {
		if attempt <= 2 {
			return unavailable(2 * time.Second)
		}
		return nil
	}
	n.askFor(t, 1)
	wantReport(t, n.run(t), askahuman.Report{Questions: 1, Notified: 3})
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
			n := newNotifying()
			n.subscribe(t, 200)
			n.inbox.fail = func(int, askahuman.PushMessage) error { return test.err }
			for range 20 {
				n.askFor(t, 3)
			}
			report := n.run(t)
			if !report.Unavailable || report.Notified != 0 || report.Waiting != 20 || report.Released == 0 {
				t.Errorf("report = %+v", report)
			}
			if most := 16 * test.attempts; n.inbox.attempts > most {
				t.Errorf("%d attempts on a service that is down, want at most %d", n.inbox.attempts, most)
			}
			// All are due, and all people free, at the next tick.
			n.now = n.now.Add(time.Minute)
			n.inbox.fail = nil
			wantReport(t, n.run(t), askahuman.Report{Questions: 20, Notified: 180})
		})
	}
}

func TestRunCutShort(t *testing.T) {
	t.Parallel()
	n := newNotifying()
	n.subscribe(t, 60)
	n.inbox.fail = func(attempt int, _ askahuman.PushMessage) error {
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
	if stored, err := n.store.Question(t.Context(), q.ID, n.now); err != nil || !stored.NotifiedAt.Equal(n.now.Truncate(time.Millisecond)) {
		t.Errorf("notified at %v, %v", stored.NotifiedAt, err)
	}
	n.now = n.now.Add(time.Minute)
	n.inbox.fail = nil
	wantReport(t, n.run(t), askahuman.Report{Questions: 1, Notified: 30})
	for token, count := range n.inbox.byToken() {
		if count != 1 {
			t.Errorf("%s was notified %d times", token, count)
		}
	}
}

func TestRunOneBadMessage(t *testing.T) {
	t.Parallel()
	n := newNotifying()
	n.subscribe(t, 40)
	bad := n.askFor(t, 1)
	for range 3 {
		n.now = n.now.Add(time.Millisecond)
		n.askFor(t, 1)
	}
	n.inbox.fail = func(_ int, m askahuman.PushMessage) error {
		if m.QuestionID == bad.ID {
			return errBroken
		}
		return nil
	}
	report := n.run(t)
	wantReport(t, report, askahuman.Report{Questions: 3, Notified: 9, Released: 3, Waiting: 1, Failures: someFailures})
	if len(report.Failures) != 3 || !errors.Is(report.Failures[0], errBroken) {
		t.Errorf("failures = %v", report.Failures)
	}
}

func TestRunGivesUpOnManyFailures(t *testing.T) {
	t.Parallel()
	n := newNotifying()
	n.subscribe(t, 500)
	n.inbox.fail = func(int, askahuman.PushMessage) error { return errBroken }
	for range 50 {
		n.askFor(t, 3)
	}
	report := n.run(t)
	if report.Notified != 0 || report.Waiting != 50 || n.inbox.attempts > 5+16 {
		t.Errorf("%d attempts, %+v", n.inbox.attempts, report)
	}
}

func TestRunOutOfTime(t *testing.T) {
	t.Parallel()
	n := newNotifying()
	n.subscribe(t, 3)
	q := n.askFor(t, 1)
	// Less time is left than a run reserves.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	report, err := n.notifier.Run(ctx)
	if err != nil || report.Notified != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if stored, err := n.store.Question(t.Context(), q.ID, n.now); err != nil || !stored.DueAt.Equal(q.DueAt) {
		t.Errorf("still claimed: %+v, %v", stored, err)
	}
}

// TestRunTimeEndsWhileSending has the run's time end in the middle.
func TestRunTimeEndsWhileSending(t *testing.T) {
	t.Parallel()
	n := newNotifying()
	n.subscribe(t, 100)
	for range 10 {
		n.askFor(t, 3)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n.inbox.fail = func(attempt int, _ askahuman.PushMessage) error {
		if attempt == 20 {
			cancel()
			return unavailable(0)
		}
		return nil
	}
	report := storetest.Must(n.notifier.Run(ctx))(t)
	if report.Notified == 0 || report.Released != 1 {
		t.Errorf("report = %+v", report)
	}
	before := len(n.inbox.messages)
	n.inbox.fail = nil
	n.now = n.now.Add(time.Minute)
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

// hanging is a store that does not answer a release of a question.
type hanging struct {
	*inmem.Store
	claimed sync.Map
}

func (h *hanging) ClaimQuestion(ctx context.Context, q askahuman.Question, notifiedAt, dueAt time.Time) (bool, error) {
	if _, again := h.claimed.LoadOrStore(q.ID, true); again {
		<-ctx.Done()
		return false, ctx.Err()
	}
	return h.Store.ClaimQuestion(ctx, q, notifiedAt, dueAt)
}

// A run ends in its time also when it claimed many questions and the store hangs.
func TestRunEndsWhileTheStoreHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNotifying()
		n.notifier.Store = &hanging{Store: n.store}
		n.subscribe(t, 200)
		for range 40 {
			n.askFor(t, 1)
		}
		n.inbox.fail = func(attempt int, _ askahuman.PushMessage) error {
			if attempt <= 40 {
				return errBroken
			}
			return unavailable(time.Hour)
		}
		began := time.Now()
		report := n.run(t)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the run ended after %s, want at most 5 s", took)
		}
		if len(report.Failures) == 0 || report.Waiting < 20 {
			t.Errorf("report = %+v, want more than one round of questions that were not given back", report)
		}
	})
}

// failing is a store; the calls of one of its methods fail.
type failing struct {
	*inmem.Store
	method string
}

func (f failing) err(method string) error {
	if f.method == method {
		return errBroken
	}
	return nil
}

func (f failing) MarkNotified(ctx context.Context, personHash, questionID string, claimedAt time.Time) error {
	return cmp.Or(f.err("MarkNotified"), f.Store.MarkNotified(ctx, personHash, questionID, claimedAt))
}

func (f failing) DueQuestions(ctx context.Context, now time.Time, yield func(askahuman.Question) bool) error {
	if err := f.err("DueQuestions"); err != nil {
		return err
	}
	return f.Store.DueQuestions(ctx, now, yield)
}

func (f failing) DueSubscriptions(ctx context.Context, now time.Time, limit int) ([]askahuman.Subscription, error) {
	list, err := f.Store.DueSubscriptions(ctx, now, limit)
	return list, cmp.Or(f.err("DueSubscriptions"), err)
}

func (f failing) EndQuestion(ctx context.Context, q askahuman.Question, status askahuman.Status, now time.Time) (bool, error) {
	if err := f.err("EndQuestion"); err != nil {
		return false, err
	}
	return f.Store.EndQuestion(ctx, q, status, now)
}

func (f failing) ClaimSubscription(ctx context.Context, s askahuman.Subscription, questionID string, now time.Time) (bool, error) {
	if err := f.err("ClaimSubscription"); err != nil {
		return false, err
	}
	return f.Store.ClaimSubscription(ctx, s, questionID, now)
}

func TestRunStoreFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method string
		fails  bool // the run: it could not read what is due
		want   askahuman.Report
	}{
		"listing questions":       {"DueQuestions", true, askahuman.Report{}},
		"listing subscriptions":   {"DueSubscriptions", true, askahuman.Report{Expired: 1}},
		"expiring":                {"EndQuestion", false, askahuman.Report{Questions: 1, Notified: 3, Failures: someFailures}},
		"claiming a subscription": {"ClaimSubscription", false, askahuman.Report{Expired: 1, Waiting: 1, Failures: someFailures}},
		"marking":                 {"MarkNotified", false, askahuman.Report{Expired: 1, Questions: 1, Notified: 3, Failures: someFailures}},
		"nothing":                 {"", false, askahuman.Report{Expired: 1, Questions: 1, Notified: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNotifying()
			n.subscribe(t, 9)
			overdue := textAsk()
			overdue.TimeoutSeconds = new(60)
			n.ask(t, overdue)
			n.now = n.now.Add(time.Minute)
			n.askFor(t, 1)
			n.notifier.Store = failing{n.store, test.method}
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
