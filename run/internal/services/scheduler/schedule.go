// Package scheduler is EventBridge Scheduler on this machine: rate, cron and one-time schedules with time
// zones, windows, retries and dead-letter queues ("EventBridge Scheduler user guide").
//
// Scheduler hands an event over and is done: it invokes functions asynchronously, so its own retries are
// for events that the target does not take. Lambda retries a function that fails on the event.
package scheduler

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	randv2 "math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/cron"
	"github.com/onesynth-cdk/onesynth/internal/recovery"
)

// Defaults of a schedule's retry policy.
const (
	// DefaultMaxAttempts is how often a failed delivery is retried.
	DefaultMaxAttempts = 185
	// DefaultMaxAge is how long a delivery is retried.
	DefaultMaxAge = 24 * time.Hour
)

// ErrNotFound says that no schedule has the name.
var ErrNotFound = errors.New("no such schedule")

// Schedule is an AWS::Scheduler::Schedule, every value resolved.
type Schedule struct {
	Name string
	ARN  string
	// Expression is rate(…), cron(…) or at(…); Timezone an IANA name, "" for UTC.
	Expression string
	Timezone   string
	// Disabled schedules fire only when run by name.
	Disabled bool
	// Start and End bound the times of a recurring schedule; zero is unbounded.
	Start, End time.Time
	// Window is the flexible time window; 0 fires on time.
	Window time.Duration
	// Target and Role are ARNs; Role is assumed to reach target and dead-letter queue.
	Target, Role string
	// Rule says that it is a rule of Amazon EventBridge, which has no role, and delivers by itself.
	Rule bool
	// Input is the event; "" sends Scheduler's own.
	Input string
	// MaxAttempts is the retries after the first; nil means DefaultMaxAttempts.
	MaxAttempts *int
	// MaxAge is how long to retry; 0 means DefaultMaxAge.
	MaxAge time.Duration
	// DeadLetter is the ARN of the queue for events that could not be delivered, "" for none.
	DeadLetter string
}

// Target delivers events under the schedule's role.
type Target interface {
	// Deliver hands an event over without waiting for its outcome. An error means that it was not taken.
	Deliver(ctx context.Context, s Schedule, event []byte) error
	// DeliverAndWait hands an event over once and waits for its outcome.
	DeliverAndWait(ctx context.Context, s Schedule, event []byte) error
	// DeadLetter sends an event that could not be delivered to the schedule's queue.
	DeadLetter(ctx context.Context, s Schedule, body string, attributes map[string]string) error
}

// CodedError is an error of a Target that has an AWS error code, such as AccessDeniedException.
type CodedError interface {
	error
	ErrorCode() string
}

// Options of a Scheduler.
type Options struct {
	Target Target
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Sleep waits; nil waits on a timer. It returns early with an error when ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
	// Log receives a line for each delivery that fails; nil drops it.
	Log func(line string)
}

// Scheduler fires schedules. Make one with New, then Change, then Start; Close stops it.
type Scheduler struct {
	options Options
	began   time.Time
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	schedules map[string]*entry
	started   bool
}

type entry struct {
	Schedule
	expression cron.Expression
	next       time.Time
	last       time.Time
	fired      int
	delivered  int
	dead       int
	lastError  string
	// ctx ends when the schedule does.
	ctx context.Context
	end context.CancelFunc
}

// New returns a Scheduler without schedules. Rates count from now.
func New(options Options) *Scheduler {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Sleep == nil {
		options.Sleep = recovery.Sleep
	}
	if options.Log == nil {
		options.Log = func(string) {}
	}
	s := &Scheduler{options: options, began: options.Now(), schedules: map[string]*entry{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Check returns why a schedule would be refused: a bad expression (cron.ErrExpression) or time zone.
func (s *Scheduler) Check(definition Schedule) error {
	_, err := s.read(definition)
	return err
}

// Change makes the schedules be these, and no others. One that is as it was goes on; the figures of one that is not
// stay. Errors as of Check; nothing changes then.
func (s *Scheduler) Change(definitions []Schedule) error {
	next := map[string]*entry{}
	var problems []error
	for _, definition := range definitions {
		e, err := s.read(definition)
		problems = append(problems, err)
		next[definition.Name] = e
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, e := range next {
		former := s.schedules[name]
		if former != nil && reflect.DeepEqual(former.Schedule, e.Schedule) {
			next[name] = former
			continue
		}
		if former != nil {
			e.last, e.fired, e.delivered, e.dead, e.lastError = former.last, former.fired, former.delivered,
				former.dead, former.lastError
		}
		if s.started {
			s.startLocked(e)
		}
	}
	for name, former := range s.schedules {
		if next[name] != former {
			former.end()
		}
	}
	s.schedules = next
	return nil
}

func (s *Scheduler) read(definition Schedule) (*entry, error) {
	location, err := cron.Zone(definition.Timezone)
	if err != nil {
		return nil, fmt.Errorf("schedule %s: ScheduleExpressionTimezone: %w", definition.Name, err)
	}
	anchor := s.began
	if !definition.Start.IsZero() {
		anchor = definition.Start
	}
	expression, err := cron.Parse(definition.Expression, location, anchor)
	if err != nil {
		return nil, fmt.Errorf("schedule %s: %w", definition.Name, err)
	}
	e := &entry{Schedule: definition, expression: expression}
	e.ctx, e.end = context.WithCancel(s.ctx)
	e.next = e.after(s.options.Now())
	return e, nil
}

// after is the schedule's next time, the zero time when it has none.
func (e *entry) after(t time.Time) time.Time {
	if e.Disabled {
		return time.Time{}
	}
	if t.Before(e.Start) {
		t = e.Start.Add(-1)
	}
	next := e.expression.Next(t)
	if !e.End.IsZero() && next.After(e.End) {
		return time.Time{}
	}
	return next
}

// Start begins to fire the schedules.
func (s *Scheduler) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = true
	for _, e := range s.schedules {
		s.startLocked(e)
	}
}

func (s *Scheduler) startLocked(e *entry) {
	if e.next.IsZero() || s.ctx.Err() != nil {
		return
	}
	s.running.Go(func() { s.loop(e) })
}

func (s *Scheduler) loop(e *entry) {
	for {
		s.mu.Lock()
		next := e.next
		s.mu.Unlock()
		if next.IsZero() || s.options.Sleep(e.ctx, next.Sub(s.options.Now())) != nil {
			return
		}
		s.mu.Lock()
		// Times that passed while the machine slept are left out.
		now := s.options.Now()
		e.next = e.after(maxTime(now, next))
		e.fired++
		e.last = now
		s.mu.Unlock()
		s.running.Add(1)
		go func() {
			defer s.running.Done()
			if e.Window > 0 && s.options.Sleep(s.ctx, randv2.N(e.Window)) != nil {
				return
			}
			s.deliver(e, next)
		}()
	}
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// deliver tries until the target takes the event or the retry policy is exhausted.
func (s *Scheduler) deliver(e *entry, scheduled time.Time) {
	attempts := DefaultMaxAttempts
	if e.MaxAttempts != nil {
		attempts = *e.MaxAttempts
	}
	maxAge := e.MaxAge
	if maxAge == 0 {
		maxAge = DefaultMaxAge
	}
	execution := newExecutionID()
	expires := s.options.Now().Add(maxAge)
	wait := time.Second
	for attempt := 0; ; attempt++ {
		event := e.event(scheduled, execution, attempt+1)
		err := recovery.Call(func() error { return s.options.Target.Deliver(s.ctx, e.Schedule, event) })
		s.note(e, err)
		if err == nil || s.ctx.Err() != nil {
			return
		}
		s.options.Log(fmt.Sprintf("schedule %s: delivery failed, attempt %d: %v", e.Name, attempt+1, err))
		condition := ""
		switch {
		case attempt >= attempts:
			condition = "MaximumRetryAttempts"
		case s.options.Now().Add(wait).After(expires):
			condition = "MaximumEventAgeInSeconds"
		}
		if condition != "" {
			s.abandon(e, err, event, execution, condition, attempt, scheduled)
			return
		}
		if s.options.Sleep(s.ctx, wait) != nil {
			return
		}
		wait = min(2*wait, 10*time.Minute)
	}
}

func (s *Scheduler) note(e *entry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		e.lastError = err.Error()
		return
	}
	e.delivered++
	e.lastError = ""
}

// abandon sends an event to the dead-letter queue with the attributes that the user guide lists under
// "Configuring a dead-letter queue".
func (s *Scheduler) abandon(e *entry, cause error, event []byte, execution, condition string, retries int,
	scheduled time.Time) {
	s.mu.Lock()
	e.dead++
	s.mu.Unlock()
	if e.DeadLetter == "" {
		s.options.Log(fmt.Sprintf("schedule %s: event given up (%s); the schedule has no dead-letter queue", e.Name,
			condition))
		return
	}
	code := "InternalError"
	var coded CodedError
	if errors.As(cause, &coded) {
		code = coded.ErrorCode()
	}
	attributes := map[string]string{
		"ERROR_CODE": code, "ERROR_MESSAGE": cause.Error(), "EXECUTION_ID": execution,
		"EXHAUSTED_RETRY_CONDITION": condition,
		"IS_PAYLOAD_TRUNCATED":      "false", "RETRY_ATTEMPTS": strconv.Itoa(retries), "SCHEDULE_ARN": e.ARN,
		"TARGET_ARN":     e.Target,
		"SCHEDULED_TIME": scheduled.UTC().Format(time.RFC3339),
	}
	if err := s.options.Target.DeadLetter(s.ctx, e.Schedule, string(event), attributes); err != nil {
		s.options.Log(fmt.Sprintf("schedule %s: the event is lost, its dead-letter queue refused it: %v", e.Name, err))
	}
}

// event fills the context attributes of the schedule's input.
func (e *entry) event(scheduled time.Time, execution string, attempt int) []byte {
	when := scheduled.UTC().Format(time.RFC3339)
	if e.Input == "" {
		event, err := json.Marshal(map[string]any{
			"version": "0", "id": execution, "detail-type": "Scheduled Event", "source": "aws.scheduler", "time": when,
			"resources": []string{e.ARN}, "detail": "{}",
		})
		if err != nil {
			panic(err) // strings always encode
		}
		return event
	}
	return []byte(strings.NewReplacer(
		"<aws.scheduler.schedule-arn>", e.ARN, "<aws.scheduler.scheduled-time>", when,
		"<aws.scheduler.execution-id>", execution, "<aws.scheduler.attempt-number>", strconv.Itoa(attempt),
	).Replace(e.Input))
}

// Run delivers a schedule's event now, whether or not it is enabled, waits for the outcome and returns
// the target's error. ErrNotFound says that there is no schedule of that name.
func (s *Scheduler) Run(ctx context.Context, name string) error {
	s.mu.Lock()
	e, ok := s.schedules[name]
	names := slices.Sorted(maps.Keys(s.schedules))
	s.mu.Unlock()
	if !ok {
		return fmt.Errorf("%w %q: this run has %s", ErrNotFound, name, strings.Join(names, ", "))
	}
	now := s.options.Now()
	err := s.options.Target.DeliverAndWait(ctx, e.Schedule, e.event(now, newExecutionID(), 1))
	s.mu.Lock()
	e.fired++
	e.last = now
	s.mu.Unlock()
	s.note(e, err)
	if err != nil {
		return fmt.Errorf("schedule %s: %w", name, err)
	}
	return nil
}

// Status is a schedule and what it has done in this run.
type Status struct {
	Name       string     `json:"name"`
	Expression string     `json:"expression"`
	Timezone   string     `json:"timezone,omitempty"`
	Enabled    bool       `json:"enabled"`
	Target     string     `json:"target"`
	DeadLetter string     `json:"dead_letter,omitempty"`
	Next       *time.Time `json:"next,omitempty"`
	Last       *time.Time `json:"last,omitempty"`
	Fired      int        `json:"fired"`
	Delivered  int        `json:"delivered"`
	// Dead counts events that went to the dead-letter queue, or were lost without one.
	Dead      int    `json:"dead"`
	LastError string `json:"last_error,omitempty"`
}

// Schedules returns every schedule by name.
func (s *Scheduler) Schedules() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	statuses := []Status{}
	for _, name := range slices.Sorted(maps.Keys(s.schedules)) {
		e := s.schedules[name]
		status := Status{
			Name: e.Name, Expression: e.Expression, Timezone: e.Timezone, Enabled: !e.Disabled, Target: e.Target,
			DeadLetter: e.DeadLetter,
			Fired:      e.fired, Delivered: e.delivered, Dead: e.dead, LastError: e.lastError,
		}
		if next := e.next; !next.IsZero() {
			status.Next = &next
		}
		if last := e.last; !last.IsZero() {
			status.Last = &last
		}
		statuses = append(statuses, status)
	}
	return statuses
}

// Close stops firing and waits for deliveries under way.
func (s *Scheduler) Close() {
	s.cancel()
	s.running.Wait()
}

func newExecutionID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
