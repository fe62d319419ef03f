package lambda

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// function is the pool of one function's instances and the queue before it. An instance that asks for
// work takes the oldest queued invocation, or waits among the idle; an invocation takes the idle
// instance used last, so that a quiet function keeps few instances busy, or queues.
type function struct {
	// Name is that of every definition.
	Name    string
	service *Service

	mu sync.Mutex
	// current is the newest definition that has run. New instances are of it, but for a successor.
	current   *Function
	limit     int
	instances map[*instance]struct{}
	// paused says that no instance may start, because newer code waits for the end of a debugger.
	paused bool
	// first is the instance that Warm has started.
	first *instance
	// successor is the first instance of the next definition, until it is ready or has ended.
	successor *instance
	idle      []*instance
	queue     []*invocation
	starting  int
	active    int // in flight or queued
	closed    bool
	invoked   time.Time // the last time

	invocations, errors, throttles, timeouts, coldStarts, deaths int64
	busyTime                                                     time.Duration
	lastInit                                                     time.Duration
}

type invocation struct {
	id       string
	payload  []byte
	started  time.Time
	deadline time.Time
	timer    *time.Timer
	// taken is closed when an instance has it.
	taken  chan struct{}
	done   chan Result
	traced *trace.Function
}

func (f *function) invoke(ctx context.Context, limit time.Duration, payload []byte) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	inv := &invocation{id: uuid.NewString(), payload: payload, taken: make(chan struct{}),
		done: make(chan Result, 1)}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return Result{}, ErrClosed
	}
	if reserved := f.current.ReservedConcurrency; reserved != nil && f.active >= *reserved {
		f.throttles++
		f.mu.Unlock()
		return Result{}, fmt.Errorf("function %s: %w (%d)", f.Name, ErrThrottled, *reserved)
	}
	f.active++
	f.invocations++
	f.invoked = time.Now()
	inv.traced = f.service.options.Trace.Invoke(ctx, inv.id, f.Name, f.current.Label, f.current.MemoryMB)
	if n := len(f.idle); n > 0 {
		inst := f.idle[n-1]
		f.idle = f.idle[:n-1]
		inst.idle = false
		inst.work <- inv
	} else {
		f.queue = append(f.queue, inv)
		f.growLocked()
	}
	f.mu.Unlock()

	result, err := inv.wait(ctx, limit)
	switch {
	case err == nil && result.RequestID == "":
		inv.traced.End(ErrClosed.Error())
		return Result{}, ErrClosed
	case err == nil:
		return result, nil
	}
	f.mu.Lock()
	if i := slices.Index(f.queue, inv); i >= 0 {
		f.queue = slices.Delete(f.queue, i, i+1)
		f.active--
		inv.traced.End("the caller did not wait for an instance")
	}
	f.mu.Unlock()
	return Result{RequestID: inv.id}, fmt.Errorf("function %s: %w", f.Name, err)
}

// wait returns the result of the invocation. It fails when ctx ends, or when the limit has passed since an instance
// took the invocation.
func (inv *invocation) wait(ctx context.Context, limit time.Duration) (Result, error) {
	taken, over := inv.taken, (<-chan time.Time)(nil)
	for {
		select {
		case result := <-inv.done:
			return result, nil
		case <-taken:
			taken = nil
			if limit > 0 {
				timer := time.NewTimer(limit)
				defer timer.Stop()
				over = timer.C
			}
		case <-over:
			return Result{}, context.DeadlineExceeded
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	}
}

// begin says that an instance has the invocation, which may take the time from now on.
func (inv *invocation) begin(limit time.Duration) {
	inv.started = time.Now()
	inv.deadline = inv.started.Add(limit)
	close(inv.taken)
}

// growLocked starts instances until each queued invocation has one coming, within the limit.
func (f *function) growLocked() {
	for !f.closed && !f.paused && f.starting < len(f.queue) && f.countLocked() < f.limit {
		f.startLocked(f.current, nil)
		f.starting++
	}
}

// countLocked is how many instances take invocations, now or once they have started.
func (f *function) countLocked() (n int) {
	for inst := range f.instances {
		// A debugger keeps its port until it ends.
		if inst.of.Debugger != nil || !inst.retired && inst != f.successor {
			n++
		}
	}
	return n
}

// startLocked starts an instance of a definition. The channel of a successor, and of no other, hears how its start
// ended.
func (f *function) startLocked(of *Function, started chan error) *instance {
	inst := &instance{function: f, of: of, work: make(chan *invocation, 1), exited: make(chan struct{}),
		stopping: make(chan struct{}), started: started}
	f.instances[inst] = struct{}{}
	f.service.running.Add(1)
	go func() {
		defer f.service.running.Done()
		inst.run()
	}()
	return inst
}

// mayStart waits until the instance may start. It returns false if it is stopped before, or if no invocation waits any
// more that another instance will not take.
func (f *function) mayStart(inst *instance) bool {
	// A debugger may wait for a person.
	if inst.of.Debugger == nil {
		select {
		case f.service.starts <- struct{}{}:
		case <-inst.stopping:
			return false
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	inst.holdsStart = inst.of.Debugger == nil
	if inst != f.successor && len(f.queue) == 0 && f.readyLocked() {
		inst.retired, inst.dying = true, true
		f.startedLocked(inst)
		return false
	}
	f.coldStarts++
	return true
}

// readyLocked reports whether an instance takes invocations.
func (f *function) readyLocked() bool {
	for inst := range f.instances {
		if inst.ready && !inst.retired && !inst.dying {
			return true
		}
	}
	return false
}

// startedLocked lets another instance start, of whatever function, once the start of this one is over.
func (f *function) startedLocked(inst *instance) {
	if inst.holdsStart {
		inst.holdsStart = false
		<-f.service.starts
	}
}

func (f *function) warm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed && len(f.instances) == 0 && f.limit > 0 {
		f.first = f.startLocked(f.current, make(chan error, 1))
		f.starting++
	}
}

// offer is called by an instance that asks for work: it gets the oldest queued invocation, or nil after
// it was put among the idle, where work arrives on its channel.
func (f *function) offer(inst *instance) (work *invocation) {
	f.mu.Lock()
	defer func() {
		if work == nil {
			inst.polls++
		}
		f.mu.Unlock()
	}()
	if _, alive := f.instances[inst]; !alive || inst.dying {
		return nil
	}
	if !inst.ready {
		inst.ready = true
		f.startedLocked(inst)
		inst.init = time.Since(inst.began)
		f.lastInit = inst.init
		if inst == f.successor {
			f.replaceLocked()
		} else {
			f.starting--
			if inst == f.first {
				inst.started <- nil
			}
		}
	}
	// The next poll gets work that went to a poll whose connection broke.
	select {
	case inv := <-inst.work:
		return inv
	default:
	}
	if inst.retired {
		inst.stop()
		return nil
	}
	if len(f.queue) > 0 {
		inv := f.queue[0]
		f.queue = slices.Delete(f.queue, 0, 1)
		return inv
	}
	if !inst.idle {
		inst.idle = true
		f.idle = append(f.idle, inst)
	}
	return nil
}

// took notes that a poll of the instance has its work.
func (f *function) took(inst *instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	inst.polls--
}

// withdraw removes an instance from the idle ones when the last of its polls ends without work.
func (f *function) withdraw(inst *instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if inst.polls--; inst.polls == 0 {
		f.withdrawLocked(inst)
	}
}

func (f *function) withdrawLocked(inst *instance) {
	if i := slices.Index(f.idle, inst); i >= 0 {
		f.idle = slices.Delete(f.idle, i, i+1)
	}
	inst.idle = false
}

// requeue puts back an invocation that no process has seen.
func (f *function) requeue(inv *invocation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		inv.done <- Result{}
		return
	}
	f.queue = slices.Insert(f.queue, 0, inv)
	f.growLocked()
}

// finish answers an invocation exactly once: the goroutine that removed it from its instance calls it.
func (f *function) finish(inv *invocation, result Result) {
	inv.timer.Stop()
	inv.traced.End(problem(result))
	f.mu.Lock()
	f.active--
	f.busyTime += time.Since(inv.started)
	if result.FunctionError != "" {
		f.errors++
	}
	f.mu.Unlock()
	inv.done <- result
}

// exited removes a dead instance. reason is how it ended; report is its report to init/error, if any.
func (f *function) exited(inst *instance, reason string, report *Result) {
	f.mu.Lock()
	delete(f.instances, inst)
	f.startedLocked(inst)
	f.withdrawLocked(inst)
	failed := inst == f.successor
	closed := f.closed
	first := inst == f.first && !inst.ready
	unwanted := inst.dying || inst.retired
	if failed {
		f.successor = nil
	} else if !inst.ready {
		f.starting--
	}
	if !f.closed && !inst.retired {
		f.deaths++
	}
	var unseen *invocation
	select {
	case unseen = <-inst.work:
		f.queue = slices.Insert(f.queue, 0, unseen)
	default:
	}
	var victim *invocation
	// An instance that was killed during its start did not fail to start: the invocation gets the next one.
	if !inst.ready && !failed && !inst.dying && len(f.queue) > 0 {
		victim = f.queue[0]
		f.queue = slices.Delete(f.queue, 0, 1)
		f.active--
		f.errors++
	}
	f.growLocked()
	// A person may end the program in the debugger, and wants to go on with the next request.
	if inst.of == f.current && inst.of.Debugger != nil && inst.ready && len(f.instances) == 0 && !f.closed &&
		!f.paused {
		f.startLocked(f.current, nil)
		f.starting++
	}
	f.mu.Unlock()

	switch {
	case (failed || first) && closed:
		inst.started <- ErrClosed
	case first && unwanted:
		inst.started <- nil
	case failed, first:
		inst.mu.Lock()
		printed := inst.printed
		inst.mu.Unlock()
		inst.started <- &StartError{Function: f.Name, Reason: reason, Report: report, Lines: printed}
	}
	if victim != nil {
		result := failure(victim.id, "Runtime.ExitError",
			fmt.Sprintf("RequestId: %s Error: Runtime exited with error: %s", victim.id, reason))
		if report != nil {
			report.RequestID = victim.id
			result = *report
		}
		victim.traced.End(problem(result))
		victim.done <- result
	}
	if inv := inst.take(""); inv != nil {
		f.finish(inv, failure(inv.id, "Runtime.ExitError",
			fmt.Sprintf("RequestId: %s Error: Runtime exited with error: %s", inv.id, reason)))
	}
}

func (f *function) kill() (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var target *instance
	for inst := range f.instances {
		if inst.process.Load() != nil && (target == nil || !inst.idle) {
			target = inst
		}
	}
	if target == nil {
		return 0, fmt.Errorf("function %s: %w", f.Name, ErrNotRunning)
	}
	// No invocation may go to an instance that is about to die.
	f.withdrawLocked(target)
	target.dying = true
	return target.process.Load().Pid, target.kill()
}

func (f *function) close() {
	f.mu.Lock()
	f.closed = true
	queue := f.queue
	f.queue = nil
	for inst := range f.instances {
		inst.stop()
	}
	f.mu.Unlock()
	for _, inv := range queue {
		inv.done <- Result{}
	}
}

func (f *function) status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Status{
		Name: f.Name, Label: f.current.Label, ARN: f.current.ARN, Invocations: f.invocations, Errors: f.errors,
		Throttles: f.throttles,
		Timeouts:  f.timeouts, ColdStarts: f.coldStarts, Deaths: f.deaths, Queued: len(f.queue), MaxInstances: f.limit,
		LastInitMilli: milliseconds(f.lastInit), Instances: []Instance{},
	}
	if finished := f.invocations - int64(f.active); finished > 0 {
		s.MeanMilli = milliseconds(f.busyTime) / float64(finished)
	}
	for inst := range f.instances {
		process := inst.process.Load()
		if process == nil {
			continue
		}
		s.Instances = append(s.Instances, Instance{
			PID: process.Pid, Busy: inst.ready && !inst.idle, Ready: inst.ready, Retired: inst.retired,
			Invocations: inst.served.Load(),
			InitMilli:   milliseconds(inst.init), RSSBytes: residentBytes(process.Pid),
		})
	}
	slices.SortFunc(s.Instances, func(a, b Instance) int { return a.PID - b.PID })
	return s
}

// problem is what a result says of the function's failure; "" if it succeeded.
func problem(result Result) string {
	if result.FunctionError == "" {
		return ""
	}
	var document struct{ ErrorType, ErrorMessage string }
	if json.Unmarshal(result.Payload, &document) != nil || document.ErrorMessage == "" {
		return string(result.Payload)
	}
	return document.ErrorType + ": " + document.ErrorMessage
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
