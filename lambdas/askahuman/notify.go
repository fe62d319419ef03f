package askahuman

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
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
	// questionsPerRun is how many due questions a run looks at, at most, to notify of them, and questionsAtOnce how
	// many it reads with one request.
	questionsPerRun, questionsAtOnce = 500, 100
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
	// Waiting is how many of the questions that the run knows of are left for the next run. Others are not counted,
	// because a count reads each: More says that there may be some.
	Waiting int
	More    bool
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
	run.changed.L = &run.mu
	err := run.expireOverdue()
	if err == nil && n.Push != nil {
		err = run.notifyDue()
	}
	return run.report, err
}

// notifierRun is one run.
type notifierRun struct {
	*Notifier
	ctx context.Context

	mu      sync.Mutex // guards what follows
	report  Report
	pool    []askahuman.Subscription // the people whom the run may notify, in random order
	places  []turn                   // how it stands with each of them
	left    int                      // how many of them a question may still have
	changed sync.Cond                // a place has changed
	drawn   int                      // how many the pool would have if that many were due
	failed  int                      // notifications that failed for reasons of their own
	stopped bool                     // nothing more is sent
}

// turn is how it stands with a person of the pool.
type turn int

const (
	isFree  turn = iota // a question may have them
	isAsked             // it is found out whether a question may
	isTaken             // one had them, or none may
)

// expireOverdue marks questions past their deadline, for at most half of the run's time: the other half is for those
// that people can still answer.
func (r *notifierRun) expireOverdue() error {
	var expiring errgroup.Group
	expiring.SetLimit(workers)
	defer func() { _ = expiring.Wait() }() // each has recorded its own failure
	now, began := r.Clock.Now(), time.Now()
	overdue := reading(r.Service.overdueQuestions(r.ctx, now))
	defer overdue.stop()
	for {
		ids, err := overdue.take(questionsAtOnce)
		if err != nil {
			return fmt.Errorf("list overdue questions: %w", err)
		}
		questions, err := r.Service.questionsByID(r.ctx, ids)
		if err != nil {
			return fmt.Errorf("read overdue questions: %w", err)
		}
		for _, question := range questions {
			if !question.Answerable() || question.AnswerableAt(now) {
				continue
			}
			if left, limited := r.timeLeft(); limited && left < time.Since(began) {
				r.record(func(report *Report) { report.More = true })
				return nil
			}
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
		}
		if overdue.ended {
			return nil
		}
	}
}

// reader takes the ids of a list as far as a run needs them.
type reader struct {
	next  func() (string, error, bool)
	stop  func()
	ended bool // the list has no further ones
}

func reading(ids iter.Seq2[string, error]) *reader {
	next, stop := iter.Pull2(ids)
	return &reader{next: next, stop: stop}
}

// take returns the next ids, at most limit.
func (r *reader) take(limit int) (ids []string, err error) {
	for len(ids) < limit && !r.ended {
		id, err, ok := r.next()
		if err != nil {
			return nil, err
		}
		if r.ended = !ok; ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// notifyDue notifies people of the questions that are due, longest due first. It reads what the people suffice for who
// may be notified now, and leaves the rest unread.
func (r *notifierRun) notifyDue() error {
	now := r.Clock.Now()
	due := reading(r.Service.dueQuestions(r.ctx, now))
	defer due.stop()
	ids, err := due.take(keysPerPage)
	if err != nil {
		return fmt.Errorf("list due questions: %w", err)
	}
	if len(ids) == 0 {
		return nil
	}
	if err := r.draw(now, len(ids)*peoplePerAnswer*askahuman.DefaultResponses); err != nil {
		return err
	}
	var short []askahuman.Question
	places, looked := 0, 0
	for places < len(r.pool) && looked < questionsPerRun {
		// Each question needs peoplePerAnswer people or more.
		limit := min(questionsAtOnce, questionsPerRun-looked, 1+(len(r.pool)-places-1)/peoplePerAnswer)
		if len(ids) < limit {
			further, err := due.take(keysPerPage)
			if err != nil {
				return fmt.Errorf("list due questions: %w", err)
			}
			ids = append(ids, further...)
		}
		batch := ids[:min(limit, len(ids))]
		if len(batch) == 0 {
			break
		}
		ids, looked = ids[len(batch):], looked+len(batch)
		questions, err := r.Service.questionsByID(r.ctx, batch)
		if err != nil {
			return fmt.Errorf("read due questions: %w", err)
		}
		for _, question := range questions {
			// It may have changed since it was listed.
			if question.AnswerableAt(now) && !question.DueAt.After(now) && missing(question) > 0 {
				short = append(short, question)
				places += peoplePerAnswer * missing(question)
			}
		}
		if err := r.draw(now, places); err != nil {
			return err
		}
	}
	r.record(func(report *Report) {
		report.Waiting += len(ids)
		report.More = report.More || !due.ended
	})
	r.notify(short)
	return nil
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
	looked   []bool // at which places of the pool it has looked
	answered bool   // a person there has answered it
	reached  bool   // a person was notified
	cut      bool   // the push service failed before all were
}

// draw makes the pool large enough for so many notifications, if so many people may be notified, in random order. A
// person may have several subscriptions: the claim on the person lets one of them through.
func (r *notifierRun) draw(now time.Time, places int) error {
	size := min(poolSize, samplesPerPlace*places)
	if size <= r.drawn || len(r.pool) < r.drawn {
		return nil
	}
	pool, err := r.Service.dueSubscriptions(r.ctx, now, size)
	if err != nil {
		return fmt.Errorf("list due subscriptions: %w", err)
	}
	rand.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	r.pool, r.places, r.left, r.drawn = pool, make([]turn, len(pool)), len(pool), size
	return nil
}

// notify notifies people of questions that are due and need answers.
func (r *notifierRun) notify(short []askahuman.Question) {
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
}

// claim takes a question for this run, until it is due again; nil: another run
// has, or it has ended.
func (r *notifierRun) claim(question askahuman.Question) *claimedQuestion {
	now := r.Clock.Now()
	next := now.Add(askahuman.RenotifyAfter)
	ok, err := r.Service.claimQuestion(r.ctx, question, now, next)
	if err != nil || !ok {
		r.fail("claim question "+question.ID, err)
		return nil
	}
	pattern := cmp.Or(r.QuestionURL, DefaultQuestionURL)
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
	claimed.looked = make([]bool, len(r.pool))
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
		at, ok := r.next(question)
		if !ok {
			return
		}
		now, subscription := r.Clock.Now(), r.pool[at]
		claimed, err := r.Service.claimSubscription(r.ctx, subscription, question.ID, now)
		answered := errors.Is(err, errAnswered)
		r.settlePlace(question, at, answered)
		if answered {
			continue
		}
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
	// Its due time is as it was read, so it keeps its place among the due ones. But one that found nobody else than
	// people who have answered it goes behind the others: before them, it could keep a run from looking at these.
	due := question.before.DueAt
	if question.answered && !question.cut {
		due = r.Clock.Now()
	}
	_, err := r.Service.claimQuestion(ctx, question.Question, notifiedAt, due)
	r.fail("give question "+question.ID+" back", err)
	r.record(func(report *Report) { report.Waiting++ })
}

// lastContext returns a context for undoing a claim, which is valid even after the run's deadline.
func (r *notifierRun) lastContext() (context.Context, context.CancelFunc) {
	return retry.ToRelease(r.ctx, time.Now().Add(releaseTime))
}

// next takes a place of the pool for a question, if a person may still be notified. A question looks at each once. It
// waits for places where it is found out whether another question may have the person.
func (r *notifierRun) next(question *claimedQuestion) (at int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.stopped && !r.outOfTime() {
		waits := false
		for at, now := range r.places {
			if question.looked[at] || now == isTaken {
				continue
			}
			if now == isFree {
				r.places[at], question.looked[at] = isAsked, true
				return at, true
			}
			waits = true
		}
		if !waits {
			return 0, false
		}
		r.changed.Wait()
	}
	return 0, false
}

// settlePlace says what was found out about a person for a question: who has answered it is left for the others.
func (r *notifierRun) settlePlace(question *claimedQuestion, at int, answered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if answered {
		r.places[at], question.answered = isFree, true
	} else {
		r.places[at] = isTaken
		r.left--
	}
	r.changed.Broadcast()
}

// canSend reports whether there is time, a push service and a person to notify.
func (r *notifierRun) canSend() bool {
	goesOn := r.canGoOn()
	r.mu.Lock()
	defer r.mu.Unlock()
	return goesOn && r.left > 0
}

// canGoOn reports whether there is time and a push service.
func (r *notifierRun) canGoOn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.stopped && !r.outOfTime()
}

// outOfTime reports whether the run should begin nothing new.
func (r *notifierRun) outOfTime() bool {
	left, limited := r.timeLeft()
	return r.ctx.Err() != nil || limited && left < 0
}

// timeLeft returns how long the run may still begin something, and whether its time is limited at all.
func (r *notifierRun) timeLeft() (left time.Duration, limited bool) {
	deadline, limited := r.ctx.Deadline()
	return time.Until(deadline) - timeToSpare, limited
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
