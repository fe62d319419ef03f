package wait_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// spy is a test that a wait may fail.
type spy struct {
	testing.TB
	deadline time.Time
	message  string
}

func (s *spy) Helper() {}

func (s *spy) Deadline() (time.Time, bool) { return s.deadline, !s.deadline.IsZero() }

func (s *spy) Fatalf(format string, arguments ...any) {
	s.message = fmt.Sprintf(format, arguments...)
	s.FailNow()
}

func (s *spy) FailNow() { runtime.Goexit() }

// A wait ends with the state, or says why it does not.
func TestUntil(t *testing.T) {
	t.Parallel()
	after := func(duration time.Duration, state any) func(time.Duration) (any, bool) {
		return func(passed time.Duration) (any, bool) { return state, passed >= duration }
	}
	type test struct {
		look    func(passed time.Duration) (state any, reached bool)
		ends    time.Duration // when what it watches ends; 0: never
		limit   time.Duration // when the tests end; 0: never
		closely bool
		// takes is when the wait ends, to a pause between looks.
		takes time.Duration
		// message is part of the failure; empty: the wait succeeds.
		message []string
	}
	for name, test := range map[string]test{
		"Reached":     {look: after(0, 1)},
		"ReachedSoon": {look: after(50*time.Second, 1), takes: 50 * time.Second},
		"Closely": {look: func(passed time.Duration) (any, bool) {
			return passed, passed == 3*time.Second+time.Millisecond
		}, closely: true, takes: 3*time.Second + time.Millisecond},
		"Unchanged": {look: func(passed time.Duration) (any, bool) { return passed >= 30*time.Second, false },
			takes: 90 * time.Second, message: []string{"the door opens: nothing has changed for 1m0s\n",
				"the last state, after 1m30.", "s: true\nthe last lines:\nline 11\n", "\nline 30"}},
		"Changes": {look: func(passed time.Duration) (any, bool) {
			return passed.Truncate(50 * time.Second), passed >= 10*time.Minute
		}, takes: 10 * time.Minute},
		"Ended": {look: after(time.Hour, "closed"), ends: 20 * time.Second, takes: 20 * time.Second,
			message: []string{"the door opens: what it waits for has ended: exit status 3\n", "closed", "\nline 30"}},
		"ReachedAtTheEnd": {look: after(20*time.Second, 1), ends: 20 * time.Second, takes: 20 * time.Second},
		"Deadline": {look: func(passed time.Duration) (any, bool) { return passed, false }, limit: 5 * time.Minute,
			takes: 5*time.Minute - 10*time.Second, message: []string{"not 10s before the deadline of the tests"}},
		"DeadlineBefore": {look: after(0, 1), limit: time.Second},
		"Blocked": {look: func(time.Duration) (any, bool) { time.Sleep(time.Hour); return 1, true },
			takes: time.Minute, message: []string{"nothing has changed", "the last look has not returned"}},
		"BlockedAtTheDeadline": {look: func(time.Duration) (any, bool) { time.Sleep(time.Hour); return 1, true },
			limit: 40 * time.Second, takes: 30 * time.Second, message: []string{"deadline", "has not returned"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, on := time.Now(), &spy{}
				if test.limit > 0 {
					on.deadline = began.Add(test.limit)
				}
				said := &wait.Output{}
				for n := range 30 {
					fmt.Fprintln(said, "line", n+1)
				}
				if test.ends > 0 {
					time.AfterFunc(test.ends, func() { said.End(errors.New("exit status 3")) })
				}
				options := []wait.Option{wait.On(said)}
				if test.closely {
					options = append(options, wait.Closely())
				}
				reached, done := false, make(chan time.Duration, 1)
				go func() {
					defer func() { done <- time.Since(began) }()
					wait.Until(on, "the door opens", func() (any, bool) { return test.look(time.Since(began)) },
						options...)
					reached = true
				}()
				if took := <-done; took < test.takes || took > test.takes+250*time.Millisecond {
					t.Errorf("ended after %s, want %s", took, test.takes)
				}
				if reached != (test.message == nil) {
					t.Errorf("reached %t, with the message %q", reached, on.message)
				}
				for _, part := range test.message {
					if !strings.Contains(on.message, part) {
						t.Errorf("got the message %q, want %q in it", on.message, part)
					}
				}
				if strings.Contains(on.message, "line 10\n") {
					t.Errorf("got the message %q, want 20 lines of output", on.message)
				}
				time.Sleep(2 * time.Hour) // for the looks that take an hour
			})
		})
	}
}

// A look may fail the test itself.
func TestLookFails(t *testing.T) {
	t.Parallel()
	on, done, returned := &spy{}, make(chan struct{}), false
	go func() {
		defer close(done)
		wait.For(on, "an answer", 200, func() int { on.Fatalf("no connection"); return 0 })
		returned = true
	}()
	if <-done; returned || on.message != "no connection" {
		t.Errorf("got %q, and the wait returned: %t", on.message, returned)
	}
}

// builder is something that builds for a while.
type builder struct {
	*wait.Output
	until time.Time
}

func (b *builder) Building() string {
	return fmt.Sprint(min(0, time.Since(b.until).Truncate(time.Second)))
}

// A build that prints nothing is a change as long as it works.
func TestBuilding(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, on, done := time.Now(), &spy{}, make(chan struct{})
		go func() {
			defer close(done)
			wait.Said(on, &builder{&wait.Output{}, began.Add(5 * time.Minute)}, "ready")
		}()
		<-done
		if took := time.Since(began); took < 6*time.Minute || took > 6*time.Minute+15*time.Second {
			t.Errorf("gave up after %s, want a minute after the build", took)
		}
	})
}

// A process is watched: what it prints, what builds below it, and its end.
func TestProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	shell := must.Get(exec.LookPath("sh"))(t)
	// A tool by its name alone.
	must.OK(t, os.Symlink(shell, filepath.Join(folder, "compile")))
	command := exec.CommandContext(t.Context(), "sh", "-c",
		`echo begins; compile -c "read line; exit" ; echo "$0 ends" >&2; exit 3`, folder)
	command.Env = append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	input := must.Get(command.StdinPipe())(t)
	p := must.Get(wait.Start(command))(t)
	wait.Said(t, p, "begins\n")
	wait.Until(t, "the compiler works", func() (any, bool) {
		building := p.Building()
		return building, strings.HasPrefix(building, "compile ")
	}, wait.On(p))
	if err := p.Ended(); err != nil {
		t.Errorf("ended with %v", err)
	}
	must.OK(t, input.Close())
	wait.Until(t, "the process ends", func() (any, bool) { return nil, p.Ended() != nil })
	if got := p.String(); got != "begins\n"+folder+" ends\n" || p.Ended().Error() != "exit status 3" ||
		p.Building() != "" {
		t.Errorf("got %q, %v, %q", got, p.Ended(), p.Building())
	}
}

// An output that grows is a run that works.
func TestSaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		output := &wait.Output{}
		go func() {
			for range 4 {
				time.Sleep(40 * time.Second)
				fmt.Fprintln(output, "compiles")
			}
			fmt.Fprintln(output, "ready")
		}()
		wait.Said(&spy{}, output, "ready\n")
	})
}
