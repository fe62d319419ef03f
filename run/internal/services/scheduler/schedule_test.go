package scheduler_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/cron"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/services/scheduler"
)

type refusal struct{}

func (refusal) Error() string     { return "not authorized to perform: lambda:InvokeFunction" }
func (refusal) ErrorCode() string { return "AccessDeniedException" }

type target struct {
	fail    error
	events  chan string
	letters chan map[string]string
}

func newTarget() *target {
	return &target{events: make(chan string, 100), letters: make(chan map[string]string, 10)}
}

func (t *target) Deliver(_ context.Context, _ scheduler.Schedule, event []byte) error {
	t.events <- string(event)
	return t.fail
}

func (t *target) DeliverAndWait(ctx context.Context, s scheduler.Schedule, event []byte) error {
	return t.Deliver(ctx, s, event)
}

func (t *target) DeadLetter(_ context.Context, _ scheduler.Schedule, body string, attributes map[string]string) error {
	attributes["body"] = body
	t.letters <- attributes
	return nil
}

// clock advances by each sleep, up to a number of sleeps.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	sleeps int
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	if c.sleeps == 0 {
		c.mu.Unlock()
		<-ctx.Done()
		return ctx.Err()
	}
	c.sleeps--
	c.now = c.now.Add(max(d, 0))
	c.mu.Unlock()
	return ctx.Err()
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newScheduler(t *testing.T, target scheduler.Target, sleeps int, s scheduler.Schedule) *scheduler.Scheduler {
	t.Helper()
	c := &clock{now: start, sleeps: sleeps}
	made := scheduler.New(scheduler.Options{Target: target, Now: c.Now, Sleep: c.Sleep})
	t.Cleanup(made.Close)
	s.Name, s.ARN, s.Target = "tick", "arn:schedule", "arn:target"
	must.OK(t, made.Change([]scheduler.Schedule{s}))
	return made
}

func TestFires(t *testing.T) {
	t.Parallel()
	target := newTarget()
	s := newScheduler(t, target, 2, scheduler.Schedule{
		Expression: "rate(1 minute)",
		Input:      `{"arn":"<aws.scheduler.schedule-arn>","at":"<aws.scheduler.scheduled-time>","attempt":"<aws.scheduler.attempt-number>"}`,
	})
	if next := s.Schedules()[0].Next; !next.Equal(start.Add(time.Minute)) {
		t.Errorf("first fires at %v", next)
	}
	s.Start()
	got := map[string]bool{<-target.events: true, <-target.events: true}
	for _, at := range []string{"00:01:00", "00:02:00"} {
		if want := `{"arn":"arn:schedule","at":"2026-01-01T` + at + `Z","attempt":"1"}`; !got[want] {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		schedule scheduler.Schedule
		next     time.Time
	}{
		"Disabled": {scheduler.Schedule{Expression: "rate(1 minute)", Disabled: true}, time.Time{}},
		"Starts": {scheduler.Schedule{Expression: "cron(0 0 * * ? *)", Start: start.Add(48 * time.Hour)},
			start.Add(48 * time.Hour)},
		"StartsRate": {scheduler.Schedule{Expression: "rate(1 hour)", Start: start.Add(time.Hour)},
			start.Add(2 * time.Hour)},
		"Ended":         {scheduler.Schedule{Expression: "rate(1 hour)", End: start.Add(time.Minute)}, time.Time{}},
		"PastAt":        {scheduler.Schedule{Expression: "at(2025-01-01T00:00:00)"}, time.Time{}},
		"TimezoneOfDay": {scheduler.Schedule{Expression: "cron(0 9 * * ? *)", Timezone: "Asia/Tokyo"}, start},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScheduler(t, newTarget(), 0, test.schedule)
			var got time.Time
			if next := s.Schedules()[0].Next; next != nil {
				got = *next
			}
			want := test.next
			if name == "TimezoneOfDay" {
				// 09:00 in Tokyo is midnight UTC, which is now: the next one is tomorrow's.
				want = start.Add(24 * time.Hour)
			}
			if !got.Equal(want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestRetriesThenDeadLetter(t *testing.T) {
	t.Parallel()
	two := 2
	for name, test := range map[string]struct {
		schedule  scheduler.Schedule
		attempts  int
		condition string
	}{
		"Attempts": {scheduler.Schedule{MaxAttempts: &two}, 3, "MaximumRetryAttempts"},
		"Age":      {scheduler.Schedule{MaxAge: time.Minute}, 6, "MaximumEventAgeInSeconds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := newTarget()
			target.fail = refusal{}
			test.schedule.Expression, test.schedule.DeadLetter, test.schedule.Input = "at(2026-01-01T01:00:00)",
				"arn:queue", `{"a":1}`
			s := newScheduler(t, target, 20, test.schedule)
			s.Start()
			letter := <-target.letters
			if len(target.events) != test.attempts {
				t.Errorf("delivered %d times", len(target.events))
			}
			for name, want := range map[string]string{
				"ERROR_CODE": "AccessDeniedException", "EXHAUSTED_RETRY_CONDITION": test.condition,
				"SCHEDULE_ARN": "arn:schedule",
				"TARGET_ARN":   "arn:target", "body": `{"a":1}`, "SCHEDULED_TIME": "2026-01-01T01:00:00Z",
			} {
				if letter[name] != want {
					t.Errorf("%s: got %q, want %q", name, letter[name], want)
				}
			}
		})
	}
}

// A panic of the target is a failed delivery, which the retry policy repeats.
func TestPanics(t *testing.T) {
	t.Parallel()
	target := &panicking{target: newTarget()}
	s := newScheduler(t, target, 20, scheduler.Schedule{Expression: "at(2026-01-01T01:00:00)"})
	s.Start()
	if event := <-target.events; !strings.Contains(event, `"source":"aws.scheduler"`) || target.times != 2 {
		t.Errorf("got %s at attempt %d", event, target.times)
	}
}

// panicking takes an event the second time.
type panicking struct {
	*target
	times int
}

func (p *panicking) Deliver(ctx context.Context, s scheduler.Schedule, event []byte) error {
	if p.times++; p.times == 1 {
		panic("a bug of the run")
	}
	return p.target.Deliver(ctx, s, event)
}

func TestRun(t *testing.T) {
	t.Parallel()
	target := newTarget()
	s := newScheduler(t, target, 0, scheduler.Schedule{Expression: "rate(1 day)", Disabled: true})
	must.OK(t, s.Run(t.Context(), "tick"))
	if event := <-target.events; !strings.Contains(event, `"source":"aws.scheduler"`) {
		t.Errorf("got %s", event)
	}
	target.fail = refusal{}
	if err := s.Run(t.Context(), "tick"); !errors.As(err, new(refusal)) {
		t.Errorf("got %v", err)
	}
	if err := s.Run(t.Context(), "tock"); !errors.Is(err, scheduler.ErrNotFound) ||
		!strings.Contains(err.Error(), "tick") {
		t.Errorf("got %v", err)
	}
	if status := s.Schedules()[0]; status.Fired != 2 || status.Delivered != 1 || status.LastError == "" {
		t.Errorf("got %+v", status)
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	s := scheduler.New(scheduler.Options{})
	defer s.Close()
	for _, zone := range []string{"Mars/Olympus", "Local", "posixrules"} {
		if err := s.Check(scheduler.Schedule{Name: "a", Expression: "rate(1 minute)", Timezone: zone}); err == nil {
			t.Errorf("the time zone %s was accepted", zone)
		}
	}
	if err := s.Check(scheduler.Schedule{Name: "a", Expression: "soon"}); !errors.Is(err, cron.ErrExpression) {
		t.Errorf("got %v", err)
	}
	if err := s.Check(scheduler.Schedule{Name: "a", Expression: "rate(1 minute)"}); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	target := newTarget()
	s := newScheduler(t, target, 0, scheduler.Schedule{Name: "tick", Expression: "rate(1 hour)", Input: "tick"})
	must.OK(t, s.Run(t.Context(), "tick"))
	same := scheduler.Schedule{Name: "tick", ARN: "arn:schedule", Target: "arn:target", Expression: "rate(1 hour)",
		Input: "tick"}
	must.OK(t, s.Change([]scheduler.Schedule{same, {Name: "new", Expression: "rate(1 minute)"}}))
	got := s.Schedules()
	if len(got) != 2 || got[0].Name != "new" || got[0].Next == nil || got[1].Fired != 1 || got[1].Delivered != 1 {
		t.Errorf("got %+v", got)
	}
	must.OK(t, s.Change([]scheduler.Schedule{{Name: "tick", Expression: "rate(2 hours)"}}))
	if got := s.Schedules(); len(got) != 1 || got[0].Expression != "rate(2 hours)" || got[0].Fired != 1 {
		t.Errorf("got %+v", got)
	}
	if err := s.Change([]scheduler.Schedule{{Name: "bad", Expression: "rate(never)"}}); !errors.Is(err,
		cron.ErrExpression) {
		t.Errorf("got %v", err)
	}
	if got := s.Schedules(); len(got) != 1 || got[0].Name != "tick" {
		t.Errorf("a refused change has changed %+v", got)
	}
	if err := s.Run(t.Context(), "new"); !errors.Is(err, scheduler.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
