package lambda

// How newer code takes over from the running one.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrOvertaken says that a still newer definition came before the one of [Service.Replace] was ready.
var ErrOvertaken = errors.New("a newer definition has come")

// StartError says that the first instance of a definition ended before it asked for work. The former one goes on, if
// there is one.
type StartError struct {
	Function string
	// Reason is how the process ended, such as "exit status 2".
	Reason string
	// Report is what the function told the Runtime API of its failure, or nil.
	Report *Result
	// Lines are what the process printed, at most the newest 1000.
	Lines []string
}

// Cause returns in a line what ended the process: the message that the function reported, or else the last line that
// it printed, and the exit status.
func (e *StartError) Cause() string {
	var reported struct{ ErrorMessage string }
	if e.Report != nil && json.Unmarshal(e.Report.Payload, &reported) == nil && reported.ErrorMessage != "" {
		return strings.ReplaceAll(reported.ErrorMessage, "\n", "; ")
	}
	if len(e.Lines) > 0 {
		return e.Lines[len(e.Lines)-1] + " (" + e.Reason + ")"
	}
	return e.Reason
}

// Error has the reason, and below it what the process printed.
func (e *StartError) Error() string {
	text := fmt.Sprintf("function %s: the new code ended at its start (%s)", e.Function, e.Reason)
	if e.Report != nil {
		text += ": " + string(e.Report.Payload)
	}
	for _, line := range e.Lines {
		text += "\n" + line
	}
	return text
}

// Replace gives a function another definition, such as newer code, and returns when it is in use. An instance of it
// starts, while the former ones go on. Once it asks for work, it and its like take all further invocations, those that
// wait included. Former instances finish what they have, and end. Errors: *StartError, ErrNotFound, ErrOvertaken,
// ErrClosed, that of ctx, or why the function could not run. The former definition stays in use then.
func (s *Service) Replace(ctx context.Context, definition Function) error {
	if err := definition.complete(); err != nil {
		return err
	}
	f, err := s.function(definition.Name)
	if err != nil {
		return err
	}
	if definition.Debugger != nil {
		release, err := f.endDebugger(ctx)
		defer release()
		if err != nil {
			return err
		}
	}
	successor, err := f.replace(&definition)
	if err != nil || successor == nil {
		return err
	}
	select {
	case err = <-successor.started:
	case <-ctx.Done():
		err = fmt.Errorf("function %s: %w", f.Name, context.Cause(ctx))
		f.mu.Lock()
		f.abandonLocked(successor)
		f.mu.Unlock()
	}
	return err
}

// Remove ends a function: its instances finish what they have, and further calls fail with ErrNotFound. Invocations
// that wait for an instance fail with ErrClosed.
func (s *Service) Remove(name string) error {
	f, err := s.function(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.functions, name)
	s.removed = append(s.removed, f)
	s.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.successor != nil {
		f.abandonLocked(f.successor)
	}
	f.retireLocked(nil)
	for _, inv := range f.queue {
		inv.done <- Result{}
	}
	f.queue = nil
	return nil
}

// Recent returns the functions by when they were invoked, the last one first.
func (s *Service) Recent() []string {
	s.mu.RLock()
	functions := slices.Collect(maps.Values(s.functions))
	s.mu.RUnlock()
	invoked := map[string]int64{}
	for _, f := range functions {
		f.mu.Lock()
		invoked[f.Name] = f.invoked.UnixNano()
		if f.invoked.IsZero() {
			invoked[f.Name] = 0
		}
		f.mu.Unlock()
	}
	return slices.SortedFunc(maps.Keys(invoked), func(a, b string) int {
		if invoked[a] != invoked[b] {
			return int(min(max(invoked[b]-invoked[a], -1), 1))
		}
		return strings.Compare(a, b)
	})
}

func (f *function) definition() *Function {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current
}

// replace starts the successor, or replaces the definition at once if no instance may run.
func (f *function) replace(definition *Function) (*instance, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, ErrClosed
	}
	if f.successor != nil {
		f.abandonLocked(f.successor)
	}
	if f.service.limit(definition) == 0 {
		f.takeOverLocked(definition, nil)
		return nil, nil
	}
	f.successor = f.startLocked(definition, make(chan error, 1))
	return f.successor, nil
}

// endDebugger waits until the instances have ended, and lets none start until release.
func (f *function) endDebugger(ctx context.Context) (release func(), err error) {
	f.mu.Lock()
	f.paused = true
	if f.successor != nil {
		f.abandonLocked(f.successor)
	}
	f.retireLocked(nil)
	ending := slices.Collect(maps.Keys(f.instances))
	f.mu.Unlock()
	release = func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.paused = false
		f.growLocked()
	}
	for _, inst := range ending {
		select {
		case <-inst.exited:
		case <-ctx.Done():
			return release, fmt.Errorf("function %s: %w", f.Name, context.Cause(ctx))
		}
	}
	return release, nil
}

// replaceLocked puts the successor, which is ready, into the place of the former instances.
func (f *function) replaceLocked() {
	successor := f.successor
	f.successor = nil
	f.takeOverLocked(successor.of, successor)
	successor.started <- nil
	f.growLocked()
}

func (f *function) takeOverLocked(definition *Function, first *instance) {
	f.current, f.limit = definition, f.service.limit(definition)
	f.retireLocked(first)
}

// retireLocked ends the instances but one: the idle ones and those that are starting now, the others when they ask for
// more work.
func (f *function) retireLocked(but *instance) {
	for inst := range f.instances {
		if inst == but || inst.retired {
			continue
		}
		inst.retired = true
		if inst.idle || !inst.ready {
			f.withdrawLocked(inst)
			inst.dying = true
			inst.stop()
		}
	}
}

// abandonLocked ends a successor that is not ready.
func (f *function) abandonLocked(successor *instance) {
	if f.successor != successor {
		return
	}
	f.successor = nil
	f.starting++ // its end takes it off again
	successor.retired, successor.dying = true, true
	successor.stop()
	successor.started <- fmt.Errorf("function %s: %w", f.Name, ErrOvertaken)
}
