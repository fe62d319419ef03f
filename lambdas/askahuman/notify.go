package askahuman

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Notifier asks people for the answers that questions still need, and marks overdue questions
// expired. Runs may overlap, and the next run continues the work of one that dies, because a run
// claims everything in the store before it acts.
type Notifier struct {
	// Service has the questions and subscriptions.
	Service *Service
	// Push sends one notification. It returns [ErrDeadToken], a [*PushUnavailableError], or another error. Nil: none
	// are sent, questions still expire.
	Push func(context.Context, PushMessage) error
	// QuestionURL is where people answer a question, with [QuestionIDPlaceholder] for
	// its id. Empty: [DefaultQuestionURL].
	QuestionURL string
	Clock       wire.Clock
	// Sleep waits between attempts, or returns the context's error; nil waits for the
	// given time.
	Sleep func(ctx context.Context, d time.Duration) error
	// Log gets a line for each failure of the report; nil: none.
	Log *slog.Logger
}

// The links of notifications.
const (
	// QuestionIDPlaceholder stands for the question's id.
	QuestionIDPlaceholder = "{question_id}"
	// DefaultQuestionURL is a path of the page that subscribed.
	DefaultQuestionURL = "/q/" + QuestionIDPlaceholder
)

const (
	// peoplePerAnswer is how many people are notified for each missing answer of a question: most
	// do not answer at once (wire contract: notifier).
	peoplePerAnswer = 3
	// poolSize is how many subscriptions a run reads, at most, and samplesPerPlace
	// how many for each notification it has to send: enough to draw from.
	poolSize, samplesPerPlace = 2000, 4
	// questionsPerRun is how many questions a run notifies of, at most.
	questionsPerRun = 500
	// workers is how many notifications or writes are under way at once.
	workers = 16
	// timeToSpare is how long before its deadline a run begins nothing new. It can then still send
	// what it has claimed, for sendTime at most, mark or release that, and release the questions,
	// each for releaseTime at most.
	timeToSpare = 12 * time.Second
	sendTime    = 5 * time.Second
	releaseTime = 3 * time.Second
	// sendAttempts is how often one notification is tried while the push service is
	// unavailable, and longestRetryAfter the longest wait that is worth it within a
	// run: the next run is a minute away.
	sendAttempts      = 3
	longestRetryAfter = 5 * time.Second
	firstSendPause    = 250 * time.Millisecond
	// failuresAllowed is how many notifications may fail for reasons of their own
	// before a run gives up on the push service.
	failuresAllowed = 5

	notificationTitle = "A question is waiting for your answer"
	// bodyLength is how much of the prompt a notification shows, in characters.
	bodyLength = 120
)

// Report says what a run did.
type Report struct {
	// Expired is how many questions were marked expired.
	Expired int
	// Questions is how many questions people were notified of, Notified how many
	// notifications were sent.
	Questions, Notified int
	// Deactivated is how many subscriptions had a dead token, Released how many people may be
	// notified again at once because their notification could not be sent.
	Deactivated, Released int
	// Waiting is how many questions are left for the next run.
	Waiting int
	// Unavailable says that the push service was unavailable, so that the run stopped
	// sending.
	Unavailable bool
	// Failures are the errors that did not fail the run.
	Failures []error
}

// Run does what is due. It stops in good time before the context's deadline and
// leaves the rest to the next run.
//
// It returns an error only when it could not read what is due: then a retry at once may succeed.
// Every other failure is in the report, and its question stays due. The next run is the better
// retry, because it sees what this one has done.
func (n *Notifier) Run(ctx context.Context) (Report, error) {
	run := &notifierRun{Notifier: n, ctx: ctx}
	short, err := run.expireOverdue()
	switch {
	case err != nil:
	case n.Push == nil:
		run.report.Waiting += len(short)
	case len(short) > 0:
		err = run.notify(short)
	}
	return run.report, err
}

// notifierRun is one run.
type notifierRun struct {
	*Notifier
	ctx context.Context

	mu      sync.Mutex // guards what follows
	report  Report
	pool    []askahuman.Subscription // the people who are left to notify, in random order
	failed  int                      // notifications that failed for reasons of their own
	stopped bool                     // nothing more is sent
}

// expireOverdue marks questions past their deadline, and returns those that are due and
// still need answers.
func (r *notifierRun) expireOverdue() ([]askahuman.Question, error) {
	var short []askahuman.Question
	var expiring errgroup.Group
	expiring.SetLimit(workers)
	now := r.Clock.Now()
	err := r.Service.dueQuestions(r.ctx, now, func(question askahuman.Question) bool {
		switch {
		case r.outOfTime():
			return false
		case question.Answerable() && !question.AnswerableAt(now):
			expiring.Go(func() error {
				ended, err := r.Service.endQuestion(r.ctx, question, now)
				r.record(func(report *Report) {
					if ended {
						report.Expired++
					}
				})
				r.fail("mark question "+question.ID+" expired", err)
				return nil
			})
		case !question.AnswerableAt(now) || missing(question) <= 0:
		case len(short) == questionsPerRun:
			r.record(func(report *Report) { report.Waiting++ })
		default:
			short = append(short, question)
		}
		return true
	})
	_ = expiring.Wait() // each has recorded its own failure
	if err != nil {
		return nil, fmt.Errorf("list due questions: %w", err)
	}
	return short, nil
}

// missing returns how many answers a question still needs.
func missing(question askahuman.Question) int {
	return question.RequiredResponses - question.CurrentResponses
}

// claimedQuestion is a question that this run notifies people of.
type claimedQuestion struct {
	askahuman.Question                    // as claimed
	before             askahuman.Question // as read
	message            PushMessage
	// The run's mutex guards these.
	reached bool // a person was notified
	cut     bool // the push service failed before all were
}

func (r *notifierRun) notify(short []askahuman.Question) error {
	places := 0
	for _, question := range short {
		places += peoplePerAnswer * missing(question)
	}
	pool, err := r.Service.dueSubscriptions(r.ctx, r.Clock.Now(), min(poolSize, samplesPerPlace*places))
	if err != nil {
		return fmt.Errorf("list due subscriptions: %w", err)
	}
	// A person may have several: the claim on the person lets one of them through.
	rand.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	r.pool = pool

	notifications := make(chan *claimedQuestion)
	var sending sync.WaitGroup
	for range workers {
		sending.Go(func() {
			for question := range notifications {
				r.notifyNext(question)
			}
		})
	}
	var claimed []*claimedQuestion
	for i, question := range short {
		if !r.canSend() {
			r.record(func(report *Report) { report.Waiting += len(short) - i })
			break
		}
		c := r.claim(question)
		if c == nil {
			continue
		}
		claimed = append(claimed, c)
		for range peoplePerAnswer * missing(question) {
			notifications <- c
		}
	}
	close(notifications)
	sending.Wait()
	// All end by then, for any number of them and any delay of the store.
	end := time.Now().Add(releaseTime)
	var settling errgroup.Group
	settling.SetLimit(workers)
	for _, question := range claimed {
		settling.Go(func() error {
			r.settle(question, end)
			return nil
		})
	}
	_ = settling.Wait() // each has recorded its own failure
	return nil
}

// claim takes a question for this run, until it is due again; nil: another run
// has, or it has ended.
func (r *notifierRun) claim(question askahuman.Question) *claimedQuestion {
	now := r.Clock.Now()
	next := now.Add(askahuman.RenotifyAfter)
	if deadline := time.Time(question.Deadline); deadline.Before(next) {
		next = deadline
	}
	ok, err := r.Service.claimQuestion(r.ctx, question, now, next)
	if err != nil || !ok {
		r.fail("claim question "+question.ID, err)
		return nil
	}
	pattern := r.QuestionURL
	if pattern == "" {
		pattern = DefaultQuestionURL
	}
	claimed := &claimedQuestion{
		Question: question,
		before:   question,
		message: PushMessage{
			Title: notificationTitle,
			Body:  shorten(question.Prompt),
			Link:  strings.ReplaceAll(pattern, QuestionIDPlaceholder, question.ID),

			QuestionID: question.ID,
			Type:       question.Type,
		},
	}
	claimed.NotifiedAt, claimed.DueAt = now, next
	return claimed
}

// shorten returns a prompt as one line of at most bodyLength characters.
func shorten(prompt string) string {
	line := strings.Join(strings.Fields(prompt), " ")
	if utf8.RuneCountInString(line) <= bodyLength {
		return line
	}
	return strings.TrimSpace(string([]rune(line)[:bodyLength-1])) + "…"
}

// notifyNext notifies the next person who can be.
func (r *notifierRun) notifyNext(question *claimedQuestion) {
	for {
		subscription, ok := r.next()
		if !ok {
			return
		}
		now := r.Clock.Now()
		claimed, err := r.Service.claimSubscription(r.ctx, subscription, question.ID, now)
		if err != nil {
			r.fail("claim a subscription for question "+question.ID, err)
			return
		}
		if !claimed {
			continue
		}
		message := question.message
		message.Token = subscription.Token
		err = r.send(message)
		if errors.Is(err, ErrDeadToken) {
			r.deactivate(subscription, now)
			continue
		}
		if err == nil {
			r.mark(subscription, question, now)
		}
		if !r.sent(question, err) && r.release(subscription, now) {
			r.record(func(report *Report) { report.Released++ })
		}
		return
	}
}

// send sends one notification, more than once while the push service is
// unavailable for a moment.
func (r *notifierRun) send(message PushMessage) error {
	for attempt := 1; ; attempt++ {
		err := r.sendOnce(message)
		unavailable, ok := errors.AsType[*PushUnavailableError](err)
		if !ok || mayHaveArrived(err) || attempt == sendAttempts || unavailable.RetryAfter > longestRetryAfter ||
			!r.canGoOn() {
			return err
		}
		wait := unavailable.RetryAfter + rand.N(firstSendPause<<attempt)
		sleeping := retry.Pause
		if r.Sleep != nil {
			sleeping = r.Sleep
		}
		if sleeping(r.ctx, wait) != nil {
			return err
		}
	}
}

func (r *notifierRun) sendOnce(message PushMessage) error {
	ctx, cancel := context.WithTimeout(r.ctx, sendTime)
	defer cancel()
	return r.Push(ctx, message)
}

// mayHaveArrived reports whether a failed notification may have arrived, because no answer came in
// time. The run neither tries it again nor releases its claim: a missing notification is better
// than more than the person chose.
func mayHaveArrived(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// sent records how a notification went, and reports whether its claim stays.
func (r *notifierRun) sent(question *claimedQuestion, err error) bool {
	if err != nil {
		r.fail("notify a person of question "+question.ID, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.report.Notified++
		if !question.reached {
			r.report.Questions++
		}
		question.reached = true
		return true
	}
	question.cut = true
	_, unavailable := errors.AsType[*PushUnavailableError](err)
	if unavailable || mayHaveArrived(err) {
		r.stopped, r.report.Unavailable = true, true
	} else if r.failed++; r.failed >= failuresAllowed {
		r.stopped = true
	}
	return mayHaveArrived(err)
}

// mark remembers that a notification was sent. It comes after the sending, and the
// claim before it: a run that dies in between leaves a person without the points of a
// quick answer, and notifies no one twice.
func (r *notifierRun) mark(subscription askahuman.Subscription, question *claimedQuestion, claimedAt time.Time) {
	if subscription.PersonHash == "" {
		return
	}
	ctx, cancel := r.lastContext()
	defer cancel()
	err := r.Service.markNotified(ctx, subscription.PersonHash, question.ID, claimedAt)
	r.fail("remember a notification of question "+question.ID, err)
}

// deactivate takes a subscription with a dead token out of use. It releases the claim first,
// because the person's next token has not been notified.
func (r *notifierRun) deactivate(subscription askahuman.Subscription, claimedAt time.Time) {
	r.release(subscription, claimedAt)
	err := r.Service.deactivateSubscription(r.ctx, subscription, r.Clock.Now())
	r.fail("deactivate a subscription with a dead token", err)
	if err == nil {
		r.record(func(report *Report) { report.Deactivated++ })
	}
}

// release releases the claim on a person whose notification was not sent, and reports
// whether it could.
func (r *notifierRun) release(subscription askahuman.Subscription, claimedAt time.Time) bool {
	ctx, cancel := r.lastContext()
	defer cancel()
	err := r.Service.releaseSubscription(ctx, subscription, claimedAt)
	r.fail("release a subscription", err)
	return err == nil
}

// settle leaves a question to the next run when this run could not send its notifications.
func (r *notifierRun) settle(question *claimedQuestion, end time.Time) {
	if question.reached && !question.cut {
		return
	}
	notifiedAt := question.before.NotifiedAt
	if question.reached {
		notifiedAt = question.NotifiedAt
	}
	ctx, cancel := retry.ToRelease(r.ctx, end)
	defer cancel()
	// Its due time is as it was read, so it keeps its place among the due ones.
	_, err := r.Service.claimQuestion(ctx, question.Question, notifiedAt, question.before.DueAt)
	r.fail("give question "+question.ID+" back", err)
	r.record(func(report *Report) { report.Waiting++ })
}

// lastContext returns a context for undoing a claim, which is valid even after the run's deadline.
func (r *notifierRun) lastContext() (context.Context, context.CancelFunc) {
	return retry.ToRelease(r.ctx, time.Now().Add(releaseTime))
}

// next takes the next person from the pool, if one may still be notified.
func (r *notifierRun) next() (askahuman.Subscription, bool) {
	goesOn := r.canGoOn()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !goesOn || len(r.pool) == 0 {
		return askahuman.Subscription{}, false
	}
	subscription := r.pool[0]
	r.pool = r.pool[1:]
	return subscription, true
}

// canSend reports whether there is time, a push service and a person to notify.
func (r *notifierRun) canSend() bool {
	goesOn := r.canGoOn()
	r.mu.Lock()
	defer r.mu.Unlock()
	return goesOn && len(r.pool) > 0
}

// canGoOn reports whether there is time and a push service.
func (r *notifierRun) canGoOn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.stopped && !r.outOfTime()
}

// outOfTime reports whether the run should begin nothing new.
func (r *notifierRun) outOfTime() bool {
	deadline, ok := r.ctx.Deadline()
	return r.ctx.Err() != nil || ok && time.Until(deadline) < timeToSpare
}

func (r *notifierRun) record(change func(*Report)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.report)
}

// fail records an error that does not fail the run; it ignores nil.
func (r *notifierRun) fail(doing string, err error) {
	if err == nil {
		return
	}
	err = fmt.Errorf("%s: %w", doing, err)
	if r.Log != nil {
		r.Log.WarnContext(r.ctx, "a part of the run failed", "error", err.Error())
	}
	r.record(func(report *Report) { report.Failures = append(report.Failures, err) })
}
