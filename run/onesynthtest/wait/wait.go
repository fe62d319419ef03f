// Package wait lets a test wait for a state of something that works by itself: a process, a build, a run, a page, a
// timer. A wait ends when its state is there. It fails the test when what it watches has ended, when the state that it
// sees has not changed for a minute, and 10 s before the deadline of the tests.
package wait

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// unchanged is how long a state may stay the same.
	unchanged = time.Minute
	// reserve is the time before the deadline of the tests in which they report and clean up.
	reserve = 10 * time.Second
	// leastLook is the time that a look gets although a limit has passed.
	leastLook = time.Second
	// longestPause is the longest time between two looks.
	longestPause = 250 * time.Millisecond
	// buildPeriod is the time between two looks for builds, which ask the system for all processes.
	buildPeriod = 10 * time.Second
	// shown is the number of lines of an output that a failure shows.
	shown = 20
)

// Watched is the thing whose state a test waits for, such as a process or a run. If it has a method Building() string,
// too, a build that goes on is a change of its state.
type Watched interface {
	// Ended returns why it has ended, or nil before its end.
	Ended() error
	// Printed returns the lines that it has printed, the newest at least.
	Printed() string
}

// Option changes a wait.
type Option func(*options)

type options struct {
	watched Watched
	closely bool
}

// On fails a wait when what it watches has ended and a last look has not seen the state. Each failure shows the last 20
// lines that it printed.
func On(watched Watched) Option { return func(o *options) { o.watched = watched } }

// Closely looks at the state every millisecond, for one that does not last.
func Closely() Option { return func(o *options) { o.closely = true } }

// Until waits until look reports that a state is reached. look also returns the state that it saw: a change of it, as
// %+v prints it, restarts the minute. what names the state that the test waits for.
func Until(t testing.TB, what string, look func() (state any, reached bool), how ...Option) {
	t.Helper()
	o := options{watched: &Output{}}
	for _, option := range how {
		option(&o)
	}
	latest := time.Now().Add(math.MaxInt64)
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := limited.Deadline(); ok {
			latest = deadline.Add(-reserve)
		}
	}
	began := time.Now()
	state, changed := "none, the first look has not returned", began
	builds, _ := o.watched.(interface{ Building() string })
	building, asked := "", began
	for {
		// Asked before the look, which then sees all that came before the end.
		ended := o.watched.Ended()
		looked := begin(look)
		if builds != nil && time.Since(changed) > buildPeriod && time.Since(asked) > buildPeriod {
			asked = time.Now()
			if now := builds.Building(); now != building {
				building, changed = now, asked
			}
		}
		still := changed.Add(unchanged)
		select {
		case seen, ok := <-looked:
			if !ok {
				t.FailNow() // look has failed the test
			}
			if seen.reached {
				return
			}
			if seen.state != state {
				state, changed = seen.state, time.Now()
				still = changed.Add(unchanged)
			}
		case <-time.After(max(leastLook, min(time.Until(still), time.Until(latest)))):
			state += "\nthe last look has not returned"
		}
		cause := ""
		switch now := time.Now(); {
		case ended != nil:
			cause = "what it waits for has ended: " + ended.Error()
		case !now.Before(latest):
			cause = fmt.Sprintf("not %s before the deadline of the tests", reserve)
		case !now.Before(still):
			cause = fmt.Sprintf("nothing has changed for %s", unchanged)
		}
		if cause != "" {
			t.Fatalf("%s: %s\nthe last state, after %s: %s%s", what, cause, time.Since(began).Round(time.Millisecond),
				state, tail(o.watched.Printed()))
		}
		pause := time.Millisecond
		if !o.closely {
			pause = min(max(pause, time.Since(began)/20), longestPause)
		}
		time.Sleep(pause)
	}
}

// For waits until get returns the wanted value.
func For[T comparable](t testing.TB, what string, want T, get func() T, how ...Option) {
	t.Helper()
	Until(t, what, func() (any, bool) { got := get(); return got, got == want }, how...)
}

// Said waits until watched has printed a text. Each further line restarts the minute.
func Said(t testing.TB, watched Watched, text string) {
	t.Helper()
	Until(t, fmt.Sprintf("printed %q", text), func() (any, bool) {
		printed := watched.Printed()
		return fmt.Sprint(strings.Count(printed, "\n"), " lines"), strings.Contains(printed, text)
	}, On(watched))
}

type seen struct {
	state   string
	reached bool
}

// begin starts a look and returns what it will have seen. Nothing comes if look fails the test.
func begin(look func() (any, bool)) <-chan seen {
	looked := make(chan seen, 1)
	go func() {
		defer close(looked)
		state, reached := look()
		looked <- seen{fmt.Sprintf("%+v", state), reached}
	}()
	return looked
}

func tail(text string) string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return "\nthe last lines:\n" + strings.Join(lines[max(0, len(lines)-shown):], "\n")
}

// Output keeps what a process or a run prints, and why that has ended. It is safe for concurrent use.
type Output struct {
	mutex sync.Mutex
	text  bytes.Buffer
	ended error
}

// Write adds to the output.
func (o *Output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.Write(p)
}

// String returns the output so far.
func (o *Output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.String()
}

// Printed is String, for [On].
func (o *Output) Printed() string { return o.String() }

// End says that the process or run has ended, and with which error; nil: without one.
func (o *Output) End(err error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.ended = err; err == nil {
		o.ended = errors.New("without an error")
	}
}

// Ended returns the error of End, or nil before it.
func (o *Output) Ended() error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.ended
}
